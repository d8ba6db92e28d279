"""Made-up rows for the declarations of a table, drawn only from what is public.

Only names, types, bounds, keys, days and limits are used, so that no private value can be in them.
They need no protection and no secure randomness: a seed makes the same rows again.
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.language.declarations import EACH_ROW, Bounds, Dates, Declared, Keys
from discreet.data.language.types import Type
from discreet.data.tables.public_table import PublicTable
from discreet.data.tables.table import Table

if TYPE_CHECKING:
    import pyarrow

__all__ = ["made_up"]

_DAYS = Dates(datetime.date(2000, 1, 1), datetime.date(2025, 12, 31))
_EPOCH = datetime.date(1970, 1, 1)
_WORDS = ("alder", "birch", "cedar", "elm", "hazel", "larch", "maple", "oak", "pine", "rowan", "yew")
_MISSING = 0.02
_MOST_ROWS = 50
_LARGEST = 1 << 62
_DECIMALS = 4
_KEY_DAYS = 20_000


def made_up(
    tables: Mapping[str, Table | PublicTable], rows: int, seed: int
) -> dict[str, Table | PublicTable]:
    """Return tables of made-up rows with the declarations of others; public ones as they are.

    Persons have about twice as many rows as the limits let them contribute, some values are missing and some
    lie beyond their bounds, so that everything declared comes into play. Keys that other tables refer to
    are unique, and those that refer to them are drawn from them.
    """
    random = {name: np.random.default_rng([seed, place]) for place, name in enumerate(tables)}
    found: dict[str, Table | PublicTable] = {}
    made: dict[str, pyarrow.Table] = {}

    def make(name: str) -> None:
        table = tables[name]
        if name in found or isinstance(table, PublicTable):
            found.setdefault(name, table)
            return
        through = table._through
        keys: dict[str, pyarrow.Array] = {}
        if through is not None:
            make(through.table)
            chosen = random[name].integers(made[through.table].num_rows, size=rows)
            keys = {
                here: made[through.table][there].combine_chunks().take(chosen)
                for here, there in zip(through.on, through.to, strict=True)
            }
        referred = {
            column
            for other in tables.values()
            if isinstance(other, Table) and other._through is not None and other._through.table == name
            for column in other._through.to
        }
        made[name] = _rows(table, rows, random[name], keys, referred)
        found[name] = _declared(table, made[name])

    for name in tables:
        make(name)
    return {name: found[name] for name in tables}


def _rows(
    table: Table,
    rows: int,
    random: np.random.Generator,
    keys: Mapping[str, pyarrow.Array],
    referred: Collection[str],
) -> pyarrow.Table:
    """Return made-up rows, with given values of some columns and different ones in those referred to."""
    import pyarrow
    import pyarrow.compute

    columns = {}
    for name, kind in table.schema.items():
        if name not in table._stored.columns:
            continue
        if name in keys:
            columns[name] = keys[name]
        elif name == table.person:
            columns[name] = _persons(table, rows, random)
        elif name in referred:
            columns[name] = _different(kind, rows)
        else:
            values = _values(kind, table.columns.get(name), rows, random)
            present = pyarrow.array(random.random(rows) >= _MISSING)
            columns[name] = pyarrow.compute.if_else(present, values, pyarrow.scalar(None, values.type))
    return pyarrow.table(columns)


def _declared(table: Table, rows: pyarrow.Table) -> Table:
    declared = table if table._ownership is None else table._ownership.declared
    return Table(
        rows,
        person=table.person if table._through is None else table._through,
        limits=None if table.person is EACH_ROW else table.limits,
        columns=dict(table.columns),
        version=f"made up {declared.version}",
        prepare=table._prepared is not None,
        facts=table.facts,
    )


def _different(kind: Type, rows: int) -> pyarrow.Array:
    """Return a value for each row that no other row has, where the type has enough of them."""
    import pyarrow

    if kind is Type.TEXT:
        return pyarrow.array([f"key {number}" for number in range(rows)])
    if kind is Type.BOOLEAN:
        return pyarrow.array(np.arange(rows) % 2 == 0)
    if kind is Type.DATE:
        days = (np.arange(rows) % _KEY_DAYS).astype(np.int32)
        return pyarrow.array(days, pyarrow.int32()).cast(pyarrow.date32())
    return _exact(np.arange(rows)) if kind is Type.DECIMAL else pyarrow.array(np.arange(rows))


def _persons(table: Table, rows: int, random: np.random.Generator) -> pyarrow.Array:
    import pyarrow

    allowed = table.limits.rows or (table.limits.groups or 1) * (table.limits.rows_per_group or 1)
    many = max(1, rows // max(1, min(2 * allowed, _MOST_ROWS)))
    numbers = random.integers(many, size=rows)
    kind = table.schema[str(table.person)]
    if kind is Type.TEXT:
        return pyarrow.array([f"person {number}" for number in numbers.tolist()])
    return _exact(numbers) if kind is Type.DECIMAL else pyarrow.array(numbers)


def _values(kind: Type, declared: Declared | None, rows: int, random: np.random.Generator) -> pyarrow.Array:
    import pyarrow

    if isinstance(declared, Keys):
        listed = [declared.values[place] for place in random.integers(len(declared), size=rows).tolist()]
        return pyarrow.array(listed, _key_types()[declared.type])
    if kind.is_number:
        ends = (
            (float(declared.lower), float(declared.upper)) if isinstance(declared, Bounds) else (0.0, 100.0)
        )
        spread = ends[0] + (ends[1] - ends[0]) * random.normal(0.5, 0.25, rows)
        if kind is Type.DECIMAL:
            return _exact(spread)
        whole = np.rint(spread.clip(-_LARGEST, _LARGEST)).astype(np.int64)
        return pyarrow.array(whole if kind is Type.INTEGER else spread)
    if kind is Type.BOOLEAN:
        return pyarrow.array(random.random(rows) < 0.5)
    if kind is Type.TEXT:
        return pyarrow.array([_WORDS[place] for place in random.integers(len(_WORDS), size=rows)])
    if kind in {Type.DATE, Type.TIMESTAMP, Type.INSTANT}:
        days = declared if isinstance(declared, Dates) else _DAYS
        first, last = ((day - _EPOCH).days for day in (days.first, days.last))
        dates = pyarrow.array(random.integers(first, last + 1, size=rows).astype(np.int32), pyarrow.int32())
        dates = dates.cast(pyarrow.date32())
        zone = {Type.TIMESTAMP: None, Type.INSTANT: "UTC"}
        return dates if kind is Type.DATE else dates.cast(pyarrow.timestamp("us", zone[kind]))
    return pyarrow.nulls(rows, pyarrow.binary())


def _exact(numbers: np.ndarray) -> pyarrow.Array:
    import pyarrow

    return pyarrow.array(numbers.astype(np.float64)).cast(pyarrow.decimal128(38, _DECIMALS))


def _key_types() -> dict[Type, pyarrow.DataType]:
    import pyarrow

    return {
        Type.TEXT: pyarrow.string(),
        Type.INTEGER: pyarrow.int64(),
        Type.BOOLEAN: pyarrow.bool_(),
        Type.DATE: pyarrow.date32(),
    }
