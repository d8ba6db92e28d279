"""The rows that bounding keeps, one by one: for measures that are not sums over rows.

Persons and distinct values are counted, and histograms made, from the rows themselves. Which rows stay is
decided by `data.lots`, so that the sample is a function of a person's own rows and the salt here
too; all measures of a plan that has one of these are taken from it, in one statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import ibis
from ibis.expr.types import Column, Table

from discreet.data.compile.keys import is_listed
from discreet.data.engines.base import bounded_total
from discreet.data.language.declarations import Keys, Limits
from discreet.data.language.measures import (
    Axis,
    Binned,
    ContingencyTable,
    CountDistinct,
    CountPersons,
    CountRows,
    Histogram,
    Measure,
    SumDistinct,
)
from discreet.data.language.plan import Plan
from discreet.data.lots import PERSON, ROWS, axis_name, key_name, lot_of, measure_name, number_rows, rank_of
from discreet.data.salt import Salt

__all__ = ["CELL", "PART", "TABLES", "bin_name", "first_cells", "limit_rows", "totals_of_kept"]

PART = "part"
"""Which statistics a fetched row belongs to: that of the histogram of this number, or `TABLES`, or -1."""
CELL, TABLES = "cell", -2
"""The number of a contingency table's cell, and what tells the rows that have one."""


def bin_name(index: int) -> str:
    """Return the name of a histogram's values in a table of totals."""
    return f"bin_{index}"


def first_cells(plan: Plan) -> Mapping[int, int]:
    """Return the number of each contingency table's first cell: they are numbered through a plan."""
    widths = {
        index: one.width for index, one in enumerate(plan.measures) if isinstance(one, ContingencyTable)
    }
    return dict(zip(widths, accumulate(widths.values(), initial=0), strict=False))


def limit_rows(contributions: Table, limits: Limits | None, cells: int, salt: Salt) -> Table:
    """Return the contributions that stay.

    Parameters
    ----------
    contributions : Table
        One row for each row that passed: `PERSON` (not NULL), keys, and what else is its content.
    limits : Limits or None
        None where each row is a separate person.
    cells : int
        How many groups there can be; a limit on groups that is no lower needs no work.
    salt : Salt
        The secret of this release.
    """
    if limits is None:
        return contributions
    if limits.rows is not None:
        return _crowds_cut(contributions, [PERSON], limits.rows, salt)
    assert limits.groups is not None  # noqa: S101
    assert limits.rows_per_group is not None  # noqa: S101
    keys = [name for name in contributions.columns if name.startswith("key_")]
    if limits.groups < cells:
        contributions = _in_kept_groups(contributions, keys, limits.groups, salt)
    return _crowds_cut(contributions, [PERSON, *keys], limits.rows_per_group, salt)


def _crowds_cut(rows: Table, within: Sequence[str], limit: int, salt: Salt) -> Table:
    """Return at most `limit` of the rows that agree in some columns, the person among them."""
    sized = rows.mutate(size=rows.count().over(group_by=within))
    numbered = number_rows(sized.filter(sized["size"] > limit))
    ranked = numbered.mutate(rank=rank_of(numbered, within, salt))
    kept = ranked.filter(ranked["rank"] < limit)
    return sized.filter(sized["size"] <= limit).select(*rows.columns).union(kept.select(*rows.columns))


def _in_kept_groups(rows: Table, keys: Sequence[str], groups: int, salt: Salt) -> Table:
    """Return the rows of at most `groups` groups of each person."""
    cells = rows.select(PERSON, *keys).distinct()
    lot = lot_of(cells, "group", keys, salt)
    ranked = cells.mutate(rank=ibis.row_number().over(group_by=[PERSON], order_by=[lot, *keys]))
    lost = ranked.filter(ranked["rank"] >= groups).select(PERSON, *keys)
    return rows.anti_join(lost, [rows[name].identical_to(lost[name]) for name in (PERSON, *keys)])


