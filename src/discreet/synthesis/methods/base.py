"""What all synthesizers have in common: public facts in, noisy marginals out, and a model made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import prod

from discreet.curator.ledger import JsonValue
from discreet.errors import UnsupportedQuery
from discreet.noise import current, is_private
from discreet.privacy.events import Event
from discreet.privacy.guarantees import ApproximateDP, ZeroConcentratedDP
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, whole
from discreet.records import Record
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.measuring.exact_tables import CountedRows, ExactTables
from discreet.synthesis.measuring.stated_rho import StatedRho
from discreet.synthesis.measuring.steps import TableNoise
from discreet.synthesis.models.folding import FoldedModel, JoinedCells, folded_column
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.simplex import nearest_whole_counts, whole_rows_counted
from discreet.synthesis.release.synthetic_data import SyntheticData

__all__ = ["MOST_CELLS_AT_ONCE", "MOST_TABLE_CELLS", "Synthesizer", "all_pairs", "checked_terms"]

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
        """The columns of every table that `draw` may read."""

    @property
    def counted_sets(self) -> tuple[tuple[int, ...], ...]:
        """Of these, the tables that must be counted: all others are sums of one of them."""
        held = self.sets
        joined = {column for chosen in held if len(chosen) > 1 for column in chosen}
        return tuple(chosen for chosen in held if len(chosen) > 1 or chosen[0] not in joined)

    def check_cells(self) -> None:
        """Refuse more cells than can be held at once. Public: the data play no part in it."""
        counted = self.counted_sets
        cells = sum(prod(self.domain.shape[column] for column in chosen) for chosen in counted)
        if cells > MOST_CELLS_AT_ONCE:
            raise UnsupportedQuery(
                f"{len(counted):,} tables of {cells:,} cells are more than {MOST_CELLS_AT_ONCE:,}; "
                "take fewer columns or wider cells, independent columns, or a workload"
            )

    @property
    def options(self) -> dict[str, JsonValue]:
        """What it was given besides columns and budget, as plain values."""
        return {}

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
        counted = CountedRows(shape=self.domain.shape, codes=self.domain.codes(rows))
        measured = self.draw(counted)
        return self.finished(measured, private=is_private(current().mark(0)))

    def finished(self, measured: Sequence[MeasuredTable], *, private: bool) -> SyntheticData:
        """Return the synthetic table of what was measured."""
        return SyntheticData(
            domain=self.domain,
            measured=tuple(measured),
            model=self.model(measured),
            method=type(self).__name__,
            private=private,
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
        variance, total = Fraction(self.variances[-1]), whole_rows_counted(columns)
        return tuple(
            folded_column(
                nearest_whole_counts(one.counts, total),
                variance,
                total,
                ordered=column.is_ordered,
                last=column.has_missing,
            )
            for column, one in zip(self.domain.columns, columns, strict=True)
        )

    def __repr__(self) -> str:
        columns, cells = len(self.domain.columns), sum(self.domain.shape)
        return f"{type(self).__name__}({columns} columns of {cells:,} cells, {self.guarantee!r})"


def checked_terms(
    columns: object, epsilon: Number | None, delta: Number | None, rho: Number | None, rows: int
) -> tuple[CodedColumns, StatedRho, int]:
    """Return what every synthesizer is given, checked."""
    domain = CodedColumns.declared(columns)  # type: ignore[arg-type]
    offer = Offer(epsilon=epsilon, delta=delta, rho=rho)
    return domain, StatedRho.of(offer), whole(rows, "rows", least=1, most=1 << 20)


def all_pairs(shape: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the pairs of columns whose tables are small enough to be measured."""
    return tuple(
        pair
        for pair in combinations(range(len(shape)), 2)
        if prod(shape[column] for column in pair) <= MOST_TABLE_CELLS
    )
