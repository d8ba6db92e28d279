"""A column as codes: each value falls in a public cell, and a code becomes a value of its cell again."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.data import Axis, Bounds, Dates, Keys
from discreet.data.language.declarations import CLAMP, DROP, KeyValue
from discreet.data.language.measures import WholeAxis
from discreet.data.language.types import Type
from discreet.errors import ParameterError
from discreet.queries.counts.cells import default_width, grid_points, labels

__all__ = ["MOST_CELLS", "CodedColumn", "coded"]

MOST_CELLS = 64
"""How many cells a column of numbers or days has at most, unless their width is given."""
_EPOCH = datetime.date(1970, 1, 1)
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
    """

    axis: Axis
    dates: bool = False

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
    def labels(self) -> list[object]:
        """What each code is called: a key, the lowest number or day of its cell, or None for no cell."""
        found: list[object] = []
        found += labels(self.axis)[: self._listed]
        if self.dates:
            found = [_EPOCH + datetime.timedelta(days=int(one)) for one in found]  # type: ignore[call-overload]
        return found + [None] * (self.cells - self._listed)

    def codes(self, values: NDArray[Any]) -> Integers:
        """Return the code of each value, by itself; -1 where it has none."""
        listed = self.axis.values
        if isinstance(listed, Keys):
            found = _key_places(values, listed)
        else:
            found = _grid_cells(_days(values) if self.dates else _numbers(values), listed, self.axis.width)
        return np.where(found < 0, self._listed if self.cells > self._listed else -1, found)

    def decoded(self, codes: Integers, random: np.random.Generator) -> list[object]:
        """Return a value for each code: its key, or any number of its cell, all equally likely."""
        listed = self.axis.values
        if isinstance(listed, Keys):
            keys: list[KeyValue] = [*listed.values, None]
            return [keys[code] for code in codes.tolist()]
        first = listed.lower_steps + np.minimum(codes, self._listed - 1) * self.axis.width
        room = np.minimum(first + self.axis.width, listed.upper_steps + 1) - first
        points = first + (random.random(len(codes)) * room).astype(np.int64)
        missing = (codes >= self._listed).tolist()
        return [
            None if gone else self._value(one) for one, gone in zip(points.tolist(), missing, strict=True)
        ]

    def _value(self, point: int) -> object:
        if self.dates:
            return _EPOCH + datetime.timedelta(days=point)
        assert isinstance(self.axis.values, Bounds)  # noqa: S101
        value = point * self.axis.values.step
        return int(value) if value.denominator == 1 else float(value)

    @property
    def _listed(self) -> int:
        return self.axis.listed


def coded(name: str, declared: object, *, missing: bool, most: int = MOST_CELLS) -> CodedColumn:
    """Return the cells of a column that is declared: by a public rule, from the declaration alone."""
    dates = isinstance(declared, Dates)
    if isinstance(declared, Dates):
        days = [(one - _EPOCH).days for one in (declared.first, declared.last)]
        if days[0] == days[1]:
            days[1] += 1
        declared = Bounds(days[0], days[1])
    if isinstance(declared, Keys):
        plain = Axis(column=name, values=declared)
    elif isinstance(declared, Bounds):
        plain = default_width(name, declared, most)
    else:
        raise ParameterError("columns", f"says nothing that is known of {name!r}", _SAY)
    return CodedColumn(axis=whole_axis(plain) if missing else plain, dates=dates)


def whole_axis(axis: Axis) -> Axis:
    """Return an axis on which every row has a cell; the same, where every value has one already."""
    values = axis.values
    if isinstance(values, Bounds) and DROP not in {values.nan, values.null, values.infinity}:
        return axis
    return WholeAxis(column=axis.column, values=values, width=axis.width)


def _grid_cells(numbers: Floats, bounds: Bounds, width: int) -> Integers:
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
    cells = (np.where(missing, low, points).astype(np.int64) - low) // width
    return np.where(missing, -1, np.minimum(cells, (grid_points(bounds) - 1) // width))


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
    return float((value - _EPOCH).days) if isinstance(value, datetime.date) else float("nan")


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
