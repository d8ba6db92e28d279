"""Ranges and distribution functions: all at once, for what the best strategy for all of them costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import ClassVar

import numpy as np

from discreet.curator.release.release import Release, WholeOutput, as_drawn
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part, Request
from discreet.data import (
    Axis,
    ContingencyTable,
    Group,
    Keys,
    Measure,
    Relation,
    Table,
    sensitivity,
    to_object,
)
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number
from discreet.queries.counts.cells import edge_words, labels
from discreet.queries.counts.column_release import ColumnRelease
from discreet.queries.counts.question import LinearQuestion, name_of_counts, relation_of
from discreet.queries.counts.range_release import RangeRelease
from discreet.queries.noise.counts_plan import plan_counts
from discreet.queries.noise.measurement import StrategyMeasurement
from discreet.queries.question.dataframe import TableRequest
from discreet.records import dataclass
from discreet.workloads import AllRanges, Plan, Prefixes, Product, ReleasedCells, Workload
from discreet.workloads.error.intervals import half_width

__all__ = ["CumulativeQuestion", "RangesQuestion", "cdf", "ranges"]

MOST_RANGE_CELLS = 1 << 20
"""How many cells a table of counts may have."""
_MOST_ON_ONE_AXIS = 512
_MOST_BY_DEFAULT = 1 << 14
_MOST_INTERVALS = 1 << 12
"""For more cells than these, intervals are computed one by one, not all in advance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangesQuestion(LinearQuestion):
    """How many rows lie in each range of one or more columns of numbers.

    Attributes
    ----------
    relation : Relation
        The rows.
    columns : tuple of str
        The columns; of several, boxes are asked.
    widths : tuple of (column, width)
        How wide a cell is, if given.
    by : tuple of str
        The columns of keys for each of whose combinations the ranges are asked.
    listed : tuple of (column, Keys)
        Keys that come with the question, for columns of `by` with undeclared keys.
    """

    relation: Relation
    columns: tuple[str, ...]
    widths: tuple[tuple[str, Number], ...] = ()
    by: tuple[str, ...] = ()
    listed: tuple[tuple[str, Keys], ...] = ()

    asked: ClassVar[str] = "range"

    def __post_init__(self) -> None:
        names = (*self.columns, *self.by)
        if not self.columns or not all(isinstance(name, str) and name for name in names):
            raise UnsupportedQuery("ranges need the name of a column; write dp.ranges('visits', 'age')")
        if len(set(names)) != len(names):
            raise UnsupportedQuery("a column is named twice; name it once")
        for name, _ in self.widths:
            if name not in self.columns:
                raise ParameterError("width", "is given for another column", f"one of {list(self.columns)}")

    def request(self, tables: Mapping[str, Table], offer: Offer, confidence: Fraction) -> Request:
        """Return the request that an offer buys: one measurement of the table of each group."""
        domain = self.domain(tables, self.by, self.listed)
        widths, many = dict(self.widths), len(self.columns)
        most = _MOST_ON_ONE_AXIS if many == 1 else max(2, int(_MOST_BY_DEFAULT ** (1 / many)))
        axes = tuple(domain.axis(name, widths.get(name), most) for name in self.columns)
        _check_cells(axes, prod(len(key.values) for key in domain.keys))
        measure = ContingencyTable(axes=axes)
        plan = Group(source=domain.source, keys=domain.keys, measures=(measure,))
        statistic = sensitivity(plan, tables).of(measure)
        design = plan_counts(self.workload(axes), offer, statistic, plan.cells)
        assert isinstance(design, Plan)  # noqa: S101
        mechanism = StrategyMeasurement(strategy=design.strategy, noise=design.mechanism, cells=plan.cells)
        name = name_of_counts((*self.columns, *self.by))
        output = RangesOutput(name=name, measure=measure, design=design, asked=self.asked)
        return Request(
            plan=plan,
            versions=domain.versions,
            parts=(Part(statistic=statistic, mechanism=mechanism),),
            outputs=(output,),
            confidence=confidence,
        )

    def workload(self, axes: Sequence[Axis]) -> Workload:
        """All ranges of one column; all boxes of several."""
        every = [AllRanges(axis.cells) for axis in axes]
        return every[0] if len(every) == 1 else Product(*every)

    def __repr__(self) -> str:
        by = f"; by {', '.join(self.by)}" if self.by else ""
        return f"{type(self).__name__}(source {self.table}; of {', '.join(self.columns)}{by})"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CumulativeQuestion(RangesQuestion):
    """How many rows have a number of at most x, for every x: the distribution function of a column."""

    asked: ClassVar[str] = "prefix"

    def workload(self, axes: Sequence[Axis]) -> Workload:
        """All prefixes."""
        return Prefixes(axes[0].cells)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RangesOutput(WholeOutput):
    """Estimates of all cells, and of anything asked about them afterwards."""

    name: str
    measure: ContingencyTable
    design: Plan
    asked: str

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The table of counts."""
        return (self.measure,)

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, and its table."""
        return {"kind": self.asked, "measures": [to_object(self.measure)]}

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return the margin of a query of the root mean square error, for any counts."""
        del parts, rows
        design, error = self.design, self.design.expected_error
        factor = error.mean_square / design.mechanism.error.variance
        plural = "" if error.queries == 1 else "es" if self.asked.endswith("x") else "s"
        many = f"{error.queries:,} {self.asked}{plural}"
        return Expectation(
            name=self.name,
            margin=half_width(design.mechanism, factor, confidence),
            standard_deviation=error.rmse,
            means=f"root mean square over {many}, from one measurement by {design.name}; with this noise "
            f"none has a deviation below {design.lower_bound:.6g}{self._edges}",
        )

    @property
    def _edges(self) -> str:
        said = [(axis.column, edge_words(axis)) for axis in self.measure.axes]
        return "".join(f"; {column} in {words}" for column, words in said if words)

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return the cells of one group after the other."""
        released = self.released(draws)
        values = as_drawn(np.concatenate([group.cells.reshape(-1) for group in released]), draws)
        if self.measure.width > _MOST_INTERVALS:
            return AnswerColumn(name=self.name, values=values, offers="count(low, high) gives intervals")
        unit = half_width(self.design.mechanism, 1.0, confidence)
        margins = np.tile(unit * np.sqrt(self.design.strategy.cell_variances()), len(released))
        return AnswerColumn(name=self.name, values=values, lower=values - margins, upper=values + margins)

    def released(self, draws: Sequence[Draw]) -> tuple[ReleasedCells, ...]:
        """Return the estimates of each group."""
        groups = np.asanyarray(draws[0].steps).reshape(-1, self.design.strategy.measurements)
        return tuple(self.design.finish(group) for group in groups)

    def release(
        self, request: Request, draws: Sequence[Draw], label: Mapping[str, object], *, stored: bool
    ) -> Release:
        """Return the answer to any range; of one column, to shares and quantiles, too."""
        kind = ColumnRelease if len(self.measure.axes) == 1 else RangeRelease
        return kind(
            request=request,
            keys=self._keys(request),
            outputs=(self.finish(draws, request.confidence),),
            label=label,
            stored=stored,
            axes=self.measure.axes,
            groups=request.plan.keys,
            design=self.design,
            released=self.released(draws),
        )

    def _keys(self, request: Request) -> dict[str, Sequence[object]]:
        """Return the group and the lowest numbers of every cell."""
        listed: dict[str, Sequence[object]] = {
            key.column: list(key.values.values) for key in request.plan.keys
        }
        listed |= {axis.column: labels(axis) for axis in self.measure.axes}
        keys: dict[str, Sequence[object]] = {}
        before, after = 1, prod(len(values) for values in listed.values())
        for column, values in listed.items():
            after //= len(values)
            keys[column] = [value for value in values for _ in range(after)] * before
            before *= len(values)
        return keys


