"""Declarations in a file: ledger, budget and tables as TOML, for review and version control.

::

    [ledger]
    location = "clinic.ledger"       # a file, or postgresql://… with a name
    # location_env = "CLINIC_LEDGER" # instead: the environment variable that holds the address
    # name = "clinic"                # of a ledger in a database
    # anchor = "/other/disk/clinic.anchor"

    [budget]
    epsilon = 3                      # or rho
    delta = 1e-6
    # renews = "monthly"
    # per_analyst = { epsilon = 1, delta = 1e-7 }

    [tables.visits]
    source = "visits.parquet"        # or postgresql://host/clinic#visits
    # source_env = "CLINIC_VISITS"   # instead: the environment variable that holds such an address
    # source = ["2024.csv", "2025.csv"]                       # several files, and how they are written:
    # csv = { delimiter = ";", decimal = ",", thousands = ".", encoding = "cp1252", dates = "%d.%m.%Y" }
    #                                      # and decimals = { latitude = "." } for columns with another mark
    person = "patient_id"            # or each_row = true, or that of a row in another table:
    # person = { through = "orders", on = "order_id", to = "id" }  # `to` if it is called otherwise there
    limits = { rows = 10 }           # { groups = 4, rows_per_group = 2 } or { rows = "auto", at_most = 1000 }
    version = "2026-01"              # "1" if left out
    # prepare = true                 # keeps the table ready; of limits on rows, draws the sample in advance

    [tables.visits.columns]
    cost = { lower = 0, upper = 5000, step = 0.01 }  # and the rules nan, infinity, null
    city = { keys = ["Taipei", "Hamilton"] }         # null_key = true makes NULL a group, the last
    day = { dates = { first = 2020-01-01, last = 2024-12-31 } }   # groups by day, month or year
    birthday = { type = "date" }

    [[tables.visits.facts]]          # for synthetic tables: see discreet.front.declaring.fact_sections
    impossible = { age = { below = 15 }, married = "yes" }

    [tables.cities]
    source = "cities.csv"
    public = true                    # to join with: nothing else is declared

Numbers are taken as written: 0.01 is one hundredth; in quotes they may be ratios, such as "1/3". Relative
paths start at the file. The address of a database may contain a password, which belongs in the environment
(``location_env``, ``source_env``), not in a file.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import cast

from discreet.curator import Budget
from discreet.data import AUTO, EACH_ROW, Bounds, Csv, Dates, Keys, Limits, PublicTable, Table, Type
from discreet.data.language.declarations import Declared, Person
from discreet.data.language.ownership import Through, through
from discreet.data.tables.row_facts import RowFact
from discreet.errors import ParameterError
from discreet.front.declaring.fact_sections import read_facts
from discreet.front.declaring.ledger_place import LedgerPlace, is_database
from discreet.front.declaring.sections import Section, parse_toml
from discreet.records import dataclass

__all__ = [
    "TYPES",
    "Declaration",
    "PublicFacts",
    "TableFacts",
    "declared_in",
    "read_declaration",
]

TYPES = ("boolean", "integer", "float", "text", "date", "timestamp", "instant")
"""The types that a column may be declared to have."""

_BOUNDS = ("lower", "upper", "step", "nan", "infinity", "null")
_KEYS = ("keys", "null_key")
_FORM = ("delimiter", "decimal", "decimals", "thousands", "encoding", "dates", "times", "names")
_DATES = "{ first = 2020-01-01, last = 2024-12-31 }"
_KINDS = f'{{ lower = …, upper = …, step = … }}, {{ keys = […] }}, {{ dates = {_DATES} }} or {{ type = "…" }}'
_LIMITS = '{ rows = … }, { rows = "auto", at_most = … } or { groups = …, rows_per_group = … }'


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFacts:
    """What is declared about a table, before it is opened. See `Table`.

    An address of a database may contain a password, so the source is never shown.
    """

    section: Section
    source: Path | str | Csv = field(repr=False)
    person: Person | Through
    limits: Limits | None
    columns: Mapping[str, Declared]
    version: str
    prepare: bool = False
    facts: tuple[RowFact, ...] = ()

    def open(self) -> Table:
        """Open the table: names and types of columns are checked against the declaration."""
        with self.section:
            return Table(
                self.source,
                person=self.person,
                limits=self.limits,
                columns=self.columns,
                version=self.version,
                prepare=self.prepare,
                facts=self.facts,
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicFacts:
    """Where a public table is. See `PublicTable`."""

    section: Section
    source: Path | Csv

    def open(self) -> PublicTable:
        """Read the table."""
        with self.section:
            return PublicTable(self.source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What a file declares. Nothing is opened yet.

    Attributes
    ----------
    ledger : LedgerPlace
        Where the ledger is.
    budget : Budget
        The caps.
    tables : mapping of names to TableFacts or PublicFacts
        The private tables, and the public ones.
    today : date, optional
        What CURRENT_DATE means.
    """

    ledger: LedgerPlace
    budget: Budget
    tables: Mapping[str, TableFacts | PublicFacts]
    today: datetime.date | None = None

    def open_tables(self) -> dict[str, Table]:
        """Open all tables, including public ones, for a curator."""
        return cast("dict[str, Table]", {name: facts.open() for name, facts in self.tables.items()})


