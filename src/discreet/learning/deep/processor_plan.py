"""The public numbers of a run on the processor: noise of one word, and sums in floats of few examples."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from discreet.learning.deep.one_word_plan import OneWordPlan
from discreet.privacy.rational import float_below

__all__ = ["ProcessorPlan"]

_MOST_ROWS, _LEAST_ROWS = 2**8, 2**5
_MOST_PRODUCT = 2**16  # of places and rows: what floats round is charged with 2^-7 of the bound at most
_UNIT = Fraction(1, 2**24)
_DOUBLES = Fraction(1, 2**31)
_OWN = Fraction(1, 2**21)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class ProcessorPlan(OneWordPlan):
    """What is fixed before training on the processor starts. Parameters as for `TrainingPlan`.

    Guarantee
    ---------
    That of `OneWordPlan`. What sums are rounded by is part of the sensitivity: a person moves the integers
    that a step releases by at most (1 + rounding) bound_in_steps + sqrt(size) + 2
    (proof: docs/proofs/private_gradients.md, lemma 3b and theorem 4b).
    """

    most_rounding: ClassVar[int] = 2**7

    @property
    def rows_in_floats(self) -> int:
        """How many examples are added up in floats at most; 0 if all are in doubles: a step has too many."""
        rows = _MOST_ROWS
        while rows * self.places > _MOST_PRODUCT:
            rows //= 2
        return rows if rows >= _LEAST_ROWS else 0

    @property
    def rounding(self) -> Fraction:
        """What is charged for rounding, as a share of the bound of clipping: lemma 3b for two neighbors."""
        rows = self.rows_in_floats
        of_floats = rows * _UNIT / (1 - rows * _UNIT) * self.places
        return 2 * (of_floats * (1 + _OWN) + _DOUBLES * self.population * self.examples) + _OWN

    @property
    def bound_in_steps(self) -> float:
        """The bound of clipping in grid steps."""
        return float_below(self._room / (1 + self.rounding))
