"""The anchor outside the ledger: never ahead of it, never going back."""

from __future__ import annotations

import os

import pytest

from curator.ledger.counting import charging, counting
from curator.ledger.processes import run
from discreet.curator.ledger import Anchor
from discreet.curator.ledger.anchor_file import AnchorFile
from discreet.errors import LedgerTampered, LedgerUnavailable


def head(sequence, digit="a"):
    return Anchor(sequence=sequence, hash=digit * 64)


def test_an_anchor_file_goes_forward_only(place):
    file = AnchorFile(place / "anchor")
    assert file.read() is None
    for sequence, expected in [(3, 3), (1, 3), (3, 3), (5, 5), (4, 5)]:
        file.advance(head(sequence))
        assert AnchorFile(place / "anchor").read() == head(expected)
    with pytest.raises(LedgerTampered):
        file.advance(head(5, "b"))
    assert os.listdir(place) == ["anchor"]
    assert (place / "anchor").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"", b"17", b"\xff\xfe", b"17 abc\n", b"1 " + b"0" * 64 + b" more"])
def test_what_is_no_anchor_is_not_taken_for_a_missing_one(place, content):
    (place / "anchor").write_bytes(content)
    with pytest.raises(LedgerTampered, match="anchor"):
        AnchorFile(place / "anchor").read()
    with pytest.raises(LedgerTampered, match="anchor"):
        AnchorFile(place / "anchor").advance(head(1))


def test_a_place_that_cannot_be_read_or_written(place):
    with pytest.raises(LedgerUnavailable, match="anchor"):
        AnchorFile(place / "nowhere" / "anchor").advance(head(1))
    (place / "directory").mkdir()
    with pytest.raises(LedgerUnavailable, match="anchor"):
        AnchorFile(place / "directory").read()


def test_many_processes_leave_the_latest(place):
    result = run("curator.ledger.file_faults:advance_together", directory=str(place), processes=8, last=2000)
    assert result == {"behind": 0, "last": 2000}


def test_a_ledger_writes_its_anchor_after_each_commit(backend, place):
    ledger = counting(backend.open(), anchor=place / "anchor")
    file = AnchorFile(place / "anchor")
    assert file.read() == ledger.anchor()
    charge = ledger.decide("charge", charging())
    assert file.read() == charge.anchor
    ledger.keep_answer(charge, b"1")
    assert file.read() == ledger.anchor()
    assert file.read().sequence == 2


def test_a_restored_copy_is_refused(backend, place):
    ledger = counting(backend.open(), anchor=place / "anchor")
    ledger.decide("charge", charging(1))
    copy = backend.backup()
    ledger.decide("charge", charging(9))
    latest = backend.backup()
    backend.restore(copy)
    with pytest.raises(LedgerTampered, match="ends at entry 1, before its anchor at entry 2"):
        counting(backend.open(), anchor=place / "anchor")
    assert counting(backend.open()).state().spent == 1  # without an anchor it looks sound, and is not
    backend.restore(latest)
    assert counting(backend.open(), anchor=place / "anchor").state().spent == 10


def test_a_copy_that_went_its_own_way_is_refused(backend, place):
    ledger = counting(backend.open(), anchor=place / "anchor")
    ledger.decide("charge", charging(1))
    copy = backend.backup()
    ledger.decide("charge", charging(9))
    backend.restore(copy)
    other = counting(backend.open())
    for _ in range(3):
        other.decide("charge", charging(2))
    with pytest.raises(LedgerTampered, match="another entry than the anchor names"):
        counting(backend.open(), anchor=place / "anchor")


def test_a_commit_that_its_anchor_missed_is_caught_up_with(backend, place):
    counting(backend.open(), anchor=place / "anchor")
    head = counting(backend.open()).decide("charge", charging()).anchor
    assert AnchorFile(place / "anchor").read().sequence == 0
    counting(backend.open(), anchor=place / "anchor")
    assert AnchorFile(place / "anchor").read() == head


def test_without_its_anchor_nothing_is_granted_and_a_retry_does_not_charge_twice(backend, place):
    (place / "elsewhere").mkdir()
    ledger = counting(backend.open(), anchor=place / "elsewhere" / "anchor")
    os.rename(place / "elsewhere", place / "gone")
    for _ in range(2):
        with pytest.raises(LedgerUnavailable, match="anchor"):
            ledger.decide("charge", charging(), key="k")
    os.rename(place / "gone", place / "elsewhere")
    assert ledger.decide("charge", charging(), key="k").sequence == 1
    assert AnchorFile(place / "elsewhere" / "anchor").read() == ledger.anchor()


def test_a_restored_copy_is_refused_by_a_process_that_was_open(backend, place):
    """The process knows only what the copy holds; the anchor knows more."""
    open_since = counting(backend.open(), anchor=place / "anchor")
    charge = open_since.decide("charge", charging(1))
    copy = backend.backup()
    counting(backend.open(), anchor=place / "anchor").decide("charge", charging(9))
    backend.restore(copy)
    for _ in range(3):
        with pytest.raises(LedgerTampered, match="ends at entry 1, before its anchor at entry 2"):
            open_since.decide("charge", charging(1))
    with pytest.raises(LedgerTampered, match="before its anchor"):
        open_since.keep_answer(charge, b"1")
    with pytest.raises(LedgerTampered, match="before its anchor"):
        open_since.verify()
    assert backend.contents().answers == ()
    assert len(backend.contents().rows) == 1


def test_a_copy_that_grew_past_its_anchor_is_refused_by_a_process_that_was_open(backend, place):
    open_since = counting(backend.open(), anchor=place / "anchor")
    open_since.decide("charge", charging(1))
    copy = backend.backup()
    counting(backend.open(), anchor=place / "anchor").decide("charge", charging(9))
    backend.restore(copy)
    careless = counting(backend.open())
    for _ in range(3):
        careless.decide("charge", charging(2))
    with pytest.raises(LedgerTampered, match="another entry than the anchor names"):
        open_since.decide("charge", charging(1))


def test_a_copy_that_is_restored_during_a_decision_is_noticed_before_the_charge_is_returned(backend, place):
    """The anchor moves on between the check and the commit: what is in the store by then has to hold it."""
    others = []

    def reached(point):
        if point == "committed" and not others:
            others.append(AnchorFile(place / "anchor").advance(head(7)))

    ledger = counting(backend.open(), anchor=place / "anchor", reached=reached)
    with pytest.raises(LedgerTampered, match="ends at entry 1, before its anchor at entry 7"):
        ledger.decide("charge", charging(1))


def test_an_anchor_that_vanished_grants_nothing(backend, place):
    ledger = counting(backend.open(), anchor=place / "anchor")
    ledger.decide("charge", charging(1))
    (place / "anchor").unlink()
    with pytest.raises(LedgerUnavailable, match="anchor"):
        ledger.decide("charge", charging(1))
    assert len(backend.contents().rows) == 1


def test_where_the_anchor_cannot_be_written_nothing_is_charged(backend, place, monkeypatch):
    """Else a charge would be durable and its answer withheld, again and again."""
    ledger = counting(backend.open(), anchor=place / "anchor")
    charge = ledger.decide("charge", charging())
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # a directory that was mounted to be read
    for attempt in (lambda: ledger.decide("charge", charging()), lambda: ledger.keep_answer(charge, b"1")):
        with pytest.raises(LedgerUnavailable, match="anchor"):
            attempt()
    assert ledger.anchor() == charge.anchor
    counting(backend.open(), anchor=place / "anchor")  # to read it, nothing needs to be written
