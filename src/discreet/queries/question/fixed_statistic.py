"""Questions about a table of a public number of rows, of which one is replaced.

::

    survey = dp.FixedTable("survey.parquet", rows=1200, columns={
        "income": dp.Bounds(0, 200_000), "city": dp.Keys(["Taipei", "Hamilton"])})
    budget = dp.Budget(epsilon=3, delta=1e-6, neighbors="replace-one")
    curator = dp.Curator({"survey": survey}, budget=budget, ledger="survey.ledger")

    curator.ask(curator.fixed("survey").median("income"), epsilon=1)
    curator.ask(curator.fixed("survey").mode("city"), epsilon=1, delta=1e-7)
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from discreet.curator.request.statistics.base import ReleasedStatistic
from discreet.curator.request.statistics.by_profile import ByProposal, BySmoothSensitivity
from discreet.curator.request.statistics.cell_estimates import LearnedCells, SmallDatabaseCells
from discreet.curator.request.statistics.fixed_counts import CellCounts, ColumnMean, KeyAxes, RowCount
from discreet.curator.request.statistics.profiled import QuantileStatistic
from discreet.curator.request.statistics.stable_mode import StableMode
from discreet.data.language.declarations import Bounds, Keys, KeyValue
from discreet.data.tables.fixed_table import FixedTable
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number, probability, rational, whole
from discreet.queries.question.statistic import StatisticQuestion
from discreet.records import dataclass

__all__ = ["FixedQuestions"]

_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True)
class FixedQuestions:
    """What may be asked about a table of a public number of rows. Building a question touches nothing.

    Parameters
    ----------
    table : str
        The table.
    """

    table: str

    def count(self, **keys: KeyValue) -> StatisticQuestion:
        """Ask how many rows have given keys, as in ``count(city="Taipei")``: for any offer."""
        if not keys:
            raise ParameterError("keys", "are missing: the number of all rows is public", "count(city=…)")
        names = tuple(keys)
        return self._ask(f"rows with given {', '.join(names)}", partial(_count, names, tuple(keys.values())))

    def counts(self, *columns: str) -> StatisticQuestion:
        """Ask how many rows have each combination of declared keys: for any offer."""
        return self._ask(f"rows by {', '.join(columns)}", partial(_counts, columns))

    def mean(self, column: str) -> StatisticQuestion:
        """Ask for the mean of a column of bounded numbers: for any offer."""
        return self._ask(f"the mean of {column}", partial(_mean, column))

    def median(self, column: str) -> StatisticQuestion:
        """Ask for the value of rank ceil(rows / 2): see `quantile`."""
        return self.quantile(column, _HALF)

    def quantile(self, column: str, level: Number) -> StatisticQuestion:
        """Ask for the value of rank ceil(level rows), with noise in proportion to its smooth sensitivity.

        For any offer. How large the noise was stays private: the answer has no interval, and the preview
        states the error for values that are spread evenly.
        """
        exact = probability(level, "level")
        return self._ask(f"a quantile of {column}", partial(_quantile, column, exact))

    def median_within(self, column: str, bound: Number) -> StatisticQuestion:
        """Ask for the median with noise for a proposed local sensitivity: see `quantile_within`."""
        return self.quantile_within(column, _HALF, bound)

    def quantile_within(self, column: str, level: Number, bound: Number) -> StatisticQuestion:
        """Ask for a quantile with noise for a proposed local sensitivity, or no answer.

        Propose-test-release, for epsilon with delta. There is an answer, likely, where many rows would have
        to change before one row moved the quantile by more than `bound`; no answer costs the same.
        """
        exact, proposed = probability(level, "level"), rational(bound, "bound", positive=True)
        words = f"a quantile of {column}, or no answer"
        return self._ask(words, partial(_quantile_within, column, exact, proposed))

    def mode(self, column: str) -> StatisticQuestion:
        """Ask for the key that most rows have, exactly, or no answer: distance to instability.

        For epsilon with delta. There is an answer, likely, where the mode leads by many rows; no answer
        costs the same.
        """
        return self._ask(f"the most frequent {column}, or no answer", partial(_mode, column))

    def small_database(self, *columns: str, records: int) -> StatisticQuestion:
        """Ask for a database of a few records that answers every marginal of some columns (SmallDB).

        For epsilon alone. All databases of so many records are compared, so that cells and records must be
        few; `learned` compares none.
        """
        few = whole(records, "records", least=1)
        words = f"a small database in place of {', '.join(columns)}"
        return self._ask(words, partial(_small_database, columns, few))

    def learned(self, *columns: str, rounds: int = 10) -> StatisticQuestion:
        """Ask for an estimate of all cells of some columns, learned by multiplicative weights.

        For epsilon alone. In each round the marginal that is answered worst is chosen and measured.
        """
        many = whole(rounds, "rounds", least=1)
        words = f"an estimate of the rows by {', '.join(columns)}"
        return self._ask(words, partial(_learned, columns, many))

    def _ask(self, words: str, made: Callable[[FixedTable, Offer], ReleasedStatistic]) -> StatisticQuestion:
        def checked(table: RelatedTable, offer: Offer) -> ReleasedStatistic:
            if not isinstance(table, FixedTable):
                raise ParameterError("question", f"is about {self.table!r}, which is a graph", "graph(…)")
            return made(table, offer)

        return StatisticQuestion(table=self.table, words=words, made=checked)


def _declared(table: FixedTable, column: str) -> Bounds | Keys:
    found = table.columns.get(column) if isinstance(column, str) else None
    if not isinstance(found, Bounds | Keys):
        raise ParameterError(
            "column", f"is {column!r}, which is not declared", f"one of {sorted(table.columns)}"
        )
    return found


def _bounds(table: FixedTable, column: str) -> Bounds:
    found = _declared(table, column)
    if not isinstance(found, Bounds):
        raise ParameterError("column", f"is {column!r}, which has keys", "a column with Bounds")
    return found


def _axes(table: FixedTable, columns: tuple[str, ...]) -> KeyAxes:
    listed = []
    for column in columns:
        found = _declared(table, column)
        if not isinstance(found, Keys):
            raise ParameterError("columns", f"name {column!r}, which has bounds", "columns with Keys")
        listed.append((column, found))
    return KeyAxes(tuple(listed))


def _count(
    names: tuple[str, ...], keys: tuple[KeyValue, ...], table: FixedTable, offer: Offer
) -> ReleasedStatistic:
    return RowCount(rows=table.rows, axes=_axes(table, names), chosen=keys, offer=offer)


def _counts(names: tuple[str, ...], table: FixedTable, offer: Offer) -> ReleasedStatistic:
    return CellCounts(rows=table.rows, axes=_axes(table, names), offer=offer)


def _mean(column: str, table: FixedTable, offer: Offer) -> ReleasedStatistic:
    return ColumnMean(rows=table.rows, column=column, bounds=_bounds(table, column), offer=offer)


def _profiled(column: str, level: Fraction, table: FixedTable) -> QuantileStatistic:
    return QuantileStatistic(rows=table.rows, column=column, bounds=_bounds(table, column), level=level)


def _quantile(column: str, level: Fraction, table: FixedTable, offer: Offer) -> ReleasedStatistic:
    return BySmoothSensitivity(statistic=_profiled(column, level, table), offer=offer)


def _quantile_within(
    column: str, level: Fraction, bound: Fraction, table: FixedTable, offer: Offer
) -> ReleasedStatistic:
    statistic = _profiled(column, level, table)
    return ByProposal(statistic=statistic, bound=statistic.in_steps(bound, "bound"), offer=offer)


def _mode(column: str, table: FixedTable, offer: Offer) -> ReleasedStatistic:
    return StableMode(rows=table.rows, axes=_axes(table, (column,)), offer=offer)


def _small_database(
    names: tuple[str, ...], records: int, table: FixedTable, offer: Offer
) -> ReleasedStatistic:
    return SmallDatabaseCells(rows=table.rows, axes=_axes(table, names), records=records, offer=offer)


def _learned(names: tuple[str, ...], rounds: int, table: FixedTable, offer: Offer) -> ReleasedStatistic:
    return LearnedCells(rows=table.rows, axes=_axes(table, names), rounds=rounds, offer=offer)
