"""Which combinations of keys occur, and how many rows each has: what is counted and shown in one measurement.

As in `key_counts`, names and counts are private until a mechanism has decided which of them are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.facts.fanout import fan_out
from discreet.data.facts.limits import limits_of
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.key_counts import KEY_TYPES, keys_of_a_person, named_keys, not_a_key
from discreet.data.language.column_facts import types_of
from discreet.data.language.declarations import KeyValue, Limits
from discreet.data.language.plan import LARGEST_CELLS, KeyCountPlan
from discreet.data.language.relations import leftmost
from discreet.data.language.types import column_type
from discreet.errors import UnsupportedQuery
from discreet.records import dataclass

if TYPE_CHECKING:
    import ibis
    import ibis.expr.types
    import pyarrow
    from numpy.typing import NDArray

    from discreet.data.salt import Salt
    from discreet.data.tables.table import Table

__all__ = [
    "CombinationCounts",
    "check_combinations",
    "combination_counts_sql",
    "compute_combination_counts",
]

_COUNT = "count"


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinationCounts:
    """Combinations of keys and counts. Both are private: nothing prints them.

    Attributes
    ----------
    counts : array of integers
        How many rows each has, at least 1.
    """

    counts: NDArray[np.int64] = field(repr=False, compare=False)
    _values: tuple[pyarrow.ChunkedArray, ...] = field(repr=False, compare=False)

    def chosen(self, noisy: NDArray[np.int64]) -> list[tuple[tuple[KeyValue, ...], int]]:
        """Return the combinations whose noisy count is not 0, sorted by their keys, each with it.

        They are public once a mechanism has decided. Keys that no request could name are left out.
        """
        from discreet.data.reading.arrow_numbers import integers

        places = integers(np.flatnonzero(noisy))
        columns = [values.take(places) for values in self._values]
        rows = zip(*map(named_keys, columns), strict=True)
        found = zip(rows, noisy[noisy != 0].tolist(), strict=True)
        # None is a key where NULL was listed, and stands for what cannot be named elsewhere.
        whole = [
            (row, count)
            for place, (row, count) in enumerate(found)
            if all(
                value is not None or not column[place].is_valid
                for value, column in zip(row, columns, strict=True)
            )
        ]
        return sorted(whole, key=lambda one: [(value is None, value) for value in one[0]])


def check_combinations(plan: KeyCountPlan, tables: Mapping[str, Table]) -> None:
    """Refuse a plan that the declarations do not admit."""
    columns = columns_of_relation(plan.source, tables)
    fan_out(plan.source, tables)  # refuses what multiplies rows too far
    for name in plan.columns:
        found = column_type(name, types_of(columns))
        if found not in KEY_TYPES:
            raise not_a_key(name, found, plan.source)
    limits = limits_of(plan.source, tables)
    most = keys_of_a_person(limits)
    rows = 1 if plan.rows == 1 else limits.rows or limits.rows_per_group
    assert rows is not None  # noqa: S101
    total = most * rows if limits.rows is None or plan.rows == 1 else limits.rows
    if (plan.keys, plan.rows, plan.total) != (most, rows, total):
        raise UnsupportedQuery("a person counts for another number of keys than the limits say; ask again")


def compute_combination_counts(
    plan: KeyCountPlan, tables: Mapping[str, Table], *, salt: Salt
) -> CombinationCounts:
    """Count rows by combination of keys, exactly, in one statement.

    Guarantee
    ---------
    Adding or removing one person changes the counts of at most `plan.keys` combinations, each by at most
    `plan.rows`, by at most `plan.total` together and all in the same direction, for every salt (proof:
    counted_keys, lemma 1).

    Raises
    ------
    EngineFailed
        If the engine does not finish; the message says nothing about why.
    """
    check_combinations(plan, tables)
    from discreet.data.engines.statements import fetch_plan
    from discreet.data.lots import key_name
    from discreet.data.reading.arrow_numbers import integers_of

    counted = fetch_plan(_counts, plan, tables, salt)
    values = tuple(counted.column(key_name(place)) for place in range(len(plan.columns)))
    return CombinationCounts(counts=integers_of(counted.column(_COUNT)), _values=values)


def combination_counts_sql(plan: KeyCountPlan, tables: Mapping[str, Table]) -> str:
    """Return the statement that would run, with the salt left out. It reads no data."""
    check_combinations(plan, tables)
    from discreet.data.engines.base import sql_of
    from discreet.data.salt import Salt

    return sql_of(_counts(plan, tables, Salt(value="…")), _backend(plan, tables))


def _counts(plan: KeyCountPlan, tables: Mapping[str, Table], salt: Salt) -> ibis.expr.types.Table:
    from discreet.data.bounding.totals import add_partial_totals, limit_totals
    from discreet.data.compile.keys import is_listed
    from discreet.data.compile.relations import rows_of
    from discreet.data.lots import PERSON, ROWS, key_name
    from discreet.data.prepared.sample import needs_no_bounding

    rows = rows_of(plan.source, tables, salt)
    listed = {key.column: key.values for key in plan.listed}
    for name in plan.columns:
        column = rows.columns[name]
        rows = rows.filtered(is_listed(column, listed[name]) if name in listed else column.notnull())
    columns = {PERSON: rows.table[PERSON]} if rows.has_person else {}
    keys = {key_name(place): rows.columns[name] for place, name in enumerate(plan.columns)}
    table = rows.table.select(**columns, **keys)
    limits = _limits(plan, rows.has_person)
    if limits is not None and needs_no_bounding(plan.source, tables):
        # No person has more rows than `total`, nor more keys. Of counts of persons each pair is one.
        table, limits = (table if limits.rows is not None else table.distinct()), None
    counted = add_partial_totals(limit_totals(table, limits, LARGEST_CELLS, salt))
    return counted.select(**{_COUNT: counted[ROWS]}, **{name: counted[name] for name in keys})


def _limits(plan: KeyCountPlan, has_person: bool) -> Limits | None:
    if not has_person:
        return None
    if plan.total < plan.keys * plan.rows:
        return Limits(rows=plan.total)
    return Limits(groups=plan.keys, rows_per_group=plan.rows)


def _backend(plan: KeyCountPlan, tables: Mapping[str, Table]) -> ibis.BaseBackend:
    return tables[leftmost(plan.source).table]._backend
