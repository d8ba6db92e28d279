"""The columns of a relation, and how much one person may contribute to it: public facts alone.

Declarations give the facts of a private table's columns. From there they flow upward: a filter keeps
them, a calculated column has those that `implied` reads off its expression. A relation that would let one
person's rows decide about those of another is refused here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from discreet.data.checking import check_condition
from discreet.data.columns import ColumnFacts, Columns, types_of
from discreet.data.declarations import Bounds, Keys, Limits
from discreet.data.implied import implied
from discreet.data.relation import Filter, Project, Relation, Source, leftmost
from discreet.errors import UndeclaredColumn, UnsupportedQuery

if TYPE_CHECKING:
    from discreet.data.table import Table

__all__ = ["columns_of_relation", "limits_of"]


def columns_of_relation(relation: Relation, tables: Mapping[str, Table]) -> Columns:
    """Return the columns of a relation over declared tables, or refuse the relation.

    Raises
    ------
    UndeclaredColumn
        For a table or a column that is not there.
    UnsupportedQuery
        For an expression that its types do not admit.
    """
    if isinstance(relation, Source):
        return _declared(relation, tables)
    if isinstance(relation, Filter):
        columns = columns_of_relation(relation.source, tables)
        check_condition(relation.condition, types_of(columns))
        return columns
    if isinstance(relation, Project):
        columns = columns_of_relation(relation.source, tables)
        return {column.name: implied(column.expression, columns) for column in relation.columns}
    raise UnsupportedQuery("the request holds a relation that is not supported; ask without it")


def limits_of(relation: Relation, tables: Mapping[str, Table]) -> Limits:
    """Return how much one person contributes at most: the limits of the first table."""
    return tables[leftmost(relation).table].limits


def _declared(source: Source, tables: Mapping[str, Table]) -> Columns:
    if source.table not in tables:
        raise UndeclaredColumn(f"there is no such table; there is {', '.join(sorted(tables)) or 'none'}")
    table = tables[source.table]
    columns = {}
    for name, found in table.schema.items():
        declared = table.columns.get(name)
        columns[name] = ColumnFacts(
            type=found,
            bounds=declared if isinstance(declared, Bounds) else None,
            keys=declared if isinstance(declared, Keys) else None,
        )
    return columns
