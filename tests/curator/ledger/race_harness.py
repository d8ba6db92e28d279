"""Many processes race for a number of grants. How many do they get?"""

from __future__ import annotations

import os
import sqlite3
import time
import traceback
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from curator.ledger.counting import charging, counting
from discreet.curator.ledger import open_store
from discreet.errors import BudgetExceeded


def race(work: Callable[[int], int], processes: int, directory: str) -> list[int]:
    """Fork processes that start together; return what each of them got."""
    start, pids = Path(directory, "start"), []
    for number in range(processes):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                while not start.exists():
                    time.sleep(0.001)
                Path(directory, f"got-{number}").write_text(str(work(number)))
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        pids.append(pid)
    start.touch()
    statuses = [os.waitpid(pid, 0)[1] for pid in pids]
    assert statuses == [0] * processes
    return [int(Path(directory, f"got-{number}").read_text()) for number in range(processes)]


def through_the_ledger(location: str, name: str | None, processes: int, grants: int, directory: str) -> dict:
    """Race through `Ledger.decide`. Half of the processes use an object that was made before the fork."""
    shared = counting(open_store(location, name=name), grants)

    def work(number: int) -> int:
        ledger = shared if number % 2 else counting(open_store(location, name=name), grants)
        got = 0
        while True:
            try:
                ledger.decide("charge", charging(), key=f"{number} {got}")
            except BudgetExceeded:
                return got
            got += 1

    got = race(work, processes, directory)
    report = shared.verify()
    return {"got": got, "entries": report.entries, "spent": shared.state().spent}


def read_check_write(location: str, name: str | None, processes: int, grants: int, directory: str) -> dict:
    """Race through what the ledger replaces: read what is spent, check, write it back."""
    read, write = _register(location, directory)

    def work(number: int) -> int:
        got = 0
        while (spent := read()) < grants:
            write(spent + 1)
            got += 1
        return got

    return {"got": race(work, processes, directory)}


def _register(location: str, directory: str) -> tuple[Callable[[], int], Callable[[int], None]]:
    """A number in a table, in either engine; every statement is a transaction of its own."""
    if "://" not in location:
        path = str(Path(directory, "register"))

        def execute(statement: str, *values: object) -> list[tuple[int]]:
            with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
                return connection.execute(statement, values).fetchall()

    else:
        import psycopg

        def execute(statement: str, *values: object) -> list[tuple[int]]:
            with psycopg.connect(location, autocommit=True) as connection:
                cursor = connection.execute(statement.replace("?", "%s"), values)
                return cursor.fetchall() if cursor.description else []

        execute("DROP TABLE IF EXISTS register")
    execute("CREATE TABLE register (spent integer)")
    execute("INSERT INTO register VALUES (0)")
    return lambda: execute("SELECT spent FROM register")[0][0], lambda spent: execute(
        "UPDATE register SET spent = ?", spent
    )
