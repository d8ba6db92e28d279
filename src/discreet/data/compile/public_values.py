"""Expressions of public values, worked out by an engine: what a row with these values would have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.data.compile.expressions import compile_expression
from discreet.data.engines.base import fetch
from discreet.data.engines.duckdb import from_frame
from discreet.data.facts.conditions.key_narrowing import replaced
from discreet.data.language.expressions import Column, Expression
from discreet.data.language.types import Type
from discreet.data.tables.public_rows import arrow_type

__all__ = ["public_values"]


def public_values(expression: Expression, columns: Mapping[str, tuple[Type, Sequence[Any]]]) -> list[Any]:
    """Return an expression for each row of public columns, as DuckDB calculates it for private rows.

    Parameters
    ----------
    expression : Expression
        Over the columns; checked by `data.facts.type_check`.
    columns : mapping of names to (Type, values)
        All of one length; None is NULL.
    """
    import pyarrow

    names = {name: f"c{place}" for place, name in enumerate(columns)}
    arrays = {
        names[name]: pyarrow.array(list(values), type=arrow_type(kind))
        for name, (kind, values) in columns.items()
    }
    size = len(next(iter(arrays.values())))
    if size == 0:
        return []
    arrays["place"] = pyarrow.array(range(size), type=pyarrow.int64())
    types = {names[name]: kind for name, (kind, _) in columns.items()} | {"place": Type.INTEGER}
    table = from_frame(pyarrow.table(arrays), types)
    renamed = replaced(expression, {Column(name=name): Column(name=new) for name, new in names.items()})
    value = compile_expression(renamed, {name: table[name] for name in arrays})
    found = fetch(table.select(place=table["place"], value=value), table.get_backend())
    listed = dict(zip(found["place"].to_pylist(), found["value"].to_pylist(), strict=True))
    return [listed[place] for place in range(size)]
