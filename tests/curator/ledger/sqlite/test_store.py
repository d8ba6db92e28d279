"""The ledger in a file: what is on the disk, and what happens when the disk does not serve."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import traceback
from contextlib import closing, suppress
from dataclasses import replace
from itertools import count

import pytest

from curator.ledger.backends import FileBackend
from curator.ledger.counting import charging, counting
from curator.ledger.processes import run
from discreet.curator.ledger import messages
from discreet.curator.ledger.sqlite.store import SQLiteStore
from discreet.errors import LedgerError, LedgerMismatch, LedgerTampered, LedgerUnavailable

HERE = "curator.ledger.file_faults"


@pytest.fixture
def path(place):
    return place / "clinic.ledger"


@pytest.fixture
def filled(path):
    ledger = counting(SQLiteStore(path))
    ledger.keep_answer(ledger.decide("charge", charging(), key="a"), b"first answer")
    ledger.decide("charge", charging(), key="b")
    return path


def test_at_rest_a_ledger_is_one_file_for_its_owner_alone(filled):
    assert os.listdir(filled.parent) == [filled.name]
    assert filled.stat().st_mode & 0o777 == 0o600


def test_what_a_transaction_writes_beside_it_is_for_its_owner_alone(filled):
    before = os.umask(0)
    try:
        with SQLiteStore(filled).transaction() as records:
            records.keep_answer(3, b"second answer")
            beside = [one for one in filled.parent.iterdir() if one != filled]
            assert [one.name for one in beside] == [f"{filled.name}-journal"]
            assert [one.stat().st_mode & 0o777 for one in beside] == [0o600]
    finally:
        os.umask(before)


def test_commits_wait_for_the_disk(filled):
    with SQLiteStore(filled).transaction() as records:
        assert records._connection.execute("PRAGMA synchronous").fetchone() == (3,)
        assert records._connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_a_write_ahead_log_is_put_back(filled):
    with closing(sqlite3.connect(filled)) as connection:
        assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
        connection.execute("SELECT * FROM entries").fetchall()
        with pytest.raises(LedgerUnavailable):
            SQLiteStore(filled, timeout=0.1)
    store = SQLiteStore(filled)
    counting(store).verify()
    assert os.listdir(filled.parent) == [filled.name]


def test_a_file_that_is_no_ledger_is_left_alone(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (x)")
    before = path.read_bytes()
    with pytest.raises(LedgerMismatch, match="not a ledger"):
        SQLiteStore(path)
    assert path.read_bytes() == before
    path.write_text("patient,cost\n1,2\n" * 100)
    with pytest.raises(LedgerUnavailable, match="damaged"):
        SQLiteStore(path)


def test_an_empty_file_is_not_taken_for_a_new_ledger(path):
    path.touch()
    with pytest.raises(LedgerMismatch):
        SQLiteStore(path)
    assert path.read_bytes() == b""


def test_a_ledger_of_a_later_form_is_not_read(filled):
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(LedgerMismatch, match="form 2"):
        SQLiteStore(filled)


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TRIGGER entries_no_delete",
        "DROP INDEX keys",
        "CREATE TABLE more (x)",
        "DROP TRIGGER answers_stay",
    ],
)
def test_tables_and_triggers_are_those_that_were_made(filled, statement):
    store = SQLiteStore(filled)
    with closing(sqlite3.connect(filled)) as connection:
        connection.execute(statement)
    with pytest.raises(LedgerTampered, match="triggers"):
        store.check()
    with pytest.raises(LedgerTampered, match="triggers"):
        SQLiteStore(filled)


def test_replacing_a_row_is_no_way_around_the_triggers(filled):
    with closing(sqlite3.connect(filled)) as connection:
        for statement in (
            "INSERT OR REPLACE INTO entries SELECT 1, kind, 'z', time, '{}', previous, hash FROM entries",
            "INSERT OR REPLACE INTO answers VALUES (1, x'00')",
            "INSERT INTO entries SELECT 4, kind, 'z', time, '{}', 'not the last', hash FROM entries",
        ):
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(statement)
    counting(SQLiteStore(filled)).verify()


def seen(path):
    """What a ledger says, if it says anything."""
    try:
        ledger = counting(SQLiteStore(path, create=False))
        ledger.verify()
        return FileBackend(str(path)).contents()
    except LedgerError:
        return None


def test_any_flipped_byte_is_found_or_says_nothing(filled):
    """Bytes between cells may change unnoticed, as they mean nothing; what is read is what was written."""
    original, expected = filled.read_bytes(), seen(filled)
    used = [at for at in range(len(original)) if original[at]]
    found = 0
    for at in random.sample(used, 400) + random.sample(range(len(original)), 100):
        filled.write_bytes(
            original[:at] + bytes([original[at] ^ random.randint(1, 255)]) + original[at + 1 :]
        )
        got = seen(filled)
        assert got in (None, expected), at
        found += got is None
    assert found > 250


def test_any_truncation_is_found(filled):
    original = filled.read_bytes()
    for length in [*range(0, len(original), 512), len(original) - 1]:
        filled.write_bytes(original[:length])
        assert seen(filled) is None


def test_a_file_that_vanished_or_was_replaced_under_a_running_ledger(filled):
    ledger = counting(SQLiteStore(filled))
    copy = filled.read_bytes()
    ledger.decide("charge", charging(), key="c")
    latest = filled.read_bytes()
    filled.unlink()
    for attempt in (ledger.state, lambda: ledger.decide("charge", charging())):
        with pytest.raises(LedgerUnavailable):
            attempt()
    assert not filled.exists()
    filled.write_bytes(copy)
    with pytest.raises(LedgerTampered, match="old copy"):
        ledger.decide("charge", charging())
    filled.write_bytes(latest)
    assert ledger.decide("charge", charging()).sequence == 5


@pytest.mark.parametrize("where", ["nowhere/clinic.ledger", ".", "a\0b", "n" * 300, "file/clinic.ledger"])
def test_places_where_no_ledger_can_be(place, where):
    (place / "file").touch()
    with pytest.raises(LedgerUnavailable):
        SQLiteStore(place / where)


def test_awkward_names_of_files(place):
    for name in ("a b?mode=memory#x%41.ledger", "名.ledger", "-", "'"):
        counting(SQLiteStore(place / name)).decide("charge", charging())
        assert (place / name).exists()


def test_an_engine_is_never_quoted(filled):
    store = SQLiteStore(filled)
    entry = counting(store).find("charge", "a")
    with pytest.raises(LedgerUnavailable) as error, store.transaction() as records:
        records.append(replace(entry, key="canary", sequence=1))
    shown = "".join(traceback.format_exception(error.value))
    assert str(error.value) == messages.DAMAGED
    assert "IntegrityError" not in shown
    assert "OperationalError" not in shown


@pytest.mark.slow
def test_many_make_the_same_ledger_at_once(path):
    result = run(f"{HERE}:create_together", path=str(path), processes=12)
    assert result == {"spent": 12, "entries": 12, "files": [path.name]}


@pytest.mark.few(1)
@pytest.mark.parametrize("what", ["file", "directory"])
def test_a_ledger_that_may_not_be_written_can_still_be_read(path, what):
    result = run(f"{HERE}:read_only", path=str(path), what=what)
    assert result["charge"] == result["answer"] == "LedgerUnavailable"
    assert result["verified"] == 3
    assert result["spent"] == 2
    assert result["kept"] == "1"
    assert result["new"] == ("LedgerUnavailable" if what == "directory" else "made")


def charge_until_it_fails(ledger):
    """How many charges there is room for."""
    granted = []
    with pytest.raises(LedgerUnavailable, match=messages.FULL):
        granted.extend(ledger.decide("charge", padded) for _ in count())
    return len(granted)


def padded(state, time):
    return {"amount": 1, "padding": "x" * 500}


def test_no_more_pages(path, monkeypatch):
    """SQLite's own limit: the same code path as a full disk."""
    connect = SQLiteStore._connect

    def limited(self, path):
        connection = connect(self, path)
        connection.execute("PRAGMA max_page_count = 12")
        return connection

    ledger = counting(SQLiteStore(path), 10**6)
    monkeypatch.setattr(SQLiteStore, "_connect", limited)
    charge = ledger.decide("charge", charging(), key="paid")
    with pytest.raises(LedgerUnavailable, match="space"):
        ledger.keep_answer(charge, bytes(10**5))
    assert ledger.answer(charge) is None
    granted = 1 + charge_until_it_fails(ledger)
    assert ledger.state().spent == ledger.verify().entries == granted
    monkeypatch.undo()
    assert ledger.keep_answer(charge, bytes(10**5)) == bytes(10**5)
    ledger.verify()


