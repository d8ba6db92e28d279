"""The public numbers of a run on an accelerator, whose sums are exact and whose noise is a stack."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from discreet.errors import ParameterError
from discreet.learning.deep.plan import GRID_STEPS, TrainingPlan, least_multiplier
from discreet.noise.stacked_gaussian import StackedGaussian
from discreet.privacy.events import Approximate, Event, PoissonSampled

__all__ = ["DevicePlan"]

_CLOSENESS = Fraction(1, 2**18)
"""By how much more variance is drawn than is charged: the stack's law is nearly that of a normal number."""
_FAILURE = Fraction(1, 2**58)
"""The probability that a draw is not of this law."""
_LEAST_MULTIPLIER, _MOST_MULTIPLIER, _MOST_SIZE = 0.4, 256, 2**30  # for which both are proven
_FINE, _COARSE = 4, 16
"""Grid steps in an integer for noise below the sensitivity; integers in a step for noise beyond 16 times."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class DevicePlan(TrainingPlan):
    """What is fixed before training on an accelerator starts. Parameters as for `TrainingPlan`.

    Guarantee
    ---------
    (epsilon, delta) for adding or removing a person with all examples. A person moves the integers that are
    added up by at most 2^24 + 2 in L2, where 2^24 is the bound of clipping. Noise of three look-ups is added
    (`noise.stacked_gaussian`), and charged as rounded normal noise of a little less variance, with a failure
    probability of 2^-58 a step. The grid of the noise is that of the integers, or finer for little noise, or
    coarser for much (proof: docs/proofs/integer_gradients.md).
    """

    def _multiplier(self, rate: Fraction, steps: int, epsilon: Fraction, delta: Fraction) -> float:
        left = delta - steps * _FAILURE
        if left <= 0:
            raise ParameterError("delta", "is too small for an accelerator's noise", "more than steps / 2^58")
        found = least_multiplier(rate, steps, epsilon, left)
        if not _LEAST_MULTIPLIER <= found <= _MOST_MULTIPLIER:
            raise ParameterError(
                "epsilon",
                "needs more noise than an accelerator draws, or hardly any",
                "a model on the processor, or another budget",
            )
        return found

    def _length(self, multiplier: float, people: int, examples: int, size: int) -> int:
        if size > _MOST_SIZE:
            raise ParameterError("model", "has too many trained numbers", "at most 2^30 on an accelerator")
        del people, examples  # sums are exact, and rounding is part of an example's length
        if multiplier < 1:
            return _FINE * (GRID_STEPS + 2)
        if multiplier <= _COARSE:
            return GRID_STEPS + 2
        return (GRID_STEPS + 2) // _COARSE + 1 + isqrt(size) + 1

    @property
    def steps_of_integer(self) -> Fraction:
        """How many grid steps of the noise one of the integers is that are added up."""
        squared = self.squared_sensitivity - self.count_weight**2
        if squared >= (_FINE * GRID_STEPS) ** 2:
            return Fraction(_FINE)
        return Fraction(1) if squared >= GRID_STEPS**2 else Fraction(1, _COARSE)

    @property
    def stack(self) -> StackedGaussian:
        """The law of the noise that is drawn."""
        return StackedGaussian(self.variance * (1 + _CLOSENESS))

    @property
    def event_of_charge(self) -> Event:
        """What one step releases."""
        return PoissonSampled(self._noise, rate=self.rate) + Approximate(epsilon=0, delta=_FAILURE)