def totals_of_kept(kept: Table, plan: Plan) -> Table:
    """Return all statistics of a plan over rows that stay, as one table.

    Its columns are `PART`, the keys, `ROWS`, a total for each measure that has one, the values of each
    histogram, and the cells of all tables. So one statement answers all, at one state of the data.
    """
    keys = [key_name(index) for index in range(len(plan.keys))]
    kept = _with_distinct(kept, keys, plan)
    first = first_cells(plan)
    histograms = {
        index: kept[measure_name(index)].type()
        for index, measure in enumerate(plan.measures)
        if isinstance(measure, Histogram)
    }
    added = {
        measure_name(index): _total(kept, index, measure)
        for index, measure in enumerate(plan.measures)
        if not isinstance(measure, CountRows | Binned)
    }
    parts = []
    if len(histograms) + len(first) < len(plan.measures):
        totals = {ROWS: kept.count(), **added}
        parts.append((-1, kept.group_by(keys).agg(**totals) if keys else kept.agg(**totals)))
    for index in histograms:
        name = measure_name(index)
        binned = kept.filter(_has_bin(kept, index, plan.measures[index]))
        counted = binned.group_by([*keys, name]).agg(**{ROWS: binned.count()})
        parts.append((index, counted.rename({bin_name(index): name})))
    if first:
        parts.append((TABLES, _counted_cells(kept, keys, plan)))
    tables = [
        part.select(
            **{PART: ibis.literal(number, type="int64")},
            **{name: part[name] for name in (*keys, ROWS)},
            **{name: part[name] if number == -1 else ibis.literal(0, type="int64") for name in added},
            **{
                bin_name(index): part[bin_name(index)] if index == number else ibis.null(kind)
                for index, kind in histograms.items()
            },
            **({CELL: part[CELL] if number == TABLES else ibis.null("int64")} if first else {}),
        )
        for number, part in parts
    ]
    return tables[0].union(*tables[1:]) if len(tables) > 1 else tables[0]


def _with_distinct(kept: Table, keys: Sequence[str], plan: Plan) -> Table:
    """Return rows in which a value whose distinct ones are added up stands once in its group, else 0.

    Which of the rows with one value keeps it does not matter to the sum.
    """
    once = {}
    for index, measure in enumerate(plan.measures):
        if isinstance(measure, SumDistinct):
            column = kept[measure_name(index)]
            term = (column.notnull().cast("int64"), column, column * column)[measure.power]
            name = measure_name(index)
            first = ibis.row_number().over(group_by=[*keys, name], order_by=[name]) == 0
            zero = ibis.literal(0, type="int64")
            once[measure_name(index)] = ibis.ifelse(first, ibis.coalesce(term, zero), zero)
    return kept.mutate(**once) if once else kept


def _counted_cells(kept: Table, keys: Sequence[str], plan: Plan) -> Table:
    """Count the cells of all tables at once: hundreds of tables are one pass over the rows."""
    on_axis = {axis: kept[axis_name(index)] for index, axis in enumerate(plan.axes)}
    tables = (measure for measure in plan.measures if isinstance(measure, ContingencyTable))
    cells = [
        _cell(on_axis, table) + ibis.literal(first, type="int64")
        for table, first in zip(tables, first_cells(plan).values(), strict=True)
    ]
    unfolded = kept.select(*keys, **{CELL: ibis.array(cells).unnest()})
    present = unfolded.filter(unfolded[CELL].notnull())
    return present.group_by([*keys, CELL]).agg(**{ROWS: present.count()})


def _cell(on_axis: Mapping[Axis, Column], table: ContingencyTable) -> ibis.Value:
    """Return the number of the combination of cells; NULL if one of them is absent."""
    cell = ibis.literal(0, type="int64")
    for axis in table.axes:
        cell = cell * ibis.literal(axis.cells, type="int64") + on_axis[axis]
    return cell


def _total(kept: Table, index: int, measure: Measure) -> ibis.Value:
    if isinstance(measure, CountPersons):
        return kept[PERSON].nunique() if PERSON in kept.columns else kept.count()
    column = kept[measure_name(index)]
    return column.nunique() if isinstance(measure, CountDistinct) else bounded_total(column)


def _has_bin(kept: Table, index: int, measure: Measure) -> ibis.Value:
    assert isinstance(measure, Histogram)  # noqa: S101
    column = kept[measure_name(index)]
    return is_listed(column, measure.values) if isinstance(measure.values, Keys) else column.notnull()
