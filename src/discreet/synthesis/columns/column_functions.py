"""Columns that follow from others: they are not part of a model, and are rebuilt in its rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from discreet.array_types import Integers
from discreet.data import Bounds, Keys
from discreet.data.tables.row_facts import Chosen, Determined
from discreet.errors import ParameterError
from discreet.synthesis.columns.coded_column import CodedColumn
from discreet.synthesis.columns.impossible_cells import grid_place, grid_spans

__all__ = ["ColumnFunction", "LeadingCells", "LearnedColumn", "MappedColumn"]


class ColumnFunction(Protocol):
    """A column that is a function of another one. It is public."""

    @property
    def name(self) -> str:
        """The name of the column."""
        ...

    def values(self, columns: Mapping[str, Sequence[object]], codes: Integers) -> list[object]:
        """Return its values in rows, from those of columns before it, or from their codes."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedColumn:
    """A column with a declared mapping. What it is in the data is never read.

    Attributes
    ----------
    fact : Determined
        What was declared, with a mapping. What it does not list is None.
    by : CodedColumn, optional
        The other column, where it is counted.
    """

    fact: Determined
    by: CodedColumn | None = None

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.fact.column

    def values(self, columns: Mapping[str, Sequence[object]], codes: Integers) -> list[object]:
        """Return the values that the mapping gives, by the values of the other column."""
        del codes
        given, rule = columns[self.fact.by], self.rule()
        known: dict[tuple[type, object], object] = {}  # 1 and True are equal, and different values
        for value in given:
            if (type(value), value) not in known:
                known[type(value), value] = rule(value)
        return [known[type(value), value] for value in given]

    def rule(self) -> Callable[[object], object]:
        """Return what gives the value for one of the other column; None where the mapping lists none.

        A number of a column with bounds is the grid point that it was written from: its last digit decides
        nothing. A grid point has at most 2^52 steps, so that the nearest one to its double is the same.
        """
        pairs = self.fact.mapping or ()
        by = self.by
        if by is None or not isinstance(by.axis.values, Bounds):
            return lambda given: next((result for chosen, result in pairs if chosen.holds(given)), None)
        spans = [
            (first, after, result)
            for chosen, result in pairs
            for first, after in grid_spans(by, chosen, refuse=False)
        ]
        missing = next((result for chosen, result in pairs if None in chosen.values), None)

        def result_of(given: object) -> object:
            if given is None:
                return missing
            point = grid_place(by, given)
            return next((result for first, after, result in spans if first <= point < after), None)

        return result_of

    def check(self, by: CodedColumn) -> None:
        """Refuse a mapping that says nothing about a declared value of the other column."""
        pairs = self.fact.mapping or ()
        if isinstance(by.axis.values, Keys):
            listed = [key for key in by.axis.values.values if key is not None]
            lacking = sum(not any(chosen.holds(key) for chosen, _ in pairs) for key in listed)
            if lacking and not by.chosen:
                raise ParameterError(
                    "mapping",
                    f"of {self.name!r} says nothing about {lacking:,} of {len(listed):,} keys of {by.name!r}",
                    "a value for each key",
                )
            return
        assert isinstance(by.axis.values, Bounds)  # noqa: S101
        spans = sorted(span for chosen, _ in pairs for span in grid_spans(by, chosen, refuse=False))
        reached = 0
        for first, after in spans:
            if first <= reached:
                reached = max(reached, after)
        bounds = by.axis.values
        if reached <= bounds.upper_steps - bounds.lower_steps:
            missing = (bounds.lower_steps + reached) * Fraction(bounds.step)
            said = "some days" if by.dates else f"{float(missing):.12g}"
            raise ParameterError(
                "mapping",
                f"of {self.name!r} says nothing about {said} of {by.name!r}",
                "ranges that cover the declared bounds",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadingCells:
    """The values of a column that lead to wanted values of another, by one mapping after the other.

    Each cell is followed forward, as rows are: what a mapping does not list is None, on every path.

    Attributes
    ----------
    path : tuple of MappedColumn
        The first follows from the column, each other from the one before.
    wanted : Chosen
        Values of the last.
    """

    path: tuple[MappedColumn, ...]
    wanted: Chosen

    def edges(self, column: CodedColumn) -> tuple[int, ...]:
        """Return the grid points, counted from the lower bound, at which cells must begin; none for keys."""
        bounds = column.axis.values
        if not isinstance(bounds, Bounds):
            return ()
        pairs = self.path[0].fact.mapping or ()
        spans = [span for chosen, _ in pairs for span in grid_spans(column, chosen, refuse=False)]
        points = sorted(
            {0, *(end for span in spans for end in span)} - {bounds.upper_steps - bounds.lower_steps + 1}
        )
        held = self._lead([column.value(bounds.lower_steps + point) for point in points])
        return tuple(
            point for point, one, before in zip(points[1:], held[1:], held[:-1], strict=True) if one != before
        )

    def cells(self, column: CodedColumn) -> tuple[int, ...]:
        """Return the cells of these values; every cell lies between edges."""
        return tuple(cell for cell, held in enumerate(self._lead(column.labels)) if held)

    def _lead(self, given: Sequence[object]) -> list[bool]:
        """Return for each value whether it leads to a wanted one."""
        for one in self.path:
            rule = one.rule()
            given = [rule(value) for value in given]
        return [self.wanted.holds(value) for value in given]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedColumn:
    """A column with one value for each cell of another, which was learned from noisy counts.

    Attributes
    ----------
    name : str
        The column.
    by : int
        The place of the other one in the model.
    results : tuple
        For each cell of the other column, the value.
    """

    name: str
    by: int
    results: tuple[object, ...]

    def values(self, columns: Mapping[str, Sequence[object]], codes: Integers) -> list[object]:
        """Return the value of each row, by the cell of the other column."""
        del columns
        return [self.results[code] for code in codes[:, self.by].tolist()]
