"""Neighboring worlds of hard types, on any engine: persons, keys and joins where doubles lose digits.

The tables have the columns of `worlds`, so that one grammar asks about both. The types of integers differ
from table to table and from seed to seed; their values lie where doubles, 64-bit integers and long decimals
end. The stranger has hundreds of rows, most of them alike, which joins and unions multiply.
"""

from __future__ import annotations

import random
from decimal import Decimal

import pyarrow

from data.three_engines import Engine
from discreet.data import EACH_ROW, Bounds, Keys, Limits, Table
from discreet.data.tables.public_table import PublicTable
from queries import worlds as plain
from queries.worlds import Worlds

STRANGER = 2**62 + 77
PERSONS = [2**62 + n for n in range(12)]
INTEGERS = [
    pyarrow.int64(),
    pyarrow.int32(),
    pyarrow.int8(),
    pyarrow.uint64(),
    pyarrow.decimal128(20, 0),
    pyarrow.decimal128(38, 0),
]
WIDE = [pyarrow.int64(), pyarrow.uint64(), pyarrow.decimal128(20, 0), pyarrow.decimal128(38, 0)]
_ENDS = [0, 1, 2, 127, 2**31 - 1, 2**53, 2**53 + 1, 2**62, 2**62 + 1, 2**63 - 1, 2**63, 2**64 - 1]
_ENDS += [10**20 - 1, 10**38 - 1]
EDGES = [*_ENDS, *(-one for one in _ENDS)]
LIMITS = (Limits(rows=1), Limits(rows=3), Limits(groups=2, rows_per_group=1))
DECLARED = {
    "city": Keys(["Taipei", "Oslo", "", None]),
    "age": Bounds(-10, 110, step=1),
    "cost": Bounds(-5, 20, step=0.5),
    "balance": Bounds(-100, 100, step=0.25, null=1),
}
PUBLIC_WARDS = [0, 1, 2**53, 2**53 + 1, 2**62, 2**62 + 1, 2**63 - 1, None]


def fits(value: int, kind: pyarrow.DataType) -> bool:
    """Whether a type holds an integer."""
    if pyarrow.types.is_decimal(kind):
        return abs(value) < 10**kind.precision
    if pyarrow.types.is_unsigned_integer(kind):
        return 0 <= value < 2**kind.bit_width
    return -(2 ** (kind.bit_width - 1)) <= value < 2 ** (kind.bit_width - 1)


def schema_of(chooser: random.Random, table: str) -> pyarrow.Schema:
    """A table's columns, with integers of any type."""
    fields = []
    for field in plain.SCHEMAS[table]:
        kind = field.type
        if field.name == "patient":
            kind = chooser.choice(WIDE)
        elif field.name in {"ward", "age", "small"}:
            kind = chooser.choice(INTEGERS)
        elif field.name == "balance":
            kind = pyarrow.decimal128(*chooser.choice([(12, 2), (38, 9), (38, 0)]))
        fields.append((field.name, kind))
    return pyarrow.schema(fields)


def value(chooser: random.Random, name: str, kind: pyarrow.DataType, person: int | None) -> object:
    """A value of a column; integers at the edges of types."""
    if name == "patient":
        return person
    if chooser.random() < 0.1:
        return None
    if name == "balance":
        return Decimal(chooser.choice([0, 1, -1, 10**9, -(10**9)]))
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_decimal(kind):
        found = chooser.choice([one for one in EDGES if fits(one, kind)])
        return Decimal(found) if pyarrow.types.is_decimal(kind) else found
    return chooser.choice(plain._PLAIN[name] if chooser.random() < 0.6 else plain._NASTY[name])


def hard_worlds(engine: Engine, seed: int) -> Worlds:
    """Two worlds that differ in one person, the stranger; the seed decides about everything."""
    chooser = random.Random(seed)
    limits = {name: chooser.choice(LIMITS) for name in ("visits", "staff")}
    schemas = {name: schema_of(chooser, name) for name in plain.SCHEMAS}
    if chooser.random() < 0.8:  # persons of different types are refused in joins and unions
        kind = schemas["visits"].field("patient")
        schemas["staff"] = schemas["staff"].set(schemas["staff"].get_field_index("patient"), kind)

    def row(name: str, person: int | None) -> dict[str, object]:
        made = {field.name: value(chooser, field.name, field.type, person) for field in schemas[name]}
        if person is not None and pyarrow.types.is_decimal(schemas[name].field("patient").type):
            made["patient"] = Decimal(person)
        return made

    others = {
        name: [row(name, person) for person in (*PERSONS, None) for _ in range(chooser.choice([0, 1, 3]))]
        for name in ("visits", "staff")
    }
    others |= {name: [row(name, None) for _ in range(6)] for name in ("crowd", "guests")}
    stranger: dict[str, list[dict[str, object]]] = {name: [] for name in others}
    for name in ("visits", "staff"):
        alike = row(name, STRANGER)
        stranger[name] = [alike] * chooser.choice([1, 20, 300]) + [row(name, STRANGER) for _ in range(9)]
    lonely = chooser.choice(["crowd", "guests"])
    stranger[lonely] = [row(lonely, None)]
    tables = []
    for more in (False, True):
        opened: dict[str, Table | PublicTable] = dict(plain.PUBLIC)
        opened["wards"] = PublicTable(
            pyarrow.table({"ward": PUBLIC_WARDS, "floor": list(range(8)), "name": list("abcdefgh")})
        )
        for name, schema in schemas.items():
            rows = others[name] + (stranger[name] if more else [])
            opened[name] = engine.table(
                pyarrow.Table.from_pylist(rows, schema=schema),
                person="patient" if name in limits else EACH_ROW,
                limits=limits.get(name),
                columns={one: known for one, known in DECLARED.items() if one in schema.names},
            )
        tables.append(opened)
    return Worlds(without=tables[0], with_person=tables[1], prepared=True)  # each world has names of its own
