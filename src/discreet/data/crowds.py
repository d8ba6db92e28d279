"""A person's rows before they are multiplied: no more enter a join than may come out of it.

A join puts l rows of a person beside r others that are equal in its columns: their *cell*. The sum of the
products l r over the cells of a person is how many rows come out. A person for whom it is at most
`LARGEST_MEETING` (P) is left alone. Of all others

- so many rows of the right stay in each cell as P / l, or the root of P if that is more;
- rows of the left stay as long as what comes out of them adds up to P at most.

Which ones is decided by lots of their whole content and the salt, as in `bounding`: a function of that
person's own rows, whatever their order, the same on every engine, and for two equal sides the same on both.
Public rows are never left out. This bounds work, not contributions: those are bounded last, as ever.
(Proof: fanout.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ibis
from ibis.expr.types import Table, Value

from discreet.data import bounding
from discreet.data.bounding import PERSON, measure_name
from discreet.data.engine import public_type
from discreet.data.fanout import LARGEST_MEETING, SMALL_FAN_OUT
from discreet.data.prepared import told_apart
from discreet.data.salt import Salt
from discreet.data.schema import Type

__all__ = ["thinned_beside_persons", "thinned_beside_public"]

_LEFT, _RIGHT, _STAY, _SUM = "left_size_", "right_size_", "stay_", "sum_"


def thinned_beside_persons(
    left: Table, right: Table, pairs: Sequence[tuple[Value, Value]], salt: Salt
) -> tuple[Table, Table]:
    """Return the rows of both sides that enter a join of private rows.

    Parameters
    ----------
    left, right : Ibis tables
        Each with the column `PERSON`.
    pairs : sequence of (left value, right value)
        What the join equates, in one type, the persons first.
    salt : Salt
        The secret of this release.
    """
    cells = [_cell(place) for place in range(len(pairs))]
    lefts = left.mutate(**{_cell(place): one for place, (one, _) in enumerate(pairs)})
    rights = right.mutate(**{_cell(place): other for place, (_, other) in enumerate(pairs)})
    met = _sizes(lefts, cells, _LEFT).join(_sizes(rights, cells, _RIGHT), cells)
    crowded = _crowded(met)
    share = ibis.greatest(ibis.literal(LARGEST_MEETING) // met[_LEFT], SMALL_FAN_OUT)
    shares = met.select(*cells, **{_STAY: ibis.least(met[_RIGHT], share).cast("int64")})
    of_crowded = rights.semi_join(crowded, cells[:1]).join(shares, cells)
    numbered = bounding._numbered(_contents(of_crowded, right.columns, [*cells, _STAY]))
    ranked = numbered.mutate(rank=bounding._rank(numbered, cells, salt))
    drawn = _restored(ranked.filter(ranked["rank"] < ranked[_STAY]), right)
    others = rights.anti_join(crowded, cells[:1]).select(*right.columns)
    return _thinned_left(left, lefts, crowded, shares, salt), others.union(drawn)


def thinned_beside_public(
    left: Table, public: Table, pairs: Sequence[tuple[Value, Value]], salt: Salt
) -> Table:
    """Return the rows of the left that enter a join with a public table.

    Parameters
    ----------
    left : Ibis table
        With the column `PERSON`.
    public : Ibis table
        The public rows.
    pairs : sequence of (left value, public value)
        What the join equates, in one type.
    salt : Salt
        The secret of this release.
    """
    cells = [_cell(place) for place in range(len(pairs) + 1)]
    lefts = left.mutate(
        **{cells[0]: left[PERSON]}, **{cells[place + 1]: one for place, (one, _) in enumerate(pairs)}
    )
    listed = public.select(**{cells[place + 1]: other for place, (_, other) in enumerate(pairs)})
    found = _sizes(listed, cells[1:], _RIGHT)
    crowded = _crowded(_sizes(lefts, cells, _LEFT).join(found, cells[1:]))
    shares = found.select(*cells[1:], **{_STAY: found[_RIGHT]})
    return _thinned_left(left, lefts, crowded, shares, salt)


def _thinned_left(left: Table, lefts: Table, crowded: Table, shares: Table, salt: Salt) -> Table:
    """Keep rows of the left as long as those that they find add up to no more than may come out.

    Rows that find none are kept, since an outer join keeps them.
    """
    cells = [name for name in shares.columns if name != _STAY]
    others = lefts.anti_join(crowded, _cell(0)).select(*left.columns)
    of_crowded = lefts.semi_join(crowded, _cell(0)).left_join(shares, cells)
    finding = of_crowded.mutate(**{_STAY: ibis.coalesce(of_crowded[_STAY], 0)})
    numbered = bounding._numbered(_contents(finding, left.columns, [_STAY]))
    window = ibis.cumulative_window(group_by=[PERSON], order_by=bounding._turn(numbered, salt))
    running = numbered.mutate(**{_SUM: numbered[_STAY].sum().over(window)})
    drawn = running.filter((running[_STAY] == 0) | (running[_SUM] <= LARGEST_MEETING))
    return others.union(_restored(drawn, left))


def _sizes(rows: Table, cells: Sequence[str], name: str) -> Table:
    return rows.group_by(cells).agg(**{name: rows.count().cast("int64")})


def _crowded(met: Table) -> Table:
    """Return the persons whose rows would become too many.

    The sum is one of doubles: exact up to 2^53, above the limit beyond, and never an overflow.
    """
    product = met[_LEFT].cast("float64") * met[_RIGHT].cast("float64")
    sums = met.group_by(_cell(0)).agg(**{_SUM: product.sum()})
    return sums.filter(sums[_SUM] > float(LARGEST_MEETING)).select(_cell(0))


def _contents(rows: Table, names: Sequence[str], carried: Sequence[str]) -> Table:
    """Return rows with their whole content under the names that `bounding` draws lots of."""
    columns: dict[str, Value] = {PERSON: rows[PERSON]}
    for place, name in enumerate(names):
        if name == PERSON:
            continue
        columns[measure_name(place)] = told_apart(rows[name])
        if _is_unknown(rows[name]):
            columns[_other(place)] = rows[name]
    return rows.select(**columns, **{name: rows[name] for name in carried})


def _restored(drawn: Table, original: Table) -> Table:
    """Return drawn rows in the columns that they had."""
    inner: Mapping[str, str] = {
        name: _other(place) if _is_unknown(original[name]) else measure_name(place)
        for place, name in enumerate(original.columns)
        if name != PERSON
    }
    return drawn.select(**{name: drawn[inner.get(name, PERSON)] for name in original.columns})


def _is_unknown(column: Value) -> bool:
    return public_type(column.type()) is Type.OTHER


def _other(place: int) -> str:
    return f"other_{place}"


def _cell(place: int) -> str:
    return f"cell_{place}_"
