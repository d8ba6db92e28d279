"""The public numbers of a run on an accelerator, whose sums are exact and whose noise is a stack."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from discreet.errors import ParameterError
from discreet.learning.deep.plan import TrainingPlan, check_population, least_multiplier
from discreet.noise.stacked_gaussian import StackedGaussian
from discreet.privacy.events import Approximate, Event, PoissonSampled

__all__ = ["INTEGERS", "DevicePlan"]

_CLOSENESS = Fraction(1, 2**18)
"""By how much more variance is drawn than is charged: the stack's law is nearly that of a normal number."""
_FAILURE = Fraction(1, 2**58)
"""The probability that a draw is not of this law."""
_LEAST_MULTIPLIER, _MOST_USUAL_MULTIPLIER, _MOST_MULTIPLIER = 0.4, 16, 256  # for which both are proven
_MOST_SIZE = 2**30  # likewise
INTEGERS = 2**30
"""The bound of clipping, in integers that are added up."""
_SHIFTS = {26: 4, 24: 6, 20: 10}
"""Log2 of a grid step of the noise, in integers, by log2 of the sensitivity in grid steps."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class DevicePlan(TrainingPlan):
    """What is fixed before training on an accelerator starts. Parameters as for `TrainingPlan`.

    Guarantee
    ---------
    (epsilon, delta) for adding or removing a person with all examples. A person moves the integers that are
    added up by at most 2^30 + 2 in L2, where 2^30 is the bound of clipping. They are rounded to a grid of 16,
    64 or 1,024, by how much noise there is; noise of three look-ups is added (`noise.stacked_gaussian`), and
    charged as rounded normal noise of a little less variance, with a failure probability of 2^-58 a step
    (proof: docs/proofs/integer_gradients.md).
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
        check_population(people, examples)
        shift = _SHIFTS[26 if multiplier < 1 else 24 if multiplier <= _MOST_USUAL_MULTIPLIER else 20]
        return ((INTEGERS + 2) >> shift) + 1 + isqrt(size) + 1

    @property
    def shift(self) -> int:
        """Log2 of a grid step of the noise, in integers that are added up."""
        length = isqrt(self.squared_sensitivity - self.count_weight**2)
        return next(shift for least, shift in _SHIFTS.items() if length >= 2**least)

    @property
    def stack(self) -> StackedGaussian:
        """The law of the noise that is drawn."""
        return StackedGaussian(self.variance * (1 + _CLOSENESS))

    @property
    def event_of_charge(self) -> Event:
        """What one step releases."""
        return PoissonSampled(self._noise, rate=self.rate) + Approximate(epsilon=0, delta=_FAILURE)
