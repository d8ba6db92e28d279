"""What each aggregate measures, and how outputs share measures.

- COUNT(x), SUM(x) and AVG(x) see the same values: those that the rules of the column's bounds call
  present. COUNT(x) of a column without bounds counts what is not NULL.
- AVG(x) is the sum of x less the middle of the bounds, over the number of values. Every AVG, COUNT and
  SUM of the same column reads the same count.
- SUM(x) next to AVG(x) is computed from the parts of AVG(x): two measures for both instead of three. With H
  half the width of the bounds, c their middle and R = H + abs(c), the error of the sum comes from noise
  for H and noise for abs(c), and no budget goes to a third measure; with the division of `split` all
  errors are smaller. SUM(x) alone is a single sum, since one noise for R is smaller than the two.
- Where bounds have more than 2^40 steps on a side, sums and means are taken on a coarser grid.
- A variance adds the sum of squares to the parts of AVG(x). Where the squares of the declared steps would
  need more noise than can be drawn, both sums are taken on a coarser grid, and only the count is shared.
- A covariance and a correlation are over the rows in which both values are present. Where a column's rules
  leave nothing out, its part in that is dropped, so that measures of one column are shared there too.
- Quantiles are chosen from the grid, coarsened to a few thousand points; all quantiles of a column from one
  histogram. The most frequent keys are chosen from the declared ones.
- What is counted or added up of each person is bounded by the limits of the tables where nothing else
  bounds it.
- Smooth quantiles and trimmed means are estimated from the same histogram, on a finer grid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt

from discreet.curator.request.histogram_estimates import SmoothQuantileRule, SmoothRule, TrimmedMeanRule
from discreet.data import (
    DROP,
    Aggregate,
    AggregateFunction,
    Bounds,
    CountDistinct,
    CountNonNull,
    CountPersons,
    CountRows,
    Factor,
    Histogram,
    Keys,
    Limits,
    Moment,
    Sum,
    Type,
)
from discreet.data.language.coarsening import ends_at_most, steps_at_most
from discreet.data.language.column_facts import Columns, types_of
from discreet.data.language.expressions import Column
from discreet.data.language.measures import SumDistinct
from discreet.data.language.plan import LARGEST_CELLS
from discreet.data.language.types import column_type
from discreet.errors import UnsupportedQuery
from discreet.queries.binding.missing_declarations import missing_bounds, missing_keys
from discreet.queries.outputs.base import QueryOutput
from discreet.queries.outputs.counts_sums_means import CountOutput, MeanOutput, SumOutput
from discreet.queries.outputs.moments import Count, SumOrMoment, VarianceOutput
from discreet.queries.outputs.pairs import CorrelationOutput, CovarianceOutput
from discreet.queries.outputs.quantiles_and_extremes import ExtremeOutput, QuantileOutput
from discreet.queries.outputs.smooth import SmoothOutput
from discreet.records import dataclass

__all__ = ["LARGEST_WIDTH", "Facts", "outputs_of"]

LARGEST_WIDTH = 4096
"""How many candidates a quantile is chosen from."""
LARGEST_SUMMAND = 1 << 40
"""How many steps a summand has at most: more, as products of decimals have, would take sums of a few million
rows beyond 64 bits. A row is rounded by at most 2^-39 of the largest, far below noise that hides a row."""
LARGEST_SQUARES = 1 << 31
"""What squares of a person's steps add up to at most: far less than the noise that can be drawn."""

