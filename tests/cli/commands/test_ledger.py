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
    assert "4 entries and what is stored for 2 of them are intact" in found
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


@pytest.mark.parametrize(("content", "what"), [(b"", "is empty"), (None, "is not a ledger")])
def test_a_file_that_is_not_a_ledger_is_restored_not_amended(content, what):
    Path("clinic.ledger").unlink()
    if content is None:
        with sqlite3.connect("clinic.ledger") as connection:
            connection.execute("CREATE TABLE t (x)")
        connection.close()
    else:
        Path("clinic.ledger").write_bytes(content)
    for command in ("query --epsilon 1", "preview --epsilon 1"):
        reason = ledger_trouble(command, COUNT)
        assert f"clinic.ledger {what}" in reason
        assert "restore its latest copy" in reason
        assert "amend" not in reason
    for command in ("ledger spent", "ledger verify --ledger clinic.ledger"):
        assert "restore its latest copy" in ledger_trouble(command)
    assert "restore its latest copy" in ledger_trouble("ledger amend --reason x")


def test_the_declared_anchor_is_the_one_that_is_looked_for(clinic):
    clinic.write_text(DECLARATION.replace("[ledger]", '[ledger]\nanchor = "kept"'))
    assert "the declared anchor file was missing, and is written now" in answered("ledger verify").output
    assert f"holds the anchor {Path('kept').read_text().strip()}" in answered("ledger verify").output


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
    assert (
        "4 entries and what is stored for 2 of them"
        in answered("ledger verify --export entries.jsonl").output
    )
    assert "already exists" in refused("ledger export entries.jsonl", code=7)
    assert "already exists" in refused("ledger export clinic.ledger", code=7)
    assert "another file" in refused("ledger export clinic.ledger --ledger clinic.ledger --overwrite", code=7)
    answered("ledger export entries.jsonl --overwrite")
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


PURE = DECLARATION.replace("delta = 1e-6\n", "").replace(
    'location = "clinic.ledger"', 'location = "clinic.ledger"\nanchor = "head.anchor"'
)


@pytest.fixture
def restored(clinic):
    """A ledger of which an old copy was restored: its last charge, of 2, is lost; its anchor knows it."""
    Path("clinic.ledger").unlink()
    clinic.write_text(PURE)
    answered("query --epsilon 1 --analyst ana", COUNT)
    content = Path("clinic.ledger").read_bytes()
    answered("query --epsilon 2 --analyst ben", COUNT)
    for file in Path().glob("clinic.ledger*"):
        file.unlink()
    Path("clinic.ledger").write_bytes(content)


def test_what_was_lost_with_the_last_entries_is_written_off_on_the_record(restored):
    ledger_trouble("query --epsilon 1", COUNT)
    assert "wrote off epsilon 19" in answered("ledger recover", "--reason", "the disk failed").output
    assert "the disk failed" in answered("ledger show").output
    spent = json.loads(answered("ledger spent --json").output)
    assert (spent["epsilon"], spent["remaining_epsilon"]) == (20.0, 0.0)
    assert "intact" in answered("ledger verify").output
    refused("query --epsilon 0.001", "SELECT COUNT(*) AS n FROM visits", code=4)
    refused("ledger recover --reason again", code=4)


def test_an_owner_who_knows_what_was_lost_writes_off_that_much(restored):
    answered("ledger recover --epsilon 2 --analyst ben --reason known")
    shares = json.loads(answered("ledger spent --json").output)["by_analyst"]
    assert {name: one["epsilon"] for name, one in shares.items()} == {"ana": 1.0, "ben": 2.0}
    answered("query --epsilon 1", "SELECT COUNT(*) AS n FROM visits")
    refused("ledger recover --epsilon 17 --reason more", code=4)
    assert "--reason is missing" in refused("ledger recover --epsilon 1", "--reason", " ")


def test_of_a_budget_with_delta_the_amount_is_stated():
    assert "most that may have been lost" in refused("ledger recover --reason x")
    answered("ledger recover --epsilon 1 --delta 1e-7 --reason x")
    refused("ledger recover --epsilon 1 --rho 1 --reason x")


def test_entries_say_what_they_were_for():
    found = answered("ledger show").output
    assert "epsilon 1; visits (version 1): count rows" in found
    answered("query --epsilon 1", "SELECT city, SUM(cost) AS secret_name FROM visits GROUP BY city")
    found = answered("ledger show").output
    assert "sum of cost by city" in found
    answered("query --epsilon 1", "SELECT SUM(CASE WHEN city IS NOT NULL THEN cost END) AS s FROM visits")
    found = answered("ledger show").output
    assert "sum of a value from city and cost" in found
    assert "case when" not in found
    assert "secret_name" not in found
