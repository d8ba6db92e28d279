"""Distance to instability: the exact answer, where no few persons could have changed it."""

from __future__ import annotations

from datetime import date, time, timedelta
from enum import Enum
from fractions import Fraction
from numbers import Number as AnyNumber
from typing import TYPE_CHECKING, Self, TypeVar, cast
from uuid import UUID

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.no_answer import NO_ANSWER, NoAnswer
from discreet.mechanisms.keys.key_selection import KeyOffer, KeySelection
from discreet.mechanisms.keys.laplace_threshold import LaplaceThreshold
from discreet.mechanisms.keys.truncated_geometric import TruncatedGeometric
from discreet.noise import current
from discreet.privacy.events import Approximate
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, check_relation
from discreet.privacy.rational import Number, float_above, show, whole
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes, Panels

__all__ = ["FARTHEST", "SHOWN", "DistanceToInstability", "entered_distance"]

T = TypeVar("T")

_PLAIN = (
    int,
    float,
    complex,
    str,
    bytes,
    AnyNumber,
    date,
    time,
    timedelta,
    UUID,
    Enum,
    np.generic,
    type(None),
)
_VALUES = "a number, text, an array of these, or a tuple, list or dict of such"

FARTHEST = (1 << 53) - 1
"""Larger distances count as this one. It stands for "no data set is unstable"."""
SHOWN = Fraction(999, 1000)
"""A figure shows distances until an answer has this probability."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class DistanceToInstability(Record):
    """Give the exact value of a statistic with a probability that grows with its stability, or no answer.

    Call a data set unstable if the statistic has another value on some neighbor of it. The `distance` of
    a data set is the number of steps, each to a neighbor, to the nearest unstable one: 0 if it is unstable
    itself. (Not to the nearest other *value*, which is one step farther: with that, the probability of an
    unbounded loss is larger than delta, about by a factor of e^epsilon.)

    Parameters
    ----------
    epsilon : number
        The privacy loss, together with `delta`.
    delta : number
        With which probability at most a value leaves that some neighbor does not have.
    neighbors : Neighbors
        The relation in which distances are measured; by default adding or removing a person.

    Guarantee
    ---------
    (epsilon, delta)-DP. The value is given with probability p_(d + 1) at distance d, where p_0 = 0 and
    p_(n + 1) = min(e^epsilon p_n + delta, 1 - e^-epsilon (1 - p_n - delta), 1): the law of
    `TruncatedGeometric`. No (epsilon, delta)-private mechanism that only ever gives the exact value or no
    answer gives the value more often, on any data set (proof: docs/proofs/distance_to_instability.md). Any
    number that is 0 on unstable data sets and differs by at most 1 between neighbors may stand for the
    distance.

    Finite precision
    ----------------
    Probabilities are multiples of a power of two that keep the inequalities exactly, and the coin is exact.
    Distances below 0 count as 0, and those beyond `FARTHEST` as that: what is accepted depends on
    types alone. Where epsilon is so small that the table of the p_n would have no end, the test is that
    of `with_laplace_noise`.

    Error
    -----
    The value is exact. `error_at(distance=d)` is the probability of no answer at a hypothetical distance d,
    and `distance_for(p)` the distance from which on an answer has probability p. The distance of the data
    is private, and so is the probability on the data.

    Examples
    --------
    >>> from discreet.mechanisms.adaptive.distance_to_instability import DistanceToInstability
    >>> mechanism = DistanceToInstability(epsilon=1, delta=1e-6)
    >>> mechanism.guarantee
    ApproximateDP(epsilon=1, delta=1e-6)
    >>> mechanism.distance_for(0.5), mechanism.distance_for(0.95), mechanism.distance_for(1)
    (13, 15, 27)
    >>> mechanism.release("blue", 30)
    'blue'
    """

    test: KeySelection
    """The coin: it is tossed as for a key of distance + 1 persons."""
    neighbors: Neighbors
    """The relation in which distances are measured."""

    def __init__(self, *, epsilon: Number, delta: Number, neighbors: Neighbors = ADD_REMOVE_PERSON) -> None:
        relation = check_relation(neighbors)
        KeyOffer(epsilon=epsilon, rho=None, delta=delta, keys=1)
        test: KeySelection
        try:
            test = TruncatedGeometric(epsilon=epsilon, delta=delta)
        except ParameterError:
            test = LaplaceThreshold(epsilon=epsilon, delta=delta)
        self._set(test=test, neighbors=relation)

    def with_laplace_noise(self) -> Self:
        """Return the same promise kept by noise: answer where distance + noise exceeds a threshold.

        The noise N is discrete Laplace of scale 1 / epsilon, and the threshold t the least integer with
        P(N > t) <= delta. This is the mechanism as it was published; it answers less often.
        """
        offer = self.test.offer
        return self._with(test=LaplaceThreshold(epsilon=offer.epsilon, delta=offer.delta))

    def __repr__(self) -> str:
        offer = self.test.offer
        noise = ".with_laplace_noise()" if isinstance(self.test, LaplaceThreshold) else ""
        relation = "" if self.neighbors == ADD_REMOVE_PERSON else f", neighbors={self.neighbors!r}"
        loss = self.guarantee.epsilon
        return f"DistanceToInstability(epsilon={show(loss)}, delta={show(offer.delta)}{relation}){noise}"

    @property
    def epsilon(self) -> float:
        """The privacy loss, rounded up to a float."""
        return float_above(self.guarantee.epsilon)

    @property
    def delta(self) -> float:
        """The delta, rounded up to a float."""
        return float_above(self.test.offer.delta)

    @property
    def event(self) -> Approximate:
        """One (epsilon, delta)-private release."""
        promise = self.guarantee
        return Approximate(epsilon=promise.epsilon, delta=promise.delta, neighbors=self.neighbors)

    @property
    def guarantee(self) -> ApproximateDP:
        """(epsilon, delta)-DP, as asked."""
        epsilon = self.test.offer.epsilon
        assert epsilon is not None  # noqa: S101
        return ApproximateDP(epsilon=epsilon, delta=self.test.offer.delta, neighbors=self.neighbors)

    def error_at(self, *, distance: int) -> float:
        """Return the probability of no answer if the distance were this, rounded up."""
        return self.test.missed(whole(distance, "distance", least=0, most=FARTHEST) + 1)

    def distance_for(self, probability: Number) -> int:
        """Return the smallest distance at which an answer is given with at least this probability."""
        return self.test.size_for(probability) - 1

    def passes(self, distance: int) -> bool:
        """Toss the coin for one distance. What it shows is an (epsilon, delta)-private release by itself."""
        return bool(self.test.release([entered_distance(distance) + 1])[0])

    def release(self, value: T, distance: int) -> T | NoAnswer:
        """Return the value itself, or `NO_ANSWER`.

        Parameters
        ----------
        value : object
            The exact value: a number, text, None, an array of these, or a tuple, list or dict of such.
            It is copied, so that nothing but the value leaves: arrays as plain arrays. Masked arrays,
            arrays of records and other objects, which may hold more than they show, are refused by
            their type.
        distance : int
            The steps to the nearest unstable data set.
        """
        # A view would show more of the data than the value; and what cannot be marked fails before the coin.
        answer = current().mark(_own(value))
        return answer if self.passes(distance) else NO_ANSWER

    def plot(self, *, ax: Panels | None = None, label: str | None = None) -> Axes:
        """Draw with which probability there is an answer, at every distance. It shows public numbers only.

        Parameters
        ----------
        ax : axes, optional
            Where to draw; by default a new figure.
        label : str, optional
            What the mechanism is called in the legend.
        """
        from discreet.mechanisms.plot import plot_test

        return plot_test(
            lambda distance: 1 - self.error_at(distance=distance),
            last=self.distance_for(SHOWN) + 1,
            delta=self.delta,
            ax=ax,
            label=label,
        )

    def neighboring_inputs(self) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
        """Return pairs (value, distance) of neighbors: unstable ones, and ones a step apart."""
        half = self.distance_for(0.5)
        apart = sorted({0, 1, half - 1, half} - {-1})
        return ((0, 0), (1, 0)), *(((0, near), (0, near + 1)) for near in apart)


def _own(value: T) -> T:
    """Return a copy that refers to nothing else; what is accepted depends on types alone."""
    copied: object = value
    if isinstance(value, np.ndarray):
        if isinstance(value, np.ma.MaskedArray) or value.dtype.kind in "OV":
            raise ParameterError("value", "is an array that may hold more than it shows", _VALUES)
        copied = np.array(value, subok=False)
    elif isinstance(value, tuple):
        copied = tuple(_own(item) for item in value)
    elif isinstance(value, list):
        copied = [_own(item) for item in value]
    elif isinstance(value, dict):
        copied = {_own(key): _own(item) for key, item in value.items()}
    elif isinstance(value, np.void) or not isinstance(value, _PLAIN):
        raise ParameterError("value", f"is a {type(value).__name__}", _VALUES)
    return cast(T, copied)


def entered_distance(distance: int) -> int:
    """Return a distance from 0 to `FARTHEST`; its type is public, its size is not."""
    if isinstance(distance, bool | np.bool_) or not isinstance(distance, int | np.integer):
        raise ParameterError("distance", f"is a {type(distance).__name__}", "an int")
    return max(0, min(FARTHEST, int(distance)))
