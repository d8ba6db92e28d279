"""A sandbox: made-up rows behind the same declarations, to try questions on for nothing.

The rows are drawn from what is public (names, types, bounds, keys, limits) and from nothing else, so
that no private value can be in them. Answers look like real ones and mean nothing; their labels say
that they are not private.
"""

from __future__ import annotations

import datetime
import tempfile
import weakref
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.curator import Budget
from discreet.data import EACH_ROW, Bounds, Keys, Table, Type
from discreet.front.curator import Curator
from discreet.privacy.rational import whole

if TYPE_CHECKING:
    import pyarrow

    from discreet.curator import Release, Request

__all__ = ["Sandbox", "made_up", "sandbox"]

_PLENTY = 10**9
_FIRST_DAY = datetime.date(2000, 1, 1)
_DAYS = 9000
_WORDS = ("alder", "birch", "cedar", "elm", "hazel", "larch", "maple", "oak", "pine", "rowan", "yew")
_MISSING = 0.02


class Sandbox(Curator):
    """A curator of made-up rows. It has all the words of a curator, and its answers cost nothing."""

    def answer(self, request: Request, *, analyst: str = "") -> Release:
        """Answer a request about made-up rows; the label says that the answer is not private."""
        release = super().answer(request, analyst=analyst)
        return replace(release, label={**release.label, "private": False})

    def __repr__(self) -> str:
        return f"Sandbox(tables: {', '.join(self.tables)}; made-up rows)"


def sandbox(tables: Mapping[str, Table], *, rows: int = 10_000, seed: int = 0) -> Sandbox:
    """Return a curator of made-up rows for the same declarations.

    Parameters
    ----------
    tables : mapping of names to Table
        The declared tables; only what is public about them is looked at.
    rows : int
        How many rows to make up for each.
    seed : int
        The same seed makes up the same rows.
    """
    rows = whole(rows, "rows", least=1, most=10**8)
    invented = {
        name: made_up(table, rows, np.random.default_rng([seed, place]))
        for place, (name, table) in enumerate(tables.items())
    }
    directory = tempfile.TemporaryDirectory(prefix="discreet-")
    ledger = Path(directory.name) / "sandbox.ledger"
    made = Sandbox(invented, budget=Budget(epsilon=_PLENTY, delta=0.5), ledger=ledger)
    weakref.finalize(made, directory.cleanup)
    return made


def made_up(table: Table, rows: int, random: np.random.Generator) -> Table:
    """Return a table of made-up rows with the declarations of another.

    Persons have one to three times as many rows as the limits allow them to contribute, some values
    are missing and some lie beyond their bounds, so that everything declared comes into play.
    """
    import pyarrow

    columns = {}
    for name, kind in table.schema.items():
        declared = table.columns.get(name)
        if name == table.person:
            columns[name] = _persons(table, rows, random)
        elif isinstance(declared, Keys):
            places = random.integers(len(declared), size=rows)
            columns[name] = pyarrow.array([declared.values[place] for place in places])
        else:
            bounds = declared if isinstance(declared, Bounds) else None
            columns[name] = _with_gaps(_values(kind, bounds, rows, random), random)
    return Table(
        pyarrow.table(columns),
        person=table.person,
        limits=None if table.person is EACH_ROW else table.limits,
        columns=dict(table.columns),
        version=f"made up {table.version}",
    )


def _persons(table: Table, rows: int, random: np.random.Generator) -> pyarrow.Array:
    import pyarrow

    allowed = table.limits.rows or (table.limits.groups or 1) * (table.limits.rows_per_group or 1)
    many = max(1, rows // max(1, min(2 * allowed, 50)))
    numbers = random.integers(many, size=rows)
    if table.schema[str(table.person)] is Type.TEXT:
        return pyarrow.array([f"person {number}" for number in numbers.tolist()])
    return pyarrow.array(numbers)


def _values(kind: Type, bounds: Bounds | None, rows: int, random: np.random.Generator) -> pyarrow.Array:
    import pyarrow

    if kind.is_number:
        lower, upper = (0.0, 100.0) if bounds is None else (float(bounds.lower), float(bounds.upper))
        spread = lower + (upper - lower) * random.normal(0.5, 0.25, rows)
        return pyarrow.array(np.rint(spread).astype(np.int64) if kind is Type.INTEGER else spread)
    if kind is Type.BOOLEAN:
        return pyarrow.array(random.random(rows) < 0.5)
    if kind is Type.TEXT:
        return pyarrow.array([_WORDS[i] for i in random.integers(len(_WORDS), size=rows)])
    if kind in {Type.DATE, Type.TIMESTAMP, Type.INSTANT}:
        days = (_FIRST_DAY - datetime.date(1970, 1, 1)).days + random.integers(_DAYS, size=rows)
        dates = pyarrow.array(days.astype(np.int32)).cast(pyarrow.date32())
        zone = {Type.TIMESTAMP: None, Type.INSTANT: "UTC"}
        return dates if kind is Type.DATE else dates.cast(pyarrow.timestamp("us", zone[kind]))
    return pyarrow.nulls(rows, pyarrow.binary())


def _with_gaps(values: pyarrow.Array, random: np.random.Generator) -> pyarrow.Array:
    import pyarrow
    import pyarrow.compute

    present = pyarrow.array(random.random(len(values)) >= _MISSING)
    return pyarrow.compute.if_else(present, values, pyarrow.scalar(None, values.type))