def ranges(
    rows: str | TableRequest,
    *columns: str,
    width: Number | Mapping[str, Number] | None = None,
    by: str | Iterable[str] | Mapping[str, Iterable[object]] = (),
) -> RangesQuestion:
    """Ask how many rows lie in every range of a column of numbers: all ranges for one charge.

    Parameters
    ----------
    rows : str or TableRequest
        The name of a table; or its rows, filtered or calculated.
    *columns : str
        A column with declared or implied bounds; of several, all boxes are asked.
    width : number or mapping of columns to numbers, optional
        How wide a cell is: ranges begin and end at its multiples, from the lower bound on. By default the
        step of the bounds, or a round multiple of it that leaves at most 512 cells (of
        several columns together 16,384).
    by : str, names, or mapping of names to keys, optional
        Columns of keys: ranges are asked for each of their combinations. Undeclared keys are
        listed here; they must be known without looking at the data.

    Returns
    -------
    RangesQuestion
        For `Curator.preview` and `Curator.ask`, which returns a `RangeRelease`; of one column, a
        `ColumnRelease`.

    Examples
    --------
    >>> from discreet.queries.counts import ranges
    >>> ranges("visits", "age", by="city")
    RangesQuestion(source visits; of age; by city)
    """
    if len(columns) == 1 and isinstance(columns[0], list | tuple):
        columns = tuple(columns[0])
    return RangesQuestion(
        relation=relation_of(rows),
        columns=columns,
        widths=_widths(columns, width),
        by=_names(by),
        listed=_listed(by),
    )


def cdf(
    rows: str | TableRequest,
    column: str,
    *,
    width: Number | None = None,
    by: str | Iterable[str] | Mapping[str, Iterable[object]] = (),
) -> CumulativeQuestion:
    """Ask for the distribution function of a column: the share below every number, and every quantile.

    Parameters as for `ranges`. `Curator.ask` returns a `ColumnRelease`.
    """
    return CumulativeQuestion(
        relation=relation_of(rows),
        columns=(column,),
        widths=_widths((column,), width),
        by=_names(by),
        listed=_listed(by),
    )


def _widths(
    columns: tuple[str, ...], width: Number | Mapping[str, Number] | None
) -> tuple[tuple[str, Number], ...]:
    if width is None:
        return ()
    if isinstance(width, Mapping):
        return tuple(width.items())
    return tuple((column, width) for column in columns)


def _names(names: str | Iterable[str]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else tuple(names)


def _listed(by: str | Iterable[str] | Mapping[str, Iterable[object]]) -> tuple[tuple[str, Keys], ...]:
    if not isinstance(by, Mapping):
        return ()
    return tuple((name, keys if isinstance(keys, Keys) else Keys(keys)) for name, keys in by.items())


def _check_cells(axes: Sequence[Axis], groups: int) -> None:
    cells = prod(axis.cells for axis in axes)
    if cells * groups <= MOST_RANGE_CELLS:
        return
    names = " x ".join(f"{axis.cells:,} of {axis.column!r}" for axis in axes)
    names += f" in {groups:,} groups" if groups > 1 else ""
    raise UnsupportedQuery(
        f"the table would have {cells * groups:,} cells ({names}), and at most {MOST_RANGE_CELLS:,} are "
        f"answered; ask for wider cells with width=…, or for fewer columns"
    )
