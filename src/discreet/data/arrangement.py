"""Tables arranged for limits on groups: bounding a query is one pass over integers, person by person.

Of a table with ``Limits(groups=g, rows_per_group=r)`` all rows are kept, since which groups a person has
depends on the query. Beside each lies its person's *chance*, a number that is drawn ahead.

A query draws a number for each group that has rows. The *lot* of a person's group is the product of
the person's chance and the group's number modulo a prime; the groups with the g smallest lots stay, equal
lots in the order of keys. Of the n > r rows of a person in a group, in the order of their measures, r
stay at equal distances, from a start that is drawn as the lot is: row j = 0, 1, … of them stays if
(j r + start) mod n >= n - r. So which rows stay is a function of that person's own rows and of salts, at
most r in each of at most g groups; each group, and each row of a group, is as likely to stay; and digests
are computed once for each person and each group, not for rows. (Proof: contribution_bounding.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import Table as Rows
from ibis.expr.types import Value

from discreet.data.bounding import PERSON
from discreet.data.engine import lot
from discreet.data.prepared import Prepared
from discreet.data.salt import Salt, fresh_salt

__all__ = ["PRIME", "Arrangement"]

PRIME = (1 << 31) - 1
"""Products of two smaller numbers fit in 62 bits."""


class Arrangement(Prepared):
    """All rows, each with its person's chance."""

    def carried(self) -> tuple[str, ...]:
        """Return the columns of the person and of the person's chance."""
        return self._person, self._chance

    def bounded(self, rows: Rows, cells: int, salt: Salt) -> Rows:
        """Return the rows of a query that stay: of the g groups with the smallest lots, r rows each."""
        assert self._limits.groups is not None  # noqa: S101
        assert self._limits.rows_per_group is not None  # noqa: S101
        keys = [name for name in rows.columns if name.startswith("key_")]
        measures = [name for name in rows.columns if name.startswith("measure_")]
        placed = self._placed(rows, keys, measures, salt)
        size = placed["end"] - placed["first"]
        limit = ibis.literal(self._limits.rows_per_group, type="int64")
        turn = ((placed["place"] - placed["first"]) * limit + placed["start"]) % size
        kept = (size <= limit) | (turn >= size - limit)
        if self._limits.groups < cells:
            kept &= placed["group"] < self._limits.groups
        return placed.filter(kept)

    def _placed(self, rows: Rows, keys: Sequence[str], measures: Sequence[str], salt: Salt) -> Rows:
        """Return a person's rows in the order of lots: which group it is, where it begins and ends."""
        rows = rows.rename({PERSON: self._person})
        if keys:
            groups = rows.select(*keys).distinct()
            numbers = {name: _number([groups[key] for key in keys], name, salt) for name in ("lot", "start")}
            rows = rows.join(groups.mutate(**numbers), keys)
        else:
            rows = rows.mutate(lot=ibis.literal(1, type="int64"), start=_number([], "start", salt))
        chance = rows[self._chance].cast("int64")
        rows = rows.mutate(lot=chance * rows["lot"] % PRIME, start=chance * rows["start"] % PRIME)
        in_groups = {"group_by": PERSON, "order_by": ["lot", *keys]}
        return rows.mutate(
            group=ibis.dense_rank().over(**in_groups),
            first=ibis.rank().over(**in_groups),
            end=rows.count().over(ibis.range_window(following=0, **in_groups)),
            place=ibis.row_number().over(group_by=PERSON, order_by=["lot", *keys, *measures]),
        )

    @property
    def _chance(self) -> str:
        return self._free_name("chance")

    def _added_kinds(self) -> Mapping[str, dt.DataType]:
        return {self._chance: dt.int32}

    def _made(self) -> Rows:
        rows = self._rows.filter(self._rows[self._person].notnull())
        inner = {name: f"column_{place}" for place, name in enumerate(rows.columns)}
        rows = self._with_integers(rows.select(**{inner[name]: rows[name] for name in rows.columns}), inner)
        person = inner[self._person]
        persons = rows.select(person).distinct()
        salt = fresh_salt()
        chance = _number([persons[person]], "person", salt).cast("int32")
        rows = rows.join(persons.mutate(person_chance=chance), person)
        columns = {name: rows[inner[name]] for name in self._rows.columns}
        integers = {name: rows[name] for name in map(self.integer_name, self._declared)}
        return rows.select(**columns, **integers, **{self._chance: rows["person_chance"]})


def _number(values: Sequence[Value], purpose: str, salt: Salt) -> Value:
    """Return a number in [1, PRIME) that is drawn for some values."""
    text: Value = ibis.literal(f"{salt.value}|{purpose}")
    for value in values:
        text += "|" + value.cast("string")
    return lot(text) % (PRIME - 1) + 1
