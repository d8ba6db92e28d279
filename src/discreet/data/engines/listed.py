"""Public values as a table in memory, which a statement reads beside private rows.

As `ibis.memtable` makes one, which imports pandas and more of Arrow first, to tell their types apart.
"""

from __future__ import annotations

from uuid import uuid4

import pyarrow
from ibis.expr.operations import InMemoryTable
from ibis.expr.schema import Schema
from ibis.expr.types import Table
from ibis.formats.pyarrow import PyArrowTableProxy

__all__ = ["listed_table"]


def listed_table(values: pyarrow.Table) -> Table:
    """Return a table of public values, under a name of its own."""
    return InMemoryTable(
        name=f"discreet_listed_{uuid4().hex}",
        schema=Schema.from_pyarrow(values.schema),
        data=PyArrowTableProxy(values),
    ).to_expr()
