"""The public numbers of a run on an accelerator, whose sums are exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.learning.deep.one_word_plan import OneWordPlan

__all__ = ["DevicePlan"]

_MOST_INTEGERS_BITS = 30


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class DevicePlan(OneWordPlan):
    """What is fixed before training on an accelerator starts. Parameters as for `TrainingPlan`.

    Guarantee
    ---------
    That of `OneWordPlan`. The bound of clipping is as many integers as its noise is for: a person moves the
    integers that are added up by at most L + 2 in L2, where L, from 2^29 to 2^30, is the bound. They are
    rounded to a grid of 2^shift, and noise is added (proof: docs/proofs/integer_gradients.md).
    """

    most_rounding: ClassVar[int] = 4

    @property
    def shift(self) -> int:
        """Log2 of a grid step of the noise, in integers that are added up."""
        return _MOST_INTEGERS_BITS - self._room.bit_length()

    @property
    def integers(self) -> int:
        """The bound of clipping, in integers that are added up."""
        return (self._room << self.shift) - 2
