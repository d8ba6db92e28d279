"""A person's rows before they are multiplied: a join gets no more than it may return.

A row of the left yields as many rows as it matches on the right. A person's rows are unchanged if at
most `LARGEST_MEETING` rows result from them together. Of any other person, rows of the left stay as long
as their results add up to no more than that; the first of them, and rows without a match, always
stay.

Which ones is decided by lots of their whole content and the salt (`data.lots`): a function of that
person's own rows and public ones, independent of their order, and the same on every engine. This bounds
work, not contributions: those are bounded last, as always. (Proof: fanout.)
"""

from __future__ import annotations

from collections.abc import Sequence

import ibis
from ibis.expr.types import Table, Value

from discreet.data.engines.base import public_type
from discreet.data.facts.fanout import LARGEST_MEETING
from discreet.data.language.types import Type
from discreet.data.lots import PERSON, measure_name, number_rows, told_apart, turn_of
from discreet.data.salt import Salt

__all__ = ["thin_rows"]

_FOUND, _ALL = "found_", "all_"


def thin_rows(left: Table, right: Table, pairs: Sequence[tuple[Value, Value]], salt: Salt) -> Table:
    """Return the rows of the left that enter a join.

    Parameters
    ----------
    left : Ibis table
        With the column `PERSON`. Its names do not end in an underscore, or were made by `relations`.
    right : Ibis table
        Private rows, or public ones.
    pairs : sequence of (left value, right value)
        What the join equates, in one type; the persons among them if both sides are private.
    salt : Salt
        The secret of this release.
    """
    cells = [f"cell_{place}_" for place in range(len(pairs))]
    listed = right.select(**{cell: other for cell, (_, other) in zip(cells, pairs, strict=True)})
    sizes = listed.group_by(cells).agg(**{_FOUND: listed.count().cast("int64")})
    lefts = left.mutate(**{cell: one for cell, (one, _) in zip(cells, pairs, strict=True)})
    met = lefts.left_join(sizes, cells)
    found = met.select(*left.columns, **{_FOUND: ibis.coalesce(met[_FOUND], 0)})
    # A window rather than groups that are joined again: the left side is read once for each part below, so
    # that a chain of joins does not become a tree of them on engines that keep no common part.
    summed = found.mutate(**{_ALL: found[_FOUND].sum().over(group_by=[PERSON])})
    within = summed.filter(summed[_ALL] <= LARGEST_MEETING).select(*left.columns)
    crowds = _contents(summed.filter(summed[_ALL] > LARGEST_MEETING), left)
    numbered = number_rows(crowds)
    window = ibis.cumulative_window(group_by=[PERSON], order_by=turn_of(numbered, salt))
    running = numbered.mutate(**{_ALL: numbered[_FOUND].sum().over(window)})
    comes_first = running[_ALL] == running[_FOUND]
    drawn = running.filter((running[_FOUND] == 0) | comes_first | (running[_ALL] <= LARGEST_MEETING))
    return within.union(_restored(drawn, left))


def _contents(rows: Table, original: Table) -> Table:
    """Return rows with their whole content under the names for which `data.lots` draws lots."""
    columns: dict[str, Value] = {PERSON: rows[PERSON], _FOUND: rows[_FOUND]}
    for place, name in enumerate(original.columns):
        if name == PERSON:
            continue
        columns[measure_name(place)] = told_apart(rows[name])
        if _is_unknown(rows[name]):
            columns[_other(place)] = rows[name]
    return rows.select(**columns)


def _restored(drawn: Table, original: Table) -> Table:
    """Return drawn rows in the columns that they had."""
    inner = {
        name: _other(place) if _is_unknown(original[name]) else measure_name(place)
        for place, name in enumerate(original.columns)
        if name != PERSON
    }
    return drawn.select(**{name: drawn[inner.get(name, PERSON)] for name in original.columns})


def _is_unknown(column: Value) -> bool:
    return public_type(column.type()) is Type.OTHER


def _other(place: int) -> str:
    return f"other_{place}"
