"""How a ledger behaves, over both stores."""

from __future__ import annotations

import hashlib
import json
import pickle
import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest

from curator.ledger.counting import Count, charging, counting, fold
from discreet.curator.ledger import Anchor, Ledger, open_store, verify_export
from discreet.errors import BudgetExceeded, LedgerTampered, LedgerUnavailable, ParameterError


def refuse_to_be_asked(state, time):
    raise AssertionError("the rule was asked")


def test_a_charge_is_recorded_and_folded(backend):
    ledger = counting(backend.open())
    entry = ledger.decide("charge", charging(3), key="first")
    assert (entry.sequence, entry.kind, entry.key, entry.body) == (1, "charge", "first", {"amount": 3})
    assert ledger.state() == Count(cap=10, spent=3, lifetime=3)
    assert ledger.find("charge", "first") == entry
    assert ledger.find("charge", "second") is None
    assert list(ledger.entries()) == [entry]


def test_a_refusal_records_nothing(backend):
    ledger = counting(backend.open())
    ledger.decide("charge", charging(8))
    before = backend.contents()
    with pytest.raises(BudgetExceeded):
        ledger.decide("charge", charging(3), key="too much")
    assert backend.contents() == before
    assert ledger.decide("charge", charging(2), key="too much").sequence == 2


def test_the_same_key_returns_the_same_entry_and_the_rule_is_not_asked(backend):
    ledger = counting(backend.open())
    entry = ledger.decide("charge", charging(10), key="once")
    assert ledger.decide("charge", refuse_to_be_asked, key="once") == entry
    assert counting(backend.open()).decide("charge", refuse_to_be_asked, key="once") == entry
    assert ledger.state().spent == 10


def test_a_decision_says_whether_its_entry_is_new_and_what_was_known_then(backend):
    ledger, other = counting(backend.open()), counting(backend.open())
    first = ledger.decision("charge", charging(3), key="once")
    assert (first.entry.sequence, first.state.spent, first.new) == (1, 3, True)
    other.decide("charge", charging(4))
    again = ledger.decision("charge", refuse_to_be_asked, key="once")
    assert (again.entry, again.state.spent, again.new) == (first.entry, 7, False)


def test_one_look_shows_entry_answer_and_state(backend):
    ledger, other = counting(backend.open()), counting(backend.open())
    assert other.look("charge", "first") == (None, None, Count(cap=10))
    entry = ledger.decide("charge", charging(3), key="first")
    assert other.look("charge", "first") == (entry, None, Count(cap=10, spent=3, lifetime=3))
    ledger.keep_answer(entry, b"noise")
    ledger.decide("charge", charging(2))
    assert other.look("charge", "first") == (entry, b"noise", Count(cap=10, spent=5, lifetime=5, answers=1))
    assert other.look("charge", "second").entry is None
    with pytest.raises(ParameterError):
        other.look("Charge", "first")


def test_a_key_belongs_to_its_kind(backend):
    ledger = counting(backend.open())
    charge = ledger.decide("charge", charging(), key="2026-01")
    renewal = ledger.decide("renew", lambda state, time: {}, key="2026-01")
    assert (charge.sequence, renewal.sequence) == (1, 2)


def test_entries_without_a_key_are_never_the_same(backend):
    ledger = counting(backend.open())
    assert [ledger.decide("charge", charging()).sequence for _ in range(3)] == [1, 2, 3]


def test_two_ledgers_see_each_other(backend):
    one, two = counting(backend.open()), counting(backend.open())
    for _ in range(5):
        one.decide("charge", charging())
        two.decide("charge", charging())
    assert one.state() == two.state() == Count(cap=10, spent=10, lifetime=10)
    for ledger in (one, two):
        with pytest.raises(BudgetExceeded):
            ledger.decide("charge", charging())


def test_only_new_entries_are_folded(backend):
    seen = []

    def noting(state, entry):
        seen.append(entry.sequence)
        return fold(state, entry)

    ledger, other = Ledger(backend.open(), noting, Count(10)), counting(backend.open())
    for _ in range(3):
        ledger.decide("charge", charging())
        other.decide("charge", charging())
    assert ledger.state() == ledger.state() == other.state()
    assert seen == [1, 2, 3, 4, 5, 6]


def test_what_cannot_be_folded_is_never_recorded(backend):
    def strict(state, entry):
        raise BudgetExceeded("the second wall")

    ledger = Ledger(backend.open(), strict, None)
    with pytest.raises(BudgetExceeded):
        ledger.decide("charge", lambda state, time: {})
    assert backend.contents().rows == ()


