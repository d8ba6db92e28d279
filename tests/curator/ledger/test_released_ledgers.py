"""Ledgers of released versions stay readable: they verify, answer what they answered, charge nothing."""

from __future__ import annotations

import json
import shutil

import pytest

from curator.ledger.released_ledger import FOLDER, QUESTIONS, clinic
from discreet.errors import LedgerMismatch, LedgerTampered
from discreet.version import __version__

VERSIONS = sorted(path.stem for path in FOLDER.glob("*.sqlite"))


def close(value: object) -> object:
    """Numbers up to rounding, wherever they are."""
    if isinstance(value, dict):
        return {key: close(one) for key, one in value.items()}
    if isinstance(value, list):
        return [close(one) for one in value]
    return pytest.approx(value, rel=1e-9) if isinstance(value, float) else value


def test_this_version_has_written_one():
    assert __version__ in VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_a_ledger_answers_as_it_did(version, tmp_path):
    ledger = tmp_path / "clinic.sqlite"
    shutil.copy(FOLDER / f"{version}.sqlite", ledger)
    known = json.loads((FOLDER / f"{version}.json").read_text())
    held = clinic(ledger)
    assert held.ledger.verify().entries == known["entries"]
    assert held.spent.epsilon <= known["epsilon"] * (1 + 1e-9)
    for name, answered in known["answers"].items():
        assert QUESTIONS[name](held) == close(answered)
    assert (held.spent.requests, held.ledger.verify().entries) == (known["requests"], known["entries"])


def test_a_ledger_with_one_other_letter_is_refused(tmp_path):
    """What is kept here is really read: a version that read less of it would accept this one."""
    data = (FOLDER / f"{VERSIONS[0]}.sqlite").read_bytes()
    at = data.index(b"DiscreteLaplace") if b"DiscreteLaplace" in data else data.index(b"analyst")
    ledger = tmp_path / "clinic.sqlite"
    ledger.write_bytes(data[:at] + b"X" + data[at + 1 :])
    with pytest.raises((LedgerTampered, LedgerMismatch)):
        clinic(ledger).ledger.verify()
