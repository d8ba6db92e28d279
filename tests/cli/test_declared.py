"""From a file to a curator: rehearsals leave no ledger, and a database's address stays hidden."""

from __future__ import annotations

import uuid
from pathlib import Path

from cli.folder import COUNT, answered, ledger_trouble, prepare
from cli.program import discreet, refused
from curator.ledger.conftest import postgres  # noqa: F401
from discreet.cli import declared
from discreet.data import Keys
from discreet.errors import UndeclaredColumn
from discreet.front.declaring.declaration import read_declaration
from discreet.queries.binding.missing_declarations import NotDeclared
from front.declared_clinic import DECLARATION

IN_A_DATABASE = DECLARATION.replace(
    'location = "clinic.ledger"', f'location_env = "CLINIC_LEDGER"\nname = "{uuid.uuid4().hex}"'
)


def test_a_rehearsal_lends_its_tables_and_leaves_no_trace(tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch)
    before = sorted(tmp_path.iterdir())
    read = read_declaration("clinic.toml")
    with declared.rehearsal(read) as rehearsed:
        assert sorted(tmp_path.iterdir()) == before
        assert not declared.exists(read.ledger)
        with declared.real(read, rehearsed) as curator:
            assert curator.tables["visits"] is rehearsed.tables["visits"]
            curator.ask(COUNT, epsilon=1)
        assert rehearsed.spent.requests == 0
    assert declared.exists(read.ledger)
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "clinic.ledger"])


def test_what_is_not_declared_is_told_in_the_words_of_the_file(tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch).rename("ward.toml")
    for command in ("query --epsilon 1 --file ward.toml", "preview --epsilon 1 --file ward.toml"):
        said = refused(command, "SELECT note, COUNT(*) AS n FROM visits GROUP BY note")
        assert said.endswith('declare it in ward.toml: [tables.visits.columns] note = { keys = ["…"] }')
        assert "columns={" not in said
    said = refused("explain --file ward.toml", "SELECT AVG(note) AS n FROM visits")
    assert said.endswith("[tables.visits.columns] note = { lower = …, upper = …, step = … }")
    said = refused("explain --file ward.toml", "SELECT AVG(patient_id) AS n FROM visits")
    assert "cannot have; take that of 'age' or 'cost'" in said
    said = refused("explain --file ward.toml", "SELECT COUNT(*) AS n FROM visits GROUP BY patient_id")
    assert "groups of one person cannot be private" in said
    odd = NotDeclared("declare", "my visits", 'a "b"', Keys)
    assert declared.in_toml(odd, "c.toml").endswith(
        '[tables."my visits".columns] "a \\"b\\"" = { keys = ["…"] }'
    )
    assert declared.in_toml(UndeclaredColumn("there is none"), "c.toml") == "there is none"


def test_a_delta_without_a_budget_for_it_is_refused(tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch, DECLARATION.replace("delta = 1e-6\n", ""))
    for command in ("query", "preview", "explain"):
        said = refused(f"{command} --epsilon 1 --delta 1e-7", COUNT)
        assert said.startswith("--delta is offered, but the budget has none")
    assert not Path("clinic.ledger").exists()


def test_the_whole_path_on_postgresql(tmp_path, monkeypatch, postgres):  # noqa: F811
    monkeypatch.setenv("CLINIC_LEDGER", postgres)
    prepare(tmp_path, monkeypatch, IN_A_DATABASE)
    assert "there is no ledger yet" in answered("preview --epsilon 1", COUNT).output
    ledger_trouble("ledger verify")
    first = answered("query --epsilon 1", COUNT)
    assert "a new ledger was made" in first.errors
    again = answered("query --epsilon 1", COUNT)
    assert again.output.splitlines()[:2] == first.output.splitlines()[:2]
    assert "paid  nothing" in again.output
    assert "4 entries and what is stored for 2 of them are intact" in answered("ledger verify").output
    Path("clinic.toml").write_text(IN_A_DATABASE.replace("epsilon = 20", "epsilon = 2"))
    ledger_trouble("query --epsilon 2", COUNT)
    answered("ledger amend --reason less")
    assert not Path("clinic.ledger").exists()


def test_a_database_that_does_not_answer_is_ledger_trouble_without_its_address(tmp_path, monkeypatch):
    monkeypatch.setenv("CLINIC_LEDGER", "postgresql://ana:hidden-word@127.0.0.1:1/none")
    prepare(tmp_path, monkeypatch, IN_A_DATABASE)
    for command in ("preview --epsilon 1", "query --epsilon 1"):
        reason = ledger_trouble(command, COUNT)
        assert "hidden-word" not in reason
        assert "127.0.0.1" not in reason
    assert "hidden-word" not in ledger_trouble("ledger spent")
    assert discreet("explain", COUNT).code == 0
