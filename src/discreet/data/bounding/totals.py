"""Limits on what a person contributes, applied to partial totals: the last step before integers are fetched.

It comes after every filter and after rows outside the declared keys are dropped. Which rows of a person stay
is decided by their lots (`data.lots`). Digests are computed for persons over the limit only. (Proof:
contribution_bounding.)
"""

from __future__ import annotations

from collections.abc import Sequence

import ibis
from ibis.expr.types import Table

from discreet.data.engines.base import bounded_total, total
from discreet.data.language.declarations import Limits
from discreet.data.lots import (
    PERSON,
    ROWS,
    keys_in,
    lot_of,
    measures_in,
    number_rows,
    rank_of,
    split_by_limit,
)
from discreet.data.salt import Salt

__all__ = ["add_partial_totals", "kept_cells", "limit_totals"]


def limit_totals(contributions: Table, limits: Limits | None, cells: int, salt: Salt) -> Table:
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
        return _totals(contributions, keys_in(contributions))
    if limits.rows is not None:
        return _bounded_by_rows(contributions, limits.rows, salt)
    assert limits.groups is not None  # noqa: S101
    assert limits.rows_per_group is not None  # noqa: S101
    groups = limits.groups if limits.groups < cells else None
    return _bounded_by_groups(contributions, groups, limits.rows_per_group, salt)


def add_partial_totals(parts: Table) -> Table:
    """Add up partial aggregates of equal keys, clamped to what mechanisms take."""
    totals = {name: bounded_total(parts[name]) for name in (ROWS, *measures_in(parts))}
    keys = keys_in(parts)
    return parts.group_by(keys).agg(**totals) if keys else parts.agg(**totals)


def _bounded_by_rows(contributions: Table, limit: int, salt: Salt) -> Table:
    keys = keys_in(contributions)
    within, kept = split_by_limit(contributions, limit, salt)
    return _totals(within, keys).union(_totals(kept, keys))


def _bounded_by_groups(contributions: Table, groups: int | None, rows: int, salt: Salt) -> Table:
    keys = keys_in(contributions)
    cells = _totals(contributions, [PERSON, *keys])
    if groups is not None:
        cells = kept_cells(cells, groups, salt)
    crowded = cells.filter(cells[ROWS] > rows).select(PERSON, *keys)
    of_crowded = [contributions[PERSON] == crowded[PERSON]]
    of_crowded += [contributions[key].identical_to(crowded[key]) for key in keys]  # NULL may be a key
    numbered = number_rows(contributions.semi_join(crowded, of_crowded))
    ranked = numbered.mutate(rank=rank_of(numbered, [PERSON, *keys], salt))
    kept = ranked.filter(ranked["rank"] < rows)
    return cells.filter(cells[ROWS] <= rows).drop(PERSON).union(_totals(kept, keys))


def kept_cells(cells: Table, groups: int, salt: Salt) -> Table:
    """Return the cells (person, keys, totals) of at most `groups` groups of each person."""
    keys = keys_in(cells)
    sizes = cells.group_by(PERSON).agg(size=cells.count())
    over = sizes.filter(sizes["size"] > groups)
    lots = cells.semi_join(over, PERSON)
    drawn = lot_of(lots, "group", keys, salt)
    ranked = lots.mutate(rank=ibis.row_number().over(group_by=[PERSON], order_by=[drawn, *keys]))
    kept = ranked.filter(ranked["rank"] < groups).drop("rank")
    return cells.anti_join(over, PERSON).union(kept)


def _totals(rows: Table, by: Sequence[str]) -> Table:
    totals = {ROWS: rows.count(), **{name: total(rows[name]) for name in measures_in(rows)}}
    return rows.group_by(by).agg(**totals) if by else rows.agg(**totals)
