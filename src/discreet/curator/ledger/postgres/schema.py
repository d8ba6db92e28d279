"""The tables of ledgers in PostgreSQL, and the triggers that let them grow and never change.

All ledgers of a database share three tables and are distinguished by name. Triggers are a second protection,
against mistakes; give the role that writes INSERT, SELECT, and UPDATE on `discreet_ledgers` (for its lock),
no more.
"""

from __future__ import annotations

from psycopg import Connection

from discreet.curator.ledger.postgres.statements import ask, commit
from discreet.errors import LedgerMismatch, LedgerTampered

__all__ = ["check_schema", "create_schema", "has_schema"]

_VERSION = 1
_CREATING = 0x646973637265  # the advisory lock of those who make the tables

_OBJECTS = """
CREATE TABLE discreet_ledgers (
    name text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL
);
CREATE TABLE discreet_entries (
    ledger text COLLATE "C" NOT NULL REFERENCES discreet_ledgers (name),
    sequence bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C",
    time text COLLATE "C" NOT NULL,
    body text COLLATE "C" NOT NULL,
    previous text COLLATE "C" NOT NULL,
    hash text COLLATE "C" NOT NULL,
    PRIMARY KEY (ledger, sequence)
);
CREATE UNIQUE INDEX discreet_keys ON discreet_entries (ledger, kind, key) WHERE key IS NOT NULL;
CREATE TABLE discreet_answers (
    ledger text COLLATE "C" NOT NULL REFERENCES discreet_ledgers (name),
    charge bigint NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (ledger, charge)
);
CREATE FUNCTION discreet_forbid() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;
CREATE FUNCTION discreet_follow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.sequence <> (SELECT coalesce(max(sequence), 0) + 1 FROM discreet_entries WHERE ledger = NEW.ledger)
        OR EXISTS (SELECT 1 FROM discreet_entries
                   WHERE ledger = NEW.ledger AND sequence = NEW.sequence - 1 AND hash <> NEW.previous)
    THEN RAISE EXCEPTION 'an entry follows the last'; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER discreet_entries_follow BEFORE INSERT ON discreet_entries
    FOR EACH ROW EXECUTE FUNCTION discreet_follow();
CREATE TRIGGER discreet_entries_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON discreet_entries
    EXECUTE FUNCTION discreet_forbid();
CREATE TRIGGER discreet_answers_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON discreet_answers
    EXECUTE FUNCTION discreet_forbid();
"""

# Not to_regclass, which may answer from a cache that is older than the lock.
_HAS_SCHEMA = "SELECT 1 FROM pg_class WHERE relname = 'discreet_ledgers' AND pg_table_is_visible(oid)"
_ENABLED_TRIGGERS = """
SELECT tgname FROM pg_trigger
WHERE tgrelid IN ('discreet_entries'::regclass, 'discreet_answers'::regclass)
    AND NOT tgisinternal AND tgenabled IN ('O', 'A')
"""
_VALID_INDEXES = """
SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid IN ('discreet_entries'::regclass, 'discreet_answers'::regclass)
    AND i.indisunique AND i.indisvalid AND i.indisready
"""


def has_schema(connection: Connection) -> bool:
    """Return whether the tables exist."""
    return bool(ask(connection, _HAS_SCHEMA))


def create_schema(connection: Connection, name: str) -> None:
    """Make the tables, if they are missing, and a ledger with a name, if it is missing."""
    ask(connection, "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
    ask(connection, "SELECT pg_advisory_xact_lock(%s)", (_CREATING,))
    if not has_schema(connection):
        ask(connection, _OBJECTS)
    ask(
        connection,
        "INSERT INTO discreet_ledgers (name, version) VALUES (%s, %s) ON CONFLICT DO NOTHING",
        (name, _VERSION),
    )
    commit(connection)


def check_schema(connection: Connection, name: str) -> bool:
    """Check the form of a ledger and that its triggers and indexes are active; return whether it exists.

    Raises
    ------
    LedgerMismatch
        If it has a later form.
    LedgerTampered
        If a trigger or an index is missing or switched off.
    """
    if not has_schema(connection):
        return False
    rows = ask(connection, "SELECT version FROM discreet_ledgers WHERE name = %s", (name,))
    if not rows:
        return False
    ((version,),) = rows
    if version != _VERSION:
        raise LedgerMismatch(f"the ledger has form {version}; this version of discreet reads form {_VERSION}")
    triggers = {found for (found,) in ask(connection, _ENABLED_TRIGGERS)}
    indexes = {found for (found,) in ask(connection, _VALID_INDEXES)}
    if not triggers >= {"discreet_entries_follow", "discreet_entries_stay", "discreet_answers_stay"}:
        raise LedgerTampered("a trigger that forbids changes is missing or switched off")
    if not indexes >= {"discreet_entries_pkey", "discreet_keys", "discreet_answers_pkey"}:
        raise LedgerTampered("an index that keeps keys unique is missing or invalid")
    return True
