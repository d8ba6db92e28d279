"""A private table and what its owner declares about it.

Declaring reads the names and types of columns, which are public, and no values except those of CSV files and
frames, which are copied. Everything that could be wrong with a declaration is refused here, before there is a
budget to spend.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn, cast

from discreet.data.language.declarations import EACH_ROW, Bounds, Declared, Keys, Limits, Person
from discreet.data.language.ownership import Through
from discreet.data.language.serialization import JSON, to_object
from discreet.data.language.types import Schema, Type, suggestion
from discreet.data.tables.declaration_checks import checked_declarations
from discreet.data.tables.declared_types import check_declared, implied_type
from discreet.data.tables.row_facts import RowFact, facts_about
from discreet.errors import ParameterError
from discreet.exports import loading

if TYPE_CHECKING:
    import ibis
    import ibis.expr.types
    import pyarrow

    from discreet.data.prepared.base import Prepared
    from discreet.data.reading.lost import Lost
    from discreet.data.tables.check_report import Check
    from discreet.data.tables.ownership import Ownership

__all__ = ["Table"]

_DATABASES = ("postgresql://", "postgres://")
_PERSONS = {Type.INTEGER, Type.TEXT, Type.DECIMAL}
_LARGEST_SCALE = 6
"""Persons of more decimal places are spelled differently by engines."""


class Table:
    """Private rows, with the public facts that bound what one person can change.

    Parameters
    ----------
    source : path, frame, address or Ibis table
        A Parquet file (read in place); a CSV file, `Csv` for files that are written otherwise, or a frame
        of pandas, Polars or Arrow (copied into an embedded DuckDB); a table of PostgreSQL, as
        ``postgresql://host/clinic#visits`` or ``…#schema.visits``; a frame of Spark; or a table of an Ibis
        connection to one of these engines.
    person : str, EACH_ROW or through(…)
        The column that identifies the person of a row; rows in which it is NULL are left
        out. `EACH_ROW` if every row is a separate person. `through` if rows belong to the person of their
        parent row in another table; the curator, which has both, adds the column of the person.
    limits : Limits, optional
        How much one person may contribute to one release. Required unless each row is a person.
    columns : mapping of names to Bounds, Keys, Dates or Type
        What is declared about columns: `Bounds` for those that are summed, `Keys` for those that are
        grouped by, `Dates` for those that are grouped by day, month or year. A `Type` gives a column of a
        CSV file its type. Other columns can be used in conditions only.
    version : str, optional
        The version of the data. It is part of the identity of every request, so that stored answers are
        not returned for other data. It must not be computed from the data.
    prepare : bool, optional
        Keep the table in the engine in a form that makes queries fast. With ``Limits(rows=…)`` the rows of
        each person are drawn once, before any condition; with a limit on groups they are drawn for every
        query, as without preparation.
    facts : Impossible, Determined or several of them, optional
        What is declared about whole rows, for synthetic tables: combinations of values that cannot exist, and
        columns that follow from others. Nothing else depends on them, and rows that break them are counted.

    Attributes
    ----------
    schema : mapping of names to Type
        The public columns.

    Notes
    -----
    In a CSV file the types of columns follow from the declarations: `Bounds` make it a float (an integer
    if no step is given), `Keys` the type of the keys, `Dates` a date; the person and undeclared columns are
    text. Nothing is guessed from the data, and a value that does not convert is NULL. A record is a line: one
    that is damaged is left out and affects no other, and a line break within quotes ends the line (`lost`
    says how many lines did). Columns of Python objects in a frame of pandas take their types in the same way.

    For every source, no stored value makes an answer fail: a text of more than 16,384 bytes, a day outside
    the years 1 to 9999, bytes that are not UTF-8 are NULL, and a row whose person is NULL belongs to no
    person.

    Integers that 64 signed bits may not hold (unsigned, decimals without fraction) are decimals, exact as
    persons and in joins. Where `Keys` of integers, `Bounds` without a step or `Type.INTEGER` is declared they
    are integers: NULL beyond 64 bits, or clipped to the bounds.

    Prepare a table that gets many queries. Later changes to the data are then not seen. With a
    limit on rows each query is a plain GROUP BY over integers, some
    hundred times as fast, and all of them see one sample, so that they agree with each other. In return
    a person's rows count against the limit whether or not a condition selects them: queries with narrow
    conditions see fewer rows of people with many; and with the sample its error stays the same in all
    answers. With a limit on groups nothing else changes, and counts and sums by declared keys are several
    times as fast.
    """

    __slots__ = (
        "__weakref__",
        "_all_rows",
        "_backend",
        "_is_prepared",
        "_opened",
        "_origins",
        "_ownership",
        "_prepared",
        "_relation",
        "_statements",
        "_stored",
        "_through",
        "columns",
        "facts",
        "limits",
        "person",
        "schema",
        "version",
    )

    columns: Mapping[str, Declared]
    facts: tuple[RowFact, ...]
    limits: Limits
    person: Person
    schema: Schema
    version: str

    def __init__(
        self,
        source: object,
        *,
        person: Person | Through,
        limits: Limits | None = None,
        columns: Mapping[str, Declared] | None = None,
        version: str = "1",
        prepare: bool = False,
        facts: Iterable[RowFact] | RowFact | None = None,
    ) -> None:
        declared = checked_declarations(person, limits, columns, prepare=prepare)
        if not isinstance(version, str) or not version:
            raise ParameterError("version", "is not a version name", "text such as '2026-01'")
        with loading():
            from discreet.data.engines.base import backend_of, normalized, public_type, run_guarded
            from discreet.data.tables.origins import Origins, origins_of

        opened = _open_source(source, person, declared)
        self._opened: ibis.expr.types.Table = opened
        self._backend: ibis.BaseBackend = backend_of(opened)
        whole = {
            name: isinstance(one, Bounds)
            for name, one in declared.items()
            if implied_type(one) is Type.INTEGER
        }
        self._stored: ibis.expr.types.Table = normalized(opened, self._backend, whole)
        self.schema = MappingProxyType(
            {name: public_type(kind) for name, kind in self._stored.schema().items()}
        )
        self._origins: Origins = (
            run_guarded(lambda: origins_of(source, opened, self._backend), _unreadable)
            if person is EACH_ROW
            else frozenset()
        )
        self.columns = MappingProxyType(declared)
        self.person = cast("Person", person)
        self.limits = Limits(rows=1) if limits is None else limits
        self.version = version
        self.facts = facts_about(self.schema, facts)
        self._through = person if isinstance(person, Through) else None
        self._ownership: Ownership | None = None
        self._is_prepared = prepare
        self._prepared: Prepared | None = None
        self._check(self._stored)
        if self._through is None:
            self._own(self._stored)

    def _own(self, rows: ibis.expr.types.Table) -> None:
        """Set the rows of the table, each with its person. Without them a table cannot be asked."""
        from discreet.data.engines.statements import Statements

        self._all_rows = rows
        self._statements = Statements()
        self._prepared = self._ready() if self._is_prepared else None
        self._relation: ibis.expr.types.Table = rows if self._prepared is None else self._prepared.relation

    def _ready(self) -> Prepared:
        from discreet.data.prepared.groups import Arrangement
        from discreet.data.prepared.sample import PreparedSample

        assert isinstance(self.person, str)  # noqa: S101
        kind = Arrangement if self.limits.rows is None else PreparedSample
        return kind(
            self._all_rows, self._backend, person=self.person, limits=self.limits, columns=self.columns
        )

    def prepare(self) -> None:
        """Prepare a table with ``prepare=True`` now, rather than for the first answer.

        Raises
        ------
        EngineFailed
            If the engine does not finish; the message says nothing about why.
        """
        if not self._is_prepared:
            raise ParameterError("prepare", "was not asked for", "Table(…, prepare=True)")
        if self._prepared is None:
            raise ParameterError("prepare", "needs the table of its persons", "curator.tables[…].prepare()")
        self._prepared.draw()

    def lost(self) -> Lost | None:
        """Return what was left out of a CSV file or a frame: lines that are not records, invalid values.

        Returns
        -------
        Lost or None
            Exact counts, for the owner only; showing them to analysts breaks the guarantee. None if
            rows stay in a database or a Parquet file: what cannot be read is NULL there, and not counted.
        """
        from discreet.data.engines.duckdb import lost

        return lost(self._backend)

    def unowned(self) -> int:
        """Return how many rows belong to nobody, and enter no answer.

        Of a table whose persons come through another one, these are rows without a parent row, or with
        parents of several persons: many of them may mean that the key is not the right one. The number is
        exact, for the owner only; showing it to analysts breaks the guarantee.
        """
        from discreet.data.tables.ownership import count_unowned

        return count_unowned(self)

    def check(self) -> Check:
        """Compare the rows with what is declared: what is lost, clipped, outside keys, over the limits.

        Returns
        -------
        Check
            Exact counts, for the owner alone; showing them to analysts breaks the guarantee. Nothing is
            charged and nothing recorded.

        Raises
        ------
        ParameterError
            If persons come through another table: ask ``curator.tables[…].check()``.
        EngineFailed
            If the engine does not finish; the message says nothing about why.
        """
        from discreet.data.tables.owner_check import checked_rows

        return checked_rows(self)

    def _check(self, rows: ibis.expr.types.Table) -> None:
        if isinstance(self.person, str):
            kind = self._type_of(self.person, "person")
            if kind not in _PERSONS:
                gaps = (
                    "; pandas makes floats of integers with gaps: .astype('Int64') brings them back"
                    if kind is Type.FLOAT
                    else "; convert it first"
                )
                raise ParameterError(
                    "person", f"is a column of type {kind.value}", f"a column of integers or text{gaps}"
                )
            if isinstance(self.columns.get(self.person), Keys | Bounds):
                raise ParameterError("columns", "declares bounds or keys of the person", "other columns only")
            scale = getattr(rows.schema()[self.person], "scale", None)
            if kind is Type.DECIMAL and (scale is None or scale > _LARGEST_SCALE):
                raise ParameterError(
                    "person", "is a column of decimals with long fractions", "a column of integers or text"
                )
        for name in self._through.on if self._through is not None else ():
            self._type_of(name, "on")
        for name, declared in self.columns.items():
            check_declared(name, declared, self._type_of(name, "columns"))

    def _digits(self, name: str) -> tuple[int, int] | None:
        """Return how many digits a decimal has, and how many of them are its fraction."""
        if self.schema[name] is not Type.DECIMAL:
            return None
        kind = self._all_rows.schema()[name]
        return (kind.precision, kind.scale)

    def _type_of(self, name: str, parameter: str) -> Type:
        if name not in self.schema:
            raise ParameterError(
                parameter, f"names {name!r}, which the table does not have", suggestion(name, self.schema)
            )
        return self.schema[name]

    @property
    def declaration(self) -> dict[str, JSON]:
        """What was declared, as plain JSON values: for ledgers and labels. The version is not part of it."""
        limits: dict[str, JSON] = {"rows": self.limits.rows, "groups": self.limits.groups}
        if self.limits.is_bought:
            limits["bought"] = True
        first = self._is_prepared and self.limits.rows is not None
        ahead: dict[str, JSON] = {"bounded": "before conditions"} if first else {}
        if self._through is not None:
            ahead["through"] = cast("JSON", self._through.to_object())
        return {
            **ahead,
            "person": self.person if isinstance(self.person, str) else None,
            "limits": {**limits, "rows_per_group": self.limits.rows_per_group},
            "columns": {name: to_object(declared) for name, declared in self.columns.items()},
        }

    def _rows(self) -> pyarrow.Table:
        """Return all rows that belong to a person, unbounded and private: for trusted code behind a permit.

        Raises
        ------
        EngineFailed
            If the engine does not finish; the message says nothing about why.
        """
        from discreet.data.engines.base import fetch

        rows = self._all_rows
        owned = rows if self.person is EACH_ROW else rows.filter(rows[self.person].notnull())
        return fetch(owned, self._backend)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name!r}: {declared!r}" for name, declared in self.columns.items())
        limits = "" if self.person is EACH_ROW else f", limits={self.limits!r}"
        ahead = ", prepare=True" if self._is_prepared else ""
        person = repr(self._through or self.person)
        return f"Table(person={person}{limits}, columns={{{columns}}}, version={self.version!r}{ahead})"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Table holds private rows and cannot be copied or pickled")


def _open_source(source: object, person: object, columns: Mapping[str, Declared]) -> ibis.expr.types.Table:
    with loading():
        import ibis.expr.types

        from discreet.data.engines import duckdb, spark
        from discreet.data.reading.csv_format import Csv, is_records

    if isinstance(source, ibis.expr.types.Table):
        return source
    if spark.is_frame(source):
        return spark.from_frame(source)
    if isinstance(source, str) and source.startswith(_DATABASES):
        from discreet.data.engines import postgres

        return postgres.from_url(source)
    types = {name: implied_type(declared) for name, declared in columns.items()}
    if isinstance(person, str):
        types.setdefault(person, Type.TEXT)
    if isinstance(source, Csv):
        return duckdb.from_csv(source, types)
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.suffix.lower() == ".parquet":
            return duckdb.from_parquet(path)
        if is_records(path):
            return duckdb.from_csv(Csv(path), types)
        raise ParameterError(
            "source",
            "is a path with another ending",
            "a path that ends in .parquet, .csv or .tsv, or in .csv.gz",
        )
    return duckdb.from_frame(source, types)


def _unreadable() -> ParameterError:
    return ParameterError("source", "could not be read", "a table whose columns and views you may see")
