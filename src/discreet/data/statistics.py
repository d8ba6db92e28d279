"""What a plan yields: exact integers for every declared group, and how far one person can move them.

`sensitivity` needs public facts only: the plan, the limits of its table. `compute` reads the data, in one
statement, and returns integers that are private: they go to a mechanism and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.facts.limits import limits_of
from discreet.data.facts.plan_check import check_plan
from discreet.data.language.declarations import Keys, KeyValue, Limits
from discreet.data.language.measures import (
    Binned,
    ContingencyTable,
    CountPersons,
    CountRows,
    Histogram,
    Measure,
    Sum,
    SumDistinct,
    adds_up,
    largest_term,
    width,
)
from discreet.data.language.plan import Group, GroupKey, Plan
from discreet.errors import EngineFailed, ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import dataclass

if TYPE_CHECKING:
    import pyarrow
    from numpy.typing import NDArray

    from discreet.data.salt import Salt
    from discreet.data.tables.table import Table

__all__ = ["Exact", "Statistic", "Statistics", "compute", "engine_sql", "sensitivity"]

_LOOKED_UP = 1 << 12
"""So many values are converted one by one sooner than Arrow's functions are loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A vector of integers, one for each group (of bins: several), that stands for values on a grid.

    Attributes
    ----------
    measure : Measure
        What it measures.
    sensitivity : Sensitivity
        How far one person moves the vector, in integer steps.
    step, center : Fraction
        An integer k stands for k step; for a sum it is the sum of the values less `center` each.
    groups : int
        In how many groups one person is at most.
    """

    measure: Measure
    sensitivity: Sensitivity
    step: Fraction
    center: Fraction
    groups: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """The public shape of what a plan yields: its groups, its measures, their sensitivities.

    Attributes
    ----------
    keys : tuple of GroupKey
        What the groups are made of. All combinations of their values are there, the last key fastest.
    statistics : tuple of Statistic
        One for each measure of the plan, in order.
    limits : Limits
        How much one person contributes at most.
    """

    keys: tuple[GroupKey, ...]
    statistics: tuple[Statistic, ...]
    limits: Limits

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of declared values of each key."""
        return tuple(len(key.values) for key in self.keys)

    @property
    def cells(self) -> int:
        """The number of groups; 1 without keys."""
        return int(np.prod(self.shape, dtype=np.int64))

    def groups(self) -> Iterator[tuple[KeyValue, ...]]:
        """Yield the keys of every group, in order."""
        return product(*(key.values.values for key in self.keys))

    def of(self, measure: Measure) -> Statistic:
        """Return the statistic of a measure."""
        for statistic in self.statistics:
            if statistic.measure == measure:
                return statistic
        raise ParameterError("measure", "is not a measure of this plan", "one of its measures")

    def joint(self, measures: Sequence[Measure] | None = None) -> Sensitivity:
        """Return how far one person moves some of the vectors together, by default all of them."""
        chosen = [statistic.measure for statistic in self.statistics] if measures is None else list(measures)
        return joint_sensitivity([self.of(measure).measure for measure in chosen], self.cells, self.limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """The exact integers of a plan. They are private: nothing prints them.

    Attributes
    ----------
    statistics : Statistics
        The public shape.
    values : tuple of arrays
        For each measure of the plan an array of 64-bit integers: one for each group, of a histogram one for
        each value of each group.
    """

    statistics: Statistics
    values: tuple[NDArray[np.int64], ...] = field(repr=False, compare=False)

    def __getitem__(self, measure: Measure) -> NDArray[np.int64]:
        """Return the integers of a measure, one for each group."""
        for statistic, values in zip(self.statistics.statistics, self.values, strict=True):
            if statistic.measure == measure:
                return values
        raise ParameterError("measure", "is not a measure of this plan", "one of its measures")


def sensitivity(plan: Plan, tables: Mapping[str, Table]) -> Statistics:
    """Return what a plan yields and how far one person can move it, without reading any data.

    A plan that the declarations do not allow is refused here, before anything is charged.

    Guarantee
    ---------
    Adding or removing one person, with any rows, moves the vectors that `compute` returns by at most
    the stated amounts in every norm, for every salt (proof: contribution_bounding).
    """
    check_plan(plan, tables)
    limits = limits_of(plan.source, tables)
    statistics = tuple(
        Statistic(
            measure=measure,
            sensitivity=joint_sensitivity([measure], plan.cells, limits),
            step=_step(measure),
            center=measure.center if isinstance(measure, Sum) else Fraction(0),
            groups=_groups(limits, plan.cells),
        )
        for measure in plan.measures
    )
    return Statistics(keys=plan.keys, statistics=statistics, limits=limits)


def _step(measure: Measure) -> Fraction:
    if isinstance(measure, SumDistinct):
        return measure.step
    return measure.bounds.step if isinstance(measure, Sum) else Fraction(1)


def _groups(limits: Limits, cells: int) -> int:
    most = limits.rows if limits.groups is None else limits.groups
    assert most is not None  # noqa: S101
    return min(most, cells)


def joint_sensitivity(measures: Sequence[Measure], cells: int, limits: Limits) -> Sensitivity:
    """Return how far one person moves the vectors of several measures over the same groups, taken together.

    A row is in one group and moves one integer of measure j there, by at most M_j. With at most k rows the
    worst cases are all rows in one place (L2, largest change) or each in its own (number of entries); with
    at most r rows in each of g groups, all groups full. No more than `cells` groups exist. Of a count of
    persons one person moves every group that they are in by 1, however many rows they have there.
    """
    if limits.rows is not None:
        groups, full, each = min(limits.rows, cells), 1, limits.rows
    else:
        assert limits.groups is not None  # noqa: S101
        assert limits.rows_per_group is not None  # noqa: S101
        groups = full = min(limits.groups, cells)
        each = limits.rows_per_group
    reaches = []
    for measure in measures:
        if isinstance(measure, CountPersons):
            reaches.append((groups, groups, groups, 1))
            continue
        largest, entries = each * largest_term(measure), full * min(each, width(measure))
        if limits.rows is not None:
            entries = min(each, cells * width(measure))
        reaches.append((entries, full * largest, full * largest**2, largest))
    return _of_persons(
        sum(reach[0] for reach in reaches),
        sum(reach[1] for reach in reaches),
        sum(reach[2] for reach in reaches),
        max(reach[3] for reach in reaches),
    )


@lru_cache(maxsize=256, typed=True)
def _of_persons(l0: int, l1: int, squared_l2: int, linf: int) -> Sensitivity:
    """Return a sensitivity; a question asks for the same one many times."""
    return Sensitivity(l0=l0, l1=l1, squared_l2=squared_l2, linf=linf, neighbors=ADD_REMOVE_PERSON)


def compute(plan: Plan, tables: Mapping[str, Table], *, salt: Salt) -> Exact:
    """Compute the exact integers of a plan over bounded contributions, in one statement.

    Parameters
    ----------
    plan : Plan
        What to compute.
    tables : mapping of names to Table
        The declared tables.
    salt : Salt
        From `fresh_salt`, one for each release; all measures see one sample.

    Raises
    ------
    EngineFailed
        If the engine does not finish; the message says nothing about why.
    """
    statistics = sensitivity(plan, tables)
    from discreet.data.contributions import bounded_totals
    from discreet.data.engines.statements import fetch_plan

    values = _placed(fetch_plan(bounded_totals, plan, tables, salt), plan)
    return Exact(statistics=statistics, values=values)


def engine_sql(plan: Plan, tables: Mapping[str, Table]) -> str:
    """Return the statement that `compute` would run, with the salt left out. It holds the plan's literals."""
    check_plan(plan, tables)
    from discreet.data.contributions import backend_of_plan, bounded_totals
    from discreet.data.engines.base import sql_of
    from discreet.data.salt import Salt

    return sql_of(bounded_totals(plan, tables, Salt(value="…")), backend_of_plan(plan, tables))


def _placed(rows: pyarrow.Table, plan: Group) -> tuple[NDArray[np.int64], ...]:
    """Put totals in the places of their groups; groups without rows are 0."""
    from discreet.data.lots import ROWS, key_name, measure_name
    from discreet.data.reading.arrow_numbers import integers, integers_of

    places = np.zeros(rows.num_rows, np.int64)
    for index, key in enumerate(plan.keys):
        places = places * len(key.values) + _positions(rows.column(key_name(index)), key.values)
    parts = _parts(rows, plan)
    values = []
    for index, measure in enumerate(plan.measures):
        of_measure = parts == (index if isinstance(measure, Binned) else -1)
        where = places[of_measure]
        name = ROWS if isinstance(measure, CountRows | Binned) else measure_name(index)
        if isinstance(measure, Binned):
            cells = rows.take(integers(np.flatnonzero(of_measure)))
            where = where * measure.width + _bins(cells, index, plan)
        array = np.zeros(plan.size(measure), np.int64)
        array[where] = integers_of(rows.column(name))[of_measure]
        array.flags.writeable = False
        values.append(array)
    return tuple(values)


def _parts(rows: pyarrow.Table, plan: Group) -> NDArray[np.int64]:
    """Return the number of the measure whose bin each fetched row is; -1 for rows of all other measures."""
    from discreet.data.bounding.rows import CELL, PART, TABLES, first_cells
    from discreet.data.reading.arrow_numbers import integer, integers_of

    if all(adds_up(measure) for measure in plan.measures):
        return np.full(rows.num_rows, -1)
    parts = integers_of(rows.column(PART))
    first = first_cells(plan)
    if not first:
        return parts
    cells = integers_of(rows.column(CELL).fill_null(integer(0)))
    table = np.searchsorted([*first.values()], cells, side="right") - 1
    return np.asarray(np.where(parts == TABLES, np.array([*first])[table], parts))


def _bins(rows: pyarrow.Table, index: int, plan: Group) -> NDArray[np.int64]:
    from discreet.data.bounding.rows import CELL, bin_name, first_cells
    from discreet.data.reading.arrow_numbers import integers_of

    measure = plan.measures[index]
    if isinstance(measure, ContingencyTable):
        return integers_of(rows.column(CELL)) - first_cells(plan)[index]
    assert isinstance(measure, Histogram)  # noqa: S101
    column = rows.column(bin_name(index))
    if isinstance(measure.values, Keys):
        return _positions(column, measure.values)
    return integers_of(column).astype(np.int64) - measure.values.lower_steps


def _positions(column: pyarrow.ChunkedArray, keys: Keys) -> NDArray[np.int64]:
    """Return which key each value is. Few values are looked up one by one, of many each distinct one once."""
    from discreet.data.reading.arrow_numbers import integers_of

    position = {value: place for place, value in enumerate(keys.values)}
    is_small = len(column) <= _LOOKED_UP
    encoded = None if is_small else column.combine_chunks().dictionary_encode(null_encoding="encode")
    distinct = column if encoded is None else encoded.dictionary
    found = np.array([position.get(value, -1) for value in distinct.to_pylist()], np.int64)
    if (found < 0).any():
        raise EngineFailed
    return found if encoded is None else np.asarray(found[integers_of(encoded.indices)])
