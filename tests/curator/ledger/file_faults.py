"""What is done to ledger files in processes of their own."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path

from curator.ledger.counting import charging, counting
from curator.ledger.race_harness import race
from discreet.curator.ledger import Anchor
from discreet.curator.ledger.anchor_file import AnchorFile
from discreet.curator.ledger.sqlite.store import SQLiteStore
from discreet.errors import LedgerError

NOBODY = 65534


def _outcome(attempt) -> str:
    try:
        attempt()
    except LedgerError as error:
        return type(error).__name__
    return "made"


def create_together(path: str, processes: int) -> dict:
    directory = Path(path).parent
    ready = directory / "processes"
    ready.mkdir()

    def work(number: int) -> int:
        counting(SQLiteStore(path), 10**6).decide("charge", charging())
        return 1

    race(work, processes, str(ready))
    for file in ready.iterdir():
        file.unlink()
    ready.rmdir()
    ledger = counting(SQLiteStore(path))
    return {
        "spent": ledger.state().spent,
        "entries": ledger.verify().entries,
        "files": sorted(os.listdir(directory)),
    }


def advance_together(directory: str, processes: int, last: int) -> dict:
    """Advance one anchor file from many processes; count how often it was behind what one had written."""
    file = AnchorFile(Path(directory, "anchor"))

    def work(number: int) -> int:
        behind = 0
        for sequence in range(number, last + 1, processes):
            file.advance(Anchor(sequence=sequence, hash="a" * 64))
            behind += file.read().sequence < sequence
        return behind

    return {"behind": sum(race(work, processes, directory)), "last": file.read().sequence}


def read_only(path: str, what: str) -> dict:
    """Make a ledger, lose the right to write, and try everything."""
    directory = Path(path).parent
    ledger = counting(SQLiteStore(path))
    charge = ledger.decide("charge", charging())
    ledger.keep_answer(charge, b"1")
    unanswered = ledger.decide("charge", charging())
    os.chmod(path, 0o444 if what == "file" else 0o666)
    os.chmod(directory, 0o777 if what == "file" else 0o555)
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        store = SQLiteStore(path)
        again = counting(store)
        return {
            "charge": _outcome(lambda: again.decide("charge", charging())),
            "answer": _outcome(lambda: again.keep_answer(unanswered, b"2")),
            "kept": again.answer(charge).decode(),
            "verified": again.verify().entries,
            "spent": again.state().spent,
            "new": _outcome(lambda: SQLiteStore(directory / "new.ledger")),
        }
    finally:
        if os.geteuid() != NOBODY:
            os.chmod(directory, 0o700)


def limited_files(path: str) -> dict:
    """Charge until the operating system lets the file grow no more."""
    ledger = counting(SQLiteStore(path), 10**6)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, resource.RLIM_INFINITY))
    granted, fault = 0, None
    while fault is None:
        try:
            ledger.decide("charge", lambda state, time: {"amount": 1, "padding": "x" * 500})
            granted += 1
        except LedgerError as error:
            fault = type(error).__name__
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return {"fault": fault, "granted": granted, "entries": counting(SQLiteStore(path)).verify().entries}


_CHARGE = """
import os, sys
from curator.ledger.counting import charging, counting
from discreet.curator.ledger.sqlite.store import SQLiteStore
ledger = counting(SQLiteStore(sys.argv[1]))
os.write(1, b"BEGIN")
ledger.decide("charge", charging())
os.write(1, b"ANSWER")
"""

_STRACE = ("strace", "-f", "-y", "-e", "trace=fsync,fdatasync,unlink,unlinkat,write")


def traced(directory: str) -> dict:
    """The system calls of one charge, in words."""
    path = Path(directory, "clinic.ledger")
    SQLiteStore(path)
    log = Path(directory, "trace")
    finished = subprocess.run(
        [*_STRACE, "-o", log, sys.executable, "-c", _CHARGE, str(path)],
        capture_output=True,
        check=False,
    )
    if finished.returncode != 0:
        return {"trace": None}
    calls = []
    for line in log.read_text().splitlines():
        if "write(1" in line and "BEGIN" in line:
            calls = []
        elif "write(1" in line and "ANSWER" in line:
            calls.append("ANSWER")
        elif synchronized := re.search(r"f(?:data)?sync\(\d+<([^>]*)>", line):
            name = Path(synchronized[1])
            calls.append(f"sync {'directory' if name == Path(directory).resolve() else name.name}")
        elif removed := re.search(r'unlink(?:at)?\(.*"([^"]*)"', line):
            calls.append(f"unlink {Path(removed[1]).name}")
    return {"trace": calls}
