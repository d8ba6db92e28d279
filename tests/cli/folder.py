"""A folder to work in: a clinic on disk, and what the examples of the help expect to find."""

from __future__ import annotations

from pathlib import Path

import pytest

from canary import BY_CITY as BY_CITY  # noqa: PLC0414
from canary import COUNT as COUNT  # noqa: PLC0414
from cli.program import Outcome, discreet
from discreet.privacy import events
from front.declared_clinic import DECLARATION, write_clinic

BESUCHE = "Fall;Ort;Kosten;Tag;Größe\nA1;Köln;1.234,50;31.01.2026;3\n".encode("cp1252")
"""A CSV file of another country."""

ALL_VISITS = "SELECT COUNT(*) AS n FROM visits"


def prepare(directory: Path, monkeypatch: pytest.MonkeyPatch, declaration: str = DECLARATION) -> Path:
    """Write the clinic into a directory and go there; return the file of its declaration."""
    monkeypatch.chdir(directory)
    (directory / "spent.json").write_text((events.Laplace(epsilon=0.1) * 3).to_json())
    (directory / "besuche.csv").write_bytes(BESUCHE)
    return write_clinic(directory, declaration)


def answered(command: str, *more: str) -> Outcome:
    """Run a command that must succeed."""
    found = discreet(command, *more)
    assert found.code == 0, found.errors
    return found


def ledger_trouble(command: str, *more: str) -> str:
    """Run a command that must fail for its ledger: exit code 3, no answer, one reason, no traceback."""
    found = discreet(command, *more)
    assert (found.code, found.output) == (3, ""), found
    (last,) = found.errors.strip().splitlines()[-1:]
    assert ": error: " in last
    return last.split(": error: ", 1)[1]
