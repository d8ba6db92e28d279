"""The public numbers of a run whose noise always has one law, to which gradients are scaled."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import ClassVar

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

__all__ = ["BeyondOneWord", "OneWordPlan"]

_CLOSENESS = Fraction(1, 2**18)
"""By how much more variance is drawn than is charged: its law is nearly that of a normal number."""
_FAILURE = Fraction(1, 2**58)
"""The probability that a draw is not of this law."""
_LEAST_MULTIPLIER, _MOST_MULTIPLIER = 0.4, 256  # for which both are proven
_MOST_SIZE = 2**30  # likewise


class BeyondOneWord(ParameterError):
    """Says which number asks for noise of another law."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class OneWordPlan(TrainingPlan):
    """What is fixed before training with noise of `noise.one_word_gaussian` starts.

    Parameters are those of `TrainingPlan`.

    Guarantee
    ---------
    (epsilon, delta) for adding or removing a person with all examples. The sensitivity, in grid steps, is as
    large as this noise is for, which is charged as rounded normal noise of a little less variance, with a
    failure probability of 2^-58 a step, beside that of too few places
    (proof: docs/proofs/integer_gradients.md, theorem 4).
    """

    most_rounding: ClassVar[int]
    """The part of the sensitivity, one in so many, that rounding to the grid may be."""

    def _multiplier(self, rate: Fraction, steps: int, epsilon: Fraction, delta: Fraction) -> float:
        left = delta - steps * _FAILURE
        if left <= 0:
            raise BeyondOneWord("delta", "is too small for an accelerator's noise", "more than steps / 2^58")
        found = least_multiplier(rate, steps, epsilon, left)
        if not _LEAST_MULTIPLIER <= found <= _MOST_MULTIPLIER:

            def run(multiplier: float) -> Event:
                return PoissonSampled(Gaussian(noise_multiplier=multiplier), rate=rate) * steps

            ends = (_LEAST_MULTIPLIER, _MOST_MULTIPLIER)
            instead = " on an accelerator; or a model on the processor"
            refused = beyond_noise(run, epsilon, left, ends, instead)
            raise BeyondOneWord(refused.parameter, refused.problem, refused.allowed)
        return found

    def _length(self, ratio: float, people: int, examples: int, size: int) -> int:
        """Return the largest sensitivity for which the noise is enough, with a count of any weight."""
        if size >= _MOST_SIZE:
            raise BeyondOneWord("model", "has too many trained numbers", "fewer than 2^30 on an accelerator")
        check_population(people, examples)
        enough = VARIANCE / ((1 + 2 * _CLOSENESS) * Fraction(ratio) ** 2)
        length = isqrt(int(enough)) - 2
        if length < self.most_rounding * (isqrt(size) + 2):
            raise BeyondOneWord(
                "epsilon",
                "needs so much noise that rounding for so many trained numbers would add to it",
                "a model on the processor, a smaller one, or another budget",
            )
        return length

    @property
    def _room(self) -> int:
        """The sensitivity in grid steps, without that of rounding and of the count."""
        return isqrt(self.squared_sensitivity - self.count_weight**2) - isqrt(self.size) - 2

    @property
    def event_of_charge(self) -> Event:
        """What one step releases."""
        return with_failure(PoissonSampled(self._noise, rate=self.rate), _FAILURE + self.overflow)
