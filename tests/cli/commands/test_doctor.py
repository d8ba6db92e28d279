"""``discreet doctor``: what is wrong, and by an exit code that it is."""

from __future__ import annotations

import json

import pytest

from cli.folder import prepare
from cli.program import discreet, refused


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def test_what_has_to_be_done_is_marked_and_decides_the_exit_code(clinic):
    clinic.chmod(0o666)
    found = discreet("doctor clinic.toml")
    assert found.code == 6
    assert "! files: clinic.toml may be written by others" in found.output
    listed = json.loads(discreet("doctor clinic.toml --json").output)["findings"]
    assert {"about": "tables", "wrong": False, "said": "visits: opened"} in listed
    assert not (clinic.parent / "clinic.ledger").exists()


def test_no_declaration():
    assert "does not exist" in refused("doctor nowhere.toml")
