"""The public numbers of a run on an accelerator, whose sums are exact and whose noise has one law."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from discreet.errors import ParameterError
from discreet.learning.deep.plan import (
    TrainingPlan,
    beyond_noise,
    check_population,
    least_multiplier,
    with_failure,
)
from discreet.noise.one_word_gaussian import VARIANCE
from discreet.privacy.events import Event, Gaussian, PoissonSampled

__all__ = ["DevicePlan"]

_CLOSENESS = Fraction(1, 2**18)
"""By how much more variance is drawn than is charged: its law is nearly that of a normal number."""
_FAILURE = Fraction(1, 2**58)
"""The probability that a draw is not of this law."""
_LEAST_MULTIPLIER, _MOST_MULTIPLIER = 0.4, 256  # for which both are proven
_MOST_SIZE = 2**30  # likewise
_MOST_INTEGERS_BITS = 30
_MOST_ROUNDING = 4
"""The part of the sensitivity, one in so many, that rounding to the grid may be."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class DevicePlan(TrainingPlan):
    """What is fixed before training on an accelerator starts. Parameters as for `TrainingPlan`.

    Guarantee
    ---------
    (epsilon, delta) for adding or removing a person with all examples. Noise always has the same law
    (`noise.one_word_gaussian`), and the bound of clipping is as many integers as this noise is for:
    a person moves the integers that are added up by at most L + 2 in L2, where L, from 2^29 to 2^30, is the
    bound. They are rounded to a grid of 2^shift, noise is added, and charged as rounded normal noise of a
    little less variance, with a failure probability of 2^-58 a step, beside that of too few places
    (proof: docs/proofs/integer_gradients.md).
    """

    def _multiplier(self, rate: Fraction, steps: int, epsilon: Fraction, delta: Fraction) -> float:
        left = delta - steps * _FAILURE
        if left <= 0:
            raise ParameterError("delta", "is too small for an accelerator's noise", "more than steps / 2^58")
        found = least_multiplier(rate, steps, epsilon, left)
        if not _LEAST_MULTIPLIER <= found <= _MOST_MULTIPLIER:

            def run(multiplier: float) -> Event:
                return PoissonSampled(Gaussian(noise_multiplier=multiplier), rate=rate) * steps

            ends = (_LEAST_MULTIPLIER, _MOST_MULTIPLIER)
            raise beyond_noise(run, epsilon, left, ends, " on an accelerator; or a model on the processor")
        return found

    def _length(self, ratio: float, people: int, examples: int, size: int) -> int:
        """Return the largest sensitivity for which the noise is enough, with a count of any weight."""
        if size >= _MOST_SIZE:
            raise ParameterError("model", "has too many trained numbers", "fewer than 2^30 on an accelerator")
        check_population(people, examples)
        enough = VARIANCE / ((1 + 2 * _CLOSENESS) * Fraction(ratio) ** 2)
        length = isqrt(int(enough)) - 2
        if length < _MOST_ROUNDING * (isqrt(size) + 2):
            raise ParameterError(
                "epsilon",
                "needs so much noise that rounding for so many trained numbers would add to it",
                "a model on the processor, a smaller one, or another budget",
            )
        return length

    @property
    def _room(self) -> int:
        """The bound of clipping in grid steps: the sensitivity without that of rounding."""
        return isqrt(self.squared_sensitivity - self.count_weight**2) - isqrt(self.size) - 2

    @property
    def shift(self) -> int:
        """Log2 of a grid step of the noise, in integers that are added up."""
        return _MOST_INTEGERS_BITS - self._room.bit_length()

    @property
    def integers(self) -> int:
        """The bound of clipping, in integers that are added up."""
        return (self._room << self.shift) - 2

    @property
    def event_of_charge(self) -> Event:
        """What one step releases."""
        return with_failure(PoissonSampled(self._noise, rate=self.rate), _FAILURE + self.overflow)
