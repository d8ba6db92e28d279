"""Which keys occur, and how many persons have each: what private key selection decides on.

If the keys of a column are not declared, even their names are private. They are counted here by
persons, exactly, each person being counted for at most this many keys, and the counts go to a
mechanism that decides which keys are shown; nothing else leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.facts.fanout import fan_out
from discreet.data.facts.limits import limits_of
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.column_facts import types_of
from discreet.data.language.declarations import Keys, KeyValue, Limits
from discreet.data.language.expressions import columns_of
from discreet.data.language.plan import LARGEST_CELLS, KeyPlan
from discreet.data.language.relations import Derive, Project, Relation, leftmost, walk_relation
from discreet.data.language.types import Type, column_type
from discreet.errors import DiscreetError, UnsupportedQuery
from discreet.records import dataclass

if TYPE_CHECKING:
    import ibis
    import ibis.expr.types
    import pyarrow
    from numpy.typing import NDArray

    from discreet.data.salt import Salt
    from discreet.data.tables.table import Table

__all__ = [
    "KEY_TYPES",
    "KeyCounts",
    "check_key_plan",
    "compute_key_counts",
    "has_few_keys",
    "key_counts_sql",
    "keys_of_a_person",
    "named",
    "named_keys",
    "not_a_key",
]

KEY_TYPES = frozenset({Type.TEXT, Type.INTEGER, Type.BOOLEAN, Type.DATE})
"""What may be grouped by."""

_KEY, _ROWS = "key", "persons"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyCounts:
    """Keys and counts. Both are private: nothing prints them.

    Attributes
    ----------
    counts : array of integers
        How many persons have each key, at least 1.
    """

    counts: NDArray[np.int64] = field(repr=False, compare=False)
    _values: pyarrow.ChunkedArray = field(repr=False, compare=False)

    def chosen(self, shown: NDArray[np.bool_]) -> tuple[KeyValue, ...]:
        """Return the keys for which `shown` is true, sorted: public once a mechanism has decided.

        Keys that no request could name are left out: text with a NUL, days beyond the year 9999.
        """
        from discreet.data.reading.arrow_numbers import flags

        found = named_keys(self._values.filter(flags(shown)))
        return tuple(sorted(value for value in found if value is not None))


def named(value: pyarrow.Scalar) -> KeyValue:
    """Return a key as a request would name it, None if it cannot."""
    try:
        return Keys([value.as_py()]).values[0]
    except (DiscreetError, OverflowError, ValueError):
        return None


def named_keys(column: pyarrow.ChunkedArray | pyarrow.Array) -> list[KeyValue]:
    """Return keys as a request would name them, None for those that it cannot; mostly it can name all."""
    try:
        values = column.to_pylist()
        distinct = dict.fromkeys(values)
        names = dict(zip(distinct, Keys(distinct).values, strict=True))
    except (DiscreetError, OverflowError, ValueError):
        return [named(value) for value in column]
    return [names[value] for value in values]


def keys_of_a_person(limits: Limits, keys: int | None = None) -> int:
    """Return for how many keys one person counts at most: a wanted number, or what the limits imply."""
    most = limits.rows if limits.groups is None else limits.groups
    assert most is not None  # noqa: S101
    return most if keys is None else min(keys, most)


def check_key_plan(plan: KeyPlan, tables: Mapping[str, Table]) -> Type:
    """Refuse a plan that the declarations do not admit; return the type of its keys."""
    columns = columns_of_relation(plan.source, tables)
    fan_out(plan.source, tables)  # refuses what multiplies rows too far
    found = column_type(plan.column, types_of(columns))
    if found not in KEY_TYPES:
        raise not_a_key(plan.column, found, plan.source)
    if not 1 <= plan.keys <= keys_of_a_person(limits_of(plan.source, tables)):
        raise UnsupportedQuery("a person counts for more keys than the limits allow; ask for fewer")
    return found


def not_a_key(name: str, found: Type, relation: Relation) -> UnsupportedQuery:
    """Return the refusal of a key of a type that has no groups; of a time, its day and hour are keys."""
    words = f"{name!r} is of type {found.value} and cannot be grouped by; group by "
    if found in {Type.TIMESTAMP, Type.INSTANT}:
        read = _column_under(name, relation)
        return UnsupportedQuery(f"{words}CAST({read} AS DATE), HOUR({read}), or by other parts of it")
    return UnsupportedQuery(
        f"{words}text, integers, booleans or dates, or by bins of it, such as FLOOR(x / 10)"
    )


def _column_under(name: str, relation: Relation) -> str:
    """Return the only column that a calculated one reads, as the request names it; else its own name."""
    for node in walk_relation(relation):
        if isinstance(node, Project | Derive):
            for one in node.columns:
                if one.name == name and len(read := columns_of(one.expression)) == 1:
                    (name,) = read
    return name


def compute_key_counts(plan: KeyPlan, tables: Mapping[str, Table], *, salt: Salt) -> KeyCounts:
    """Count persons by key, exactly, in one statement.

    Guarantee
    ---------
    Adding or removing one person changes the counts of at most `plan.keys` keys, each by 1, for every salt
    (proof: key_selection).

    Raises
    ------
    EngineFailed
        If the engine does not finish; the message says nothing about why.
    """
    check_key_plan(plan, tables)
    from discreet.data.engines.statements import fetch_plan
    from discreet.data.reading.arrow_numbers import integers_of

    counted = fetch_plan(_counts, plan, tables, salt)
    return KeyCounts(counts=integers_of(counted.column(_ROWS)), _values=counted.column(_KEY))


def key_counts_sql(plan: KeyPlan, tables: Mapping[str, Table]) -> str:
    """Return the statement that `compute_key_counts` would run, with the salt left out. It reads no data."""
    check_key_plan(plan, tables)
    from discreet.data.engines.base import sql_of
    from discreet.data.salt import Salt

    return sql_of(_counts(plan, tables, Salt(value="…")), _backend(plan, tables))


def _counts(plan: KeyPlan, tables: Mapping[str, Table], salt: Salt) -> ibis.expr.types.Table:
    from discreet.data.bounding.totals import add_partial_totals, limit_totals
    from discreet.data.compile.relations import rows_of
    from discreet.data.lots import PERSON, ROWS, key_name

    rows = rows_of(plan.source, tables, salt)
    rows = rows.filtered(rows.columns[plan.column].notnull())
    columns = {PERSON: rows.table[PERSON]} if rows.has_person else {}
    table = rows.table.select(**columns, **{key_name(0): rows.columns[plan.column]})
    limits = Limits(groups=plan.keys, rows_per_group=1) if rows.has_person else None
    if limits is not None and has_few_keys(plan, tables):
        table, limits = table.distinct(), None
    counted = add_partial_totals(limit_totals(table, limits, LARGEST_CELLS, salt))
    return counted.select(**{_KEY: counted[key_name(0)], _ROWS: counted[ROWS]})


def has_few_keys(plan: KeyPlan, tables: Mapping[str, Table]) -> bool:
    """Return whether nobody has more keys than a plan counts, because their rows were bounded in advance."""
    from discreet.data.prepared.sample import needs_no_bounding

    most = limits_of(plan.source, tables).rows
    return most is not None and most <= plan.keys and needs_no_bounding(plan.source, tables)


def _backend(plan: KeyPlan, tables: Mapping[str, Table]) -> ibis.BaseBackend:
    return tables[leftmost(plan.source).table]._backend
