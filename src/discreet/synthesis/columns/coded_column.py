"""A column as codes: each value falls in a public cell, and a code becomes a value of its cell again."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.data import Axis, Bounds, Dates, Keys
from discreet.data.language.declarations import CLAMP, DROP, KeyValue
from discreet.data.language.measures import MOST_CUTS, WholeAxis
from discreet.data.language.types import Type
from discreet.errors import ParameterError
from discreet.privacy.rational import Number
from discreet.queries.counts.cells import default_width, grid_points, labels, widened

__all__ = ["EPOCH", "MOST_CELLS", "OTHER", "CodedColumn", "coded", "whole_axis"]

MOST_CELLS = 64
"""How many cells a column of numbers or days has at most, unless their width is given."""
EPOCH = datetime.date(1970, 1, 1)
"""The day that has the number 0."""
OTHER = "(other)"
"""What all keys are called together that were not chosen."""
_SAY = 'such as {"age": dp.Bounds(0, 110), "city": dp.Keys(["Taipei"])}'


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedColumn:
    """A column and its cells.

    Attributes
    ----------
    axis : Axis
        The cells. A `WholeAxis` has one more, the last, for what has no cell: a missing value, or a key that
        was not declared. Without it rows that have no cell in some column are left out.
    dates : bool
        Whether the numbers of the axis are days, counted from 1970.
    chosen : bool
        Whether its keys were chosen privately. Then missing values are a key, and the last cell of a
        `WholeAxis` is for all keys that were not chosen.
    """

    axis: Axis
    dates: bool = False
    chosen: bool = False

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.axis.column

    @property
    def cells(self) -> int:
        """How many codes there are."""
        return self.axis.cells

    @property
    def is_ordered(self) -> bool:
        """Whether neighboring codes are alike: numbers and days are, keys are not."""
        return isinstance(self.axis.values, Bounds)

    @property
    def has_missing(self) -> bool:
        """Whether the last code is for what has no cell."""
        return self.cells > self._listed

    @property
    def remaining(self) -> str | None:
        """What the last code of a `WholeAxis` is shown as."""
        if not self.chosen:
            return None
        listed, name = set(labels(self.axis)[: self._listed]), OTHER
        while name in listed:
            name = f"({name})"
        return name

    @property
    def labels(self) -> list[object]:
        """What each code is called: a key, the lowest number or day of its cell, or None for no cell."""
        found: list[object] = []
        if isinstance(self.axis.values, Keys):
            found += self.axis.values.values
        else:
            low = self.axis.values.lower_steps
            found += [_plain((low + start) * self.axis.values.step) for start in self.axis.starts]
        if self.dates:
            found = [EPOCH + datetime.timedelta(days=int(one)) for one in found]  # type: ignore[call-overload]
        return found + [self.remaining] * (self.cells - self._listed)

    def codes(self, values: NDArray[Any]) -> Integers:
        """Return the code of each value, by itself; -1 where it has none."""
        listed = self.axis.values
        if isinstance(listed, Keys):
            found = _key_places(values, listed)
        else:
            found = _grid_cells(_days(values) if self.dates else _numbers(values), listed, self.axis.starts)
        return np.where(found < 0, self._listed if self.cells > self._listed else -1, found)

    def decoded(self, codes: Integers, random: np.random.Generator) -> list[object]:
        """Return a value for each code: its key, or any number of its cell, all equally likely."""
        listed = self.axis.values
        if isinstance(listed, Keys):
            keys: list[KeyValue] = [*listed.values, self.remaining]
            return [keys[code] for code in codes.tolist()]
        starts = np.array(self.axis.starts) + listed.lower_steps
        ends = np.append(starts[1:], listed.upper_steps + 1)
        cells = np.minimum(codes, self._listed - 1)
        first, room = starts[cells], (ends - starts)[cells]
        points = first + (random.random(len(codes)) * room).astype(np.int64)
        missing = (codes >= self._listed).tolist()
        return [None if gone else self.value(one) for one, gone in zip(points.tolist(), missing, strict=True)]

    def value(self, point: int) -> object:
        """Return a grid point, counted from 0, as rows show it."""
        if self.dates:
            return EPOCH + datetime.timedelta(days=point)
        assert isinstance(self.axis.values, Bounds)  # noqa: S101
        return _plain(point * self.axis.values.step)

    def cut(self, edges: Iterable[int]) -> CodedColumn:
        """Return the column with cells that begin at some grid points, counted from the lower bound, too."""
        if not isinstance(self.axis.values, Bounds):
            return self
        points, width = grid_points(self.axis.values), self.axis.width
        held = {edge for edge in edges if 0 < edge < points and edge % width}
        cuts = tuple(sorted(held | set(self.axis.cuts)))
        if len(cuts) > MOST_CUTS:
            raise ParameterError(
                "facts", f"cut {self.name!r} at {len(cuts):,} points", f"at most {MOST_CUTS:,} for a column"
            )
        return replace(self, axis=replace(self.axis, cuts=cuts))

    @property
    def _listed(self) -> int:
        return self.axis.listed


def coded(
    name: str, declared: object, *, missing: bool, most: int = MOST_CELLS, width: Number | None = None
) -> CodedColumn:
    """Return the cells of a column that is declared: by a public rule, from the declaration alone."""
    dates = isinstance(declared, Dates)
    if isinstance(declared, Dates):
        days = [(one - EPOCH).days for one in (declared.first, declared.last)]
        if days[0] == days[1]:
            days[1] += 1
        declared = Bounds(days[0], days[1])
    if isinstance(declared, Keys):
        plain = Axis(column=name, values=declared)
    elif isinstance(declared, Bounds):
        plain = default_width(name, declared, most) if width is None else widened(name, declared, width)
    else:
        raise ParameterError("columns", f"says nothing that is known of {name!r}", _SAY)
    return CodedColumn(axis=whole_axis(plain) if missing else plain, dates=dates)


def whole_axis(axis: Axis) -> Axis:
    """Return an axis on which every row has a cell; the same, where every value has one already."""
    values = axis.values
    if isinstance(values, Bounds) and DROP not in {values.nan, values.null, values.infinity}:
        return axis
    return WholeAxis(column=axis.column, values=values, width=axis.width, cuts=axis.cuts)


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _grid_cells(numbers: Floats, bounds: Bounds, starts: Sequence[int]) -> Integers:
    """Return the cells of numbers: on the nearest grid point, halves upward, and within the bounds."""
    low, high = bounds.lower_steps, bounds.upper_steps
    held = numbers
    for absent, rule in ((np.isnan(numbers), bounds.null), (np.isinf(numbers), bounds.infinity)):
        if rule == DROP:
            held = np.where(absent, np.nan, held)
        elif rule != CLAMP:
            held = np.where(absent, float(rule), held)
    with np.errstate(over="ignore", invalid="ignore"):
        points = np.floor(held / float(bounds.step) + 0.5).clip(low, high)
    missing = np.isnan(points)
    above = np.where(missing, low, points).astype(np.int64) - low
    return np.where(missing, -1, np.searchsorted(np.array(starts), above, side="right") - 1)


def _numbers(values: NDArray[Any]) -> Floats:
    """Return values as floats, each by itself; what is not a number is missing."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return np.fromiter((_number(value) for value in values.tolist()), np.float64, len(values))


