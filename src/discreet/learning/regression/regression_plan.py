"""The public numbers of a whitened regression."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

__all__ = ["NORMAL_PLAN", "PURE_PLAN", "RegressionPlan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionPlan:
    """The public numbers of a run: parts of the budget, and lengths."""

    limits: Fraction
    """The part of the budget that is for the limits of columns;"""
    shape: Fraction
    """for the matrix by which coordinates are made alike, 0 for none;"""
    moments: Fraction
    """for the second moments of rows and responses. The gradient has the rest."""
    number_length: float = 1.25
    """What a number adds to the squared length up to which a row counts fully, before rows are turned."""
    turned_length: float = 1.25
    """What each coordinate adds to it afterwards."""
    shape_floor: float = 1.5
    """The least eigenvalue of the first matrix: so many deviations of its noise, times sqrt(columns)."""
    floor: float = 1.0
    """The same of the second moments."""
    clip: float = 3.0
    """How large a residual may be, in standard deviations."""

    @property
    def gradient(self) -> Fraction:
        """The part of the gradient."""
        return 1 - self.limits - self.shape - self.moments


# On California housing (16,512 rows, 13 coordinates) and on made-up data, numbers within a factor of two
# of these did about as well. Laplace noise grows with the number of entries: one matrix is better than two.
NORMAL_PLAN = RegressionPlan(limits=Fraction(2, 25), shape=Fraction(4, 25), moments=Fraction(8, 25))
PURE_PLAN = RegressionPlan(limits=Fraction(1, 5), shape=Fraction(0), moments=Fraction(2, 5))
