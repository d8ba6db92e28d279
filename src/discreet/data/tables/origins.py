"""Where the rows of a table come from, so that the same row under two names is recognized.

If each row is a separate person, nothing in a row identifies the person. If two tables read the same
rows, a union of them holds a person twice, and their weight is not bounded. So a table remembers its origins:
the file, the frame, the stored tables below a view; and a union of tables that have an origin in common
is refused. Origins are names and numbers, public facts; contents are never compared.

The owner must know what cannot be detected here: copies of a file or a frame, a view that reads a file
or another database, the same rows on two servers.
"""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import ibis
import ibis.expr.types

from discreet.data.engines.base import run_guarded
from discreet.data.reading.csv_format import Csv
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.data.tables.table import Table

__all__ = ["Origins", "origins_of", "overlap", "share_origins"]

Origins: TypeAlias = frozenset[Hashable]

_known: dict[int, tuple[weakref.ref[Any], int]] = {}
_numbers = itertools.count()

_STORED = """
WITH RECURSIVE below (id) AS (
    SELECT to_regclass(%s)::oid
    UNION
    SELECT more.id FROM below JOIN (
        SELECT r.ev_class AS parent, d.refobjid AS id
        FROM pg_catalog.pg_rewrite r JOIN pg_catalog.pg_depend d ON d.objid = r.oid
        WHERE d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass
        UNION ALL SELECT inhparent, inhrelid FROM pg_catalog.pg_inherits
    ) AS more ON more.parent = below.id
)
SELECT id::bigint FROM below
"""


def origins_of(source: object, opened: ibis.expr.types.Table, backend: ibis.BaseBackend) -> Origins:
    """Return where the rows of a source come from.

    Parameters
    ----------
    source : path, frame, address or Ibis table
        What the owner named.
    opened : Ibis table
        The same as a table of a connection.
    backend : Ibis connection
        The connection.
    """
    if isinstance(source, Csv):
        return frozenset().union(*map(_of_file, source.paths))
    if isinstance(source, str | os.PathLike) and os.path.exists(source):
        return _of_file(source)
    found: set[Hashable] = set() if isinstance(source, str) else {("object", _number(source))}
    if backend.name == "postgres":
        return frozenset(found) | _of_postgresql(opened, backend)
    if backend.name == "pyspark":
        return frozenset(found) | _of_spark(source, opened, backend)
    if isinstance(source, ibis.expr.types.Table):
        return frozenset(found) | _of_duckdb(opened, backend)
    return frozenset(found)


def share_origins(sources: Mapping[str, object], tables: Mapping[str, Table], name: str) -> list[str]:
    """Return the tables that read rows of a table: the same file, stored table, or a view of it.

    Parameters
    ----------
    sources : mapping of names to sources
        What the owner named for each private table.
    tables : mapping of names to Table
        The same, opened.
    name : str
        Of the table.
    """
    found = {
        one: run_guarded(
            partial(origins_of, source, tables[one]._opened, tables[one]._backend), _unreadable_origin
        )
        for one, source in sources.items()
    }
    return [one for one in found if one != name and overlap([found[one], found[name]])]


def overlap(tables: Iterable[Origins]) -> bool:
    """Return whether two of some tables have an origin in common."""
    listed = list(tables)
    return len(frozenset().union(*listed)) < sum(map(len, listed))


def _of_file(path: str | os.PathLike[str]) -> Origins:
    about = os.stat(path)
    return frozenset({("file", about.st_dev, about.st_ino), ("path", os.path.realpath(path))})


def _unreadable_origin() -> ParameterError:
    return ParameterError("source", "could not be read", "a table whose columns and views you may see")


def _number(thing: object) -> int:
    """Return a number that an object keeps as long as it lives, and that no other object gets."""
    ref, number = _known.get(id(thing), (None, 0))
    if ref is not None and ref() is thing:
        return number
    number = next(_numbers)
    try:
        _known[id(thing)] = (weakref.ref(thing), number)
    except TypeError:  # it cannot be told whether it still lives
        _known.pop(id(thing), None)
    return number


def _of_postgresql(opened: ibis.expr.types.Table, backend: ibis.BaseBackend) -> Origins:
    """Return the stored tables below a table, a view or a table with partitions."""
    from discreet.data.engines.postgres import _cursor, _quoted

    origin, about = opened.op(), backend.con.info
    names = (origin.namespace.database, origin.name)
    written = ".".join(_quoted(name) for name in names if name is not None)
    with backend.con.transaction(), _cursor(backend.con) as cursor:
        found = cursor.execute(_STORED, (written,)).fetchall()
    return frozenset(("postgres", about.host, about.port, about.dbname, row[0]) for row in found)


def _of_duckdb(opened: ibis.expr.types.Table, backend: ibis.BaseBackend) -> Origins:
    """Return a table and the tables below it if it is a view, by their names alone.

    Tables of one name in two schemas count as one: in doubt, a union is refused.
    """
    connection = backend.con
    views = dict(connection.execute("SELECT lower(view_name), sql FROM duckdb_views()").fetchall())
    places = [path for _, _, path in connection.execute("PRAGMA database_list").fetchall() if path]
    found, below = set(), {opened.op().name.lower()}
    while below:
        name = below.pop()
        found.add(name)
        if name in views:
            query = views[name].split(" AS ", 1)[-1]
            below |= {one.lower() for one in connection.get_table_names(query)} - found
    # A connection lives as long as the tables that are compared, so that its address is its own.
    database = tuple(sorted(map(os.path.realpath, places))) or id(connection)
    return frozenset(("duckdb", database, name) for name in found)


def _of_spark(source: object, opened: ibis.expr.types.Table, backend: ibis.BaseBackend) -> Origins:
    """Return the relations that a frame is made of, as far as the session shows plans, and their files."""
    from discreet.data.engines.spark import _place

    origin = opened.op()
    frame: Any = source
    if isinstance(source, ibis.expr.types.Table):
        frame = backend._session.table(
            _place(origin.namespace.catalog, origin.namespace.database, origin.name)
        )
    files = {("spark file", path) for path in frame.inputFiles()}
    leaves = frame._jdf.queryExecution().analyzed().collectLeaves() if hasattr(frame, "_jdf") else None
    shown = [] if leaves is None else [leaves.apply(place).output() for place in range(leaves.size())]
    columns = {("spark column", one.apply(n).exprId().id()) for one in shown for n in range(one.size())}
    return frozenset(files | columns)
