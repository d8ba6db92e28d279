"""Tables that are kept ready in the engine: every later query reads integers, not text and floats.

A prepared table is stored in the engine under its own name (a temporary table; on Spark, a checkpoint).
Each column with `Bounds` is stored with its integer on the grid, each with `Keys` with the number of its key,
so that a query neither converts numbers nor compares text. What else is done in advance depends on the
limits: see `Sample` for limits on rows, `Arrangement` for limits on groups.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import uuid4

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.schema as sch
import numpy as np
import pyarrow
from ibis.expr.types import Table as Rows

from discreet.data.engines.base import await_table, keep
from discreet.data.engines.listed import listed_table
from discreet.data.grid import steps
from discreet.data.language.declarations import Bounds, Keys
from discreet.data.reading.arrow_keys import key_array
from discreet.data.reading.arrow_numbers import integers
from discreet.data.salt import Salt

if TYPE_CHECKING:
    from discreet.data.language.declarations import Declared, Limits

__all__ = ["LISTED_NUMBER", "LISTED_VALUE", "Prepared", "numbered_keys"]

LISTED_VALUE, LISTED_NUMBER = "listed_value", "listed_number"
"""The columns of `numbered_keys`."""

_SMALL = 1 << 15


class Prepared(ABC):
    """The rows of a table in the form that queries read, made when they are first asked for.

    Parameters
    ----------
    rows : Ibis table
        All rows, in the types that engines share.
    backend : Ibis connection
        Where they are.
    person : str
        The column of persons.
    limits : Limits
        How much one person may contribute.
    columns : mapping of names to what is declared about them
        Which columns are stored with an integer.

    Attributes
    ----------
    relation : Ibis table
        The prepared rows, by the name that they will have. To refer to them reads no data;
        `engines.base.fetch` has them made.
    """

    def __init__(
        self,
        rows: Rows,
        backend: ibis.BaseBackend,
        *,
        person: str,
        limits: Limits,
        columns: Mapping[str, Declared],
    ) -> None:
        self._rows = rows
        self._backend = backend
        self._person = person
        self._limits = limits
        self._declared = {
            name: one for name, one in columns.items() if isinstance(one, Bounds | Keys) and name != person
        }
        self._listed: dict[str, Rows] = {}
        self._lock = threading.Lock()
        self._is_made = False
        name = f"discreet_{uuid4().hex}"
        kinds = {
            **rows.schema(),
            **{self.integer_name(one): _integer_kind(of) for one, of in self._declared.items()},
            **self._added_kinds(),
        }
        self.relation = ops.DatabaseTable(name, sch.Schema(kinds), backend, ops.Namespace()).to_expr()
        await_table(name, self)

    def integer_name(self, column: str) -> str:
        """Return the name of the integer that is stored with a declared column."""
        return self._free_name(f"integer_{list(self._declared).index(column)}")

    def listed_keys(self, column: str) -> Rows:
        """Return all keys of a column with their numbers: one list for all statements that read it."""
        keys = self._declared[column]
        assert isinstance(keys, Keys)  # noqa: S101
        found = self._listed.get(column)
        return self._listed.setdefault(column, numbered_keys(keys, every=True)) if found is None else found

    def draw(self) -> None:
        """Make the table, unless it was made: with its own salt, once for all threads."""
        with self._lock:
            if not self._is_made:
                keep(self.relation.op().name, self._made(), self._backend)
                self._is_made = True

    @abstractmethod
    def carried(self) -> Mapping[str, str]:
        """Return the columns that `bounded` needs in addition to keys and measures, by its own names."""

    @abstractmethod
    def bounded(self, rows: Rows, cells: int, salt: Salt) -> Rows:
        """Return the rows of a query that stay.

        Parameters
        ----------
        rows : Ibis table
            The numbers of the keys, the integers of the measures, and what is `carried`.
        cells : int
            How many groups there can be.
        salt : Salt
            The secret of this release.
        """

    @abstractmethod
    def _made(self) -> Rows:
        """Return the rows in the columns of `relation`."""

    @abstractmethod
    def _added_kinds(self) -> Mapping[str, dt.DataType]:
        """Return the other columns of `relation`, which are not stored with a declared one."""

    def _free_name(self, name: str) -> str:
        while name in self._rows.columns:
            name += "_"
        return name

    def _with_integers(self, rows: Rows, names: Mapping[str, str]) -> Rows:
        """Add the integers of declared columns, which lie in `rows` under other names."""
        for name, declared in self._declared.items():
            rows = _with_integer(rows, names[name], self.integer_name(name), declared)
        return rows


def numbered_keys(keys: Keys, *, every: bool = False) -> Rows:
    """Return declared keys with their numbers; NULL only if every key is wanted."""
    listed = [(value, place) for place, value in enumerate(keys.values) if every or value is not None]
    values, numbers = zip(*listed, strict=True)
    return listed_table(
        pyarrow.table(
            {
                LISTED_VALUE: key_array(values, keys.type),
                LISTED_NUMBER: integers(np.array(numbers, np.int64)),
            }
        )
    )


def _with_integer(rows: Rows, column: str, integer: str, declared: Bounds | Keys) -> Rows:
    """Add the integer on the grid of a column with bounds, or the number of a declared key."""
    kind = _integer_kind(declared)
    if isinstance(declared, Bounds):
        return rows.mutate(**{integer: steps(rows[column], declared).cast(kind)})
    listed = numbered_keys(declared)
    joined = rows.left_join(listed, rows[column] == listed[LISTED_VALUE])
    number = joined[LISTED_NUMBER]
    if declared.has_null:
        number = ibis.ifelse(joined[column].isnull(), declared.values.index(None), number)
    return joined.select(*rows.columns, **{integer: number.cast(kind)})


def _integer_kind(declared: Declared) -> dt.DataType:
    if isinstance(declared, Keys):
        return dt.int16 if len(declared) < _SMALL else dt.int32
    assert isinstance(declared, Bounds)  # noqa: S101
    largest = max(abs(declared.lower_steps), abs(declared.upper_steps))
    return dt.int32 if largest < 1 << 31 else dt.int64