def read_declaration(path: str | Path) -> Declaration:
    """Read a declaration file. No table and no ledger is opened.

    Raises
    ------
    ParameterError
        Naming the section and the key where something is wrong, missing, unknown or still blank.
    OSError
        If it cannot be read.
    """
    return declared_in(path, Path(path).read_bytes())


def declared_in(path: str | Path, written: bytes) -> Declaration:
    """Return what a file declares, or would declare if this were written in it."""
    whole = Section(Path(path))
    content = whole.content(parse_toml(whole.file, written), ("ledger", "budget", "tables"), ("today",))
    whole.refuse_blanks(content)
    tables = whole.of("tables").content(content["tables"])
    if not tables:
        whole.refuse("tables", "declares none", "[tables.NAME]")
    today = content.get("today")
    if today is not None and type(today) is not datetime.date:
        whole.refuse("today", "is not a day", "a date without quotes, as in today = 2026-01-31")
    return Declaration(
        ledger=_ledger(whole.of("ledger"), content["ledger"]),
        budget=_budget(whole.of("budget"), content["budget"]),
        tables={name: _table(whole.of("tables", name), facts) for name, facts in tables.items()},
        today=today,
    )


def _ledger(section: Section, found: object) -> LedgerPlace:
    given = section.content(found, (), ("location", "location_env", "name", "anchor"))
    if ("location" in given) == ("location_env" in given):
        section.refuse(
            "location",
            "and location_env are both given or both missing",
            "a file or postgresql://…, or the environment variable that holds it",
        )
    location, anchor = section.text(given, "location"), section.text(given, "anchor")
    if location is None:
        location = os.environ.get(section.text(given, "location_env") or "")
        if not location:
            section.refuse("location_env", "names a variable that is not set", "one that holds the address")
    if not is_database(location):
        location = str(section.beside(location))
    return LedgerPlace(
        location=location,
        name=section.text(given, "name"),
        anchor=None if anchor is None else section.beside(anchor),
    )


def _budget(section: Section, found: object) -> Budget:
    given = dict(section.content(found, (), ("epsilon", "delta", "rho", "per_analyst", "renews")))
    if "per_analyst" in given:
        with section.of("per_analyst") as share:
            numbers = share.content(given["per_analyst"], (), ("epsilon", "delta", "rho"))
            given["per_analyst"] = Budget(**numbers)  # type: ignore[arg-type]
    with section:
        return Budget(**given)  # type: ignore[arg-type]


def _table(section: Section, found: object) -> TableFacts | PublicFacts:
    if isinstance(found, dict) and "public" in found:
        return _public(section, found)
    given = section.content(
        found,
        (),
        (
            *("source", "source_env", "csv", "person", "each_row", "limits", "columns", "version"),
            *("prepare", "facts"),
        ),
    )
    if ("person" in given) == ("each_row" in given):
        section.refuse(
            "person", "and each_row are both given or both missing", "the person column, or each_row = true"
        )
    if given.get("each_row", True) is not True:
        section.refuse("each_row", "is not true", "true, or person instead")
    if "each_row" in given and "limits" in given:
        section.refuse("limits", "are given, but each row is a person", "none, or person instead of each_row")
    if "person" in given and "limits" not in given:
        section.refuse("limits", "are missing, which a person needs", _LIMITS)
    listed = section.of("columns").content(given.get("columns", {}))
    columns = {name: _column(section.of("columns", name), facts) for name, facts in listed.items()}
    return TableFacts(
        section=section,
        source=_source(section, given),
        person=_person(section, given),
        limits=_limits(section.of("limits"), given["limits"]) if "limits" in given else None,
        columns=columns,
        version=section.text(given, "version") or "1",
        prepare=_is_true(section, given, "prepare"),
        facts=read_facts(section, given["facts"], columns) if "facts" in given else (),
    )


