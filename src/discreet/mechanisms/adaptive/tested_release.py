"""Tested release: any mechanism for a proposed bound, where the data are far from exceeding it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.distance_to_instability import (
    SHOWN,
    DistanceToInstability,
    entered_distance,
)
from discreet.mechanisms.adaptive.no_answer import NO_ANSWER, NoAnswer
from discreet.privacy.events import Event
from discreet.privacy.guarantees import ApproximateDP, Guarantee, PureDP
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import Number, float_above
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes, Panels

__all__ = ["Calibrated", "TestedRelease", "pure_or_approximate"]

Held_contra = TypeVar("Held_contra", contravariant=True)
Given_co = TypeVar("Given_co", covariant=True)


class Calibrated(Protocol[Held_contra, Given_co]):
    """A mechanism whose guarantee holds for values that are at most so far apart."""

    @property
    def event(self) -> Event:
        """The law that is drawn."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """What that promises."""
        ...

    @property
    def neighbors(self) -> Neighbors:
        """The relation."""
        ...

    def release(self, value: Held_contra, /) -> Given_co:
        """Draw."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class TestedRelease(Record, Generic[Held_contra, Given_co]):
    """Propose-test-release for a statistic of any kind: a mechanism for a proposed bound, or no answer.

    `ProposeTestRelease` is this for one number and Laplace noise. Here the value may be a vector, a set, a
    partition or a model: whatever the mechanism takes. The `distance` of a data set is the number of steps,
    each to a neighbor, to the nearest one from which some neighbor's value is farther than the bound.

    Parameters
    ----------
    mechanism : mechanism
        One that keeps its guarantee for values at most the proposed bound apart, chosen without looking at
        the data: `NearbyOutput` with that reach, or `Laplace` or `Gaussian` with that sensitivity. Its
        guarantee is pure or approximate.
    epsilon, delta : number
        Of the test, beside what the mechanism costs.

    Guarantee
    ---------
    (epsilon + epsilon', delta + delta')-DP with the mechanism's epsilon' and delta'; `event` is the test and
    the mechanism's event (Dwork & Lei 2009; proof: docs/proofs/tested_release.md). Any number that is 0 where
    the bound is exceeded, and differs by at most 1 between neighbors, may stand for the distance.

    Finite precision
    ----------------
    That of the mechanism; the test is the exact coin of `DistanceToInstability`. The release is drawn before
    the coin is tossed, and thrown away where it fails: neither an error nor the time tells of the coin.

    Error
    -----
    `error_at(distance=d)` is the probability of no answer at a hypothetical distance d. An answer has the
    mechanism's error.

    Examples
    --------
    >>> from discreet.mechanisms import Gaussian, TestedRelease
    >>> mechanism = TestedRelease(
    ...     mechanism=Gaussian(sensitivity=2.0, epsilon=1, delta=1e-6, size=3), epsilon=1, delta=1e-6
    ... )
    >>> mechanism.guarantee
    ApproximateDP(epsilon=2, delta=2e-6)
    >>> mechanism.distance_for(0.95)
    15
    """

    __test__ = False  # not a test of pytest's

    test: DistanceToInstability
    """Whether there is an answer at all."""
    mechanism: Calibrated[Any, Any]
    """What makes it."""

    def __init__(
        self, *, mechanism: Calibrated[Held_contra, Given_co], epsilon: Number, delta: Number
    ) -> None:
        pure_or_approximate(mechanism)
        test = DistanceToInstability(epsilon=epsilon, delta=delta, neighbors=mechanism.neighbors)
        self._set(test=test, mechanism=mechanism)

    def __repr__(self) -> str:
        return f"TestedRelease(test={self.test!r}, mechanism={self.mechanism!r})"

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.test.neighbors

    @property
    def event(self) -> Event:
        """The test, and the mechanism's event."""
        return self.test.event + self.mechanism.event

    @property
    def guarantee(self) -> ApproximateDP:
        """(epsilon, delta)-DP: those of the test and of the mechanism, added up."""
        test, inner = self.test.guarantee, pure_or_approximate(self.mechanism)
        delta = test.delta + (inner.delta if isinstance(inner, ApproximateDP) else 0)
        return ApproximateDP(epsilon=test.epsilon + inner.epsilon, delta=delta, neighbors=self.neighbors)

    @property
    def epsilon(self) -> float:
        """The privacy loss of test and mechanism together, rounded up to a float."""
        return float_above(self.guarantee.epsilon)

    @property
    def delta(self) -> float:
        """The delta of test and mechanism together, rounded up to a float."""
        return float_above(self.guarantee.delta)

    def error_at(self, *, distance: int) -> float:
        """Return the probability of no answer if the distance were this, rounded up."""
        return self.test.error_at(distance=distance)

    def distance_for(self, probability: Number) -> int:
        """Return the smallest distance at which an answer is given with at least this probability."""
        return self.test.distance_for(probability)

    def release(self, value: Held_contra, distance: int) -> Given_co | NoAnswer:
        """Return what the mechanism makes of the value, or `NO_ANSWER`.

        Parameters
        ----------
        value : object
            The exact value, as the mechanism takes it.
        distance : int
            The steps to the nearest data set that exceeds the bound; `stability.distance_to_sensitive` has it
            from a profile.
        """
        steps = entered_distance(distance)
        answer: Given_co = self.mechanism.release(value)
        return answer if self.test.passes(steps) else NO_ANSWER

    def plot(self, *, ax: Panels | None = None, label: str | None = None) -> Axes:
        """Draw with which probability there is an answer, at every distance. It shows public numbers only."""
        from discreet.mechanisms.plot import plot_test

        return plot_test(
            lambda distance: 1 - self.error_at(distance=distance),
            last=self.distance_for(SHOWN) + 1,
            delta=self.test.delta,
            ax=ax,
            label=label,
        )

    def neighboring_inputs(self) -> tuple[tuple[tuple[Any, int], tuple[Any, int]], ...]:
        """Return pairs (value, distance) of neighbors: values within the bound, a step apart in distance."""
        half = max(self.distance_for(0.5), 1)
        inner = self.mechanism.neighboring_inputs()  # type: ignore[attr-defined]
        return tuple(
            ((here, near), (there, far))
            for here, there in inner
            for near, far in ((0, 1), (half - 1, half), (half, half - 1))
        )


def pure_or_approximate(mechanism: Calibrated[Any, Any]) -> PureDP | ApproximateDP:
    """Return the guarantee of a mechanism, or refuse what is none, or has one of another kind."""
    if not all(hasattr(mechanism, name) for name in ("event", "guarantee", "neighbors", "release")):
        raise ParameterError("mechanism", "is not a mechanism", "one with event, guarantee and release")
    promise = mechanism.guarantee
    if not isinstance(promise, PureDP | ApproximateDP):
        raise ParameterError(
            "mechanism",
            "promises neither pure nor approximate privacy",
            "one built from epsilon, or with delta",
        )
    return promise
