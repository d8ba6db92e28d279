"""Statements that read columns of a stored table, where Ibis does not know all types of the engine."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import ibis.expr.schema as sch
from ibis.expr.types import Table

__all__ = ["count_columns", "read_columns"]

Quote = Callable[[str], str]
"""Writes a name as the engine does."""


def read_columns(
    place: str, written: Sequence[tuple[str, str, dt.DataType]], quoted: Quote, backend: ibis.BaseBackend
) -> Table:
    """Return columns of a table, each read by an expression.

    Parameters
    ----------
    place : str
        Where the table is, as SQL names it.
    written : sequence
        For each column, its name, the expression that reads it, and the type that this gives.
    quoted : callable
    backend : Ibis backend
    """
    selected = [f"{expression} AS {quoted(name)}" for name, expression, _ in written]
    return _selected(selected, place, {name: kind for name, _, kind in written}, backend)


def count_columns(place: str, names: Sequence[str], quoted: Quote, backend: ibis.BaseBackend) -> Table:
    """Return how many values of each column are not NULL, in order, as one row."""
    counts = {f"n{number}": f"count({quoted(name)})" for number, name in enumerate(names)}
    selected = [f"{count} AS {name}" for name, count in counts.items()]
    return _selected(selected, place, dict.fromkeys(counts, dt.int64), backend)


def _selected(
    expressions: Sequence[str], place: str, kinds: dict[str, dt.DataType], backend: ibis.BaseBackend
) -> Table:
    statement = f"SELECT {', '.join(expressions)} FROM {place}"  # noqa: S608
    return ops.SQLQueryResult(statement, sch.Schema(kinds), backend).to_expr()
