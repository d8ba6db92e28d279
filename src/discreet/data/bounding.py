"""Contribution bounding: the one place that decides which rows of a person are used.

It comes last, after every filter and after rows outside the declared keys have left. Which rows of a
person stay is a function of that person's own rows and the salt:

- Rows are known by their *content*, the keys and values that enter the aggregates. What all engines spell
  alike of it (integers, text, truth values, dates) is the row's *text*. A person's rows of
  equal text are numbered 0, 1, 2, … in the order of the rest of their content; which of two rows of
  equal content gets which number makes no difference.
- A row's lot is a digest of salt, number, text and person; a group's lot is that of salt, key and
  person. Those with the smallest lots stay; equal lots are told apart by content.

So the order of rows, their place on disk and other people's rows have no influence, all aggregates of a
release see one sample, and each row of a person has the same chance under a random salt. Digests
are computed for persons over the limit only. (Proof: contribution_bounding.)
"""

from __future__ import annotations

from collections.abc import Sequence

import ibis
from ibis.expr.types import StringValue, Table, Value

from discreet.data.declarations import Limits
from discreet.data.engine import bounded_total, lot, total
from discreet.data.salt import Salt

__all__ = ["PERSON", "ROWS", "axis_name", "bounded", "combined", "key_name", "measure_name", "sampled"]

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


def bounded(contributions: Table, limits: Limits | None, cells: int, salt: Salt) -> Table:
    """Return partial aggregates over the rows that stay.

    Parameters
    ----------
    contributions : Table
        One row for each row that passed: `PERSON` (not NULL), keys, integer measures.
    limits : Limits or None
        None where each row is a separate person.
    cells : int
        How many groups there can be; a limit on groups that is no lower needs no work.
    salt : Salt
        The secret of this release.

    Returns
    -------
    Table
        Keys, `ROWS` and measures: how many rows and which totals. A key may come up several times.
    """
    if limits is None:
        return _totals(contributions, _keys(contributions))
    if limits.rows is not None:
        return _bounded_by_rows(contributions, limits.rows, salt)
    assert limits.groups is not None  # noqa: S101
    assert limits.rows_per_group is not None  # noqa: S101
    groups = limits.groups if limits.groups < cells else None
    return _bounded_by_groups(contributions, groups, limits.rows_per_group, salt)


def sampled(contributions: Table, limit: int, salt: Salt) -> Table:
    """Return at most `limit` rows of each person, with all their columns.

    Content is what is named as keys and measures; other columns are carried along, and must be the same
    in rows of equal content, as far as anybody can tell.
    """
    within, kept = _within_and_kept(contributions, limit, salt)
    return within.union(kept.select(*within.columns))


def combined(parts: Table) -> Table:
    """Add up partial aggregates of equal keys, clamped to what mechanisms take."""
    totals = {name: bounded_total(parts[name]) for name in (ROWS, *_measures(parts))}
    keys = _keys(parts)
    return parts.group_by(keys).agg(**totals) if keys else parts.agg(**totals)


def _bounded_by_rows(contributions: Table, limit: int, salt: Salt) -> Table:
    keys = _keys(contributions)
    within, kept = _within_and_kept(contributions, limit, salt)
    return _totals(within, keys).union(_totals(kept, keys))


def _within_and_kept(contributions: Table, limit: int, salt: Salt) -> tuple[Table, Table]:
    """Return the rows of persons within the limit, and those that are drawn of all others'."""
    sizes = contributions.group_by(PERSON).agg(size=contributions.count())
    over = sizes.filter(sizes["size"] > limit)
    numbered = _numbered(contributions.semi_join(over, PERSON))
    ranked = numbered.mutate(rank=_rank(numbered, [PERSON], salt))
    return contributions.anti_join(over, PERSON), ranked.filter(ranked["rank"] < limit)


def _bounded_by_groups(contributions: Table, groups: int | None, rows: int, salt: Salt) -> Table:
    keys = _keys(contributions)
    cells = _totals(contributions, [PERSON, *keys])
    if groups is not None:
        cells = _kept_cells(cells, groups, salt)
    crowded = cells.filter(cells[ROWS] > rows).select(PERSON, *keys)
    of_crowded = [contributions[PERSON] == crowded[PERSON]]
    of_crowded += [contributions[key].identical_to(crowded[key]) for key in keys]  # NULL may be a key
    numbered = _numbered(contributions.semi_join(crowded, of_crowded))
    ranked = numbered.mutate(rank=_rank(numbered, [PERSON, *keys], salt))
    kept = ranked.filter(ranked["rank"] < rows)
    return cells.filter(cells[ROWS] <= rows).drop(PERSON).union(_totals(kept, keys))


def _kept_cells(cells: Table, groups: int, salt: Salt) -> Table:
    """Return the cells (person, keys, totals) of at most `groups` groups of each person."""
    keys = _keys(cells)
    sizes = cells.group_by(PERSON).agg(size=cells.count())
    over = sizes.filter(sizes["size"] > groups)
    lots = cells.semi_join(over, PERSON)
    drawn = _lot(lots, "group", keys, salt)
    ranked = lots.mutate(rank=ibis.row_number().over(group_by=[PERSON], order_by=[drawn, *keys]))
    kept = ranked.filter(ranked["rank"] < groups).drop("rank")
    return cells.anti_join(over, PERSON).union(kept)


def _numbered(rows: Table) -> Table:
    """Number a person's rows of equal text."""
    content = _content(rows)
    texts = [name for name in content if _is_spelled(rows[name])]
    rest = [name for name in content if name not in texts]
    number = ibis.row_number().over(group_by=[PERSON, *texts], order_by=rest or content or [PERSON])
    return rows.mutate(number=number)


def _rank(rows: Table, within: Sequence[str], salt: Salt) -> Value:
    return ibis.row_number().over(group_by=within, order_by=_turn(rows, salt))


def _turn(rows: Table, salt: Salt) -> list[Value | str]:
    """Return a strict total order on a person's numbered rows: by lot, content and number."""
    content = _content(rows)
    texts = [name for name in content if _is_spelled(rows[name])]
    return [_lot(rows, "row", ["number", *texts], salt), *content, "number"]


def _lot(rows: Table, purpose: str, columns: Sequence[str], salt: Salt) -> Value:
    """Return the lot of salt, purpose, columns and person, spelled so that no two spellings coincide."""
    text: Value = ibis.literal(f"{salt.value}|{purpose}|")
    for name in columns:
        text += _spelled(rows[name])
    return lot(text + rows[PERSON].cast("string"))


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


def _totals(rows: Table, by: Sequence[str]) -> Table:
    totals = {ROWS: rows.count(), **{name: total(rows[name]) for name in _measures(rows)}}
    return rows.group_by(by).agg(**totals) if by else rows.agg(**totals)


def _keys(table: Table) -> list[str]:
    return [name for name in table.columns if name.startswith("key_")]


def _measures(table: Table) -> list[str]:
    return [name for name in table.columns if name.startswith("measure_")]


def _content(table: Table) -> list[str]:
    return [*_keys(table), *_measures(table)]
