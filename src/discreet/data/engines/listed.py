"""Public values in a statement: as a table in memory that it reads beside private rows, or within its text.

A table is made as `ibis.memtable` makes one, which imports pandas and more of Arrow first, to tell their
types apart. Values within the text are one node of Ibis's expression. With a node for each of them, as in
its own `isin`, the keys of a hundred groups are half of an expression, and everything that Ibis rewrites
walks through them a dozen times.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

import ibis.expr.datatypes as dt
import ibis.expr.rules as rlz
import pyarrow
from ibis.expr.operations import InMemoryTable, Value
from ibis.expr.schema import Schema
from ibis.expr.types import BooleanColumn, Column, Table
from ibis.formats.pyarrow import PyArrowTableProxy

from discreet.data.language.declarations import KeyValue
from discreet.records import dataclass

__all__ = ["InListed", "ListedValues", "is_among", "listed_table"]


@dataclass(frozen=True, slots=True)
class ListedValues:
    """Texts, integers or truth values that are written into a statement. Ibis does not look into it."""

    values: tuple[KeyValue, ...]


class InListed(Value):  # type: ignore[misc]
    """Whether a value is one of some public ones; NULL of NULL. The dialects write it (`dialects`)."""

    value: Value
    listed: ListedValues

    dtype = dt.boolean
    shape = rlz.shape_like("value")


def is_among(column: Column, values: Sequence[KeyValue]) -> BooleanColumn:
    """Return whether a column of text, 64-bit integers or truth values has one of some values of its type."""
    return InListed(column, ListedValues(tuple(values))).to_expr()


def listed_table(values: pyarrow.Table) -> Table:
    """Return a table of public values, under a name of its own."""
    return InMemoryTable(
        name=f"discreet_listed_{uuid4().hex}",
        schema=Schema.from_pyarrow(values.schema),
        data=PyArrowTableProxy(values),
    ).to_expr()
