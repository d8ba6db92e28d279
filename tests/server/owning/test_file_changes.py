"""A declaration with one thing changed holds what was meant and nothing else, and no crash loses it."""

from __future__ import annotations

import os
import tomllib
from decimal import Decimal

import pytest

from discreet.errors import ParameterError, RequestRefused
from discreet.server.owning import file_changes
from discreet.server.owning.file_changes import digest_of, locked, put_in_place, with_budget, with_table

OLD = b"""\
# ours
[ledger]
location = "a.ledger"

[budget]   # agreed
epsilon = 3   # in all
per_analyst = { epsilon = 1 }

[tables.visits]
source = "visits.csv"
each_row = true
"""
SECTION = "[tables.stays]\nsource = 'stays.csv'\neach_row = true\n"


def read(content):
    return tomllib.loads(content.decode(), parse_float=Decimal)


def test_a_table_is_added_at_the_end_and_all_else_stays():
    for old in (OLD, OLD.rstrip(b"\n")):
        new = with_table(old, "stays", SECTION)
        assert new.startswith(old)
        assert read(new)["tables"]["stays"] == {"source": "stays.csv", "each_row": True}
    with pytest.raises(ParameterError, match="is taken"):
        with_table(OLD, "visits", SECTION.replace("stays", "visits"))


def test_caps_are_changed_in_their_lines_and_comments_stay():
    new = with_budget(OLD, {"epsilon": "4.5", "per_analyst": {"epsilon": "2"}})
    assert b"epsilon = 4.5   # in all\nper_analyst = { epsilon = 2 }\n" in new
    assert new.startswith(b"# ours\n")
    new = with_budget(OLD.replace(b"\n", b"\r\n"), {"epsilon": "1/3", "delta": "1e-6"})
    assert b'epsilon = "1/3"   # in all\r\n' in new
    assert read(new)["budget"] == {
        "epsilon": "1/3",
        "delta": Decimal("1e-6"),
        "per_analyst": {"epsilon": 1},
    }


@pytest.mark.parametrize(
    "old",
    [
        OLD.replace(b"[budget]   # agreed\nepsilon = 3   # in all\n", b"[budget]\n'epsilon' = 3\n"),
        b"budget = { epsilon = 3 }\n"
        + OLD.replace(b"[budget]   # agreed\nepsilon = 3   # in all\nper", b"[x]\nper"),
        OLD.replace(b"per_analyst = { epsilon = 1 }", b"[budget.per_analyst]\nepsilon = 1"),
        OLD.replace(b'location = "a.ledger"', b'location = """\n[budget]\nepsilon = 3\n"""'),
        OLD.replace(b"per_analyst = { epsilon = 1 }", b"per_analyst = { epsilon = 1, rho = '''\n[x]''' }"),
    ],
)
def test_what_is_written_in_another_form_is_left_alone(old):
    with pytest.raises(ParameterError, match="not changed here"):
        with_budget(old, {"epsilon": "4", "per_analyst": {"epsilon": "2"}})


def test_a_table_is_not_added_to_tables_in_one_line():
    old = b'budget = { epsilon = 1 }\ntables = { visits = { source = "v.csv", each_row = true } }\n'
    with pytest.raises(ParameterError, match="not changed here"):
        with_table(old, "stays", SECTION)


def test_control_a_text_that_says_more_than_was_meant_is_seen():
    """Both changes end here: a line that also changes the ledger is not what was meant."""
    evil = 'epsilon = 4\n[ledger]\nlocation = "other"'
    with pytest.raises(ParameterError, match="not changed here"):
        file_changes._as_meant(OLD.replace(b"epsilon = 3", evil.encode()), read(OLD))


@pytest.fixture
def file(tmp_path):
    found = tmp_path / "clinic.toml"
    found.write_bytes(OLD)
    found.chmod(0o640)
    return found


def test_the_old_file_is_kept_and_rights_stay(file):
    copy = put_in_place(file, OLD, b"new")
    assert (file.read_bytes(), copy.read_bytes()) == (b"new", OLD)
    assert {one.stat().st_mode & 0o777 for one in (file, copy)} == {0o640}
    assert sorted(file.parent.iterdir()) == sorted([file, copy])


def test_a_file_that_was_changed_meanwhile_is_not_overwritten(file):
    with pytest.raises(RequestRefused, match="changed meanwhile"):
        put_in_place(file, b"what it was once", b"new")
    assert [one.read_bytes() for one in file.parent.iterdir()] == [OLD]


@pytest.mark.parametrize("call", ["fsync", "fchmod", "replace", "synchronize"])
def test_S2_a_fault_leaves_the_old_file_and_nothing_else(file, monkeypatch, call):
    def fails(*_):
        raise OSError("disk full")

    monkeypatch.setattr(*((file_changes, call) if call == "synchronize" else (os, call)), fails)
    with pytest.raises(OSError, match="disk full"):
        put_in_place(file, OLD, b"new")
    assert [one.read_bytes() for one in file.parent.iterdir()] == [OLD]


def test_one_after_the_other_and_never_through_a_link(file):
    with locked(file) as content:
        assert content == OLD
    link = file.with_name("link.toml")
    link.symlink_to(file)
    with pytest.raises(ParameterError, match="not a plain file"), locked(link):
        pass


def test_who_waited_for_the_lock_sees_that_the_file_was_replaced(file, monkeypatch):
    import fcntl

    held = fcntl.flock

    def meanwhile(*arguments):
        put_in_place(file, OLD, b"new")
        return held(*arguments)

    monkeypatch.setattr(fcntl, "flock", meanwhile)
    with pytest.raises(RequestRefused, match="changed meanwhile"), locked(file):
        pass


def test_texts_are_told_apart():
    assert digest_of(OLD) != digest_of(OLD + b" ")