def test_one_answer_for_each_charge_and_the_first_stays(backend):
    ledger, other = counting(backend.open()), counting(backend.open())
    charge = ledger.decide("charge", charging(), key="q")
    assert ledger.answer(charge) is None
    assert ledger.keep_answer(charge, b"17 and some noise") == b"17 and some noise"
    assert other.keep_answer(charge, b"19 and other noise") == b"17 and some noise"
    assert ledger.answer(charge) == other.answer(charge) == b"17 and some noise"
    assert ledger.state().answers == 1
    record = ledger.find("answer", str(charge.sequence))
    assert record.body == {
        "charge": 1,
        "sha256": hashlib.sha256(b"17 and some noise").hexdigest(),
        "size": 17,
    }


def test_an_answer_needs_a_charge_of_this_ledger(backend, place):
    ledger = counting(backend.open())
    stranger = counting(open_store(place / "other.ledger")).decide("charge", charging())
    for ask in (lambda: ledger.keep_answer(stranger, b"free"), lambda: ledger.answer(stranger)):
        with pytest.raises(LedgerTampered, match="entry 1: the charge is not an entry of this ledger"):
            ask()
    charge = ledger.decide("charge", charging())
    ledger.keep_answer(charge, b"")
    assert ledger.answer(charge) == b""
    with pytest.raises(LedgerTampered):
        ledger.keep_answer(ledger.find("answer", "1"), b"an answer to an answer")
    assert len(backend.contents().rows) == 2


def test_answers_are_kept_by_keep_answer_alone(backend):
    with pytest.raises(ParameterError, match="keep_answer"):
        counting(backend.open()).decide("answer", lambda state, time: {})


def test_any_bytes_make_an_answer(backend):
    ledger = counting(backend.open())
    content = bytes(range(256)) * 5000
    charge = ledger.decide("charge", charging())
    assert ledger.keep_answer(charge, content) == content
    assert counting(backend.open()).answer(charge) == content


def test_time_never_goes_back(backend):
    times = [datetime(2026, 3, day, tzinfo=UTC) for day in (5, 3, 9, 1)]
    ledger = counting(backend.open(), clock=iter(times).__next__)
    for _ in times:
        ledger.decide("charge", lambda state, time: {"amount": 1, "seen": time})
    entries = list(ledger.entries())
    assert [entry.time[:10] for entry in entries] == ["2026-03-05", "2026-03-05", "2026-03-09", "2026-03-09"]
    assert [entry.body["seen"] for entry in entries] == [entry.time for entry in entries]


def test_time_is_universal_and_has_one_form(backend):
    there = datetime(2026, 1, 1, 1, 30, tzinfo=timezone(timedelta(hours=8)))
    ledger = counting(backend.open(), clock=lambda: there)
    assert ledger.decide("charge", charging()).time == "2025-12-31T17:30:00.000000Z"
    naive = counting(backend.open(), clock=lambda: datetime(2027, 1, 1))
    with pytest.raises(ParameterError, match="zone"):
        naive.decide("charge", charging())


def test_replay_reads_the_same_entries_with_another_fold(backend):
    ledger = counting(backend.open(), cap=10**6)
    amounts = [3, 1, 4, 1, 5]
    for amount in amounts:
        ledger.decide("charge", charging(amount))
    ledger.decide("renew", lambda state, time: {})
    assert ledger.replay(lambda total, entry: total + entry.body.get("amount", 0), 0) == sum(amounts)
    assert ledger.state().spent == 0


def test_pages_are_tied_together(backend, monkeypatch):
    monkeypatch.setattr("discreet.curator.ledger.verification._PAGE", 3)
    for count in range(8):
        ledger = counting(backend.open(), cap=100)
        assert len(list(ledger.entries())) == ledger.verify().entries == ledger.state().spent == count
        ledger.decide("charge", charging())


def test_an_empty_ledger_has_a_head_too(backend):
    ledger = counting(backend.open())
    head = ledger.anchor()
    assert head.sequence == 0
    assert ledger.verify(head).entries == 0
    ledger.decide("charge", charging())
    assert ledger.verify(head).entries == 1
    with pytest.raises(LedgerTampered):
        ledger.verify(Anchor(sequence=0, hash="0" * 64))


def test_verify_reports_what_it_found(backend):
    clock = iter([datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)]).__next__
    ledger = counting(backend.open(), clock=clock)
    charge = ledger.decide("charge", charging())
    middle = ledger.anchor()
    ledger.keep_answer(charge, b"1")
    ledger.decide("charge", charging())
    report = ledger.verify(middle)
    assert (report.entries, report.answers, report.head) == (3, 1, ledger.anchor())
    assert (report.first[:10], report.last[:10]) == ("2026-01-01", "2026-01-03")
    assert str(middle) in str(report)
    assert str(report.head) in str(report)


def test_an_export_is_one_line_each_and_can_be_verified_without_the_ledger(backend, place):
    ledger = counting(backend.open())
    for amount in (1, 2):
        ledger.keep_answer(ledger.decide("charge", charging(amount), key=f"ключ {amount}"), b"?")
    path = place / "export.jsonl"
    assert ledger.export(path) == ledger.anchor()
    lines = path.read_text().splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["charge", "answer", "charge", "answer"]
    assert verify_export(path, ledger.anchor()) == ledger.verify(ledger.anchor())
    assert path.stat().st_mode & 0o077 == 0


