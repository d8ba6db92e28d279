"""From ``--file clinic.toml`` to a curator, or to its ledger alone.

A ledger records what was declared when it was created, so it is created as late as possible: previews,
explanations and refused questions create no ledger, and the file can still be corrected freely.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
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
    from discreet.front.declaring.declaration import Declaration
    from discreet.front.declaring.ledger_place import LedgerPlace
    from discreet.front.rehearsal import Rehearsal

__all__ = [
    "DEFAULT",
    "add_file_option",
    "declaration",
    "exists",
    "files",
    "in_toml",
    "ledger",
    "ledger_place",
    "real",
    "rehearsal",
    "remedies",
]

DEFAULT = "clinic.toml"
NOT_A_LEDGER = "the file is not a ledger"
_RESTORE = (
    "restore its latest copy, and count what that may lack: discreet ledger recover --reason WORDS. Only if "
    "nothing was ever asked, remove the file or declare another location"
)


def add_file_option(parser: ArgumentParser) -> None:
    """Add the option that names the declaration file."""
    parser.add_argument(
        "--file", default=DEFAULT, metavar="FILE", help=f"declares tables, budget and ledger ({DEFAULT})"
    )


def declaration(options: Namespace) -> Declaration:
    """Return what the file declares."""
    from discreet.front.declaring.declaration import read_declaration

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
    from discreet.data import Keys
    from discreet.front.declaring.toml_text import toml_key
    from discreet.queries.binding.missing_declarations import NotDeclared

    if not isinstance(error, NotDeclared):
        return str(error)
    inside = 'keys = ["…"]' if error.needs is Keys else "lower = …, upper = …, step = …"
    table, column = toml_key(error.table), toml_key(error.column)
    return f"{error.problem} it in {file}: [tables.{table}.columns] {column} = {{ {inside} }}"


def files(options: Namespace, read: Declaration) -> list[Path]:
    """Return the files that a declaration is made of: itself, its ledger and anchor, and the tables."""
    found = [Path(options.file), read.ledger.file, read.ledger.anchor]
    for facts in read.tables.values():
        source = getattr(facts.source, "paths", facts.source)
        found += source if isinstance(source, tuple) else [source] if isinstance(source, Path) else []
    return [one for one in found if one is not None]


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

    with remedies(declared.ledger):
        curator = open_declared(declared, tables=rehearsed.tables)
    with closing(curator):
        yield curator


@contextmanager
def ledger(options: Namespace) -> Iterator[Ledger[Account]]:
    """Open an existing ledger, without its tables: that of ``--ledger``, or the one declared."""
    place = ledger_place(options)
    try:
        with working("reading the ledger"), remedies(place):
            opened = place.open()
    except RequestRefused:
        raise LedgerTampered("it records more than its caps allow") from None
    with closing(opened):
        yield opened


def ledger_place(options: Namespace) -> LedgerPlace:
    """Return where the ledger is: at ``--ledger``, or where it is declared to be."""
    from discreet.front.declaring.ledger_place import LedgerPlace

    return LedgerPlace(location=options.ledger) if options.ledger else declaration(options).ledger


@contextmanager
def remedies(place: LedgerPlace) -> Iterator[None]:
    """Say what helps if a ledger does not fit: amending it only if it is one, and declares something else."""
    try:
        yield
    except LedgerMismatch as error:
        problem, amended, _ = str(error).partition("; open it as it was, then change it")
        if amended:
            raise LedgerMismatch(
                f"{problem}; record the change: discreet ledger amend --reason WORDS"
            ) from None
        if place.file is None or problem != NOT_A_LEDGER:
            raise
        is_empty = place.file.is_file() and place.file.stat().st_size == 0
        what = "is empty, which a ledger never is" if is_empty else "is not a ledger"
        raise LedgerMismatch(f"{place.file} {what}; {_RESTORE}") from None
