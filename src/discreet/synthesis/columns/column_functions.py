"""Columns that follow from others: they are not part of a model, and are rebuilt in its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from discreet.array_types import Integers
from discreet.data import Bounds, Keys
from discreet.data.tables.row_facts import Chosen, Determined
from discreet.errors import ParameterError
from discreet.synthesis.columns.coded_column import CodedColumn
from discreet.synthesis.columns.impossible_cells import grid_spans

__all__ = ["ColumnFunction", "LearnedColumn", "MappedColumn"]


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
    """

    fact: Determined

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.fact.column

    def values(self, columns: Mapping[str, Sequence[object]], codes: Integers) -> list[object]:
        """Return the values that the mapping gives, by the values of the other column."""
        del codes
        given = columns[self.fact.by]
        known = {value: self.value(value) for value in dict.fromkeys(given)}
        return [known[value] for value in given]

    def value(self, given: object) -> object:
        """Return the value for one of the other column; None where the mapping lists none."""
        pairs = self.fact.mapping or ()
        return next((result for chosen, result in pairs if chosen.holds(given)), None)

    def leading_to(self, wanted: Chosen) -> Chosen | None:
        """Return the values of the other column whose result is a wanted one; None if there are none."""
        pairs = self.fact.mapping or ()
        held = [chosen for chosen, result in pairs if wanted.holds(result)]
        parts: list[object] = [part for chosen in held for part in (*chosen.values, *chosen.ranges)]
        if None in wanted.values and not any(None in chosen.values for chosen, _ in pairs):
            parts.append(None)
        return Chosen(parts) if parts else None

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
