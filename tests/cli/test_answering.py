"""A question that is previewed for nothing or paid for; its commands are tested where they are."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.folder import COUNT, prepare
from discreet.cli.answering import Asking
from discreet.errors import ParameterError


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def options(**others):
    usual = {"file": "clinic.toml", "analyst": "", "output": None, "label": None, "log": None}
    return SimpleNamespace(**{**usual, "overwrite": False, "format": "csv", **others})


def test_a_preview_makes_no_ledger():
    text = Asking.of_text(COUNT, {"epsilon": 1}).preview(options(), as_json=False)
    assert text.endswith("costs epsilon 1\nthere is no ledger yet: as if nothing was spent")
    assert not Path("clinic.ledger").exists()


def test_the_answer_is_told_by_the_question(capsys):
    told = []
    asking = Asking(
        question=lambda curator: (COUNT, lambda release: told.append(release) or release),
        terms={"epsilon": 1},
    )
    assert asking.pay(options()).startswith("n,")
    assert len(told) == 1


def test_a_question_that_is_refused_makes_no_ledger():
    with pytest.raises(ParameterError):
        Asking.of_text(COUNT, {"epsilon": -1}).pay(options())
    assert not Path("clinic.ledger").exists()
