"""Nearby output: one of several public outputs, the likelier the nearer it is to the true one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.error.selection import PermuteAndFlipError
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.noise import current
from discreet.privacy import events
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, float_above, show, whole
from discreet.records import Record, dataclass

__all__ = ["MetricSpace", "NearbyOutput"]

T = TypeVar("T")

_MOST_OUTPUTS = 1 << 20
_CHECKED = 24
_FARTHEST = 1 << 60


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class MetricSpace(Record, Generic[T]):
    """Outputs of any kind, sets, partitions or models, with whole distances between them. All is public.

    Parameters
    ----------
    outputs : iterable
        What may be released, each once: at most 2^20.
    distance : callable
        The distance of two outputs, an int: 0 from an output to itself, the same both ways, and at most the
        sum of the distances through a third. Privacy rests on this; it is tried on some outputs. It has to
        answer for every value that data may have, since an error would be an answer as well.

    Examples
    --------
    >>> from discreet.mechanisms.selection.nearby_output import MetricSpace
    >>> subsets = [(), ("a",), ("b",), ("a", "b")]
    >>> MetricSpace(outputs=subsets, distance=lambda one, other: len({*one} ^ {*other}))
    MetricSpace(4 outputs)
    """

    outputs: tuple[T, ...]
    distance: Callable[[T, T], int]

    def __init__(self, *, outputs: Iterable[T], distance: Callable[[T, T], int]) -> None:
        held = tuple(outputs)
        if not 0 < len(held) <= _MOST_OUTPUTS:
            raise ParameterError("outputs", "are none, or too many", f"from 1 to {_MOST_OUTPUTS}")
        if not callable(distance):
            raise ParameterError("distance", "is not callable", "a function of two outputs")
        self._set(outputs=held, distance=distance)
        some = held[:: -(-len(held) // _CHECKED)]
        apart = np.array([[self.steps(one, other) for other in some] for one in some], dtype=object)
        through = (apart[:, :, None] + apart[None, :, :]).min(axis=1)
        if any(apart.diagonal()) or (apart != apart.T).any() or (apart < 0).any() or (apart > through).any():
            raise ParameterError(
                "distance", "is not a metric on the outputs", "symmetric, with the triangle inequality"
            )

    def steps(self, one: T, other: T) -> int:
        """Return a distance; its type is public, its size is not."""
        found = self.distance(one, other)
        if isinstance(found, bool | np.bool_) or not isinstance(found, int | np.integer):
            raise ParameterError("distance", f"gives a {type(found).__name__}", "ints")
        return max(0, min(int(found), _FARTHEST))

    def __repr__(self) -> str:
        return f"MetricSpace({len(self.outputs)} outputs)"


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class NearbyOutput(Record, Generic[T]):
    """Release an output near the true one: noise for what is no number.

    Parameters
    ----------
    space : MetricSpace
        What may be released, and how far two outputs are apart.
    reach : int
        How far the value is at most from that of a neighbor, in the distance of the space: its global
        sensitivity; or a bound that was proposed and tested (`TestedRelease`) or bought (`BoundedRelease`).
    epsilon : number
        The privacy loss.
    neighbors : Neighbors
        The relation for which `reach` holds.

    Guarantee
    ---------
    epsilon-DP: the score of an output is its distance from the value, negative, which moves by at most
    `reach` by the triangle inequality; the choice is that of `PermuteAndFlip` (proof:
    docs/proofs/nearby_output.md).

    Finite precision
    ----------------
    Distances are integers, and the choice is exact.

    Error
    -----
    `error` is the law of how much farther from the value the released output is than the nearest one; with
    ``candidates`` the number of outputs.

    Examples
    --------
    >>> from itertools import combinations
    >>> from discreet.mechanisms import NearbyOutput
    >>> from discreet.mechanisms.selection.nearby_output import MetricSpace
    >>> subsets = [chosen for size in range(4) for chosen in combinations("abc", size)]
    >>> space = MetricSpace(outputs=subsets, distance=lambda one, other: len({*one} ^ {*other}))
    >>> mechanism = NearbyOutput(space=space, reach=1, epsilon=1000)
    >>> mechanism.release(("a", "c"))
    ('a', 'c')
    """

    space: MetricSpace[T]
    choice: PermuteAndFlip
    """The choice by scores."""

    def __init__(
        self,
        *,
        space: MetricSpace[T],
        reach: int,
        epsilon: Number,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        if not isinstance(space, MetricSpace):
            raise ParameterError("space", "is not a metric space", "a MetricSpace")
        moved = whole(reach, "reach", least=1, most=_FARTHEST)
        self._set(space=space, choice=PermuteAndFlip(sensitivity=moved, epsilon=epsilon, neighbors=neighbors))

    def __repr__(self) -> str:
        reach = show(self.choice.sensitivity)
        return f"NearbyOutput({self.space!r}, reach={reach}, epsilon={show(self.guarantee.epsilon)})"

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.choice.neighbors

    @property
    def reach(self) -> Fraction:
        """How far the value moves between neighbors, at most."""
        return self.choice.sensitivity

    @property
    def epsilon(self) -> float:
        """The privacy loss, rounded up to a float."""
        return float_above(self.guarantee.epsilon)

    @property
    def event(self) -> events.PermuteAndFlip:
        """The law that `release` draws."""
        return self.choice.event

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy."""
        return self.choice.guarantee

    @property
    def error(self) -> PermuteAndFlipError:
        """How much farther from the value the released output is than the nearest one."""
        return self.choice.error

    def release(self, value: T) -> T:
        """Return one of the outputs."""
        scores = [-self.space.steps(value, output) for output in self.space.outputs]
        chosen = int(self.choice.release(np.array(scores, np.int64)))
        return current().mark(self.space.outputs[chosen])

    def neighboring_inputs(self) -> tuple[tuple[T, T], ...]:
        """Return pairs of outputs that are as far apart as neighbors' values may be, or nearly."""
        first, reach = self.space.outputs[0], int(self.reach)
        within = [other for other in self.space.outputs if self.space.steps(first, other) <= reach]
        farthest = max(within, key=lambda other: self.space.steps(first, other))
        return ((first, farthest),)