_DISTINCT = {
    AggregateFunction.NUMBER_DISTINCT: 0,
    AggregateFunction.SUM_DISTINCT: 1,
    AggregateFunction.SQUARES_DISTINCT: 2,
}
_VARIANCES = {
    AggregateFunction.VARIANCE: (False, False),
    AggregateFunction.SAMPLE_VARIANCE: (True, False),
    AggregateFunction.STANDARD_DEVIATION: (False, True),
    AggregateFunction.SAMPLE_STANDARD_DEVIATION: (True, True),
}
_PAIRS = {
    AggregateFunction.COVARIANCE,
    AggregateFunction.SAMPLE_COVARIANCE,
    AggregateFunction.CORRELATION,
}
_SMOOTH: dict[AggregateFunction, type[SmoothRule]] = {
    AggregateFunction.SMOOTH_QUANTILE: SmoothQuantileRule,
    AggregateFunction.TRIMMED_MEAN: TrimmedMeanRule,
}
_UNBOUNDED = {
    AggregateFunction.COUNT,
    AggregateFunction.COUNT_DISTINCT,
    AggregateFunction.MODE,
    AggregateFunction.TOP,
}
"""What needs no bounds: beside these alone, a count is that of what is not NULL."""
_EXTREMES = {AggregateFunction.MINIMUM: Fraction(0), AggregateFunction.MAXIMUM: Fraction(1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is public about the rows under the aggregates.

    Attributes
    ----------
    columns : Columns
        Their columns.
    persons : frozenset of str
        The columns that hold the person.
    own : mapping of columns to tables
        The private table of each column that is one, where its owner could declare more of it.
    limits : Limits
        How much one person contributes.
    cells : int
        The number of groups.
    """

    columns: Columns
    persons: frozenset[str]
    own: Mapping[str, str]
    limits: Limits
    cells: int


def outputs_of(aggregates: Sequence[tuple[str, Aggregate]], facts: Facts) -> tuple[QueryOutput, ...]:
    """Return the output of each named aggregate of columns.

    Raises
    ------
    UndeclaredColumn
        For a column that does not exist, or without the bounds or keys that an aggregate needs.
    """
    meaning = _Meaning(facts, aggregates)
    return tuple(meaning.output(name, aggregate) for name, aggregate in aggregates)


class _Meaning:
    """The meaning of several aggregates together."""

    def __init__(self, facts: Facts, aggregates: Sequence[tuple[str, Aggregate]]) -> None:
        self._facts = facts
        self._columns = facts.columns
        self._averaged = {
            aggregate.operand for _, aggregate in aggregates if aggregate.function is AggregateFunction.MEAN
        }
        self._bounded = {
            _column(operand)
            for _, aggregate in aggregates
            if aggregate.function not in _UNBOUNDED
            for operand in aggregate.operands
        }
        self._shares: dict[str, list[Fraction]] = {}
        for _, aggregate in aggregates:
            if aggregate.function is AggregateFunction.QUANTILE and aggregate.parameter not in (0, 1):
                shares = self._shares.setdefault(_name(aggregate), [])
                assert aggregate.parameter is not None  # noqa: S101
                shares.append(aggregate.parameter)

    def output(self, name: str, aggregate: Aggregate) -> QueryOutput:
        function = aggregate.function
        if function is AggregateFunction.COUNT_PERSONS:
            return CountOutput(name=name, measure=CountPersons())
        if not aggregate.operands:
            return CountOutput(name=name, measure=CountRows())
        if function in _PAIRS:
            return self._pair(name, aggregate)
        column = _name(aggregate)
        if function is AggregateFunction.COUNT:
            return CountOutput(name=name, measure=self._present(column))
        if function is AggregateFunction.COUNT_DISTINCT:
            return CountOutput(name=name, measure=self._distinct(column))
        if function in {AggregateFunction.MODE, AggregateFunction.TOP}:
            return self._frequent(name, aggregate)
        if function in _EXTREMES or function is AggregateFunction.QUANTILE:
            return self._ranked(name, aggregate)
        if function in _SMOOTH:
            assert aggregate.parameter is not None  # noqa: S101
            histogram = self._grid(column, function)
            return SmoothOutput(
                name=name, histogram=histogram, rule=_SMOOTH[function], share=aggregate.parameter
            )
        if function in _DISTINCT:
            bounds = self._coarse(column, function)
            total = SumDistinct(column=column, bounds=bounds, power=_DISTINCT[function])
            if not total.power:
                return CountOutput(name=name, measure=total)
            return SumOutput(name=name, total=total)
        if function in _VARIANCES:
            sample, root = _VARIANCES[function]
            bounds = self._coarse(column, function)
            return VarianceOutput(
                name=name,
                squares=self._squares(column, bounds),
                total=_centered(column, bounds),
                count=self._present(column),
                sample=sample,
                root=root,
            )
        bounds = ends_at_most(self._bounds(column, function), LARGEST_SUMMAND)
        centered = _centered(column, bounds)
        if function is AggregateFunction.MEAN:
            return MeanOutput(name=name, total=centered, count=self._present(column))
        if aggregate.operand in self._averaged and centered.center:
            return SumOutput(name=name, total=centered, count=self._present(column))
        return SumOutput(name=name, total=Sum(column=column, bounds=bounds))

    def _distinct(self, column: str) -> CountDistinct | CountPersons:
        column_type(column, types_of(self._columns))
        return CountPersons() if column in self._facts.persons else CountDistinct(column=column)

    def _frequent(self, name: str, aggregate: Aggregate) -> QueryOutput:
        from discreet.queries.outputs.frequent import FrequentOutput  # loads much that others do not need

        column = _name(aggregate)
        column_type(column, types_of(self._columns))
        keys = self._columns[column].keys
        if keys is None:
            facts = self._facts
            raise missing_keys(
                column,
                self._columns,
                facts.persons,
                facts.own.get(column),
                aggregate=aggregate.function.value,
            )
        most = None if aggregate.parameter is None else int(aggregate.parameter)
        if most is not None and most > len(keys):
            raise UnsupportedQuery(
                f"more of the most frequent keys are wanted than {column!r} has; ask for at most {len(keys)}"
            )
        return FrequentOutput(name=name, histogram=self._histogram(column, keys), most=most)

    def _ranked(self, name: str, aggregate: Aggregate) -> QuantileOutput | ExtremeOutput:
        column, function = _name(aggregate), aggregate.function
        histogram = self._grid(column, function)
        share = _EXTREMES.get(function, aggregate.parameter)
        assert share is not None  # noqa: S101
        coarse = histogram.values != self._bounds(column, function)
        if share in (0, 1):
            return ExtremeOutput(name=name, histogram=histogram, largest=share == 1, coarse=coarse)
        beside = tuple(sorted(set(self._shares[column]) - {share}))
        return QuantileOutput(name=name, histogram=histogram, share=share, beside=beside, coarse=coarse)

    def _grid(self, column: str, function: AggregateFunction) -> Histogram:
        declared = self._bounds(column, function)
        most = min(LARGEST_WIDTH, LARGEST_CELLS // self._facts.cells)
        if most < 3:
            raise UnsupportedQuery(
                "there are too many groups for a quantile in each; group by fewer columns or fewer keys"
            )
        return self._histogram(column, steps_at_most(declared, most - 1))

    def _histogram(self, column: str, values: Keys | Bounds) -> Histogram:
        histogram = Histogram(column=column, values=values)
        if self._facts.cells * histogram.width > LARGEST_CELLS:
            raise UnsupportedQuery(
                f"the histogram of {column!r} in every group would have more than {LARGEST_CELLS} counts; "
                "group by fewer columns or fewer keys"
            )
        return histogram

    def _pair(self, name: str, aggregate: Aggregate) -> CovarianceOutput | CorrelationOutput:
        names = sorted(_column(operand) for operand in aggregate.operands)
        bounds = {column: self._coarse(column, aggregate.function) for column in names}
        one, other = names
        products = self._moment(bounds, {one: 1, other: 1})
        totals = (self._moment(bounds, {one: 1, other: 0}), self._moment(bounds, {one: 0, other: 1}))
        count = self._moment(bounds, {one: 0, other: 0})
        assert isinstance(products, Moment)  # noqa: S101
        assert not isinstance(count, Sum)  # noqa: S101
        if aggregate.function is not AggregateFunction.CORRELATION:
            sample = aggregate.function is AggregateFunction.SAMPLE_COVARIANCE
            return CovarianceOutput(
                name=name, products=products, totals=_totals(totals), count=count, sample=sample
            )
        squares = (self._moment(bounds, {one: 2, other: 0}), self._moment(bounds, {one: 0, other: 2}))
        assert isinstance(squares[0], Moment)  # noqa: S101
        assert isinstance(squares[1], Moment)  # noqa: S101
        return CorrelationOutput(
            name=name,
            products=products,
            totals=_totals(totals),
            squares=(squares[0], squares[1]),
            count=count,
        )

    def _moment(self, bounds: dict[str, Bounds], powers: dict[str, int]) -> SumOrMoment | Count:
        """Return the sum of a product of powers over the rows that have both values, spelled simply."""
        kept = [column for column, power in powers.items() if power or self._present(column) != CountRows()]
        if not kept:
            return CountRows()
        if len(kept) == 1:
            (column,) = kept
            if powers[column] == 0:
                return self._present(column)
            if powers[column] == 1:
                return _centered(column, bounds[column])
            return self._squares(column, bounds[column])
        factors = tuple(
            Factor(
                column=column,
                bounds=bounds[column],
                center=_middle(bounds[column]) * bounds[column].step if powers[column] else Fraction(0),
                power=powers[column],
            )
            for column in kept
        )
        squared = [factor.largest for factor in factors if factor.power == 2]
        return Moment(factors=factors, shift=squared[0] // 2 if squared else 0)

    def _squares(self, column: str, bounds: Bounds) -> Moment:
        factor = Factor(column=column, bounds=bounds, center=_middle(bounds) * bounds.step, power=2)
        return Moment(factors=(factor,), shift=factor.largest // 2)

    def _coarse(self, column: str, function: AggregateFunction) -> Bounds:
        """Return the bounds on a grid of which a person's squares stay small enough for noise."""
        limits = self._facts.limits
        rows = limits.rows
        if rows is None:
            assert limits.groups is not None  # noqa: S101
            assert limits.rows_per_group is not None  # noqa: S101
            rows = limits.rows_per_group * min(limits.groups, self._facts.cells)
        return steps_at_most(self._bounds(column, function), 2 * isqrt(LARGEST_SQUARES // rows))

    def _bounds(self, name: str, function: AggregateFunction) -> Bounds:
        column_type(name, types_of(self._columns))
        known = self._known(name)
        if known is not None:
            return known
        facts = self._facts
        raise missing_bounds(name, function.value, self._columns, facts.persons, facts.own.get(name))

    def _known(self, column: str) -> Bounds | None:
        facts = self._columns[column]
        return facts.bounds_of_sums or facts.usual

    def _present(self, column: str) -> CountRows | CountNonNull:
        """Return the count of the values of a column, spelled simply, so that equal counts are shared.

        If only NULL counts as absent it is the count of what is not NULL, and if nothing does, that of rows.
        Integers and booleans have no NaN and no infinity.
        """
        found = column_type(column, types_of(self._columns))
        bounds = self._known(column) if column in self._bounded else self._columns[column].bounds
        if bounds is None:
            return CountNonNull(column=column)
        if found not in {Type.INTEGER, Type.BOOLEAN} and DROP in (bounds.nan, bounds.infinity):
            return CountNonNull(column=column, bounds=bounds)
        return CountNonNull(column=column) if bounds.null == DROP else CountRows()


def _column(operand: object) -> str:
    assert isinstance(operand, Column)  # noqa: S101
    return operand.name


def _name(aggregate: Aggregate) -> str:
    return _column(aggregate.operands[0])


def _totals(pair: tuple[SumOrMoment | Count, SumOrMoment | Count]) -> tuple[SumOrMoment, SumOrMoment]:
    one, other = pair
    assert isinstance(one, Sum | Moment)  # noqa: S101
    assert isinstance(other, Sum | Moment)  # noqa: S101
    return one, other


def _centered(column: str, bounds: Bounds) -> Sum:
    return Sum(column=column, bounds=bounds, center=_middle(bounds) * bounds.step)


def _middle(bounds: Bounds) -> int:
    """Return the grid point nearest to the middle of the bounds, in steps."""
    return (bounds.lower_steps + bounds.upper_steps) // 2
