"""From ``--file clinic.toml`` to a curator, or to its ledger alone.

A ledger records what was declared when it was created, so it is created as late as possible: previews,
explanations and refused questions create no ledger, and the file can still be corrected freely.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING

from discreet.cli.progress import working
from discreet.errors import (
    LedgerMismatch,
    LedgerTampered,
    LedgerUnavailable,
    ParameterError,
    RequestRefused,
    UndeclaredColumn,
)

if TYPE_CHECKING:
    from discreet.curator import Account
    from discreet.curator.ledger import Ledger
    from discreet.front import Curator
    from discreet.front.declaration import Declaration, LedgerPlace
    from discreet.front.rehearsal import Rehearsal

__all__ = ["DEFAULT", "add_file_option", "declaration", "exists", "in_toml", "ledger", "real", "rehearsal"]

DEFAULT = "clinic.toml"


def add_file_option(parser: ArgumentParser) -> None:
    """Add the option that names the declaration file."""
    parser.add_argument(
        "--file", default=DEFAULT, metavar="FILE", help=f"declares tables, budget and ledger ({DEFAULT})"
    )


def declaration(options: Namespace) -> Declaration:
    """Return what the file declares."""
    from discreet.front.declaration import read_declaration

    try:
        return read_declaration(options.file)
    except FileNotFoundError:
        raise ParameterError(
            options.file,
            "does not exist",
            "a declaration; discreet init --source FILE --person COLUMN writes one, --file names another",
        ) from None


def in_toml(error: UndeclaredColumn, file: str) -> str:
    """Write what has to be declared as TOML, not as Python."""
    from discreet.cli.template import toml_key
    from discreet.data import Keys
    from discreet.queries.binding.missing_declarations import NotDeclared

    if not isinstance(error, NotDeclared):
        return str(error)
    inside = 'keys = ["…"]' if error.needs is Keys else "lower = …, upper = …, step = …"
    table, column = toml_key(error.table), toml_key(error.column)
    return f"{error.problem} it in {file}: [tables.{table}.columns] {column} = {{ {inside} }}"


def exists(place: LedgerPlace) -> bool:
    """Return whether there is a ledger already."""
    from discreet.curator.ledger.messages import MISSING

    if place.file is not None:
        return place.file.exists()
    try:
        place.open_store(create=False).close()
    except LedgerUnavailable as error:
        if str(error) == MISSING:
            return False
        raise
    return True


@contextmanager
def rehearsal(declared: Declaration) -> Iterator[Rehearsal]:
    """Open the tables without the ledger."""
    from discreet.front.rehearsal import rehearse

    with ExitStack() as stack:
        with working("opening the tables"):
            opened = stack.enter_context(rehearse(declared))
        yield opened


@contextmanager
def real(declared: Declaration, rehearsed: Rehearsal) -> Iterator[Curator]:
    """Open the same tables with the declared ledger, which is created if there is none."""
    from discreet.front.opening import open_declared

    try:
        curator = open_declared(declared, tables=rehearsed.tables)
    except LedgerMismatch as error:
        raise LedgerMismatch(f"{error}; from a shell: discreet ledger amend --reason WORDS") from None
    with closing(curator):
        yield curator


@contextmanager
def ledger(options: Namespace) -> Iterator[Ledger[Account]]:
    """Open an existing ledger, without its tables: that of ``--ledger``, or the one declared."""
    from discreet.front.declaration import LedgerPlace

    place = LedgerPlace(location=options.ledger) if options.ledger else declaration(options).ledger
    try:
        with working("reading the ledger"):
            opened = place.open()
    except RequestRefused:
        raise LedgerTampered("it records more than its caps allow") from None
    with closing(opened):
        yield opened
