"""The tables of a ledger file, and the triggers that let them grow and never change.

Triggers are a second protection, against mistakes. The hash chain protects against those who can write the
file.
"""

from __future__ import annotations

import sqlite3

from discreet.curator.ledger.sqlite.statements import ask
from discreet.errors import LedgerMismatch, LedgerTampered

__all__ = ["check_schema", "create_schema"]

_APPLICATION = 0x44504C47  # "DPLG" in the header of the file
_VERSION = 1

_ENTRIES = """CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    key TEXT,
    time TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
)"""
_KEYS = "CREATE UNIQUE INDEX keys ON entries (kind, key) WHERE key IS NOT NULL"
_ANSWERS = """CREATE TABLE answers (
    charge INTEGER PRIMARY KEY,
    content BLOB NOT NULL
)"""
_ENTRIES_FOLLOW = """CREATE TRIGGER entries_follow BEFORE INSERT ON entries
WHEN NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM entries)
    OR EXISTS (SELECT 1 FROM entries WHERE sequence = NEW.sequence - 1 AND hash <> NEW.previous)
BEGIN SELECT RAISE(ABORT, 'an entry follows the last'); END"""
_ANSWERS_STAY = """CREATE TRIGGER answers_stay BEFORE INSERT ON answers
WHEN EXISTS (SELECT 1 FROM answers WHERE charge = NEW.charge)
BEGIN SELECT RAISE(ABORT, 'an answer stays'); END"""


def _forbidding(table: str, change: str) -> str:
    return (
        f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table}\n"
        f"BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"
    )


_OBJECTS = (
    _ENTRIES,
    _KEYS,
    _ANSWERS,
    _ENTRIES_FOLLOW,
    _ANSWERS_STAY,
    *(_forbidding(table, change) for table in ("entries", "answers") for change in ("UPDATE", "DELETE")),
)


def create_schema(connection: sqlite3.Connection) -> None:
    """Make the tables of a new ledger, in one transaction."""
    header = (f"PRAGMA application_id = {_APPLICATION}", f"PRAGMA user_version = {_VERSION}")
    for statement in ("BEGIN IMMEDIATE", *_OBJECTS, *header, "COMMIT"):
        ask(connection, statement)


def check_schema(connection: sqlite3.Connection) -> None:
    """Check that a file is a ledger, of a known form, with all its triggers.

    Raises
    ------
    LedgerMismatch
        If it is another kind of file, or of a later form.
    LedgerTampered
        If its tables or triggers are not those that were created.
    """
    ((application,),) = ask(connection, "PRAGMA application_id")
    ((version,),) = ask(connection, "PRAGMA user_version")
    if application != _APPLICATION:
        raise LedgerMismatch("the file is not a ledger")
    if version != _VERSION:
        raise LedgerMismatch(f"the ledger has form {version}; this version of discreet reads form {_VERSION}")
    found = ask(connection, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    if sorted(str(sql) for (sql,) in found) != sorted(_OBJECTS):
        raise LedgerTampered("its tables or triggers are not those that were made")
