"""Smooth sensitivity: noise in proportion to how far *these* data, and those around them, can move."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import exp
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.mechanisms.adaptive.smooth_release import (
    answer_lattice,
    checked_decay,
    promised_event,
    stated_guarantee,
)
from discreet.mechanisms.admissible.choice import best_noise, best_noise_and_decay, budget_for
from discreet.mechanisms.admissible.error import ScaledNoise
from discreet.mechanisms.admissible.noise import LARGEST_BUDGET, Admissible
from discreet.noise.certified import cumulative, sample_rounded
from discreet.noise.entropy import current
from discreet.privacy.events import Approximate, Pure, ZeroConcentrated
from discreet.privacy.guarantees import ApproximateDP, Guarantee, PureDP, ZeroConcentratedDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors, check_relation
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, non_negative, rational, show
from discreet.records import Record, dataclass
from discreet.stability.profile import Profile

if TYPE_CHECKING:
    from discreet.figures import Axes, Panels

__all__ = ["SmoothSensitivity"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class SmoothSensitivity(Record):
    """Release a statistic with noise in proportion to its smooth sensitivity.

    Parameters
    ----------
    noise : Admissible
        The law of the noise; see `discreet.mechanisms.admissible`.
    epsilon, delta, rho : number
        The budget, as the noise has it: epsilon for pure, epsilon and delta for approximate, rho for
        concentrated noise. An epsilon above 1000 (a rho above 500000) is charged, but makes no less noise.
    decay : number
        How fast the smooth sensitivity forgets data sets that are farther away: max_k e^(-decay k) A_k. A
        smaller decay costs less of the budget and makes the smooth sensitivity larger.
    lower, upper : number
        Public bounds of the answer; what is drawn beyond them is clamped.
    grid : number, optional
        A power of two; answers are multiples of it. By default some 2^32 steps between the bounds. With a
        grid of 1 answers are ints, else floats.
    neighbors : Neighbors
        The relation for which the profiles hold.

    Guarantee
    ---------
    The budget given: the answer is value + (S / shift) Z, where S is smooth, S >= A_0 and S <= e^decay S'
    for neighbors, and `shift` is the largest for which the noise tolerates shift and dilation (Nissim,
    Raskhodnikova & Smith 2007; Bun & Steinke 2019; proofs: docs/proofs/smooth_sensitivity.md and
    docs/proofs/admissible_noise.md).

    Finite precision
    ----------------
    What is released is the rounding to a public grid of an ideal real number, exactly: the noise is drawn
    by comparing a uniform number, bit by bit, with certified bounds on the distribution function, so that the
    theorem for real-valued noise holds unchanged. The rounding of the smooth sensitivity is
    charged: the dilation is decay + 2^-39. The work of a draw depends a little on how far out it is, and on
    the length of the fractions; it is not constant.

    Error
    -----
    Private, since the smooth sensitivity is: `error_at` tells the law of the error for a hypothetical one.

    Examples
    --------
    >>> from discreet.mechanisms.admissible import Student
    >>> from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
    >>> mechanism = SmoothSensitivity(noise=Student(degrees=3), epsilon=1, decay=0.05, lower=0, upper=100)
    >>> mechanism.event
    Pure(epsilon=1)
    >>> round(mechanism.error_at(smooth_sensitivity=0.5).deviation, 3)
    1.023
    """

    noise: Admissible
    """The law of the noise."""
    guarantee: PureDP | ApproximateDP | ZeroConcentratedDP
    """What is promised."""
    decay: Fraction
    """How fast the smooth sensitivity forgets."""
    shift: Fraction
    """Noise is scaled by the smooth sensitivity over this."""
    grid: Fraction
    """Answers are multiples of it."""
    least: int
    """The least answer, in steps of the grid."""
    most: int
    """The largest answer, in steps of the grid."""

    def __init__(
        self,
        *,
        noise: Admissible,
        decay: Number,
        lower: Number,
        upper: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        grid: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> None:
        if not isinstance(noise, Admissible):
            raise ParameterError(
                "noise", "is not an admissible noise", "one of discreet.mechanisms.admissible"
            )
        check_relation(neighbors)
        rate = checked_decay(decay)
        shift = noise.largest_shift(dilation=rate + Profile.SLACK, epsilon=epsilon, delta=delta, rho=rho)
        if shift <= 0:
            raise ParameterError("decay", "takes the whole budget", "smaller, or a larger budget")
        step, least, most = answer_lattice(lower, upper, grid)
        guarantee = stated_guarantee(epsilon, delta, rho, neighbors)
        self._set(
            noise=noise, guarantee=guarantee, decay=rate, shift=shift, grid=step, least=least, most=most
        )

    @classmethod
    def best(
        cls,
        *,
        lower: Number,
        upper: Number,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        decay: Number | None = None,
        sensitivity_hint: Sequence[Number] | None = None,
        grid: Number | None = None,
        neighbors: Neighbors = ADD_REMOVE_PERSON,
    ) -> SmoothSensitivity:
        """Choose noise, its parameters and the decay to minimize the error, from public facts.

        Parameters
        ----------
        lower, upper, grid, neighbors
            As for the mechanism.
        epsilon, delta, rho : number
            epsilon alone for pure privacy, epsilon and delta, or rho.
        decay : number, optional
            A fixed decay: the standard deviation of the noise per unit of smooth sensitivity is minimized.
        sensitivity_hint : sequence of numbers, optional
            Instead of a decay: what the local sensitivity at the distances 0, 1, … is supposed to be, beyond
            the last the same. Public numbers, such as those of made-up data: only the error hangs on them.

        Examples
        --------
        >>> from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
        >>> SmoothSensitivity.best(rho=0.5, decay=0.1, lower=0, upper=100).noise
        ArcsinhNormal(spread=...)
        """
        if (decay is None) == (sensitivity_hint is None):
            raise ParameterError("decay", "and sensitivity_hint are both missing or given", "one of the two")
        offer = _checked_offer(epsilon, delta, rho)
        if decay is not None:
            rate = checked_decay(decay)
            noise, _ = best_noise(offer, rate + Profile.SLACK)
        else:
            local = [float(non_negative(size, "sensitivity_hint")) for size in sensitivity_hint or ()]
            if not local or max(local) <= 0 or local != sorted(local):
                raise ParameterError(
                    "sensitivity_hint",
                    "is not a growing list of sizes",
                    "numbers that never fall, the last positive",
                )
            noise, rate = best_noise_and_decay(offer, local, Profile.SLACK)
        budget = budget_for(noise, offer) or {}
        return cls(
            noise=noise, decay=rate, lower=lower, upper=upper, grid=grid, neighbors=neighbors, **budget
        )

    @property
    def neighbors(self) -> Neighbors:
        """The relation for which the guarantee holds."""
        return self.guarantee.neighbors

    @property
    def event(self) -> Pure | Approximate | ZeroConcentrated:
        """The guarantee as an event: nothing more is known about the laws, which depend on the data."""
        return promised_event(self.guarantee)

    @property
    def at_equal_scale(self) -> Guarantee:
        """What holds between neighbors of one smooth sensitivity, whose laws differ by a shift alone.

        It may be of a stronger notion than `guarantee`: Laplace-log-normal noise is then pure. It says what a
        release reveals where the scale does not; whether it does is as private as the data.
        """
        return self.noise.shift_budget(shift=self.shift, neighbors=self.neighbors)

    def error_at(self, *, smooth_sensitivity: Number) -> ScaledNoise:
        """Return the law of the error if the smooth sensitivity were a number: hypothetical, for planning."""
        size = non_negative(smooth_sensitivity, "smooth_sensitivity")
        return ScaledNoise(noise=self.noise, scale=size / self.shift, rounding=self.grid / 2)

    def release(self, profile: Profile) -> int | float:
        """Return the statistic of a profile with noise, rounded to the grid and clamped to the bounds."""
        source = current()
        center, scale = self._law(profile)
        if scale == 0:  # the statistic is the same for all data that can be reached from these
            steps = min(max((center + Fraction(1, 2)).__floor__(), self.least), self.most)
        else:
            steps = sample_rounded(
                self.noise, center=center, scale=scale, least=self.least, most=self.most, source=source
            )
        return source.mark(steps if self.grid == 1 else float(steps * self.grid))

    def probability(self, profile: Profile, answer: Number, *, bits: int = 128) -> tuple[Fraction, Fraction]:
        """Enclose the probability that `release` returns an answer: for audits, as private as the data."""
        center, scale = self._law(profile)
        steps = rational(answer, "answer") / self.grid
        if steps.denominator != 1 or not self.least <= steps <= self.most:
            return Fraction(0), Fraction(0)
        if scale == 0:
            sure = min(max((center + Fraction(1, 2)).__floor__(), self.least), self.most) == steps
            return Fraction(sure), Fraction(sure)
        low = high = 0
        if steps < self.most:
            end = cumulative(self.noise, (steps + Fraction(1, 2) - center) / scale, bits)
        else:
            end = 1 << bits, 1 << bits
        if steps > self.least:
            low, high = cumulative(self.noise, (steps - Fraction(1, 2) - center) / scale, bits)
        return Fraction(max(end[0] - high, 0), 1 << bits), Fraction(end[1] - low, 1 << bits)

    def _law(self, profile: Profile) -> tuple[Fraction, Fraction]:
        """Return the center and the scale of what is drawn, in steps of the grid."""
        if not isinstance(profile, Profile):
            raise ParameterError("profile", "is not a profile", "a discreet.stability.Profile of a statistic")
        if profile.relation != self.neighbors:
            raise ParameterError("profile", "holds for another neighbor relation", repr(self.neighbors))
        return profile.value / self.grid, profile.smooth(self.decay) / (self.shift * self.grid)

    def neighboring_inputs(self) -> tuple[tuple[Profile, Profile], ...]:
        """Return pairs of profiles that neighbors may have: one slides, slides and shrinks, or shrinks."""
        size = max((self.most - self.least) // 16, 1) * self.grid
        start = Fraction(self.least + self.most, 2) * self.grid
        near = exp(-float(self.decay)) * float(size) * (1 - 2.0**-40)

        def profile(value: Fraction, *local: float) -> Profile:
            return Profile.of(value=value, local=local, relation=self.neighbors)

        center = profile(start, float(size))
        return (
            (center, profile(start + Fraction(float(size)), float(size))),
            (center, profile(start + Fraction(near), near, float(size))),
            (center, profile(start, near, float(size))),
        )

    def plot(
        self,
        profile: Profile | None = None,
        neighbor: Profile | None = None,
        *,
        ax: Panels | None = None,
        label: str | None = None,
    ) -> Axes:
        """Draw the law of the answer on two profiles, and the logarithm of their ratio with its bound.

        Parameters
        ----------
        profile, neighbor : Profile, optional
            Of two neighbors. The figure is then as private as the data. By default made-up ones, from
            `neighboring_inputs`, of which one has the larger value and the smaller sensitivity.
        ax, label
            As for `Laplace.plot`.
        """
        from discreet.mechanisms.adaptive.plot import plot_smooth

        return plot_smooth(self, (profile, neighbor), ax, label)

    def __repr__(self) -> str:
        bounds = f"lower={show(self.least * self.grid)}, upper={show(self.most * self.grid)}"
        bounds += f", grid={show(self.grid)}"
        return f"SmoothSensitivity(noise={self.noise!r}, {self.event!r}, decay={show(self.decay)}, {bounds})"


def _checked_offer(epsilon: Number | None, delta: Number | None, rho: Number | None) -> Offer:
    offer = Offer(epsilon=epsilon, delta=delta, rho=rho)
    for name, number in (("epsilon", offer.epsilon), ("rho", offer.rho)):
        if number is not None and number > LARGEST_BUDGET:
            raise ParameterError(name, "is too large", f"at most {LARGEST_BUDGET}")
    return offer
