"""What all synthesizers have in common: public facts in, noisy marginals out, and a model made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod

from discreet.curator.ledger import JsonValue
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.noise import current, is_private
from discreet.privacy.events import Event, compose
from discreet.privacy.guarantees import ApproximateDP, ZeroConcentratedDP
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, whole
from discreet.records import Record
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.exact_tables import CountedRows, ExactTables
from discreet.synthesis.measuring.stated_rho import StatedRho
from discreet.synthesis.measuring.steps import TableChoice, TableNoise
from discreet.synthesis.methods.model_facts import ModelFacts, model_facts
from discreet.synthesis.models.folding import FoldedModel, JoinedCells, folded_column, folded_measured
from discreet.synthesis.models.growing_model import GrowingModel
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.simplex import nearest_whole_counts, rows_counted, whole_rows_counted
from discreet.synthesis.release.synthetic_data import SyntheticData

__all__ = ["MOST_CELLS_AT_ONCE", "MOST_ROWS", "MOST_TABLE_CELLS", "Synthesizer", "all_pairs", "checked_terms"]

MOST_ROWS = 1 << 20
"""How many rows of a person may count at most."""
MOST_TABLE_CELLS = 1 << 20
"""The largest table that is measured."""
MOST_CELLS_AT_ONCE = 20_000_000
"""How many cells all tables have at most that are held at the same time."""


class Synthesizer(Record, ABC):
    """A mechanism from rows to a synthetic table.

    Subclasses are frozen dataclasses. `draw` is the only function that reads the data; all that follows is
    computed from what it returns.
    """

    __slots__ = ()

    domain: CodedColumns
    facts: ModelFacts
    rows: int
    stated: StatedRho
    column_noises: tuple[TableNoise, ...]

    @property
    @abstractmethod
    def event(self) -> Event:
        """The laws of everything that is drawn."""

    @property
    @abstractmethod
    def sets(self) -> tuple[tuple[int, ...], ...]:
        """The columns of every table that `draw` may read for the model."""

    @property
    def counted(self) -> CodedColumns:
        """The columns that are counted: those of the model, then those whose mapping is bought."""
        bought = tuple(one.column for one in self.facts.bought)
        return CodedColumns(columns=(*self.domain.columns, *bought)) if bought else self.domain

    @property
    def bought_sets(self) -> tuple[tuple[int, int], ...]:
        """The tables of columns that follow from others, with these: places among `counted`."""
        many = len(self.domain.columns)
        return tuple((one.by, many + place) for place, one in enumerate(self.facts.bought))

    @property
    def counted_sets(self) -> tuple[tuple[int, ...], ...]:
        """The tables that must be counted: all others are sums of one of them."""
        held = (*self.sets, *self.bought_sets)
        joined = {column for chosen in held if len(chosen) > 1 for column in chosen}
        return tuple(chosen for chosen in held if len(chosen) > 1 or chosen[0] not in joined)

    def check_cells(self) -> None:
        """Refuse more cells than can be held at once. Public: the data play no part in it."""
        counted = self.counted_sets
        shape = self.counted.shape
        cells = sum(prod(shape[column] for column in chosen) for chosen in counted)
        if cells > MOST_CELLS_AT_ONCE:
            raise UnsupportedQuery(
                f"{len(counted):,} tables of {cells:,} cells are more than {MOST_CELLS_AT_ONCE:,}; "
                "take fewer columns or wider cells, independent columns, or a workload"
            )

    @property
    def options(self) -> dict[str, JsonValue]:
        """What it was given besides columns and budget, as plain values: facts, for one."""
        return self.facts.options

    @abstractmethod
    def draw(self, tables: ExactTables) -> tuple[MeasuredTable, ...]:
        """Choose and measure. What it returns is public."""

    @abstractmethod
    def model(self, measured: Sequence[MeasuredTable]) -> FoldedModel:
        """Return the model of what was measured: public arithmetic."""

    @property
    @abstractmethod
    def steps(self) -> tuple[str, ...]:
        """What is measured and chosen, in words, with its noise: public."""

    @property
    @abstractmethod
    def variances(self) -> tuple[float, ...]:
        """The variance of each measurement, in order; the first are the columns'."""

    @property
    def guarantee(self) -> ApproximateDP | ZeroConcentratedDP:
        """What is promised, as it was stated."""
        return self.stated.guarantee

    def release(self, rows: object) -> SyntheticData:
        """Return a synthetic table for rows: a frame, a mapping of columns, or a two-dimensional array."""
        columns = self.counted
        counted = CountedRows(shape=columns.shape, codes=columns.codes(rows))
        measured = self.draw(counted)
        return self.finished(measured, private=is_private(current().mark(0)))

    def finished(self, measured: Sequence[MeasuredTable], *, private: bool) -> SyntheticData:
        """Return the synthetic table of what was measured."""
        many = len(measured) - len(self.facts.bought)
        return SyntheticData(
            domain=self.domain,
            measured=tuple(measured),
            model=self.model(measured[:many]),
            method=type(self).__name__,
            private=private,
            functions=self.facts.functions(measured[many:]),
            order=self.facts.order,
        )

    def with_rounds(self, choice: TableChoice | None, noise: TableNoise | None, rounds: int) -> Event:
        """Return the laws of all draws, if rounds of a choice and a noisy table come after the columns."""
        columns = compose([one.event for one in self.column_noises])
        if choice is None or noise is None:
            return self.with_bought([columns])
        return self.with_bought([columns, choice.event * rounds, noise.event * rounds])

    def with_bought(self, events: Sequence[Event]) -> Event:
        """Return the laws of the model's draws, and those of mappings that are bought."""
        return compose([*events, *(one.noise.event for one in self.facts.bought)])

    @property
    def bought_variances(self) -> tuple[float, ...]:
        """The variances of the tables of mappings that are bought: the last that are measured."""
        return tuple(one.noise.variance for one in self.facts.bought)

    def measured_mappings(self, tables: ExactTables) -> tuple[MeasuredTable, ...]:
        """Measure the table of each column that follows from another, with it."""
        return tuple(
            one.noise.measured(chosen, tables.table(chosen))
            for one, chosen in zip(self.facts.bought, self.bought_sets, strict=True)
        )

    def measured_columns(self, tables: ExactTables) -> tuple[MeasuredTable, ...]:
        """Measure every column, each with its own noise."""
        return tuple(
            noise.measured((column,), tables.table((column,)))
            for column, noise in enumerate(self.column_noises)
        )

    @property
    def columns_measured(self) -> str:
        """What `measured_columns` does, in words."""
        deviations = sorted(noise.variance**0.5 for noise in self.column_noises)
        said = f"{deviations[0]:.4g}"
        if deviations[-1] > deviations[0]:
            said += f" to {deviations[-1]:.4g}, less for columns of more cells"
        return f"the counts of {len(deviations)} columns are measured, noise of deviation {said}"

    def folds(self, columns: Sequence[MeasuredTable]) -> tuple[JoinedCells, ...]:
        """Return how the cells of each column are joined for tables of several, from its released counts.

        What is rare depends on the noise of such tables, which is the same for all of them.
        """
        last = len(self.variances) - len(self.facts.bought) - 1
        variance, total = Fraction(self.variances[last]), whole_rows_counted(columns)
        return tuple(
            folded_column(
                nearest_whole_counts(one.counts, total),
                variance,
                total,
                ordered=column.is_ordered,
                last=column.has_missing,
                kinds=self.facts.possible.kinds(place),
            )
            for place, (column, one) in enumerate(zip(self.domain.columns, columns, strict=True))
        )

    def begun(
        self, columns: Sequence[MeasuredTable], folds: Sequence[JoinedCells], steps: int
    ) -> GrowingModel:
        """Return the model of measured columns in joined cells, under declared facts."""
        possible = self.facts.possible.joined([fold.places for fold in folds])
        joined = [folded_measured(one, folds) for one in columns]
        return GrowingModel.begun(possible, joined, rows_counted(columns), steps)

    def __repr__(self) -> str:
        columns, cells = len(self.domain.columns), sum(self.domain.shape)
        return f"{type(self).__name__}({columns} columns of {cells:,} cells, {self.guarantee!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedTerms:
    """What every synthesizer is given, checked; `rho` is what is left of it for the model."""

    domain: CodedColumns
    facts: ModelFacts
    stated: StatedRho
    rows: int
    rho: Fraction


