"""``discreet explain``: the plan in words, with no ledger and no literal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.folder import BY_CITY, answered, prepare
from cli.program import refused
from front.declared_clinic import LITERAL


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def test_the_plan_and_the_noise():
    plan = answered("explain", BY_CITY).output
    assert "at most 2 rows of each person" in plan
    assert "'city' (2 declared keys): 2 groups" in plan
    assert "Laplace(" not in plan
    assert "Laplace(" in answered("explain --epsilon 1", BY_CITY).output
    assert "rho" in answered("explain --rho 0.1", BY_CITY).output


def test_it_needs_no_ledger_and_makes_none():
    answered("explain", BY_CITY)
    assert not Path("clinic.ledger").exists()
    Path("clinic.ledger").write_bytes(b"damaged")
    answered("explain", BY_CITY)


def test_the_statement_of_the_engine_holds_the_literals():
    question = "SELECT COUNT(*) AS n FROM visits WHERE note = 'okapi'"
    found = answered("explain --sql", question).output
    assert "the engine's statement" in found
    assert "SELECT" in found
    assert "'okapi'" in found
    assert not Path("clinic.ledger").exists()


def test_keys_that_nobody_declared():
    unknown = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
    assert "'note' (keys to be chosen)" in answered("explain", unknown).output
    assert "shown with probability 50% at" in answered("explain --epsilon 1 --delta 1e-7", unknown).output
    found = answered("preview --json --epsilon 1 --delta 1e-7", unknown).output
    (keys,) = json.loads(found)["chosen_keys"]
    assert keys["column"] == "note"
    assert 1 < keys["shown_by_half"] < keys["shown_by_most"]


def test_literals_are_not_shown():
    question = "SELECT COUNT(*) AS n FROM visits WHERE note = 'okapi-in-the-question'"
    assert LITERAL in question
    assert LITERAL not in answered("explain --epsilon 1", question).output


@pytest.mark.parametrize("options", ["--delta 1e-6", "--epsilon 1 --rho 1", "--epsilon x", "--error n=3"])
def test_refusals(options):
    refused(f"explain {options}", BY_CITY)
