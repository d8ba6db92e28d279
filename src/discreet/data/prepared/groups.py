"""Tables arranged for limits on groups: bounding a query is one pass over integers, person by person.

A table with ``Limits(groups=g, rows_per_group=r)`` keeps all rows, because which groups a person has
depends on the query. Each is stored with its person's *chance*, a number drawn in advance, and its *turn*: a
person's rows are numbered 0, 1, … in the order of their whole content, and the turn of row j is the chance
times a number drawn for j, modulo a prime; equal turns are ordered by j.

A query draws a number for each group that has rows. The *lot* of a person's group is the person's
chance times the group's number modulo the prime. Of each person, the groups with the g smallest lots stay,
equal lots in the order of keys, and in each of them the r rows with the smallest turns. So which rows stay is
a function of that person's own rows and of salts, at most r in each of at most g groups; each group, and
each row of a group, is as likely to stay; and digests are computed for persons, groups and numbers, once
for each, not for rows. (Proof: contribution_bounding.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import ibis
import ibis.expr.datatypes as dt
from ibis.expr.types import Table as Rows
from ibis.expr.types import Value

from discreet.data.engines.base import lot
from discreet.data.lots import PERSON, told_apart
from discreet.data.prepared.base import Prepared
from discreet.data.salt import Salt, fresh_salt

__all__ = ["PRIME", "Arrangement"]

PRIME = (1 << 31) - 1
"""Products of two smaller numbers fit in 62 bits."""

_CHANCE, _TURN = "chance", "turn"

_TURNS = 1 << 31
"""More than one person has rows; a turn fits in 62 bits."""


class Arrangement(Prepared):
    """All rows, each with its person's chance and its own turn."""

    def carried(self) -> Mapping[str, str]:
        """Return the columns of the person, of the person's chance and of the row's turn."""
        return {PERSON: self._person, _CHANCE: self._chance, _TURN: self._turn}

    def bounded(self, rows: Rows, cells: int, salt: Salt) -> Rows:
        """Return the rows of a query that stay: of the g groups with the smallest lots, r rows each."""
        assert self._limits.groups is not None  # noqa: S101
        keys = [name for name in rows.columns if name.startswith("key_")]
        if not keys:
            placed = rows.mutate(place=ibis.row_number().over(group_by=PERSON, order_by=_TURN))
            return placed.filter(placed["place"] < self._limits.rows_per_group)
        groups = rows.select(*keys).distinct()
        rows = rows.join(groups.mutate(drawn=_number([groups[key] for key in keys], "group", salt)), keys)
        rows = rows.mutate(lot=_product(rows[_CHANCE], rows["drawn"]).cast("int32"))
        placed = rows.mutate(
            group=ibis.dense_rank().over(group_by=PERSON, order_by=["lot", *keys]),
            first=ibis.rank().over(group_by=PERSON, order_by=["lot", *keys]),
            place=ibis.row_number().over(group_by=PERSON, order_by=["lot", *keys, _TURN]),
        )
        kept = placed["place"] - placed["first"] < self._limits.rows_per_group
        if self._limits.groups < cells:
            kept &= placed["group"] < self._limits.groups
        return placed.filter(kept)

    @property
    def _chance(self) -> str:
        return self._free_name(_CHANCE)

    @property
    def _turn(self) -> str:
        return self._free_name(_TURN)

    def _added_kinds(self) -> Mapping[str, dt.DataType]:
        return {self._chance: dt.int32, self._turn: dt.int64}

    def _made(self) -> Rows:
        rows = self._rows.filter(self._rows[self._person].notnull())
        inner = {name: f"column_{place}" for place, name in enumerate(rows.columns)}
        rows = rows.select(**{inner[name]: rows[name] for name in rows.columns})
        rows = self._with_turns(rows, inner[self._person], fresh_salt())
        rows = self._with_integers(rows, inner)
        columns = {name: rows[inner[name]] for name in self._rows.columns}
        integers = {name: rows[name] for name in map(self.integer_name, self._declared)}
        return rows.select(**columns, **integers, **{self._chance: rows["chance"], self._turn: rows["turn"]})

    def _with_turns(self, rows: Rows, person: str, salt: Salt) -> Rows:
        """Add the chance of every row's person, and the row's turn."""
        content = [told_apart(rows[name]) for name in rows.columns if name != person]
        rows = rows.mutate(number=ibis.row_number().over(group_by=person, order_by=content or [person]))
        persons = rows.select(person).distinct()
        rows = rows.join(
            persons.mutate(chance=_number([persons[person]], "person", salt).cast("int32")), person
        )
        numbers = rows.select("number").distinct()
        rows = rows.join(numbers.mutate(drawn=_number([numbers["number"]], "row", salt)), "number")
        return rows.mutate(turn=_product(rows["chance"], rows["drawn"]) * _TURNS + rows["number"])


def _product(chance: Value, number: Value) -> Value:
    return chance.cast("int64") * number % PRIME


def _number(values: Sequence[Value], purpose: str, salt: Salt) -> Value:
    """Return a number in [1, PRIME) that is drawn for some values."""
    text: Value = ibis.literal(f"{salt.value}|{purpose}")
    for value in values:
        text += "|" + value.cast("string")
    return lot(text) % (PRIME - 1) + 1
