"""The largest and the smallest value between public bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.stability.order_statistics.quantile import quantile

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from discreet.privacy.rational import Number
    from discreet.stability.profile import Profile

__all__ = ["maximum", "minimum"]


def maximum(
    values: ArrayLike,
    *,
    lower: Number,
    upper: Number,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
    step: Number | None = None,
) -> Profile:
    """Return the largest value, of no values the lower bound, with its sensitivity profile.

    One step may bring the upper bound after k steps that remove the largest values, and may remove the
    largest values after steps that bring the upper bound: the local sensitivity is large wherever the data
    stay away from the upper bound, and otherwise where few are near it.
    """
    return quantile(values, level=1, lower=lower, upper=upper, relation=relation, rows=rows, step=step)


def minimum(
    values: ArrayLike,
    *,
    lower: Number,
    upper: Number,
    relation: Neighbors = ADD_REMOVE_PERSON,
    rows: int = 1,
    step: Number | None = None,
) -> Profile:
    """Return the smallest value, of no values the upper bound, with its profile: see `maximum`."""
    return quantile(values, level=0, lower=lower, upper=upper, relation=relation, rows=rows, step=step)
