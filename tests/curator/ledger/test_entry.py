"""Every field of an entry is under its hash, and its form is fixed forever."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from curator.ledger.test_canonical_json import BODIES
from discreet.curator.ledger import Anchor, Entry
from discreet.curator.ledger.entry import GENESIS, seal
from discreet.errors import LedgerTampered, ParameterError

KINDS = st.from_regex(r"[a-z][a-z_]{0,31}", fullmatch=True)
KEYS = st.none() | st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
TIMES = st.datetimes().map(lambda time: time.isoformat(timespec="microseconds") + "Z")
HASHES = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
ENTRIES = st.builds(
    seal,
    sequence=st.integers(1, 10**15),
    kind=KINDS,
    key=KEYS,
    time=TIMES,
    body=BODIES,
    previous=HASHES,
)


def simple(**changes):
    content = {
        "sequence": 1,
        "kind": "charge",
        "key": "k",
        "time": "2026-01-02T03:04:05.678901Z",
        "body": {"amount": 1},
        "previous": GENESIS,
    }
    return seal(**{**content, **changes})


def test_the_form_of_what_is_hashed_never_changes():
    """These values were computed once; a ledger written then is read now."""
    assert GENESIS == "fdf6e9c5352b107488ad2e1d4daf7dc8e911c98bec4457de3723ed8ff7d2a193"
    assert simple().hash == "cc1ae98925146e1541ecf18c9cb548b933d0ae28cd5fa706ee91db034ad66d65"
    assert (
        simple(key=None, body={"b": [None, True, "é"], "a": {}}).hash
        == "e79c290d378113cb411b3a8247f910990b36f27fcb617ef19ab5a457ea3e59f5"
    )


@given(ENTRIES)
def test_an_entry_becomes_a_line_and_back(entry):
    line = entry.to_json()
    assert "\n" not in line
    assert Entry.from_json(line + "\n") == entry
    assert entry.checked() is entry
    assert seal(
        sequence=entry.sequence,
        kind=entry.kind,
        key=entry.key,
        time=entry.time,
        body=entry.body,
        previous=entry.previous,
    ) == (entry)


@given(ENTRIES, ENTRIES, st.sampled_from([field.name for field in fields(Entry)]))
def test_a_field_of_another_entry_does_not_fit(entry, other, name):
    assume(getattr(entry, name) != getattr(other, name))
    with pytest.raises(LedgerTampered):
        replace(entry, **{name: getattr(other, name)}).checked()


@pytest.mark.parametrize("name", [field.name for field in fields(Entry)])
@pytest.mark.parametrize("value", [None, 0, -1, 1.0, True, b"x", "", "x", "{}", "\ud800", [], "0" * 65])
def test_fields_that_have_not_their_form(name, value):
    entry = simple()
    if getattr(entry, name) == value and type(getattr(entry, name)) is type(value):
        return
    with pytest.raises(LedgerTampered):
        replace(entry, **{name: value}).checked()


@given(st.text())
def test_a_line_that_is_no_entry(line):
    with pytest.raises(LedgerTampered):
        Entry.from_json(line)


@pytest.mark.parametrize("line", [None, 7, b"{}", "{}", '{"body":[]}', "[]", "null"])
def test_what_is_no_line(line):
    with pytest.raises(LedgerTampered):
        Entry.from_json(line)


@pytest.mark.parametrize("kind", ["", "Charge", "a b", "é", "a" * 33, "1", None, 3, "charge\n"])
def test_kinds(kind):
    with pytest.raises(ParameterError, match="kind"):
        simple(kind=kind)


@pytest.mark.parametrize("key", ["", "a\x00b", "a\nb", "\ud800", "k" * 513, 3, b"k"])
def test_keys(key):
    with pytest.raises(ParameterError, match="key"):
        simple(key=key)


def test_an_entry_cannot_be_changed_through_its_body():
    entry = simple()
    entry.body["amount"] = 0
    assert entry.body == {"amount": 1}
    with pytest.raises(FrozenInstanceError):
        entry.text = "{}"


@given(st.integers(0, 10**18 - 1), HASHES)
def test_an_anchor_becomes_a_text_and_back(sequence, own):
    anchor = Anchor(sequence=sequence, hash=own)
    assert Anchor.from_text(f"{anchor}\n") == anchor


@pytest.mark.parametrize(
    "text", ["", "1", "1 2", "-1 " + "0" * 64, "01 " + "0" * 64, "1 " + "G" * 64, None, 3]
)
def test_texts_that_are_no_anchor(text):
    with pytest.raises(ParameterError, match="anchor"):
        Anchor.from_text(text)


@pytest.mark.parametrize("values", [{"sequence": "1", "hash": GENESIS}, {"sequence": 1, "hash": 3}])
def test_values_that_are_no_anchor(values):
    with pytest.raises(ParameterError, match="anchor"):
        Anchor(**values)
