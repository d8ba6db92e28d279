"""Lots: the one place that decides in which order rows and groups of a person are used.

Which rows of a person stay is a function of that person's own rows and the salt:

- Rows are identified by their *content*, the keys and values that enter the aggregates. What all engines
  spell alike of it (integers, text, truth values, dates) is the row's *text*. A person's rows of
  equal text are numbered 0, 1, 2, … in the order of the rest of their content; which of two rows of
  equal content gets which number makes no difference.
- A row's lot is a digest of salt, number, text and person; a group's lot is that of salt, key and
  person. Those with the smallest lots stay; equal lots are ordered by content.

So the order of rows, their place on disk and other people's rows have no influence, all aggregates of a
release see one sample, and each row of a person has the same chance under a random salt. (Proof:
contribution_bounding.)
"""

from __future__ import annotations

from collections.abc import Sequence

import ibis
from ibis.expr.types import Column, StringValue, Table, Value

from discreet.data.engines.base import double, lot, public_type
from discreet.data.language.types import Type
from discreet.data.salt import Salt

__all__ = [
    "PERSON",
    "ROWS",
    "axis_name",
    "content_of",
    "key_name",
    "keys_in",
    "lot_of",
    "measure_name",
    "measures_in",
    "number_rows",
    "rank_of",
    "sample_rows",
    "shard_of",
    "split_by_limit",
    "told_apart",
    "turn_of",
]

PERSON = "person"
ROWS = "rows"


def key_name(index: int) -> str:
    """Return the name of a key in a table of contributions."""
    return f"key_{index}"


def measure_name(index: int) -> str:
    """Return the name of a measure in a table of contributions."""
    return f"measure_{index}"


def axis_name(index: int) -> str:
    """Return the name of an axis in a table of contributions; its cells are content, as measures are."""
    return f"measure_axis_{index}"


def sample_rows(contributions: Table, limit: int, salt: Salt) -> Table:
    """Return at most `limit` rows of each person, with all their columns.

    Content is what is named as keys and measures; other columns are carried along, and must be the same
    in rows of equal content, as far as a query can see.
    """
    within, kept = split_by_limit(contributions, limit, salt)
    return within.union(kept.select(*within.columns))


def split_by_limit(contributions: Table, limit: int, salt: Salt) -> tuple[Table, Table]:
    """Return the rows of persons within the limit, and those drawn from all others."""
    sizes = contributions.group_by(PERSON).agg(size=contributions.count())
    over = sizes.filter(sizes["size"] > limit)
    numbered = number_rows(contributions.semi_join(over, PERSON))
    ranked = numbered.mutate(rank=rank_of(numbered, [PERSON], salt))
    return contributions.anti_join(over, PERSON), ranked.filter(ranked["rank"] < limit)


def number_rows(rows: Table) -> Table:
    """Number a person's rows of equal text; where each row is a person, all rows of equal text."""
    content = content_of(rows)
    texts = [name for name in content if _is_spelled(rows[name])]
    rest = [name for name in content if name not in texts]
    person = [name for name in rows.columns if name == PERSON]
    number = ibis.row_number().over(group_by=[*person, *texts], order_by=rest or content or person)
    return rows.mutate(number=number)


def rank_of(rows: Table, within: Sequence[str], salt: Salt) -> Value:
    """Return the place of each numbered row among those of its person, or of its person and group."""
    return ibis.row_number().over(group_by=within, order_by=turn_of(rows, salt))


def turn_of(rows: Table, salt: Salt) -> list[Value | str]:
    """Return a strict total order on a person's numbered rows: by lot, content and number."""
    content = content_of(rows)
    texts = [name for name in content if _is_spelled(rows[name])]
    return [lot_of(rows, "row", ["number", *texts], salt), *content, "number"]


def lot_of(rows: Table, purpose: str, columns: Sequence[str], salt: Salt) -> Value:
    """Return the lot of salt, purpose, columns and person, spelled so that no two spellings coincide."""
    text: Value = ibis.literal(f"{salt.value}|{purpose}|")
    for name in columns:
        text += _spelled(rows[name])
    return lot(text + rows[PERSON].cast("string"))


def shard_of(rows: Table, shards: int, salt: Salt) -> Value:
    """Return the shard of each row, from 0 on: by its person.

    Where each row is one, rows are numbered, and it is by content and number, so that equal rows are spread
    over shards: one more of m equal rows has number m, and leaves those of the others.
    """
    if PERSON in rows.columns:
        return lot_of(rows, "shard", [], salt) % shards
    text: Value = ibis.literal(f"{salt.value}|shard|")
    for name in (*content_of(rows), "number"):
        text += _spelled(rows[name])
    return lot(text) % shards


def _is_spelled(value: Value) -> bool:
    kind = value.type()
    return bool(kind.is_integer() or kind.is_string() or kind.is_boolean() or kind.is_date())


def _spelled(value: Value) -> StringValue:
    if value.type().is_boolean():
        written = ibis.cases((value, "true"), (~value, "false"), else_="null")
    elif value.type().is_string():
        written = ibis.coalesce(value.length().cast("string") + ":" + value, "null")
    else:
        written = ibis.coalesce(value.cast("string"), "null")
    return written + "|"


def keys_in(table: Table) -> list[str]:
    """Return the names of the keys in a table of contributions."""
    return [name for name in table.columns if name.startswith("key_")]


def measures_in(table: Table) -> list[str]:
    """Return the names of the measures in a table of contributions, axes among them."""
    return [name for name in table.columns if name.startswith("measure_")]


def content_of(table: Table) -> list[str]:
    """Return the columns by which rows of a person are known."""
    return [*keys_in(table), *measures_in(table)]


def told_apart(column: Column) -> Value:
    """Return what a request can distinguish of a column's values: minus zero is zero."""
    if public_type(column.type()) is Type.OTHER:
        return column.isnull()
    if not column.type().is_floating():
        return column
    zero = double(0).cast(column.type())
    return ibis.ifelse(column == zero, zero, column)
