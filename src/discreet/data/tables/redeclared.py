"""The same rows under other declarations, without opening their source again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from discreet.data.language.declarations import EACH_ROW, Declared, Limits
from discreet.data.tables.declaration_checks import checked_declarations
from discreet.data.tables.table import Table

__all__ = ["redeclared"]

_KEPT = (
    "_backend", "_is_prepared", "_opened", "_origins", "_stored", "_through", "facts", "person", "schema",
    "version",
)  # fmt: skip


def redeclared(table: Table, *, limits: Limits, columns: Mapping[str, Declared]) -> Table:
    """Return a table of the same rows with other limits and columns, in which no column changes its type."""
    given = None if table.person is EACH_ROW else limits
    declared = checked_declarations(table.person, given, columns, prepare=table._is_prepared)
    made = object.__new__(Table)
    for slot in _KEPT:
        setattr(made, slot, getattr(table, slot))
    made.columns, made.limits = MappingProxyType(declared), limits
    made._ownership = made._prepared = None
    if table._through is not None and table._ownership is None:  # it gets its persons later
        made._check(made._stored)
        return made
    if table._ownership is not None:
        owned = table._ownership
        made._ownership = replace(owned, declared=redeclared(owned.declared, limits=limits, columns=columns))
    made._check(table._all_rows)
    made._own(table._all_rows)
    return made
