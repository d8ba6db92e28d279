"""What is done to doors in processes of their own."""

from __future__ import annotations

import os
import resource
import signal
import warnings
from pathlib import Path

from curator.doors import COUNT, clinic, computing
from curator.ledger.file_faults import NOBODY
from curator.ledger.race_harness import race
from discreet.curator import Budget
from discreet.errors import BudgetExceeded, DiscreetError, LedgerUnavailable

warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)


def _outcome(attempt) -> str:
    try:
        attempt()
    except DiscreetError as error:
        return type(error).__name__
    return "done"


def read_only(directory: str) -> dict:
    """Answer once, lose the right to write, and try everything."""
    place = Path(directory)
    curator = clinic(place)
    first = curator.ask(COUNT, epsilon=1).columns()
    os.chmod(place / "clinic.ledger", 0o444)
    os.chmod(place, 0o555)  # noqa: S103
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    again = clinic(place)
    return {
        "stored": again.ask(COUNT, epsilon=1).columns() == first,
        "preview": again.preview(COUNT, epsilon=2).fits,
        "new": _outcome(lambda: again.ask(COUNT, epsilon=2)),
        "permit": _outcome(lambda: again.permit("training", epsilon=1)),
        "amend": _outcome(lambda: again.amend(reason="more", budget=Budget(epsilon=20))),
        "entries": again.ledger.verify().entries,
    }


def no_room(directory: str) -> dict:
    """Ask until the operating system lets the ledger grow no more; then make room and ask again."""
    curator = clinic(Path(directory), budget=Budget(epsilon=1000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (80_000, resource.RLIM_INFINITY))
    answered, fault, number = 0, None, 0
    with computing():
        while fault is None:
            number += 1
            try:
                curator.ask(f"{COUNT} AND age < {number}", epsilon=1)
                answered += 1
            except LedgerUnavailable as error:
                fault = str(error)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        curator.ask(f"{COUNT} AND age < {number}", epsilon=1)
    charges = sum(1 for entry in curator.ledger.entries() if entry.kind == "charge")
    return {
        "answered": answered,
        "fault": fault,
        "charges": charges,
        "answers": curator.ledger.verify().answers,
    }


def race_for_the_last(directory: str, processes: int, grants: int) -> dict:
    """Processes that each ask other questions, until nothing is left."""
    place = Path(directory)
    shared = clinic(place, budget=Budget(epsilon=grants))

    def work(number: int) -> int:
        curator = shared if number % 2 else clinic(place, budget=Budget(epsilon=grants))
        got = 0
        with computing():
            while True:
                try:
                    curator.ask(f"{COUNT} AND age < {1000 * number + got}", epsilon=1)
                except BudgetExceeded:
                    return got
                got += 1

    got = race(work, processes, directory)
    return {
        "got": got,
        "charges": sum(1 for entry in shared.ledger.entries() if entry.kind == "charge"),
        "left": str(shared.account().filter_of().left["epsilon"]),
    }


def race_with_the_same(directory: str, processes: int) -> dict:
    """Processes that ask the same question at once."""
    place = Path(directory)
    shared = clinic(place)

    def work(number: int) -> int:
        with computing():
            return int(clinic(place).ask(COUNT, epsilon=1)["n"][0])

    answers = race(work, processes, directory)
    return {
        "answers": answers,
        "charges": sum(1 for entry in shared.ledger.entries() if entry.kind == "charge"),
        "kept": shared.ledger.verify().answers,
    }
