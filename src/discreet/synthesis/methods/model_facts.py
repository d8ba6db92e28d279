"""What declared facts mean for a model: which rows it may have, and which columns are not part of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt

import numpy as np

from discreet.curator.ledger import JsonValue
from discreet.data.tables.row_facts import Chosen, Determined, Impossible, RowFact, checked_facts
from discreet.errors import ParameterError
from discreet.synthesis.columns.coded_column import CodedColumn
from discreet.synthesis.columns.column_functions import (
    ColumnFunction,
    LeadingCells,
    LearnedColumn,
    MappedColumn,
)
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.columns.impossible_cells import edges_of, impossible_cells
from discreet.synthesis.measuring.steps import TableNoise
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.possible_rows import PossibleRows

__all__ = ["BoughtColumn", "ModelFacts", "model_facts"]

_LEARNED = Fraction(1, 10)
"""The share of rho for all mappings that are bought together."""
_RIGHT = 0.95
_Parts = list[tuple[str, Chosen | LeadingCells]]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoughtColumn:
    """A column that follows from another in a way that must be measured.

    Attributes
    ----------
    column : CodedColumn
        What is declared about it.
    by : int
        The place of the other column in the model.
    noise : TableNoise
        What is added to the counts of both columns.
    """

    column: CodedColumn
    by: int
    noise: TableNoise

    def learned(self, measured: MeasuredTable) -> LearnedColumn:
        """Return the column with the most frequent value for each cell of the other, by noisy counts.

        A cell of numbers is one number, its lowest, as rows that agree on one column agree on the other.
        """
        labels = self.column.labels
        best = np.argmax(measured.counts, axis=1).tolist()
        return LearnedColumn(
            name=self.column.name, by=self.by, results=tuple(labels[place] for place in best)
        )

    def enough(self) -> float:
        """Return how many rows a value of the other column needs for its value to be right, at 95 %.

        All rows have the right value, and c others none. One of these wins if its noise is larger by n, which
        has a probability of at most c exp(-n^2 / (4 variance)).
        """
        others = max(self.column.cells - 1, 1)
        return 2 * sqrt(self.noise.variance * log(others / (1 - _RIGHT)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFacts:
    """Declared facts, in the cells of a model.

    Attributes
    ----------
    possible : PossibleRows
        Which rows of the model are possible.
    mapped : tuple of MappedColumn
        Columns with a declared mapping, in an order in which they can be rebuilt.
    bought : tuple of BoughtColumn
        Columns whose mapping is measured.
    order : tuple of str
        All columns, as they were asked for.
    """

    possible: PossibleRows
    mapped: tuple[MappedColumn, ...] = ()
    bought: tuple[BoughtColumn, ...] = ()
    order: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, JsonValue]:
        """What was declared, as plain values; nothing if there was nothing."""
        found: dict[str, JsonValue] = {}
        if self.possible.zeros:
            zeros: list[JsonValue] = [
                [list(zero.columns), [list(cells) for cells in zero.cells]] for zero in self.possible.zeros
            ]
            found["impossible"] = zeros
        if self.mapped or self.bought:
            functions: list[JsonValue] = [one.fact.to_object() for one in self.mapped]  # type: ignore[misc]
            found["functions"] = [*functions, *([one.column.name, one.by] for one in self.bought)]
            found["order"] = list(self.order)
        return found

    def functions(self, measured: Sequence[MeasuredTable]) -> tuple[ColumnFunction, ...]:
        """Return all columns that follow from others; those that were bought, from their tables."""
        learned = [one.learned(table) for one, table in zip(self.bought, measured, strict=True)]
        return (*learned, *self.mapped)

    def places(self, domain: CodedColumns, names: Sequence[str]) -> tuple[int, ...]:
        """Return the places of columns in the model; those of mapped ones are what they follow from."""
        leading = {one.name: one.fact.by for one in self.mapped}
        found: dict[str, None] = {}
        for name in [names] if isinstance(names, str) else names:
            while name in leading:
                name = leading[name]  # noqa: PLW2901
            found[name] = None
        return domain.places(list(found))

    @property
    def steps(self) -> tuple[str, ...]:
        """What is measured for them, and what is not, in words."""
        bought = tuple(
            f"which {one.column.name} goes with each cell is measured, noise of deviation "
            f"{one.noise.variance**0.5:.4g}: right at 95% from {one.enough():,.0f} rows on"
            for one in self.bought
        )
        mapped = ", ".join(one.name for one in self.mapped)
        zeros = sum(len(zero.columns) > 1 for zero in self.possible.zeros)
        said = [f"{mapped}: rebuilt by declared mappings, at no cost"] if mapped else []
        if zeros:
            said.append(
                f"no row has what {zeros} declared fact{'s' * (zeros > 1)} rule{'s' * (zeros == 1)} out"
            )
        return (*bought, *said)


def model_facts(
    columns: object, facts: object, rho: Fraction, rows: int
) -> tuple[CodedColumns, ModelFacts, Fraction]:
    """Return the columns of the model, the facts about them, and what is left of rho for the model.

    Everything that can be refused is refused here: facts about other columns, columns that follow from each
    other, and facts that leave no row possible.
    """
    listed = checked_facts(facts)  # type: ignore[arg-type]
    every = CodedColumns.declared(columns)  # type: ignore[arg-type]
    given = dict(zip(every.names, every.columns, strict=True))
    follow = {one.column: one for one in listed if isinstance(one, Determined)}
    order = tuple(map(str, columns)) if isinstance(columns, Mapping) else every.names
    _check_names(listed, {*order, *(name for name, one in follow.items() if one.mapping is not None)})
    held = {name: column for name, column in given.items() if name not in follow}
    mapped = _ordered([one for one in follow.values() if one.mapping is not None], given)
    named = {one.name: one for one in mapped}
    ruled_out = [_translated(one, named, follow) for one in listed if isinstance(one, Impossible)]
    for name, chosen in (part for parts in ruled_out for part in parts):
        column = held[name]
        edges = chosen.edges(column) if isinstance(chosen, LeadingCells) else edges_of(column, chosen)
        held[name] = column.cut(edges)
    domain = CodedColumns(columns=tuple(held.values()))
    for one in mapped:
        if one.by is not None:
            one.check(one.by)
    names = {name: place for place, name in enumerate(held)}
    zeros = [
        impossible_cells(domain.columns, [(names[name], chosen) for name, chosen in parts])
        for parts in ruled_out
    ]
    possible = PossibleRows(
        shape=domain.shape, zeros=tuple(dict.fromkeys(zero for zero in zeros if zero is not None))
    )
    if possible.zeros:
        possible.example()  # refuses facts that leave nothing
    to_buy = [one for one in follow.values() if one.mapping is None]
    share = rho * _LEARNED / len(to_buy) if to_buy else Fraction(0)
    bought = tuple(_bought(one, given, names, TableNoise.costing(share, rows)) for one in to_buy)
    whole = (*order, *(one.name for one in mapped if one.name not in order))
    found = ModelFacts(possible=possible, mapped=mapped, bought=bought, order=whole)
    return domain, found, rho - share * len(to_buy)


def _check_names(facts: Sequence[RowFact], known: set[str]) -> None:
    for one in facts:
        lacking = [name for name in one.columns if name not in known]
        if lacking:
            raise ParameterError(
                "facts",
                f"are about {lacking[0]!r}, which is not among the columns",
                f"some of {', '.join(sorted(known)[:10])}",
            )


def _ordered(facts: Sequence[Determined], known: Mapping[str, CodedColumn]) -> tuple[MappedColumn, ...]:
    """Return mapped columns, each after the one that it follows from."""
    left = {one.column: one for one in facts}
    mapped = set(left)
    ready = set(known) - set(left)
    found: list[MappedColumn] = []
    while left:
        next_one = next((one for one in left.values() if one.by in ready), None)
        if next_one is None:
            raise ParameterError("facts", "let columns follow from each other", "no circles")
        by = None if next_one.by in mapped else known[next_one.by]
        found.append(MappedColumn(fact=left.pop(next_one.column), by=by))
        ready.add(next_one.column)
    return tuple(found)


def _translated(
    fact: Impossible, mapped: Mapping[str, MappedColumn], follow: Mapping[str, Determined]
) -> _Parts:
    """Return a fact about columns of the model: a mapped column is what leads to it."""
    parts: _Parts = []
    for column, stated in fact.values:
        path: list[MappedColumn] = []
        while column in mapped:
            path.insert(0, mapped[column])
            column = mapped[column].fact.by  # noqa: PLW2901
        if column in follow:
            raise ParameterError(
                "facts",
                f"rule out values of {column!r}, which follows from {follow[column].by!r} in an unknown way",
                "a mapping for it, or a fact about the other column",
            )
        parts.append((column, LeadingCells(path=tuple(path), wanted=stated) if path else stated))
    return parts


def _bought(
    fact: Determined, given: Mapping[str, CodedColumn], names: Mapping[str, int], noise: TableNoise
) -> BoughtColumn:
    if fact.column not in given or fact.by not in names:
        raise ParameterError(
            "facts",
            f"let {fact.column!r} follow from {fact.by!r} without a mapping, and one of them is not counted",
            "two columns with keys or bounds, the second following from no other",
        )
    return BoughtColumn(column=given[fact.column], by=names[fact.by], noise=noise)
