"""Propose-test-release: noise for a proposed sensitivity, where the data are far from exceeding it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Self

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.distance_to_instability import (
    FARTHEST,
    SHOWN,
    DistanceToInstability,
    entered_distance,
)
from discreet.mechanisms.adaptive.no_answer import NO_ANSWER, NoAnswer
from discreet.mechanisms.additive.bounded_answer import BoundedAnswer, StatisticValue, entered, rounding_of
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.error.laplace import LaplaceError
from discreet.mechanisms.values import stated_neighbors
from discreet.privacy.events import Event, Pure
from discreet.privacy.guarantees import ApproximateDP
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import Number, float_above, probability, rational, show
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record, dataclass

if TYPE_CHECKING:
    from discreet.figures import Axes, Panels
    from discreet.stability import Profile

__all__ = ["ProposeTestRelease", "ScaleLadder", "shares"]

MOST_RUNGS = 64

ValueAndDistance = tuple[int | float, int]
LadderInput = tuple[int | float, tuple[int, ...]]


def shares(epsilon: Number, share: Number) -> tuple[Fraction, Fraction]:
    """Split epsilon between a first step, which gets `share` of it, and the noise on the value."""
    loss = rational(epsilon, "epsilon", positive=True)
    part = probability(share, "share", zero=False, one=False)
    return part * loss, (1 - part) * loss


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class ProposeTestRelease(Record):
    """Add Laplace noise for a proposed sensitivity, or give no answer where the data might exceed it.

    The `distance` of a data set is the number of steps, each to a neighbor, to the nearest one whose local
    sensitivity exceeds the proposed bound: 0 if its own does.

    Parameters
    ----------
    sensitivity : number or Sensitivity
        The proposed bound on the local sensitivity, chosen without looking at the data. An int says that
        the value is an integer, and noise will be an integer too; a float or a fraction says that it is real.
    epsilon : number
        The privacy loss of test and noise together.
    delta : number
        With which probability at most a value leaves whose noise is too small for it.
    share : number
        Which part of epsilon pays for the test.
    grid : number, optional
        For real values: the power of two to round to. By default fine enough not to matter.
    neighbors : Neighbors, optional
        The relation in which distances are measured; by default adding or removing a person.

    Guarantee
    ---------
    (epsilon, delta)-DP (Dwork & Lei 2009; proof for this test and integer noise:
    docs/proofs/propose_test_release.md). `event` is the test, (share epsilon, delta)-private, and the noise.

    Finite precision
    ----------------
    The test is that of `DistanceToInstability`, and the noise that of `Laplace`: both are exact. Values are
    rounded to the grid, and this is charged; fractions are rounded to integers where those were declared.

    Error
    -----
    `error_at(distance=d)` is the probability of no answer at a hypothetical distance d; `noise.error` is the
    law of the error of integers and floats if there is one, and `fraction_error` that of fractions, which
    are rounded where integers were declared.

    Examples
    --------
    >>> from discreet.mechanisms.adaptive.propose_test_release import ProposeTestRelease
    >>> mechanism = ProposeTestRelease(sensitivity=2, epsilon=2, delta=1e-6)
    >>> mechanism.event
    Approximate(epsilon=1, delta=1e-6) + DiscreteLaplace(sensitivity=2, scale=2, size=1)
    >>> mechanism.guarantee
    ApproximateDP(epsilon=2, delta=1e-6)
    >>> mechanism.distance_for(0.95), mechanism.noise.error.quantile(0.95)
    (15, 6.0)
    >>> answer = mechanism.release(1234, 40)
    """

    test: DistanceToInstability
    """Whether a value leaves at all."""
    noise: Laplace
    """What is added to it then."""

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        delta: Number,
        share: Number = Fraction(1, 2),
        grid: Number | None = None,
        neighbors: Neighbors | None = None,
    ) -> None:
        relation = stated_neighbors(sensitivity, neighbors)
        tested, released = shares(epsilon, share)
        noise = Laplace(sensitivity=sensitivity, epsilon=released, grid=grid, size=1, neighbors=relation)
        test = DistanceToInstability(epsilon=tested, delta=delta, neighbors=relation)
        self._set(test=test, noise=noise)

    def with_laplace_noise(self) -> Self:
        """Return the same promise with the test as it was published: see `DistanceToInstability`."""
        return self._with(test=self.test.with_laplace_noise())

    def __repr__(self) -> str:
        return f"ProposeTestRelease(test={self.test!r}, noise={self.noise!r})"

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.noise.neighbors

    @property
    def event(self) -> Event:
        """The test, and the noise."""
        return self.test.event + self.noise.event

    @property
    def guarantee(self) -> ApproximateDP:
        """(epsilon, delta)-DP, as asked."""
        test, noise = self.test.guarantee, self.noise.guarantee
        return ApproximateDP(epsilon=test.epsilon + noise.epsilon, delta=test.delta, neighbors=self.neighbors)

    @property
    def epsilon(self) -> float:
        """The privacy loss of test and noise together, rounded up to a float."""
        return float_above(self.guarantee.epsilon)

    @property
    def delta(self) -> float:
        """The delta, rounded up to a float."""
        return self.test.delta

    @property
    def fraction_error(self) -> LaplaceError:
        """The law of the error of a fraction where there is an answer: rounding and noise."""
        rounding = rounding_of(Fraction(0), self.noise.lattice)
        error = self.noise.error
        return replace(error, rounding=max(error.rounding, rounding))

    def error_at(self, *, distance: int) -> float:
        """Return the probability of no answer if the distance were this, rounded up."""
        return self.test.error_at(distance=distance)

    def distance_for(self, probability: Number) -> int:
        """Return the smallest distance at which an answer is given with at least this probability."""
        return self.test.distance_for(probability)

    def release(self, value: StatisticValue, distance: int) -> int | float | NoAnswer:
        """Return the value with noise for the proposed bound, or `NO_ANSWER`.

        Parameters
        ----------
        value : int, float or Fraction
            The exact value.
        distance : int
            The steps to the nearest data set whose local sensitivity exceeds the bound.
        """
        on_lattice = entered(value, self.noise.lattice)
        if not self.test.passes(distance):
            return NO_ANSWER
        return self.noise.release(on_lattice)  # type: ignore[return-value]

    def plot(
        self, profile: Profile | None = None, *, ax: Panels | None = None, label: str | None = None
    ) -> Axes:
        """Draw with which probability the test is passed, at every distance; and how far the data are.

        Parameters
        ----------
        profile : Profile, optional
            Of the statistic on the data: a second panel shows its local sensitivity and the proposed bound,
            and both mark the distance. The figure is then as private as the data; without it, it is public.
        ax : axes, or two axes, optional
            Where to draw; by default a new figure.
        label : str, optional
            What the mechanism is called in the legend.

        Returns
        -------
        axes
            Of the test; its ``figure.axes`` are all.
        """
        from discreet.mechanisms.plot import plot_test
        from discreet.stability.distances import distance_to_sensitive

        bound = self.noise.event.sensitivity
        distance = None if profile is None else distance_to_sensitive(profile, bound)
        return plot_test(
            lambda distance: 1 - self.error_at(distance=min(distance, FARTHEST)),
            last=self.distance_for(SHOWN) + 1,
            delta=self.delta,
            bound=bound,
            found=profile,
            distance=distance,
            ax=ax,
            label=label,
        )

    def neighboring_inputs(self) -> tuple[tuple[ValueAndDistance, ValueAndDistance], ...]:
        """Return pairs (value, distance) of neighbors: beyond the bound, and within it a step apart."""
        steps = self.noise.event.shift
        start, end, beyond = (self._typed(value) for value in (0, steps, 64 * steps))
        half = self.distance_for(0.5)
        near_half = max(half - 1, 0)
        moves = sorted({(0, 1), (1, 0), (near_half, near_half + 1), (near_half + 1, near_half)})
        pairs = [((start, near), (end, far)) for near, far in moves]
        return ((start, 0), (beyond, 0)), *pairs

    def _typed(self, steps: int) -> int | float:
        return self.noise.lattice.leave(np.array(steps, np.int64))  # type: ignore[return-value]

    @classmethod
    def ladder(
        cls,
        *,
        sensitivities: Sequence[Number],
        epsilon: Number,
        delta: Number,
        share: Number = Fraction(1, 2),
        grid: Number | None = None,
        neighbors: Neighbors | None = None,
    ) -> ScaleLadder:
        """Return a mechanism that proposes several bounds, the smallest first, and pays for each test.

        Parameters
        ----------
        sensitivities : sequence of numbers
            The proposed bounds, increasing; all ints, or none.
        epsilon, delta
            Of all tests and the noise together.
        share : number
            Which part of epsilon pays for the tests, in equal parts.
        grid, neighbors
            As for one proposal.
        """
        bounds = [rational(bound, "sensitivities", positive=True) for bound in sensitivities]
        if not 0 < len(bounds) <= MOST_RUNGS or any(a >= b for a, b in pairwise(bounds)):
            raise ParameterError("sensitivities", "do not increase", f"1 to {MOST_RUNGS} increasing numbers")
        tested, released = shares(epsilon, share)
        part = tested / len(bounds)
        rungs = tuple(
            cls(
                sensitivity=bound,
                epsilon=part + released,
                delta=rational(delta, "delta", positive=True) / len(bounds),
                share=part / (part + released),
                grid=grid,
                neighbors=neighbors,
            )
            for bound in sensitivities
        )
        if len({rung.noise.lattice.integers for rung in rungs}) > 1:
            raise ParameterError("sensitivities", "are partly ints and partly real", "all ints, or none")
        return ScaleLadder(rungs=rungs)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ScaleLadder:
    """Propose several bounds, the smallest first, and add noise for the first one that passes its test.

    Built by `ProposeTestRelease.ladder`.

    Guarantee
    ---------
    (epsilon, delta)-DP. `event` is all tests, each with its share of epsilon and delta, and one release with
    noise, whichever it is (proof: docs/proofs/propose_test_release.md).

    Finite precision
    ----------------
    As for `ProposeTestRelease`.

    Error
    -----
    `error_at(distances=…)` is the probability of no answer. The answer names its bound, from which its
    interval follows.

    Examples
    --------
    >>> from discreet.mechanisms.adaptive.propose_test_release import ProposeTestRelease
    >>> ladder = ProposeTestRelease.ladder(sensitivities=[1, 10, 100], epsilon=4, delta=3e-6)
    >>> ladder.guarantee
    ApproximateDP(epsilon=4, delta=3e-6)
    >>> ladder.event
    Approximate(epsilon=2/3, delta=1e-6) * 3 + Pure(epsilon=2)
    >>> answer = ladder.release(1234, [0, 80, 2000])
    >>> answer.bound
    10
    """

    rungs: tuple[ProposeTestRelease, ...]

    def __post_init__(self) -> None:
        """Check that `event`, which counts the first rung for each, tells the truth."""
        alike = {(rung.test.event, rung.noise.guarantee, rung.noise.lattice.integers) for rung in self.rungs}
        if not 0 < len(self.rungs) <= MOST_RUNGS or len(alike) != 1:
            raise ParameterError("rungs", "do not have one epsilon and delta", "what `ladder` makes")

    def __repr__(self) -> str:
        bounds = ", ".join(show(rung.noise.event.sensitivity) for rung in self.rungs)
        promise = self.guarantee
        return f"Ladder([{bounds}], epsilon={show(promise.epsilon)}, delta={show(promise.delta)})"

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.rungs[0].neighbors

    @property
    def event(self) -> Event:
        """All tests, and one release."""
        first = self.rungs[0]
        released = Pure(epsilon=first.noise.guarantee.epsilon, neighbors=self.neighbors)
        return first.test.event * len(self.rungs) + released

    @property
    def guarantee(self) -> ApproximateDP:
        """(epsilon, delta)-DP, as asked."""
        test, noise = self.rungs[0].test.guarantee, self.rungs[0].noise.guarantee
        count = len(self.rungs)
        return ApproximateDP(
            epsilon=count * test.epsilon + noise.epsilon, delta=count * test.delta, neighbors=self.neighbors
        )

    def error_at(self, *, distances: Sequence[int]) -> float:
        """Return the probability of no answer if the distances for the bounds were these, rounded up."""
        self._check(distances)
        failures = zip(self.rungs, distances, strict=True)
        return float_above(Fraction(prod(Fraction(rung.error_at(distance=d)) for rung, d in failures)))

    def release(self, value: StatisticValue, distances: Sequence[int]) -> BoundedAnswer | NoAnswer:
        """Return the value with noise for the first bound that passes, and the bound; or `NO_ANSWER`.

        Parameters
        ----------
        value : int, float or Fraction
            The exact value.
        distances : sequence of int
            For each bound, the steps to the nearest data set whose local sensitivity exceeds it.
        """
        self._check(distances)
        values = [entered(value, rung.noise.lattice) for rung in self.rungs]
        steps = [entered_distance(distance) for distance in distances]  # all of them, before the first coin
        for rung, on_lattice, distance in zip(self.rungs, values, steps, strict=True):
            if rung.test.passes(distance):
                sensitivity = rung.noise.event.sensitivity
                bound = int(sensitivity) if rung.noise.lattice.integers else float_above(sensitivity)
                noisy: int | float = rung.noise.release(on_lattice)  # type: ignore[assignment]
                return BoundedAnswer(
                    answer=noisy,
                    bound=bound,
                    noise=rung.noise,
                    rounding=rounding_of(value, rung.noise.lattice),
                )
        return NO_ANSWER

    def _check(self, distances: Sequence[int]) -> None:
        if len(distances) != len(self.rungs):
            raise ParameterError("distances", "are not one for each bound", f"{len(self.rungs)} ints")

    def neighboring_inputs(self) -> tuple[tuple[LadderInput, LadderInput], ...]:
        """Return pairs (value, distances) of neighbors: at the last bound alone, and at all of them."""
        others = len(self.rungs) - 1
        pairs = self.rungs[-1].neighboring_inputs()
        at_the_last = [((x, (0,) * others + (d,)), (y, (0,) * others + (e,))) for (x, d), (y, e) in pairs]
        at_all = [((x, (d,) * (others + 1)), (x, (e,) * (others + 1))) for (x, d), (_, e) in pairs[1:]]
        return *at_the_last, *at_all
