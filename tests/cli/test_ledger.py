"""``discreet ledger``: trust it, look into it, change it on the record."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from cli.folder import COUNT, answered, ledger_trouble, prepare
from cli.program import refused
from discreet.front.opening import open_file
from front.declared_clinic import DECLARATION


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    file = prepare(tmp_path, monkeypatch)
    answered("query --epsilon 1 --analyst ana", COUNT)
    return file


def test_an_intact_ledger_is_verified_with_and_without_its_declaration():
    found = answered("ledger verify").output
    assert "4 entries and 2 answers are intact" in found
    Path("visits.csv").unlink()
    assert answered("ledger verify").output == found
    Path("clinic.toml").unlink()
    assert answered("ledger verify --ledger clinic.ledger").output == found
    assert refused("ledger verify").startswith(
        "clinic.toml does not exist; allowed: a declaration; discreet init"
    )


def test_every_changed_byte_of_an_entry_is_noticed():
    """An attacker who takes the triggers away for a moment and rewrites an entry."""
    with sqlite3.connect("clinic.ledger") as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        connection.execute(
            """UPDATE entries SET body = replace(body, '"ana"', '"ben"') WHERE kind = 'charge'"""
        )
        for _, statement in triggers:
            connection.execute(statement)
    connection.close()
    assert "cannot be trusted at entry 3" in ledger_trouble("ledger verify")
    ledger_trouble("ledger spent")
    ledger_trouble("query --epsilon 2", COUNT)


def test_an_old_copy_is_noticed_by_an_anchor():
    shutil.copy("clinic.ledger", "old")
    answered("query --epsilon 2", COUNT)
    head = answered("ledger anchor").output.strip()
    Path("kept.txt").write_text(f"{head}\n")
    for option, value in (("--anchor", head), ("--anchor-file", "kept.txt")):
        assert "holds the anchor" in answered("ledger verify", option, value).output
    shutil.copy("old", "clinic.ledger")
    assert "no anchor was given" in answered("ledger verify").output
    for option, value in (("--anchor", head), ("--anchor-file", "kept.txt")):
        ledger_trouble("ledger verify", option, value)


@pytest.mark.parametrize(
    "options",
    [
        ("--anchor", "3"),
        ("--anchor", ""),
        ("--anchor-file", "visits.csv"),
        ("--anchor-file", "none"),
        ("--anchor", "1 " + "0" * 64, "--anchor-file", "x"),
        ("--ledger", "postgresql://host/db"),
    ],
)
def test_bad_anchors_and_places(options):
    refused("ledger verify", *options, code=5 if "none" in options else 2)


@pytest.mark.parametrize("what", ["verify", "show", "spent", "replay", "anchor", "export e.jsonl"])
def test_a_ledger_that_is_not_there_is_not_made(what):
    ledger_trouble(f"ledger {what} --ledger none.ledger")
    assert not Path("none.ledger").exists()
    assert not Path("e.jsonl").exists()


def test_an_export_is_checked_without_the_ledger():
    found = answered("ledger export entries.jsonl").output
    assert found.startswith("wrote entries.jsonl: 4 entries; head 4 ")
    assert "4 entries and 2 answers" in answered("ledger verify --export entries.jsonl").output
    assert "is not overwritten" in refused("ledger export entries.jsonl")
    assert "is not overwritten" in refused("ledger export clinic.ledger")
    text = Path("entries.jsonl").read_text()
    Path("entries.jsonl").write_text(text.replace('"ana"', '"ben"'))
    ledger_trouble("ledger verify --export entries.jsonl")
    Path("entries.jsonl").write_text("\n".join(text.splitlines()[1:]))
    ledger_trouble("ledger verify --export entries.jsonl")
    ledger_trouble("ledger verify --export none.jsonl")


def test_a_changed_declaration_goes_on_the_record(clinic):
    clinic.write_text(DECLARATION.replace("epsilon = 20", "epsilon = 10"))
    ledger_trouble("query --epsilon 2", COUNT)
    assert "recorded; head 5 " in answered("ledger amend", "--reason", "the board wants less").output
    answered("query --epsilon 2", COUNT)
    assert "the board wants less" in answered("ledger show").output
    clinic.write_text(DECLARATION.replace("epsilon = 20", "epsilon = 1"))
    refused("ledger amend --reason less", code=4)
    assert "--reason is missing" in refused("ledger amend", "--reason", " ")
    assert "--ledger declares nothing" in refused("ledger amend --reason x --ledger clinic.ledger")
    refused("ledger amend")
    clinic.write_text(DECLARATION.replace("epsilon = 20", "epsilon = 10"))
    assert json.loads(answered("ledger spent --json").output)["charges"] == 2


def test_an_action_is_needed():
    refused("ledger")
    refused("ledger erase")


def test_a_ledger_that_exceeds_its_caps_is_not_trusted(monkeypatch):
    """As if a charge had been recorded that its caps do not allow."""
    from discreet.curator.budget.account import Account
    from discreet.errors import BudgetExceeded

    def exceeded(*_):
        raise BudgetExceeded("too much")

    monkeypatch.setattr(Account, "check_recorded", exceeded)
    ledger_trouble("ledger spent")


def test_nothing_changes_by_looking():
    head = open_file("clinic.toml").ledger.anchor()
    for what in ("verify", "show", "spent", "replay --delta 1e-6", "anchor", "export e.jsonl"):
        answered(f"ledger {what}")
    assert open_file("clinic.toml").ledger.anchor() == head