def _person(section: Section, given: Mapping[str, object]) -> Person | Through:
    """Return the person column, that every row is a person, or through which table persons are found."""
    if not isinstance(given.get("person"), dict):
        return section.text(given, "person") or EACH_ROW
    inside = section.of("person")
    found = inside.content(given["person"], ("through", "on"), ("to", "name"))
    table = inside.text(found, "through") or ""
    with inside:
        return through(table, found["on"], found.get("to"), name=inside.text(found, "name"))  # type: ignore[arg-type]


def _public(section: Section, found: object) -> PublicFacts:
    given = section.content(found, ("source", "public"), ("csv",))
    if not _is_true(section, given, "public"):
        section.refuse("public", "is false", "true, or left out for a private table")
    source = _source(section, given)
    if isinstance(source, str):
        section.refuse("source", "is a database", "a file: a public table is read at once")
    return PublicFacts(section=section, source=source)


def _source(section: Section, given: Mapping[str, object]) -> Path | str | Csv:
    """Return the path of a file, files and how they are written, or the address of a table in a database."""
    listed = given.get("source")
    if isinstance(listed, list) or "csv" in given:
        return _files(section, [listed] if isinstance(listed, str) else listed, given.get("csv", {}))
    if ("source" in given) == ("source_env" in given):
        section.refuse(
            "source",
            "and source_env are both given or both missing",
            "a file or postgresql://…#table, or the environment variable that holds it",
        )
    source = section.text(given, "source")
    if source is None:
        source = os.environ.get(section.text(given, "source_env") or "")
        if not source:
            section.refuse("source_env", "names a variable that is not set", "one that holds the address")
    return source if is_database(source) else section.beside(source)


def _files(section: Section, listed: object, found: object) -> Csv:
    if not isinstance(listed, list) or not all(isinstance(one, str) and one for one in listed):
        section.refuse("source", "is not a list of files", '["2024.csv", "2025.csv"]')
    form = section.of("csv")
    given = form.content(found, (), _FORM)
    with form:
        return Csv(*(section.beside(one) for one in listed), **given)  # type: ignore[arg-type]


def _is_true(section: Section, given: Mapping[str, object], key: str) -> bool:
    value = given.get(key, False)
    if not isinstance(value, bool):
        section.refuse(key, "is neither true nor false", "true or false")
    return value


def _limits(section: Section, found: object) -> Limits:
    given = section.content(found, (), ("rows", "groups", "rows_per_group", "at_most"))
    if set(given) not in ({"rows"}, {"rows", "at_most"}, {"groups", "rows_per_group"}):
        section.refuse("it", "is not a limit, or mixes two kinds", _LIMITS)
    if given.get("rows") == AUTO.value:
        given = {**given, "rows": AUTO}
    with section:
        return Limits(**given)  # type: ignore[arg-type]


def _column(section: Section, found: object) -> Declared:
    given = dict(section.content(found, (), (*_BOUNDS, *_KEYS, "dates", "type")))
    if not given or not any(set(given) <= set(kind) for kind in (_BOUNDS, _KEYS, ("dates",), ("type",))):
        section.refuse("it", "declares nothing, or several kinds at once", _KINDS)
    if "dates" in given:
        return _dates(section.of("dates"), given["dates"])
    with section:
        if "type" in given:
            return _type(given["type"])
        if set(given) <= set(_KEYS):
            return _keys(given)
        for bound in ("lower", "upper"):
            if bound not in given:
                raise ParameterError(bound, "is missing", "{ lower = …, upper = …, step = … }")
        return Bounds(given.pop("lower"), given.pop("upper"), **given)  # type: ignore[arg-type]


def _dates(section: Section, found: object) -> Dates:
    given = section.content(found, ("first", "last"), ())
    with section:
        return Dates(given["first"], given["last"])  # type: ignore[arg-type]


def _type(name: object) -> Type:
    if not isinstance(name, str) or name not in TYPES:
        raise ParameterError("type", "is not a type", ", ".join(TYPES))
    return Type(name)


def _keys(given: Mapping[str, object]) -> Keys:
    listed, null = given.get("keys"), given.get("null_key", False)
    if not isinstance(listed, list) or not all(
        isinstance(key, str | int) or type(key) is datetime.date for key in listed
    ):
        raise ParameterError("keys", "is not a list of keys", "texts, integers, booleans or dates in [ ]")
    if not isinstance(null, bool):
        raise ParameterError("null_key", "is neither true nor false", "true if NULL is a group")
    try:
        return Keys([*listed, None] if null else listed)
    except ParameterError as error:
        raise ParameterError("keys", error.problem, error.allowed) from None
