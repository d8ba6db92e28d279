"""Which tables one statement can read, and how it reads those of another database.

What is joined with the first table of a request is copied into its database, if both are embedded ones
(`tables.copies`). Tables of database servers stay where they are: a request reads one server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.data.language.relations import Relation, leftmost, sources_of
from discreet.data.language.types import Type
from discreet.data.tables.copies import copied_into, engine_place, is_copied
from discreet.errors import UnsupportedQuery

if TYPE_CHECKING:
    import ibis
    import ibis.expr.types

    from discreet.data.facts.persons import Tables
    from discreet.data.tables.table import Table

__all__ = ["check_colocated", "colocated"]


def check_colocated(relation: Relation, tables: Tables) -> None:
    """Refuse a relation over tables that no one engine can read, naming them."""
    from discreet.data.facts.persons import private_table

    first, *others = (private_table(name, tables) for name in sources_of(relation))
    if not others:
        return
    home = engine_place(first._backend)
    apart = [
        name
        for name, table in zip(sources_of(relation)[1:], others, strict=True)
        if engine_place(table._backend) != home
    ]
    if apart:
        raise UnsupportedQuery(
            f"{leftmost(relation).table!r} and {', '.join(map(repr, apart))} are in different databases, "
            "which cannot be read together; ask about each separately, or have their owner put them into one"
        )


def colocated(table: Table, home: ibis.BaseBackend) -> ibis.expr.types.Table:
    """Return the rows of a table as one that `home` can read. This reads and copies nothing yet."""
    if not is_copied(table._backend, home):
        return table._relation
    return copied_into(_copied(table), table._backend, home)


def _copied(table: Table) -> ibis.expr.types.Table:
    """Return what is copied: of values of unsupported types, only whether they are present."""
    import ibis

    rows = table._relation
    unknown = {
        name: ibis.ifelse(rows[name].isnull(), ibis.null("int8"), ibis.literal(1, "int8"))
        for name, kind in table.schema.items()
        if kind is Type.OTHER
    }
    return rows.mutate(**unknown) if unknown else rows
