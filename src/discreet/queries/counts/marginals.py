"""Marginals: tables of counts over sets of columns, all consistent, from one measurement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from discreet.curator.release.release import Release, WholeOutput, as_drawn
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Part, Request
from discreet.data import (
    Axis,
    ContingencyTable,
    Group,
    Measure,
    Relation,
    Statistic,
    Table,
    sensitivity,
    to_object,
)
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.offer import Offer
from discreet.privacy.rational import Number
from discreet.privacy.sensitivity import Sensitivity
from discreet.queries.counts.cells import labels
from discreet.queries.counts.marginal_release import MarginalRelease
from discreet.queries.counts.question import LinearQuestion, name_of_counts, relation_of
from discreet.queries.noise.counts_plan import plan_counts
from discreet.queries.noise.measurement import StrategyMeasurement
from discreet.queries.question.dataframe import TableRequest
from discreet.queries.question.per_person import take_name
from discreet.records import dataclass
from discreet.workloads import MarginalPlan, Marginals, ReleasedMarginals
from discreet.workloads.error.intervals import half_width
from discreet.workloads.strategies.marginal_tables import TablePart
from discreet.workloads.strategies.residual_part import ResidualPart

__all__ = ["MarginalsQuestion", "marginals"]

MOST_TABLES = 1000
MOST_MARGINAL_CELLS = 5_000_000
_MOST_ON_ONE_AXIS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginalsQuestion(LinearQuestion):
    """How many rows have each combination of values, for sets of columns.

    Attributes
    ----------
    relation : Relation
        The rows.
    columns : tuple of str
        All columns, of keys or of numbers.
    sets : tuple of tuples of str
        The sets of columns for which tables are asked.
    widths : tuple of (column, width)
        How wide a cell of a column of numbers is, if given.
    width : number or None
        How wide a cell of all other columns of numbers is.
    """

    relation: Relation
    columns: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    widths: tuple[tuple[str, Number], ...] = ()
    width: Number | None = None

    def __post_init__(self) -> None:
        _check_names(self.columns)
        for name, _ in self.widths:
            if name not in self.columns:
                raise ParameterError("width", "is given for another column", f"one of {list(self.columns)}")

    def request(self, tables: Mapping[str, Table], offer: Offer, confidence: Fraction) -> Request:
        """Return the request that an offer buys: a part for every table that something is measured of."""
        domain, widths = self.domain(tables), dict(self.widths)
        axes = {
            name: domain.table_axis(name, widths.get(name), self.width, _MOST_ON_ONE_AXIS)
            for name in self.columns
        }
        workload = Marginals(
            [axes[name].cells for name in self.columns],
            sets=[[self.columns.index(name) for name in chosen] for chosen in self.sets],
        )
        _check_size(workload)
        tabulated = {
            chosen: ContingencyTable(axes=tuple(axes[self.columns[place]] for place in chosen))
            for chosen in workload.sets
        }
        plan = Group(source=domain.source, present=tuple(axes.values()), measures=tuple(tabulated.values()))
        found = sensitivity(plan, tables)
        design = plan_counts(workload, offer, found.statistics[0], 1)
        assert isinstance(design, MarginalPlan)  # noqa: S101
        measured = {part.chosen: part for part in design.strategy.parts()}
        parts = tuple(
            _part(found.of(tabulated[chosen]), part, design.mechanism) for chosen, part in measured.items()
        )
        output = MarginalsOutput(
            name=name_of_counts(self.columns),
            axes=plan.present,
            tables=tuple((chosen, tabulated[chosen]) for chosen in measured),
            design=design,
        )
        return Request(
            plan=replace(plan, measures=output.measures),
            versions=domain.versions,
            parts=parts,
            outputs=(output,),
            confidence=confidence,
        )

    def __repr__(self) -> str:
        return f"MarginalsQuestion(source {self.table}; {len(self.sets)} tables of {', '.join(self.columns)})"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MarginalsOutput(WholeOutput):
    """Estimates of all marginals, and of anything asked about them afterwards."""

    name: str
    axes: tuple[Axis, ...]
    tables: tuple[tuple[tuple[int, ...], ContingencyTable], ...]
    design: MarginalPlan

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The tables of counts that something is measured of."""
        return tuple(table for _, table in self.tables)

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, its tables, and which marginals are asked."""
        measures = [to_object(table) for table in self.measures]
        sets = [list(chosen) for chosen in self.design.workload.sets]
        return {"kind": type(self).__name__, "measures": measures, "sets": sets}

    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return the margin of a cell of the root mean square error, for any counts."""
        del parts, rows
        design, error = self.design, self.design.expected_error
        factor = error.mean_square / design.mechanism.error.variance
        return Expectation(
            name=self.name,
            margin=half_width(design.mechanism, factor, confidence),
            standard_deviation=error.rmse,
            means=f"root mean square over the {error.queries:,} cells of {len(design.workload.sets):,} "
            f"marginals, from one measurement by {design.name}; with this noise no strategy has a "
            f"deviation below {design.lower_bound:.6g}",
        )

    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return the cells of one marginal after the other."""
        released, sets = self.released(draws), self.design.workload.sets
        values = as_drawn(np.concatenate([released.tables[chosen].reshape(-1) for chosen in sets]), draws)
        margins = np.concatenate(
            [
                np.full(
                    self.design.workload.cells(chosen), released.half_width(*chosen, confidence=confidence)
                )
                for chosen in sets
            ]
        )
        return AnswerColumn(name=self.name, values=values, lower=values - margins, upper=values + margins)

    def released(self, draws: Sequence[Draw]) -> ReleasedMarginals:
        """Return the estimates of all marginals."""
        steps = {chosen: draw.steps for (chosen, _), draw in zip(self.tables, draws, strict=True)}
        basis = self.design.strategy
        tables = basis.reconstruct(basis.gathered(steps))
        return ReleasedMarginals(
            tables={chosen: as_drawn(table, draws) for chosen, table in tables.items()},
            basis=basis,
            mechanism=self.design.mechanism,
        )

    def release(
        self, request: Request, draws: Sequence[Draw], label: Mapping[str, object], *, stored: bool
    ) -> Release:
        """Return the answer to any count within a marginal."""
        return MarginalRelease(
            request=request,
            keys=_keys(self.axes, self.design.workload),
            outputs=(self.finish(draws, request.confidence),),
            label=label,
            stored=stored,
            axes=self.axes,
            design=self.design,
            released=self.released(draws),
        )


def marginals(
    rows: str | TableRequest,
    columns: Sequence[str],
    *,
    ways: int | None = None,
    sets: Iterable[Sequence[str]] | None = None,
    width: Number | Mapping[str, Number] | None = None,
) -> MarginalsQuestion:
    """Ask for tables of counts over sets of columns, all for one charge, and consistent with each other.

    Rows without a cell in some column (a missing number, another key) are left out of all tables.

    Parameters
    ----------
    rows : str or TableRequest
        The name of a table; or its rows, filtered or calculated.
    columns : sequence of str
        Columns with declared keys, or with bounds.
    ways : int, optional
        Ask for the tables of all sets of this many columns; by default 2, or 1 if there is one column.
    sets : iterable of sequences of str, optional
        Or for those of these sets of columns.
    width : number or mapping of columns to numbers, optional
        How wide a cell of a column of numbers is; by default one that leaves at most 64 cells. A number by
        itself is for all columns of numbers.

    Returns
    -------
    MarginalsQuestion
        For `Curator.preview` and `Curator.ask`, which returns a `MarginalRelease`.

    Examples
    --------
    >>> from discreet.queries.counts import marginals
    >>> marginals("visits", ["city", "age", "sex"], ways=2)
    MarginalsQuestion(source visits; 3 tables of city, age, sex)
    """
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    _check_names(names)
    if ways is not None and sets is not None:
        raise ParameterError("ways", "is given together with sets", "one of the two")
    if sets is None:
        several = min(2, len(names)) if ways is None else ways
        if not isinstance(several, int) or not 1 <= several <= len(names):
            raise ParameterError("ways", "is not a number of columns", f"from 1 to {len(names)}")
        chosen = tuple(combinations(names, several))
    else:
        chosen = tuple(tuple([one] if isinstance(one, str) else one) for one in sets)
        for one in chosen:
            if not one or not set(one) <= set(names) or len(set(one)) != len(one):
                raise ParameterError(
                    "sets", "is empty, names an unknown column or repeats one", f"sets of {names}"
                )
    if not chosen:
        raise ParameterError("sets", "are empty", "at least one set of columns")
    return MarginalsQuestion(
        relation=relation_of(rows),
        columns=names,
        sets=chosen,
        widths=tuple(width.items()) if isinstance(width, Mapping) else (),
        width=None if isinstance(width, Mapping) else width,
    )


def _part(statistic: Statistic, part: ResidualPart | TablePart, noise: Laplace | Gaussian) -> Part:
    """Return one marginal's part of the measurements: with the noise of the plan, and its share of the cost.

    Losses of the parts add up to that of the whole: L1 norms add up, and so do squared L2 norms.
    """
    bound = statistic.sensitivity
    own = Sensitivity(
        l0=part.measurements,
        l1=part.column_norm1 * bound.l1,
        squared_l2=part.squared_column_norm2 * bound.squared_l2,
        linf=part.largest_entry * bound.linf,
        neighbors=bound.neighbors,
        integers=True,
    )
    alike: Laplace | Gaussian
    if isinstance(noise, Laplace):
        alike = Laplace(sensitivity=own, scale=noise.event.scale, size=part.measurements)
    else:
        alike = noise.alike(sensitivity=own, size=part.measurements)
    return Part(statistic=statistic, mechanism=StrategyMeasurement(strategy=part, noise=alike))


def _keys(axes: tuple[Axis, ...], workload: Marginals) -> dict[str, Sequence[object]]:
    """Return for every cell its table and its values there; None in columns that the table does not have."""
    columns = [axis.column for axis in axes]
    named = take_name("table", {column.lower() for column in columns})
    keys: dict[str, list[object]] = {named: [], **{column: [] for column in columns}}
    for chosen in workload.sets:
        cells = workload.cells(chosen)
        keys[named] += [", ".join(columns[place] for place in chosen)] * cells
        before, after = 1, cells
        for place, axis in enumerate(axes):
            if place not in chosen:
                keys[axis.column] += [None] * cells
                continue
            listed = labels(axis)
            after //= len(listed)
            keys[axis.column] += [value for value in listed for _ in range(after)] * before
            before *= len(listed)
    return dict(keys)


def _check_names(names: tuple[str, ...]) -> None:
    if not names or not all(isinstance(name, str) and name for name in names):
        raise UnsupportedQuery("marginals need columns; write dp.marginals('visits', ['city', 'age'])")
    if len(set(names)) != len(names):
        raise UnsupportedQuery("a column is named twice; name it once")


def _check_size(workload: Marginals) -> None:
    tables, cells = len(workload.sets), workload.queries
    if tables > MOST_TABLES or cells > MOST_MARGINAL_CELLS:
        raise UnsupportedQuery(
            f"{tables:,} marginals of {cells:,} cells are asked, and at most {MOST_TABLES:,} of "
            f"{MOST_MARGINAL_CELLS:,} are answered at once; ask for fewer columns, smaller sets or wider "
            "cells"
        )
