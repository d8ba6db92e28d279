"""Measures: what is computed from the (bounded) rows of every group, as integers."""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import TypeAlias

from discreet.data.language.declarations import Bounds, Keys
from discreet.data.language.window_functions import LATER
from discreet.errors import UnsupportedQuery
from discreet.privacy.rational import rational
from discreet.records import Record, dataclass

__all__ = [
    "LARGEST_TERM",
    "MOST_CUTS",
    "Axis",
    "Binned",
    "ContingencyTable",
    "CountDistinct",
    "CountNonNull",
    "CountPersons",
    "CountRows",
    "Factor",
    "Histogram",
    "Measure",
    "Moment",
    "Sum",
    "SumDistinct",
    "WholeAxis",
    "adds_up",
    "columns_read",
    "largest_term",
    "width",
]

LARGEST_TERM = 1 << 53
"""The most that one row may add to a measure, in steps."""
MOST_CUTS = 1 << 10
"""At how many points cells of one width are cut, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountRows:
    """The number of (bounded) rows of a group: COUNT(*)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountPersons:
    """The number of persons who have a (bounded) row in a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountDistinct:
    """The number of distinct values, except NULL, in a column of the (bounded) rows of a group."""

    column: str

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class SumDistinct:
    """The sum of the distinct values, or of their squares, in a column of the (bounded) rows of a group.

    Values are rounded to the grid and clipped to `bounds` first, and added up in steps. With the power 0 it
    is their number, so that the mean of what is added up is a ratio of two such sums.
    """

    column: str
    bounds: Bounds
    power: int = 1

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str) and isinstance(self.bounds, Bounds) and self.power in {0, 1, 2})
        _check(self.largest <= LARGEST_TERM)

    @property
    def step(self) -> Fraction:
        """What one integer stands for."""
        return self.bounds.step**self.power

    @property
    def largest(self) -> int:
        """The most that one value adds or takes."""
        return int(_farthest(self.bounds, 0) ** self.power)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountNonNull:
    """The number of (bounded) rows of a group whose value in a column is present: COUNT(x).

    With `bounds`, present means present after the rules for NaN, infinity and NULL: what `Sum` with the
    same bounds adds up, so that their ratio is a mean. Without, it means not NULL.
    """

    column: str
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str) and isinstance(self.bounds, Bounds | None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum(Record):
    """The sum of (x - center) / step over the (bounded) rows of a group whose x is present.

    x is the column's value after rounding to the grid and clipping to `bounds`, so every summand is an
    integer, and at most max(upper - center, center - lower) / step in magnitude. The
    sum of x itself is step times this plus center times `CountNonNull`. The center is zero or a
    grid point within the bounds.
    """

    column: str
    bounds: Bounds
    center: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str) and isinstance(self.bounds, Bounds))
        self._amend(center=_center(self.center, self.bounds))

    @property
    def center_steps(self) -> int:
        """The index of the center on the grid."""
        return int(self.center / self.bounds.step)

    @property
    def largest(self) -> int:
        """The most that one row adds or takes, in steps."""
        return _farthest(self.bounds, self.center_steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor(Record):
    """(x - center) / step of a column, an integer, to a power; to the power 0 it says that x is present."""

    column: str
    bounds: Bounds
    center: Fraction = Fraction(0)
    power: int = 1

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str) and isinstance(self.bounds, Bounds))
        _check(type(self.power) is int and 0 <= self.power <= 2)
        self._amend(center=_center(self.center, self.bounds))

    @property
    def center_steps(self) -> int:
        """The index of the center on the grid."""
        return int(self.center / self.bounds.step)

    @property
    def largest(self) -> int:
        """The largest magnitude, power included."""
        return int(_farthest(self.bounds, self.center_steps) ** self.power)


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The sum, over the (bounded) rows of a group in which all factors are present, of their product - shift.

    Squares are in [0, M^2]; with a shift of about M^2 / 2 one row adds at most half as much.
    """

    factors: tuple[Factor, ...]
    shift: int = 0

    def __post_init__(self) -> None:
        _check(isinstance(self.factors, tuple) and all(isinstance(part, Factor) for part in self.factors))
        _check(1 <= len(self.factors) <= 2 and type(self.shift) is int)
        if len({factor.column for factor in self.factors}) != len(self.factors):
            raise UnsupportedQuery("a product lists a column twice; take its power instead")
        if self.largest > LARGEST_TERM:
            raise UnsupportedQuery("a product is too large for its grid; take coarser steps")

    @property
    def largest(self) -> int:
        """The most that one row adds or takes."""
        most = prod(factor.largest for factor in self.factors)
        squares = all(factor.power % 2 == 0 for factor in self.factors)
        least = 0 if squares and any(factor.power for factor in self.factors) else -most
        if all(factor.power == 0 for factor in self.factors):
            least = most
        return max(abs(most - self.shift), abs(least - self.shift))


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """How many (bounded) rows of a group have each of the listed values in a column.

    With `Keys` these are the keys, in order; other values are left out. With `Bounds` they are the grid
    points from the lower bound to the upper, to which values are rounded and clipped; absent ones are left
    out. All groups come one after the other, each with `width` integers.
    """

    column: str
    values: Keys | Bounds

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str) and isinstance(self.values, Keys | Bounds))

    @property
    def width(self) -> int:
        """The number of values."""
        return _points(self.values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A column and the cells that its values fall in.

    With `Keys` there is one cell for each key, in order; other values are left out. With `Bounds` values
    are rounded to the grid and clipped by the rules of the bounds, and `width` neighboring grid points make a
    cell, from the lower bound on; the last cell may be narrower. Cells are cut at `cuts`, too: these are grid
    points, counted from the lower bound, at which a cell begins. Absent values are left out.
    """

    column: str
    values: Keys | Bounds
    width: int = 1
    cuts: tuple[int, ...] = field(default=(), metadata=LATER)

    def __post_init__(self) -> None:
        _check(isinstance(self.column, str) and isinstance(self.values, Keys | Bounds))
        _check(type(self.width) is int and self.width >= 1)
        if isinstance(self.values, Keys) and self.width != 1:
            raise UnsupportedQuery("a cell of an axis holds several keys; list fewer keys, or give bounds")
        _check(isinstance(self.cuts, tuple) and all(type(cut) is int for cut in self.cuts))
        if self.cuts:
            within = isinstance(self.values, Bounds) and self.cuts[0] > 0 and self.cuts[-1] < self._points
            _check(within and len(self.cuts) <= MOST_CUTS and all(cut % self.width for cut in self.cuts))
            _check(all(one < other for one, other in pairwise(self.cuts)))

    @property
    def _points(self) -> int:
        return _points(self.values)

    @property
    def listed(self) -> int:
        """The number of cells that keys or ranges of numbers have."""
        return -(-self._points // self.width) + len(self.cuts)

    @property
    def starts(self) -> tuple[int, ...]:
        """The first grid point of each cell, counted from the lower bound; the place of each key."""
        return tuple(sorted((*range(0, self._points, self.width), *self.cuts)))

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.listed


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeAxis(Axis):
    """An axis on which every row has a cell: the last one holds the rows that have none on an `Axis`.

    These are rows whose value is absent, and those with a key that was not declared.
    """

    @property
    def cells(self) -> int:
        """The number of cells, with the last."""
        return self.listed + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ContingencyTable:
    """How many (bounded) rows of a group fall in each combination of cells, the last axis fastest.

    A row that has no cell on some axis is left out. All groups come one after the other, each with `width`
    integers.
    """

    axes: tuple[Axis, ...]

    def __post_init__(self) -> None:
        _check(isinstance(self.axes, tuple) and all(isinstance(axis, Axis) for axis in self.axes))
        _check(len(self.axes) >= 1)
        if len({axis.column for axis in self.axes}) != len(self.axes):
            raise UnsupportedQuery("a table has a column on two axes; list it once")

    @property
    def width(self) -> int:
        """The number of combinations."""
        return prod(axis.cells for axis in self.axes)


Binned: TypeAlias = Histogram | ContingencyTable
"""What counts rows by the bin that they fall in, one at most."""

Measure: TypeAlias = (
    CountRows | CountPersons | CountNonNull | CountDistinct | SumDistinct | Sum | Moment | Binned
)
"""What is computed for every group. To add one: a class here, its meaning in `contributions`."""


def adds_up(measure: Measure) -> bool:
    """Return whether a measure of a group is the sum of one integer of each of its rows."""
    return not isinstance(measure, CountPersons | CountDistinct | SumDistinct | Binned)


def width(measure: Measure) -> int:
    """Return how many integers a measure has for each group."""
    return measure.width if isinstance(measure, Binned) else 1


def largest_term(measure: Measure) -> int:
    """Return the most that one row adds to or takes from one integer of a measure."""
    return measure.largest if isinstance(measure, Sum | SumDistinct | Moment) else 1


def columns_read(measure: Measure) -> tuple[str, ...]:
    """Return the columns that a measure reads."""
    if isinstance(measure, CountRows | CountPersons):
        return ()
    if isinstance(measure, Moment):
        return tuple(factor.column for factor in measure.factors)
    if isinstance(measure, ContingencyTable):
        return tuple(axis.column for axis in measure.axes)
    return (measure.column,)


def _center(center: Fraction, bounds: Bounds) -> Fraction:
    exact = rational(center, "center")
    if exact:  # zero is on every grid, even where it is outside the bounds
        bounds.steps(exact, "center")
    return exact


def _farthest(bounds: Bounds, center_steps: int) -> int:
    return max(abs(bounds.upper_steps - center_steps), abs(bounds.lower_steps - center_steps))


def _points(values: Keys | Bounds) -> int:
    if isinstance(values, Keys):
        return len(values)
    return values.upper_steps - values.lower_steps + 1


def _check(good: bool) -> None:
    if not good:
        raise UnsupportedQuery("a part of the plan has the wrong type; build it from its parts")
