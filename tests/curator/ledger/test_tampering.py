"""Whatever is changed past the product is found: by the chain, or by an anchor where the chain cannot."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curator.ledger.backends import COLUMNS, Contents
from curator.ledger.counting import charging, counting
from discreet.curator.ledger import open_store, verify_export
from discreet.curator.ledger.entry import GENESIS, seal
from discreet.curator.ledger.store import read_row, row_of
from discreet.curator.ledger.verification import verify_store
from discreet.errors import LedgerTampered, LedgerUnavailable
from effort import examples

ANSWERED = (1, 4)


@pytest.fixture
def filled(backend):
    """Charge, answer, renewal, charge, answer, charge."""
    ledger = counting(backend.open())
    ledger.keep_answer(ledger.decide("charge", charging(1), key="a"), b"first answer")
    ledger.decide("renew", lambda state, time: {"note": "January"})
    ledger.keep_answer(ledger.decide("charge", charging(2), key="b"), b"second answer")
    ledger.decide("charge", charging(3), key="c")
    ledger.close()
    return backend


def check_found(backend, sequence=None, match=None):
    """Opening and verifying both fail, and name the entry."""
    store = backend.open()
    for attempt in (counting, lambda store: verify_store(store, None)):
        with pytest.raises(LedgerTampered, match=match) as error:
            attempt(store)
        assert sequence in {None, error.value.sequence}


OTHER = {
    "sequence": 10**6,
    "kind": "renew",
    "key": "other",
    "time": "2001-01-01T00:00:00.000000Z",
    "body": '{"amount":0}',
    "previous": "0" * 64,
    "hash": "f" * 64,
}


@pytest.mark.few(28, slow=100)
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("place_in_chain", range(6))
def test_any_field_of_any_entry(filled, column, place_in_chain):
    contents = filled.contents()
    rows = [list(row) for row in contents.rows]
    if column == "kind" and rows[place_in_chain][1] == "renew":
        rows[place_in_chain][1] = "amend"
    else:
        rows[place_in_chain][COLUMNS.index(column)] = OTHER[column]
    filled.rewrite(replace(contents, rows=tuple(map(tuple, rows))))
    check_found(filled)


def test_a_running_ledger_need_not_be_reopened_to_verify(filled):
    ledger = counting(filled.open())
    contents = filled.contents()
    row = replace(read_row(contents.rows[1]), time="2001-01-01T00:00:00.000000Z")
    filled.rewrite(replace(contents, rows=(contents.rows[0], row_of(row), *contents.rows[2:])))
    with pytest.raises(LedgerTampered) as error:
        ledger.verify()
    assert error.value.sequence == 2


@pytest.mark.parametrize("missing", range(5))
def test_a_missing_entry(filled, missing):
    contents = filled.contents()
    rows = contents.rows[:missing] + contents.rows[missing + 1 :]
    filled.rewrite(replace(contents, rows=rows))
    check_found(filled, missing + 1, "missing")


def test_swapped_entries(filled):
    contents = filled.contents()
    first, *middle, last = map(read_row, contents.rows)
    swapped = [replace(last, sequence=1), *middle, replace(first, sequence=len(contents.rows))]
    filled.rewrite(replace(contents, rows=tuple(map(row_of, swapped))))
    check_found(filled, 1)
    bodies = [replace(first, text=last.text), *middle, replace(last, text=first.text)]
    filled.rewrite(replace(contents, rows=tuple(map(row_of, bodies))))
    check_found(filled, 1, "hash")


def resealed(rows, changed, **changes):
    """The entries with one changed and its hash made right, but not those after it."""
    entries = [read_row(row) for row in rows]
    entry = replace(entries[changed], **changes)
    entries[changed] = seal(
        sequence=entry.sequence,
        kind=entry.kind,
        key=entry.key,
        time=entry.time,
        body=entry.body,
        previous=entry.previous,
    )
    return tuple(map(row_of, entries))


def test_an_entry_with_its_hash_made_right_is_found_at_the_next(filled):
    contents = filled.contents()
    filled.rewrite(replace(contents, rows=resealed(contents.rows, 0, text='{"amount":0}')))
    check_found(filled, 2, "follow")


def test_a_forged_entry_in_between(filled):
    contents = filled.contents()
    entries = [read_row(row) for row in contents.rows]
    forged = seal(sequence=3, kind="renew", key=None, time=entries[1].time, body={}, previous=entries[1].hash)
    later = [replace(entry, sequence=entry.sequence + 1) for entry in entries[2:]]
    filled.rewrite(replace(contents, rows=tuple(map(row_of, [*entries[:2], forged, *later]))))
    check_found(filled, 4)


def test_an_entry_earlier_than_the_one_before(filled):
    contents = filled.contents()
    rows = resealed(contents.rows, 5, time="2001-01-01T00:00:00.000000Z")
    filled.rewrite(replace(contents, rows=rows))
    check_found(filled, 6, "earlier")


def rewritten(contents):
    """A whole other history, with every hash right."""
    previous, entries = GENESIS, []
    for row in contents.rows:
        entry = read_row(row)
        body = {"amount": 0} if entry.kind == "charge" else entry.body
        entries.append(
            seal(
                sequence=entry.sequence,
                kind=entry.kind,
                key=entry.key,
                time=entry.time,
                body=body,
                previous=previous,
            )
        )
        previous = entries[-1].hash
    return replace(contents, rows=tuple(map(row_of, entries)))


def test_without_the_tail_or_with_another_history_only_an_anchor_tells(filled, place):
    running = counting(filled.open())
    anchor = running.anchor()
    contents = filled.contents()
    for other in (
        replace(contents, rows=contents.rows[:5]),
        replace(contents, rows=contents.rows[:3], answers=contents.answers[:1]),
        Contents((), ()),
        rewritten(contents),
    ):
        filled.rewrite(other)
        blind = counting(filled.open())
        assert blind.verify().entries == len(other.rows)
        with pytest.raises(LedgerTampered):
            blind.verify(anchor)
        for attempt in (running.verify, running.state, lambda: running.decide("charge", charging(0))):
            with pytest.raises(LedgerTampered):
                attempt()
        assert filled.contents() == other
    filled.rewrite(contents)
    running.verify(anchor)


def test_answers_that_are_not_those_that_were_kept(filled):
    contents = filled.contents()
    (one, first), (two, second) = contents.answers
    assert (one, two) == ANSWERED
    for answers in (
        ((one, b"First answer"), (two, second)),
        ((one, second), (two, first)),
        ((two, second),),
        (),
        (*contents.answers, (6, b"planted")),
    ):
        filled.rewrite(replace(contents, answers=answers))
        ledger = counting(filled.open())
        with pytest.raises(LedgerTampered):
            ledger.verify()
    filled.rewrite(contents)
    counting(filled.open()).verify()


def test_a_lost_answer_is_never_replaced_by_another_noise(filled):
    contents = filled.contents()
    filled.rewrite(replace(contents, answers=()))
    ledger = counting(filled.open())
    charge = ledger.find("charge", "a")
    for attempt in (lambda: ledger.answer(charge), lambda: ledger.keep_answer(charge, b"fresh noise")):
        with pytest.raises(LedgerTampered, match="missing"):
            attempt()
    filled.rewrite(replace(contents, answers=(*contents.answers, (6, b"planted"))))
    charge = ledger.find("charge", "c")
    for attempt in (lambda: ledger.answer(charge), lambda: ledger.keep_answer(charge, b"fresh noise")):
        with pytest.raises(LedgerTampered, match="no entry records"):
            attempt()


def test_a_key_that_leads_to_a_forged_entry(filled):
    contents = filled.contents()
    ledger = counting(filled.open())
    filled.rewrite(replace(contents, rows=resealed(contents.rows, 0, text='{"amount":0}')))
    assert ledger.find("charge", "a").body == {"amount": 0}  # a single look cannot tell
    with pytest.raises(LedgerTampered):
        ledger.verify()
    rows = [list(row) for row in contents.rows]
    rows[0][4] = '{"amount":0}'
    filled.rewrite(replace(contents, rows=tuple(map(tuple, rows))))
    with pytest.raises(LedgerTampered, match="hash"):
        ledger.find("charge", "a")


@given(data=st.data())
@settings(max_examples=examples(150), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_exported_line_cannot_be_changed(place, data):
    path = place / "export.jsonl"
    if not path.exists():
        ledger = counting(open_store(place / "a.ledger"))
        for key in ("a", "b", "c"):
            ledger.keep_answer(ledger.decide("charge", charging(1), key=key), b"1")
        ledger.export(place / "original.jsonl")
    original = (place / "original.jsonl").read_bytes()
    at = data.draw(st.integers(0, len(original) - 1))
    mask = data.draw(st.integers(1, 255))
    path.write_bytes(original[:at] + bytes([original[at] ^ mask]) + original[at + 1 :])
    if path.read_text(encoding="latin-1").splitlines() == original.decode().splitlines():
        return  # one line break became another
    with pytest.raises(LedgerTampered):
        verify_export(path)


def test_an_exported_file_with_lines_removed_repeated_or_exchanged(filled, place):
    ledger = counting(filled.open())
    path = place / "export.jsonl"
    anchor = ledger.export(path)
    lines = path.read_text().splitlines(keepends=True)
    verify_export(path, anchor)
    for changed in (lines[1:], lines[:2] + lines[3:], [*lines, lines[-1]], [lines[1], lines[0], *lines[2:]]):
        path.write_text("".join(changed))
        with pytest.raises(LedgerTampered):
            verify_export(path)
    path.write_text("".join(lines[:-1]))
    verify_export(path)
    with pytest.raises(LedgerTampered, match="before its anchor"):
        verify_export(path, anchor)
    with pytest.raises(LedgerUnavailable):
        verify_export(place / "nowhere.jsonl")