def checked_terms(  # noqa: PLR0917
    columns: object,
    facts: object,
    epsilon: Number | None,
    delta: Number | None,
    rho: Number | None,
    rows: int,
) -> CheckedTerms:
    """Return what every synthesizer is given, checked."""
    stated = StatedRho.of(Offer(epsilon=epsilon, delta=delta, rho=rho))
    held = whole(rows, "rows", least=1, most=MOST_ROWS)
    domain, known, left = model_facts(columns, facts, stated.rho, held)
    for one in known.bought:
        if domain.shape[one.by] * one.column.cells > MOST_TABLE_CELLS:
            raise ParameterError(
                "facts",
                f"have a mapping to {one.column.name!r} bought from more than {MOST_TABLE_CELLS:,} cells",
                "a declared mapping, which costs nothing; or wider cells",
            )
    size = known.possible.cells_with([])
    if known.possible.zeros and size > MOST_TABLE_CELLS:
        raise ParameterError(
            "facts",
            f"need a model of {size:,} numbers: they join columns of many cells",
            f"at most {MOST_TABLE_CELLS:,}; take wider cells, or facts about fewer columns",
        )
    return CheckedTerms(domain=domain, facts=known, stated=stated, rows=held, rho=left)


def all_pairs(shape: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of columns whose tables are small enough to be measured."""
    return tuple(
        pair
        for pair in combinations(range(len(shape)), 2)
        if prod(shape[column] for column in pair) <= MOST_TABLE_CELLS
    )
