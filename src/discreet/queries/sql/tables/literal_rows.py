"""Rows that a query writes itself: VALUES, UNNEST of a list, GENERATE_SERIES, and AS t (a, b).

They are constants of the question, so they are public rows like those of a subquery on public tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from discreet.data.language.expressions import Expression, Literal
from discreet.data.language.public_rows import LARGEST_PUBLIC_ROWS, PublicColumn, PublicRows
from discreet.data.language.types import Type
from discreet.data.tables.public_rows import rows_of_table, table_of_rows
from discreet.errors import UnsupportedQuery
from discreet.queries.sql.formulas.expressions import expression_of, unwrapped
from discreet.queries.sql.syntax.refusals import check_parts, refused
from discreet.queries.sql.tables.joins import PublicItem
from discreet.queries.sql.tables.scope import Field, Scope

__all__ = ["literal_item", "renamed", "table_alias"]

_SERIES = "write GENERATE_SERIES(first, last) with whole numbers"
_KNOWN = {Type.INTEGER, Type.FLOAT, Type.TEXT, Type.BOOLEAN, Type.DATE, Type.TIMESTAMP, Type.INSTANT}


def table_alias(alias: exp.TableAlias | None) -> tuple[str, tuple[str, ...]]:
    """Return the name that an alias gives a table, and those of its columns."""
    if alias is None:
        return "", ()
    check_parts(alias, "this", "columns")
    columns = tuple(str(one.name) for one in alias.args.get("columns") or ())
    return "" if alias.this is None else str(alias.name), columns


def renamed(rows: Scope | PublicItem, columns: Sequence[str]) -> Scope | PublicItem:
    """Return rows whose first columns have other names, as AS t (a, b) says."""
    if not columns:
        return rows
    if len({name.lower() for name in columns}) != len(columns):
        raise UnsupportedQuery("two columns of an alias have the same name; give them different names")
    if isinstance(rows, PublicItem):
        return _renamed_public(rows, columns)
    shown = [field for field in rows.fields if not field.hidden]
    _check_width(columns, shown)
    names = dict(zip(shown, columns, strict=False))
    fields = tuple(replace(field, name=names.get(field, field.name)) for field in rows.fields)
    return Scope(relation=rows.relation, fields=fields)


def literal_item(node: exp.Expression) -> PublicItem | None:
    """Return the rows that a node of FROM writes out, by the names of its alias; None of another node."""
    if isinstance(node, exp.Values):
        check_parts(node, "expressions", "alias")
        table = [_cells(row) for row in node.expressions]
        plain = [f"col{place}" for place in range(len(table[0]) if table else 0)]
        return _item(node.args.get("alias"), table, plain)
    if isinstance(node, exp.Unnest):
        check_parts(node, "expressions", "alias", "offset")
        listed = [unwrapped(one) for one in node.expressions]
        if len(listed) != 1 or not isinstance(listed[0], exp.Array):
            raise refused(
                "UNNEST of a column", "it would multiply rows; write UNNEST(ARRAY['a', 'b']) of constants"
            )
        name, _ = table_alias(node.args.get("alias"))
        return _item(node.args.get("alias"), [[one] for one in listed[0].expressions], [name or "unnest"])
    if isinstance(node, exp.Table) and isinstance(node.this, exp.GenerateSeries):
        check_parts(node, "this", "alias")
        name, _ = table_alias(node.args.get("alias"))
        table = [[exp.Literal.number(number)] for number in _series(node.this)]
        return _item(node.args.get("alias"), table, [name or "generate_series"])
    return None


def _cells(row: exp.Expression) -> list[exp.Expression]:
    return list(row.expressions) if isinstance(row, exp.Tuple) else [unwrapped(row)]


def _series(node: exp.GenerateSeries) -> range:
    check_parts(node, "start", "end", "step")
    ends = [_whole(node.args.get(part)) for part in ("start", "end")]
    step = _whole(node.args["step"]) if node.args.get("step") is not None else 1
    first, last = ends
    if first is None or last is None or not step:
        raise refused("GENERATE_SERIES in this form", _SERIES)
    numbers = range(first, last + (1 if step > 0 else -1), step)
    if max(abs(first), abs(last)) >= 1 << 62 or len(numbers) > LARGEST_PUBLIC_ROWS:
        raise refused("GENERATE_SERIES of this length", f"write at most {LARGEST_PUBLIC_ROWS} numbers")
    return numbers


def _whole(node: exp.Expression | None) -> int | None:
    value = None if node is None else _constant(node).value
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _item(
    alias: exp.TableAlias | None, table: list[list[exp.Expression]], plain: Sequence[str]
) -> PublicItem:
    name, given = table_alias(alias)
    width = len(plain)
    if not table or any(len(row) != width for row in table):
        raise refused("rows of different width, or none", "write as many values in every row")
    if len(table) > LARGEST_PUBLIC_ROWS:
        raise refused("as many rows as these", f"write at most {LARGEST_PUBLIC_ROWS}")
    _check_width(given, plain)
    names = [*given, *plain[len(given) :]]
    rows = tuple(tuple(_constant(cell) for cell in row) for row in table)
    columns = tuple(
        PublicColumn(name=one, type=_type([row[place] for row in rows])) for place, one in enumerate(names)
    )
    found = rows_of_table(table_of_rows(PublicRows(columns=columns, rows=rows)))
    return PublicItem(table=found, alias=name, public=table_of_rows(found))


def _constant(node: exp.Expression) -> Literal:
    found = expression_of(node, _no_column)
    if not isinstance(found, Literal):
        raise refused("rows that are calculated", "write constants")
    return found


def _no_column(node: exp.Column) -> Expression:
    raise refused("a column in rows of constants", "write constants; text is written in single quotes")


def _type(cells: Sequence[Literal]) -> Type:
    """Return the type of a column; decimals are doubles, NULL is of any type."""
    kinds = {
        Type.FLOAT if isinstance(cell.value, Fraction) else cell.type
        for cell in cells
        if cell.value is not None
    }
    if kinds == {Type.INTEGER, Type.FLOAT}:
        return Type.FLOAT
    if len(kinds) != 1 or not kinds <= _KNOWN:
        raise refused("a column of constants of different types", "write values of one type in a column")
    return kinds.pop()


def _renamed_public(item: PublicItem, columns: Sequence[str]) -> PublicItem:
    rows = item.table if isinstance(item.table, PublicRows) else rows_of_table(item.public)
    _check_width(columns, rows.columns)
    names = [*columns, *(one.name for one in rows.columns[len(columns) :])]
    listed = tuple(replace(one, name=name) for one, name in zip(rows.columns, names, strict=True))
    found = PublicRows(columns=listed, rows=rows.rows)
    return PublicItem(table=found, alias=item.alias, public=table_of_rows(found))


def _check_width(columns: Sequence[str], there: Sequence[str | Field | PublicColumn]) -> None:
    if len(columns) > len(there):
        raise UnsupportedQuery("an alias names more columns than there are; leave the last ones out")
