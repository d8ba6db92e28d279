"""The two stores as tests see them: opened as users do, and rewritten as an attacker would."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from discreet.curator.ledger import Store, open_store
from discreet.curator.ledger.store import Row

MEMORY = Path("/dev/shm")  # noqa: S108
ROOM = 1 << 30


def quick_directory() -> str | None:
    """A directory where fsync costs nothing; tests of durability under loss of power do not exist here."""
    roomy = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ROOM
    return str(MEMORY) if roomy else None


COLUMNS = ("sequence", "kind", "key", "time", "body", "previous", "hash")


@dataclass(frozen=True)
class Contents:
    """All rows of a ledger."""

    rows: tuple[Row, ...]
    answers: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True)
class FileBackend:
    """A ledger file, and SQL that goes around its triggers."""

    location: str
    name: str | None = None

    def open(self, **options: object) -> Store:
        return open_store(self.location, **options)

    def contents(self) -> Contents:
        columns = ", ".join(COLUMNS)
        with closing(sqlite3.connect(self.location)) as connection:
            rows = connection.execute(f"SELECT {columns} FROM entries ORDER BY sequence").fetchall()  # noqa: S608
            answers = connection.execute("SELECT charge, content FROM answers ORDER BY charge").fetchall()
        return Contents(tuple(rows), tuple(answers))

    def rewrite(self, contents: Contents) -> None:
        with closing(sqlite3.connect(self.location)) as connection:
            triggers = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
            ).fetchall()
            for name, _ in triggers:
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute("DELETE FROM entries")
            connection.execute("DELETE FROM answers")
            connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", contents.rows)
            connection.executemany("INSERT INTO answers VALUES (?, ?)", contents.answers)
            for _, sql in triggers:
                connection.execute(sql)
            connection.commit()

    def execute(self, statement: str) -> None:
        """Run a statement past the product, but not past the triggers."""
        with closing(sqlite3.connect(self.location)) as connection:
            connection.execute(statement)
            connection.commit()

    def backup(self) -> bytes:
        return Path(self.location).read_bytes()

    def restore(self, copy: bytes) -> None:
        """Put a copy in place of the file, as a restored backup does."""
        handle, name = tempfile.mkstemp(dir=Path(self.location).parent)
        with os.fdopen(handle, "wb") as file:
            file.write(copy)
        os.replace(name, self.location)


@dataclass(frozen=True)
class PostgreSQLBackend:
    """A ledger in a database, and SQL of a superuser that goes around its triggers."""

    location: str
    name: str

    def open(self, **options: object) -> Store:
        return open_store(self.location, name=self.name, **options)

    def contents(self) -> Contents:
        columns = ", ".join(COLUMNS)
        with _connection(self.location) as connection:
            rows = connection.execute(
                f"SELECT {columns} FROM discreet_entries WHERE ledger = %s ORDER BY sequence",  # noqa: S608
                (self.name,),
            ).fetchall()
            answers = connection.execute(
                "SELECT charge, content FROM discreet_answers WHERE ledger = %s ORDER BY charge", (self.name,)
            ).fetchall()
        return Contents(tuple(rows), tuple(answers))

    def rewrite(self, contents: Contents) -> None:
        with _connection(self.location) as connection, connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")
            cursor.execute("DELETE FROM discreet_entries WHERE ledger = %s", (self.name,))
            cursor.execute("DELETE FROM discreet_answers WHERE ledger = %s", (self.name,))
            cursor.executemany(
                "INSERT INTO discreet_entries VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
                [(self.name, *row) for row in contents.rows],
            )
            cursor.executemany(
                "INSERT INTO discreet_answers VALUES (%s, %s, %s)",
                [(self.name, *answer) for answer in contents.answers],
            )

    def execute(self, statement: str) -> None:
        """Run a statement past the product, but not past the triggers."""
        for table in ("entries", "answers"):
            statement = statement.replace(f" {table}", f" discreet_{table}")
        with _connection(self.location) as connection:
            connection.execute(statement)

    def backup(self) -> Contents:
        return self.contents()

    def restore(self, copy: Contents) -> None:
        self.rewrite(copy)


Backend = FileBackend | PostgreSQLBackend


def _connection(location: str):
    import psycopg

    return psycopg.connect(location)