def _number(value: object) -> float:
    if isinstance(value, str | bytes) or value is None:
        return float("nan")
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")  # type: ignore[operator]
    except (TypeError, ValueError):
        return float("nan")


def _days(values: NDArray[Any]) -> Floats:
    """Return days since 1970; what is not a date is missing."""
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        return np.where(np.isnat(days), np.nan, days.astype(np.int64).astype(np.float64))
    return np.fromiter((_day(value) for value in values.tolist()), np.float64, len(values))


def _day(value: object) -> float:
    if isinstance(value, datetime.datetime):
        if value != value:  # noqa: PLR0124 (the missing time of pandas is a datetime that has no date)
            return float("nan")
        value = value.date()
    return float((value - EPOCH).days) if isinstance(value, datetime.date) else float("nan")


def _key_places(values: NDArray[Any], keys: Keys) -> Integers:
    """Return the place of each value among keys; -1 where it is none of them."""
    if values.dtype.kind in "iu" and keys.type is Type.INTEGER:
        whole = [(key, place) for place, key in enumerate(keys.values) if isinstance(key, int)]
        ordered, places = (np.array(one, np.int64) for one in zip(*sorted(whole), strict=True))
        near = np.searchsorted(ordered, values).clip(0, len(ordered) - 1)
        return np.where(ordered[near] == values, places[near], -1)
    listed = {key: place for place, key in enumerate(keys.values)}
    return np.fromiter((_place(listed, one) for one in values.tolist()), np.int64, len(values))


def _place(places: dict[Any, int], value: object) -> int:
    if isinstance(value, float):
        value = None if value != value else int(value) if value.is_integer() else value  # noqa: PLR0124
    try:
        return places.get(value, -1)
    except TypeError:  # not hashable, so not a key
        return -1
