"""Columns within limits that were found: what is far beyond most values is clipped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.data import Keys
from discreet.learning.design.features import Features, KeyColumn, NumberColumn
from discreet.learning.regression.column_limits import CELLS

__all__ = ["NarrowedColumns", "without_first_keys"]

_REACH = Fraction(5, 2)  # bounds are so many times as far apart as limits: 3.2 deviations of normal values
_LEAST_CELLS = 8  # that limits are apart, so that rare values are not all cut to nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NarrowedColumns:
    """Features and a target with narrower bounds. All of it is public.

    Bounds are 5/2 times as far apart as limits, but not beyond those declared; without an intercept they are
    as far below 0 as above. What is not a number counts as the middle.

    Attributes
    ----------
    features : Features
    target : NumberColumn
    factors : array
        For each coordinate of the features, and a constant if there is an intercept: what makes it 1 at the
        limits, for numbers, and 1 for keys.
    """

    features: Features
    target: NumberColumn
    factors: Floats

    @classmethod
    def of(
        cls, features: Features, target: NumberColumn, limits: Integers, *, intercept: bool
    ) -> NarrowedColumns:
        """Return columns within limits: two cells for each number in order, those of the target last."""
        *inner, last = limits.tolist()
        found, factors, places = [], [], iter(inner)
        for column in features.columns:
            if isinstance(column, NumberColumn):
                narrow, factor = _narrowed(column, *next(places), intercept=intercept)
                found.append(narrow)
                factors.append(factor)
            else:
                found.append(column)  # type: ignore[arg-type]
                factors += [1.0] * len(column.names)
        return cls(
            features=Features(columns=tuple(found)),
            target=_narrowed(target, *last, intercept=intercept)[0],
            factors=np.array([*factors, 1.0] if intercept else factors),
        )

    @property
    def units(self) -> tuple[Floats, Floats]:
        """For each coordinate of the features, what 1 is in the units of its column, and what 0 is."""
        scale, middle = [], []
        for column in self.features.columns:
            if isinstance(column, NumberColumn):
                scale.append(column.half_width)
                middle.append(column.middle)
            else:
                scale += [1.0] * len(column.names)
                middle += [0.0] * len(column.names)
        return np.array(scale), np.array(middle)


def _narrowed(column: NumberColumn, first: int, last: int, *, intercept: bool) -> tuple[NumberColumn, float]:
    cell = (column.upper - column.lower) / CELLS
    middle = column.lower + (first + last) * cell / 2
    half = max(last - first, _LEAST_CELLS) * cell / 2
    lower, upper = max(middle - _REACH * half, column.lower), min(middle + _REACH * half, column.upper)
    if intercept:
        return replace(column, lower=lower, upper=upper), float((upper - lower) / (2 * half))
    most = max(-lower, upper)
    limit = max(half - middle, half + middle)
    return replace(column, lower=-most, upper=most), float(max(most / limit, Fraction(1)))


def without_first_keys(features: Features) -> Features:
    """Return features without the first of several keys: the intercept stands for it."""
    found = [
        replace(column, keys=Keys(column.keys.values[1:]))
        if isinstance(column, KeyColumn) and len(column.keys.values) > 1
        else column
        for column in features.columns
    ]
    return Features(columns=tuple(found))
