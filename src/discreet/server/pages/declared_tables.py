"""What is declared about tables, in words. Declarations are public; nothing here has seen a row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.records import dataclass

__all__ = ["ColumnView", "TableView", "table_views", "typed_name"]

_MOST_KEYS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnView:
    """What is declared about a column.

    Attributes
    ----------
    name : str
        Of the column.
    kind : str
        A word of the glossary, "bounds" or "keys"; else empty.
    words : str
        What is declared, in one line.
    keys : tuple of str
        The first of its keys.
    """

    name: str
    kind: str
    words: str
    keys: tuple[str, ...] = ()

    @property
    def sql(self) -> str:
        """The name as it is typed."""
        return typed_name(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """What is declared about a table.

    Attributes
    ----------
    name : str
        Of the table.
    person : str
        The column that says whose a row is; empty if there is none.
    limits : str
        How much of a person counts.
    columns : tuple of ColumnView
        What is declared about columns.
    others : tuple of (str, str)
        Anything else, as it is recorded.
    """

    name: str
    person: str
    limits: str
    columns: tuple[ColumnView, ...]
    others: tuple[tuple[str, str], ...]

    @property
    def sql(self) -> str:
        """The name as it is typed."""
        return typed_name(self.name)


def table_views(tables: Mapping[str, Any]) -> list[TableView]:
    """Return what ``/v1/tables`` says, in words."""
    return [_table(name, declared) for name, declared in tables.items()]


def _table(name: str, declared: Mapping[str, Any]) -> TableView:
    person, limits, columns = declared.get("person"), declared.get("limits"), declared.get("columns")
    known = {"person", "limits", "columns"}
    return TableView(
        name=name,
        person=person if isinstance(person, str) else "",
        limits=_limits(limits) if isinstance(limits, Mapping) else "",
        columns=tuple(_column(*pair) for pair in columns.items()) if isinstance(columns, Mapping) else (),
        others=tuple((one, _written(value)) for one, value in declared.items() if one not in known),
    )


def _limits(limits: Mapping[str, Any]) -> str:
    words = {"rows": "rows", "groups": "groups", "rows_per_group": "rows in each group"}
    stated = [f"{limits[name]:,} {said}" for name, said in words.items() if isinstance(limits.get(name), int)]
    return f"at most {' and '.join(stated)} of each person count" if stated else ""


def _column(name: str, declared: Any) -> ColumnView:
    node = declared.get("node") if isinstance(declared, Mapping) else None
    if node == "bounds" and {"lower", "upper"} <= declared.keys():
        step = declared.get("step")
        words = f"{_decimal(declared['lower'])} to {_decimal(declared['upper'])}"
        return ColumnView(
            name=name, kind="bounds", words=f"{words}, in steps of {_decimal(step)}" if step else words
        )
    values = declared.get("values") if node == "keys" else None
    if isinstance(values, list):
        shown = tuple("no value" if one is None else str(one) for one in values[:_MOST_KEYS])
        return ColumnView(name=name, kind="keys", words=f"{len(values):,} values", keys=shown)
    return ColumnView(name=name, kind="keys" if node == "keys" else "", words=_written(declared))


def typed_name(name: str) -> str:
    """Return a name as it is typed in SQL: in quotation marks, if it needs them."""
    quoted = name.replace('"', '""')
    return name if name.isidentifier() and name.isascii() else f'"{quoted}"'


def _decimal(exact: str) -> str:
    """Return an exact number, such as 1/100, as a reader writes it, unless digits would be lost."""
    try:
        value = float(Fraction(exact))
    except (OverflowError, ValueError):  # too large, or a day
        return exact
    return f"{value:,.12g}" if Fraction(f"{value:.12g}") == Fraction(exact) else exact


def _written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