def test_the_chain_can_be_recomputed_with_a_few_lines_of_any_language(backend, place):
    ledger = counting(backend.open())
    for key in ("a", None, "c"):
        ledger.decide("charge", charging(), key=key)
    ledger.export(place / "export.jsonl")
    previous = hashlib.sha256(b"discreet ledger genesis 1\n").hexdigest()
    for line in (place / "export.jsonl").read_text().splitlines():
        content = json.loads(line)
        claimed = content.pop("hash")
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        assert content["previous"] == previous
        previous = hashlib.sha256(b"discreet ledger entry 1\n" + text.encode()).hexdigest()
        assert claimed == previous
    assert ledger.anchor().hash == previous


def test_threads_share_a_ledger(backend):
    ledger = counting(backend.open(), cap=40)
    granted = []

    def work():
        while True:
            try:
                entry = ledger.decide("charge", charging())
            except BudgetExceeded:
                return
            granted.append(entry.sequence)
            ledger.state()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(granted) == list(range(1, 41))
    ledger.verify()
    ledger.close()


@pytest.mark.parametrize("point", ["locked", "decided", "appended"])
def test_a_failure_before_the_commit_records_nothing(backend, point):
    class Stop(BaseException):
        pass

    def stop(reached):
        if reached == point:
            raise Stop

    ledger = counting(backend.open(), reached=stop)
    with pytest.raises(Stop):
        ledger.decide("charge", charging(), key="k")
    assert counting(backend.open()).find("charge", "k") is None


def test_a_failure_after_the_commit_keeps_the_charge(backend):
    class Stop(BaseException):
        pass

    def stop(reached):
        if reached == "committed":
            raise Stop

    with pytest.raises(Stop):
        counting(backend.open(), reached=stop).decide("charge", charging(), key="k")
    again = counting(backend.open())
    assert again.decide("charge", refuse_to_be_asked, key="k").sequence == 1
    assert again.state().spent == 1


def test_a_view_for_reading_cannot_write(backend):
    store = backend.open()
    entry = counting(store).decide("charge", charging())
    with pytest.raises(LedgerUnavailable), store.snapshot() as records:
        records.append(entry)
    with pytest.raises(LedgerUnavailable), store.snapshot() as records:
        records.keep_answer(1, b"planted")
    assert len(backend.contents().rows) == 1


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET body = '{}'",
        "DELETE FROM entries",
        "UPDATE answers SET content = ''",
        "DELETE FROM answers",
    ],
)
def test_tables_only_grow(backend, statement):
    ledger = counting(backend.open())
    ledger.keep_answer(ledger.decide("charge", charging()), b"1")
    before = backend.contents()
    with pytest.raises(Exception, match="append-only"):
        backend.execute(statement)
    assert backend.contents() == before


def test_the_store_itself_refuses_a_second_entry_at_the_same_place(backend):
    store = backend.open()
    entry = counting(store).decide("charge", charging())
    with pytest.raises(LedgerUnavailable), store.transaction() as records:
        records.append(entry)
    with store.transaction() as records:
        records.keep_answer(1, b"one")
    with pytest.raises(LedgerUnavailable), store.transaction() as records:
        records.keep_answer(1, b"two")
    assert backend.contents().answers == ((1, b"one"),)


def test_a_ledger_must_exist_unless_it_is_to_be_made(backend):
    with pytest.raises(LedgerUnavailable, match="no ledger"):
        backend.open(create=False)
    backend.open()
    backend.open(create=False)


def test_locked_for_too_long(backend):
    store, other = backend.open(), backend.open(timeout=0.1)
    with store.transaction(), pytest.raises(LedgerUnavailable, match="others have held"), other.transaction():
        pass
    counting(other).decide("charge", charging())


def test_names_keys_and_values_with_quotes_and_foreign_letters(backend):
    awkward = "'; DROP TABLE entries; -- \" % \\ $1 ? 名 é \N{GRINNING FACE}"
    ledger = counting(backend.open())
    entry = ledger.decide("charge", lambda state, time: {"amount": 1, awkward: [awkward]}, key=awkward)
    assert counting(backend.open()).find("charge", awkward) == entry
    assert entry.body[awkward] == [awkward]
    ledger.verify()


def test_where_a_ledger_is(place, postgres):
    with pytest.raises(ParameterError, match="name"):
        open_store(postgres)
    with pytest.raises(ParameterError, match="name"):
        open_store(place / "a.ledger", name="a")
    assert "password" not in repr(open_store(f"{postgres}&password=password", name="clinic"))


def test_a_ledger_says_nothing_of_its_content_in_its_errors():
    error = LedgerTampered("its hash is not that of its content", 3)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
