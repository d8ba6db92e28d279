"""Ledgers that cannot be written, are full, damaged or shared: nothing is answered that was not charged."""

from __future__ import annotations

import dataclasses

import pytest

from curator.doors import BY_CITY, COUNT, clinic, entries
from curator.ledger.backends import FileBackend
from curator.ledger.processes import run
from discreet.errors import LedgerError, LedgerTampered


def test_a_ledger_that_cannot_be_written_still_gives_stored_answers(place):
    result = run("curator.door_faults:read_only", directory=str(place))
    refused = {"new": "LedgerUnavailable", "permit": "LedgerUnavailable", "amend": "LedgerUnavailable"}
    assert result == {"stored": True, "preview": 4, "entries": 4, **refused}


def test_without_room_nothing_is_answered(place):
    result = run("curator.door_faults:no_room", directory=str(place))
    assert result["answered"] > 3
    assert result["charges"] == result["answered"] + 1  # the one that was asked again
    assert result["answers"] == result["charges"] + 1  # and the ledger's secret
    assert "room" in result["fault"] or "ask again" in result["fault"]


def test_processes_that_race_get_exactly_what_there_is(place):
    result = run("curator.door_faults:race_for_the_last", directory=str(place), processes=6, grants=60)
    assert sum(result["got"]) == result["charges"] == 60
    assert result["left"] == "0"


def test_processes_that_ask_the_same_get_the_same(place):
    result = run("curator.door_faults:race_with_the_same", directory=str(place), processes=8)
    assert len(set(result["answers"])) == 1
    assert result["charges"] == 1
    assert result["kept"] == 2


def rewritten(place, change):
    """Change the rows of a ledger behind its back."""
    backend = FileBackend(str(place / "clinic.ledger"))
    contents = backend.contents()
    backend.rewrite(dataclasses.replace(contents, **change(contents)))


def test_a_stored_answer_that_was_changed_is_refused_and_not_drawn_again(place):
    curator = clinic(place)
    curator.ask(COUNT, epsilon=1)
    rewritten(place, lambda old: {"answers": (*old.answers[:-1], (old.answers[-1][0], b"[[0]]"))})
    for door in (curator, clinic(place)):
        with pytest.raises(LedgerTampered):
            door.ask(COUNT, epsilon=1)


def test_a_stored_answer_that_was_lost_is_not_drawn_again(place):
    curator = clinic(place)
    curator.ask(COUNT, epsilon=1)
    rewritten(place, lambda old: {"answers": old.answers[:-1]})
    with pytest.raises(LedgerTampered):
        curator.ask(COUNT, epsilon=1)


def test_a_charge_that_was_made_cheaper_is_noticed(place):
    curator = clinic(place)
    curator.ask(COUNT, epsilon=1)

    def cheaper(old):
        rows = [list(row) for row in old.rows]
        rows[2][4] = rows[2][4].replace('"scale":"3"', '"scale":"300"')
        assert tuple(rows[2]) != old.rows[2]
        return {"rows": tuple(map(tuple, rows))}

    rewritten(place, cheaper)
    for attempt in (lambda: clinic(place), curator.ledger.verify):
        with pytest.raises(LedgerTampered):
            attempt()
    assert curator.remaining.epsilon == 9  # who saw the charge does not count it again


def test_an_answer_of_another_request_is_none(place):
    """Whatever the store returns must have the shape of the request."""
    from discreet.curator.release.release import unpack

    curator = clinic(place)
    request = curator.request(BY_CITY, epsilon=1)
    for content in (b"[[1,2,3]]", b"[[1],[2],[3]]", b"[]", b'{"replayed":[[1]]}'):
        with pytest.raises(LedgerTampered, match="not one of its request"):
            unpack(request, content)


@pytest.mark.parametrize(
    "spoil", [lambda data: b"", lambda data: b"SQLite format 3\0" + data[50:], lambda data: data[:4096]]
)
def test_a_damaged_file_is_no_ledger(place, spoil):
    clinic(place).ask(COUNT, epsilon=1)
    path = place / "clinic.ledger"
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(LedgerError):
        clinic(place)


def test_an_old_copy_is_refused_where_there_is_an_anchor(place):
    curator = clinic(place, anchor=place / "anchor")
    backend = FileBackend(str(place / "clinic.ledger"))
    old = backend.backup()
    curator.ask(COUNT, epsilon=10)
    backend.restore(old)
    for attempt in (lambda: clinic(place, anchor=place / "anchor"), lambda: curator.ask(BY_CITY, epsilon=10)):
        with pytest.raises(LedgerTampered):
            attempt()
    unwatched = clinic(place)  # without the anchor nobody can know
    assert entries(unwatched, "charge") == []