def test_a_limit_on_the_size_of_files(path):
    """The operating system refuses to write: an input/output error in the middle of a commit."""
    result = run(f"{HERE}:limited_files", path=str(path))
    assert result["fault"] == "LedgerUnavailable"
    assert result["entries"] == result["granted"] > 0


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root may mount a small file system")
def test_a_full_disk(place):
    small = place / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", small], check=False, capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system is not allowed here")
    try:
        (small / "filler").write_bytes(bytes(40_000))
        ledger = counting(SQLiteStore(small / "clinic.ledger"), 10**6, anchor=place / "anchor")
        granted = charge_until_it_fails(ledger)
        assert granted > 10
        again = counting(SQLiteStore(small / "clinic.ledger"), 10**6, anchor=place / "anchor")
        assert again.verify().entries == again.state().spent == granted
        with suppress(OSError), open(small / "filler", "ab", buffering=0) as filler:
            while filler.write(bytes(512)):
                pass
        with pytest.raises(LedgerUnavailable, match="space"):
            SQLiteStore(small / "another.ledger")
        (small / "filler").unlink()
        ledger.decide("charge", charging())
        ledger.verify()
    finally:
        subprocess.run(["umount", small], check=True)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_the_disk_has_the_charge_before_anybody_hears_of_it(tmp_path):
    """In the order of system calls: journal, ledger and directory are synchronized before the answer."""
    result = run(f"{HERE}:traced", directory=str(tmp_path))
    if result["trace"] is None:
        pytest.skip("tracing is not allowed here")
    calls = result["trace"]
    assert calls[-1] == "ANSWER"
    ledger = [at for at, call in enumerate(calls) if call == "sync clinic.ledger"]
    journal = [at for at, call in enumerate(calls) if call == "sync clinic.ledger-journal"]
    removed = [at for at, call in enumerate(calls) if call == "unlink clinic.ledger-journal"]
    directory = [at for at, call in enumerate(calls) if call == "sync directory"]
    assert journal[-1] < ledger[-1] < removed[-1] < directory[-1]
