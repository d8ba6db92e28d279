"""What is public about the columns of a design, and how their values become coordinates between -1 and 1.

A number x within declared bounds becomes (x - middle) / half width; a key becomes one coordinate for each
declared key, 1 for its own and 0 for the others. A constant coordinate, 1, is the intercept. So a row of c
columns is no longer than sqrt(c + 1), whatever it holds: bounds are declared, never read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import inf, nan
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Floats, Integers
from discreet.curator.ledger import JsonValue
from discreet.data import Bounds, Keys, to_object
from discreet.errors import ParameterError
from discreet.learning.design.coordinates import Coordinates, indicators, scaled
from discreet.learning.design.row_grid import GridRows, RowGrid
from discreet.privacy.directed import sqrt_interval
from discreet.privacy.rational import Number, rational
from discreet.records import dataclass
from discreet.stability.prediction_variance import scaled_rows

__all__ = [
    "LARGEST_KEY",
    "BinnedColumn",
    "FeatureFact",
    "FeatureFacts",
    "Features",
    "KeyColumn",
    "NumberColumn",
]

FeatureFact: TypeAlias = Bounds | Keys | tuple[Number, Number]
"""What is public about one column: the bounds of numbers, or the keys that it may hold."""
FeatureFacts: TypeAlias = FeatureFact | Sequence[FeatureFact] | Mapping[str, FeatureFact]
"""What is public about all columns: the same for each, or in order, or by name."""

_FEW_EDGES = 16
LARGEST_KEY = 2**53
"""The largest integer among keys: pandas makes floats of integers where one is missing."""
_FARTHEST = 2**200
_REACH = "bounds that are at least 2^-200 apart, none beyond 2^200"
_SAY = 'such as columns={"age": dp.Bounds(0, 110), "city": dp.Keys(["Taipei"])}, or columns=(0, 1) for all'


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberColumn:
    """A column of numbers: what is beyond the bounds is clipped, and what is not a number is the middle."""

    name: str
    lower: Fraction
    upper: Fraction
    step: Fraction | None = None
    """The grid that was declared, if one was: bins do not divide what it does not."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name of its coordinate."""
        return (self.name,)

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """What it is, as plain JSON values."""
        step = None if self.step is None else str(self.step)
        return {"name": self.name, "lower": str(self.lower), "upper": str(self.upper), "step": step}

    @property
    def middle(self) -> float:
        """What becomes 0."""
        return float((self.lower + self.upper) / 2)

    @property
    def half_width(self) -> float:
        """What becomes 1, above the middle."""
        return float((self.upper - self.lower) / 2)

    def numbers(self, values: NDArray[Any]) -> Floats:
        """Return values as floats, each by itself; what is not a number is missing."""
        if values.dtype.kind in "biuf":
            with np.errstate(over="ignore"):  # of longer floats: no warning says that a row holds one
                return values.astype(np.float64)
        return np.fromiter((_number(value) for value in values.tolist()), np.float64, len(values))

    @property
    def width(self) -> int:
        """How many coordinates it has."""
        return 1

    @property
    def unit(self) -> tuple[float, float]:
        """What becomes 0, and how far from it 1 is."""
        return self.middle, self.half_width

    def coordinates(self, values: NDArray[Any]) -> Floats:
        """Return the coordinates of values, a column of them."""
        return scaled(self.numbers(values), *self.unit)[:, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyColumn:
    """A column of keys: what is not declared has no coordinate."""

    name: str
    keys: Keys

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each key's coordinate."""
        return tuple(f"{self.name}={key}" for key in self.keys.values)

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """What it is, as plain JSON values."""
        return {"name": self.name, "keys": to_object(self.keys)}

    @property
    def width(self) -> int:
        """How many coordinates it has."""
        return len(self.keys.values)

    @property
    def unit(self) -> None:
        """None: keys are not numbers."""

    def places(self, values: NDArray[Any]) -> Integers:
        """Return the number of each value's key, or -1."""
        places = {key: place for place, key in enumerate(self.keys.values)}
        return np.fromiter((_place(places, value) for value in values.tolist()), np.int64, len(values))

    def coordinates(self, values: NDArray[Any]) -> Floats:
        """Return the coordinates of values, a column for each key."""
        return indicators(self.places(values), self.width)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BinnedColumn:
    """A column of numbers by bins: one coordinate for each, and none for what is not a number."""

    column: NumberColumn
    edges: Floats
    """Where bins after the first begin."""

    @property
    def name(self) -> str:
        """That of the column."""
        return self.column.name

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each bin's coordinate."""
        ends = [f"{edge:.6g}" for edge in (float(self.column.lower), *self.edges, float(self.column.upper))]
        return tuple(f"{self.name} from {low} to {high}" for low, high in pairwise(ends))

    @property
    def parameters(self) -> dict[str, JsonValue]:
        """What it is, as plain JSON values."""
        return {**self.column.parameters, "edges": [repr(float(edge)) for edge in self.edges]}

    @property
    def width(self) -> int:
        """How many coordinates it has."""
        return len(self.edges) + 1

    @property
    def unit(self) -> None:
        """None: a bin has no unit."""

    def places(self, values: NDArray[Any]) -> Integers:
        """Return the number of each value's bin, or -1."""
        numbers = self.column.numbers(values)
        places = np.where(np.isnan(numbers), -1, 0)
        if len(self.edges) > _FEW_EDGES:
            return np.where(places < 0, -1, np.searchsorted(self.edges, numbers, side="right"))
        for edge in self.edges:  # quicker than a search, where numbers are in no order
            places += numbers >= edge
        return places

    def coordinates(self, values: NDArray[Any]) -> Floats:
        """Return the coordinates of values, a column for each bin."""
        return indicators(self.places(values), self.width)


def _number(value: object) -> float:
    """Return a number as a float; what is not a number, texts and arrays among them, is missing.

    So is what fails, however it does.
    """
    if isinstance(value, str | bytes | np.ndarray) or value is None:
        return nan
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return _infinity(value)
    except Exception:
        return nan


def _infinity(value: Any) -> float:
    """Return what stands for a number beyond all floats."""
    try:
        return inf if value > 0 else -inf
    except Exception:
        return nan


def _place(places: Mapping[Any, int], value: object) -> int:
    """Return the place of a key, or the last one, beyond all keys."""
    if isinstance(value, float):
        value = None if value != value else int(value) if value.is_integer() else value  # noqa: PLR0124
    try:
        return places.get(value, -1)
    except Exception:  # not hashable, or not comparable, so not a key
        return -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Features:
    """All columns of a design, and the grid of its rows."""

    columns: tuple[NumberColumn | KeyColumn | BinnedColumn, ...]

    @classmethod
    def of(cls, declared: FeatureFacts | None, names: Sequence[str], *, by_name: bool) -> Features:
        """Return what is declared of the columns of a design with names, which are its own or made up."""
        if declared is None:
            raise ParameterError("columns", "are not declared, and are never read from data", _SAY)
        return cls(columns=tuple(map(_column, _each(declared, names, by_name=by_name), names)))

    def refuse_extremes(self) -> Self:
        """Refuse declared bounds of which floats cannot hold what models calculate, such as variances."""
        for column in self.columns:
            if not isinstance(column, NumberColumn):
                continue
            width, farthest = column.upper - column.lower, max(abs(column.lower), abs(column.upper))
            if width < 1 / _FARTHEST or farthest > _FARTHEST:
                raise ParameterError(
                    "columns", f"has bounds of {column.name!r} that are too near or too far", _REACH
                )
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all coordinates but the intercept."""
        return tuple(name for column in self.columns for name in column.names)

    @property
    def parameters(self) -> list[JsonValue]:
        """What they are, as plain JSON values."""
        return [column.parameters for column in self.columns]

    @property
    def grid(self) -> RowGrid:
        """The grid of rows: as many steps for the longest."""
        return self.grid_of(self.coordinates.width + 1)

    def grid_of(self, coordinates: int) -> RowGrid:
        """Return the grid of rows of so many coordinates, of which those of one row are one of each column.

        With the intercept that is one more than there are columns.
        """
        entries = len(self.columns) + 1
        longest = sqrt_interval(Fraction(entries))[1]
        return RowGrid(columns=coordinates, largest=longest, entries=entries)

    @property
    def coordinates(self) -> Coordinates:
        """What makes coordinates of values."""
        return Coordinates.of(self.columns)

    def encoded(self, values: Sequence[NDArray[Any]]) -> Floats:
        """Return the coordinates of rows, given column by column; the last one is the intercept."""
        return self.coordinates.encoded(values)

    def rows(
        self,
        values: Sequence[NDArray[Any]],
        grid: RowGrid | None = None,
        *,
        known: NDArray[np.bool_] | None = None,
    ) -> GridRows:
        """Return the rows of a design in steps, made part by part; on their own grid, or on a wider one.

        Where `known` is given, rows for which it is false are left out.
        """
        grid, coordinates = grid or self.grid, self.coordinates
        unit = grid.row_steps / float(grid.largest)
        count = len(values[0]) if values else 0
        found = np.empty(
            (count if known is None else int(known.sum()), coordinates.width + 1), dtype=np.int16
        )
        start = 0
        for part, steps in coordinates.blocks(values):
            if known is not None and not known[part].all():
                steps = steps[known[part]]  # noqa: PLW2901
            np.rint(np.multiply(steps, unit, out=steps), out=steps)
            # Of whole numbers below 2^12: exact in any order.
            long = np.einsum("ij,ij->i", steps, steps) > grid.steps**2
            steps[long] = scaled_rows(steps[long].astype(np.int64), grid.steps)
            found[start : start + len(steps)] = steps
            start += len(steps)
        return found


def _each(declared: FeatureFacts, names: Sequence[str], *, by_name: bool) -> list[FeatureFact]:
    """Return what is declared of each column, in the order of the design."""
    if isinstance(declared, Mapping):
        if not by_name or set(declared) != set(names):
            raise ParameterError("columns", "names other columns than X has", "a frame with these columns")
        return [declared[name] for name in names]
    if isinstance(declared, Bounds | Keys) or _is_pair(declared):
        return [declared] * len(names)  # type: ignore[list-item]
    if not isinstance(declared, Sequence) or len(declared) != len(names):
        raise ParameterError("columns", "does not say something of every column of X", _SAY)
    return list(declared)  # type: ignore[arg-type]


def _is_pair(declared: object) -> bool:
    return (
        isinstance(declared, tuple)
        and len(declared) == 2
        and all(isinstance(one, int | float | Fraction | np.number) for one in declared)
    )


def _column(declared: object, name: str) -> NumberColumn | KeyColumn:
    if isinstance(declared, Keys):
        if any(isinstance(key, int) and abs(key) > LARGEST_KEY for key in declared.values):
            raise ParameterError(
                "columns", f"has keys of {name!r} that floats do not hold", "keys up to 2^53"
            )
        return KeyColumn(name=name, keys=declared)
    if isinstance(declared, Bounds):
        return NumberColumn(name=name, lower=declared.lower, upper=declared.upper, step=declared.step)
    if not _is_pair(declared):
        raise ParameterError("columns", f"says nothing that is known of {name!r}", _SAY)
    assert isinstance(declared, tuple)  # noqa: S101
    lower, upper = (rational(one, "columns") for one in declared)
    if not lower < upper:
        raise ParameterError("columns", f"has no room between the bounds of {name!r}", _SAY)
    return NumberColumn(name=name, lower=lower, upper=upper)
