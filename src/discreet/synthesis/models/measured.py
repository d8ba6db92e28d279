"""A measured marginal: noisy counts of the combinations of some columns. It is public."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.array_types import Floats, Integers

__all__ = ["MeasuredTable"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredTable:
    """Noisy counts.

    Attributes
    ----------
    columns : tuple of int
        Which columns, increasing.
    counts : array of integers
        One axis for each column.
    variance : float or array of floats
        The parameter sigma^2 of the noise of each count; an array where it is not the same for all.
    """

    columns: tuple[int, ...]
    counts: Integers
    variance: float | Floats
