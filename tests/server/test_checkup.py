"""What an owner is told about a server: each fault is planted, and a server in good order has none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from discreet.front.opening import open_file
from discreet.server.checkup import examine
from discreet.server.keys import KeyFile
from server.service import write_small_clinic


@pytest.fixture
def file(tmp_path):
    """A declaration in good order, with a ledger, an anchor and a key."""
    write_small_clinic(tmp_path)
    found = tmp_path / "clinic.toml"
    text = found.read_text().replace("[budget]", 'anchor = "clinic.anchor"\n\n[budget]', 1)
    found.write_text(text)
    for path in tmp_path.iterdir():
        path.chmod(0o600)
    open_file(found).close()
    (tmp_path / "clinic.ledger").chmod(0o600)
    KeyFile(tmp_path / "clinic.keys").create("ana", role="analyst")
    return found


def wrong(file, **more) -> list[str]:
    return [f"{one.about}: {one.said}" for one in examine(file, **more) if one.is_wrong]


def test_a_server_in_good_order_has_no_faults_and_nothing_changes(file):
    before = {path.name: path.read_bytes() for path in file.parent.iterdir()}
    assert wrong(file) == []
    assert {path.name: path.read_bytes() for path in file.parent.iterdir()} == before


@pytest.mark.parametrize("name", ["clinic.toml", "clinic.keys", "clinic.ledger"])
def test_files_that_others_may_write(file, name):
    (file.parent / name).chmod(0o620)
    assert wrong(file) == [f"files: {name} may be written by others: chmod go-w {name}"]


@pytest.mark.parametrize("name", ["clinic.keys", "clinic.ledger"])
def test_files_that_others_may_read(file, name):
    (file.parent / name).chmod(0o604)
    assert wrong(file) == [f"files: {name} may be read by others: chmod go-r {name}"]


def test_tables_that_are_away(file):
    (file.parent / "visits.csv").unlink()
    (said,) = wrong(file)
    assert said.startswith("tables: cannot be opened")


def test_a_ledger_that_was_changed(file):
    ledger = file.parent / "clinic.ledger"
    content = ledger.read_bytes()
    ledger.write_bytes(content.replace(b"visits", b"visitz"))
    (said,) = wrong(file)
    assert said.startswith("ledger: cannot be trusted")


def test_a_ledger_without_an_anchor(file):
    file.write_text(file.read_text().replace('anchor = "clinic.anchor"', ""))
    (said,) = wrong(file)
    assert "no anchor" in said


def test_a_clock_that_is_behind(file):
    (said,) = wrong(file, now=datetime.now(UTC) - timedelta(days=1))
    assert said.startswith("clock: is behind")


def test_keys_that_end_soon_or_ended(file):
    (soon,) = wrong(file, now=datetime.now(UTC) + timedelta(days=360))
    assert "of ana ends on" in soon
    (none,) = wrong(file, now=datetime.now(UTC) + timedelta(days=400))
    assert "nobody can ask" in none
    (file.parent / "clinic.keys").write_text("nonsense\n")
    (damaged,) = wrong(file)
    assert "nobody is let in" in damaged
