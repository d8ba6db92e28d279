"""Bounded release: buy an upper bound on the local sensitivity, then release a value of any kind for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.private_local_sensitivity import PrivateLocalSensitivity
from discreet.mechanisms.adaptive.tested_release import Calibrated, pure_or_approximate
from discreet.privacy.events import Approximate
from discreet.privacy.guarantees import ApproximateDP, PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, float_above, show, whole
from discreet.records import Record, dataclass

__all__ = ["BoundedOutput", "BoundedRelease"]

Held = TypeVar("Held")
Given = TypeVar("Given")


class BoundedOutput(NamedTuple, Generic[Given]):
    """What was released, and the bound that it was made for. Both are public."""

    output: Given
    bound: int


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class BoundedRelease(Record, Generic[Held, Given]):
    """Release a bound that the local sensitivity hardly exceeds, and a value of any kind made for that bound.

    `PrivateLocalSensitivity` is this for one number and Laplace noise. Here the value may be a vector, a set,
    a partition or a model, in whatever distance its local sensitivity is measured.

    Parameters
    ----------
    family : callable
        For each bound from 1 to `global_sensitivity`, a mechanism for values at most that far apart, with
        pure privacy of at most (1 - share) epsilon under the relation. A public function.
    change : int
        The most that the local sensitivity moves between neighbors. Where it moves farther,
        `stability.slow_bound` is an upper bound of it that does not.
    global_sensitivity : int
        The most that the local sensitivity is on any data set.
    epsilon, delta, share, neighbors
        As for `PrivateLocalSensitivity`.

    Guarantee
    ---------
    (epsilon, delta)-DP: the bound is too small with probability at most delta; else the mechanism's guarantee
    holds (proof: docs/proofs/bounded_release.md).

    Finite precision
    ----------------
    The bound is an integer with exact noise, and its margin comes from certified tails; the rest is the
    mechanism's.

    Error
    -----
    The bound is released, so the error of an answer is that of the family's mechanism for it.
    `error_at(local_sensitivity=a)` is that of the mechanism for the median bound at a hypothetical a.

    Examples
    --------
    >>> from discreet.mechanisms import BoundedRelease, Laplace
    >>> mechanism = BoundedRelease(
    ...     family=lambda bound: Laplace(sensitivity=bound, epsilon=1, size=2),
    ...     change=1,
    ...     global_sensitivity=100,
    ...     epsilon=2,
    ...     delta=1e-6,
    ... )
    >>> mechanism.guarantee
    ApproximateDP(epsilon=2, delta=1e-6)
    >>> answer = mechanism.release([40, 50], 3)
    >>> 1 <= answer.bound <= 100
    True
    """

    bought: PrivateLocalSensitivity
    """What buys the bound."""
    family: Callable[[int], Calibrated[Any, Any]]
    """The mechanism for each bound."""

    def __init__(
        self,
        *,
        family: Callable[[int], Calibrated[Held, Given]],
        change: int,
        global_sensitivity: int,
        epsilon: Number,
        delta: Number,
        share: Number = 0.5,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        if not callable(family):
            raise ParameterError("family", "is not callable", "a function from a bound to a mechanism")
        bought = PrivateLocalSensitivity(
            change=whole(change, "change", least=1),
            global_sensitivity=whole(global_sensitivity, "global_sensitivity", least=1),
            epsilon=epsilon,
            delta=delta,
            share=share,
            neighbors=neighbors,
        )
        self._set(bought=bought, family=family)
        for bound in {1, bought.largest}:
            self.mechanism_for(bound)

    def __repr__(self) -> str:
        promise = self.guarantee
        return (
            f"BoundedRelease({self.mechanism_for(self.bought.largest)!r} at most, "
            f"epsilon={show(promise.epsilon)}, delta={show(promise.delta)})"
        )

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.bought.neighbors

    @property
    def event(self) -> Approximate:
        """One (epsilon, delta)-private release."""
        return self.bought.event

    @property
    def guarantee(self) -> ApproximateDP:
        """(epsilon, delta)-DP, as asked."""
        return self.bought.guarantee

    @property
    def epsilon(self) -> float:
        """The privacy loss of bound and value together, rounded up to a float."""
        return float_above(self.guarantee.epsilon)

    @property
    def delta(self) -> float:
        """The delta, rounded up to a float."""
        return float_above(self.guarantee.delta)

    def mechanism_for(self, bound: int) -> Calibrated[Any, Any]:
        """Return the family's mechanism for a bound, if it promises what is left of epsilon."""
        mechanism = self.family(bound)
        promise = pure_or_approximate(mechanism)
        left = (1 - self.bought.share) * self.guarantee.epsilon
        if not isinstance(promise, PureDP) or promise.epsilon > left:
            raise ParameterError("family", "costs more than is left", f"pure epsilon of {show(left)} or less")
        if promise.neighbors != self.neighbors:
            raise ParameterError("family", "holds for another neighbor relation", repr(self.neighbors))
        return mechanism

    def error_at(self, *, local_sensitivity: int) -> object:
        """Return the error of the mechanism for the median bound, if the local sensitivity were this."""
        bound = self.bought.median_bound(whole(local_sensitivity, "local_sensitivity", least=0))
        return self.mechanism_for(bound).error  # type: ignore[attr-defined]

    def release(self, value: Held, local_sensitivity: int) -> BoundedOutput[Given]:
        """Return what the family's mechanism makes of the value, and the bound that it was made for.

        Parameters
        ----------
        value : object
            The exact value, as the mechanisms take it.
        local_sensitivity : int
            How far the value is from that of any neighbor, or more; it moves by at most `change`.
        """
        bound = self.bought.release_bound(local_sensitivity)
        return BoundedOutput(output=self.mechanism_for(bound).release(value), bound=bound)

    def neighboring_inputs(self) -> tuple[tuple[tuple[Any, int], tuple[Any, int]], ...]:
        """Return pairs (value, local sensitivity) of neighbors, with values of the family at either bound."""
        change, largest = self.bought.change, self.bought.largest
        pairs = []
        for local in sorted({min(change, largest), largest}):
            inner = self.mechanism_for(local).neighboring_inputs()  # type: ignore[attr-defined]
            pairs += [((here, local), (there, min(local + change, largest))) for here, there in inner]
        return tuple(pairs)
