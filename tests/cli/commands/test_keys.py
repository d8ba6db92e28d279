"""``discreet keys``: created, listed, revoked."""

from __future__ import annotations

import re

import pytest

from cli.folder import answered, prepare
from cli.program import refused
from discreet.server.keys import KeyFile


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def test_a_key_is_shown_once_and_revoked_by_its_name(tmp_path):
    created = answered("keys create ana --role analyst --days 90")
    text = created.output.strip()
    assert re.fullmatch(r"discreet_[a-z2-7]{8}_[\w-]{43}", text)
    assert "shown once" in created.errors
    file = KeyFile(tmp_path / "clinic.keys")
    assert file.find(text).name == "ana"
    listed = answered("keys list").output
    assert text.split("_")[1] in listed
    assert text not in listed
    assert "revoked" in answered("keys revoke ana --reason", "left").output
    assert file.find(text) is None


def test_a_narrow_key():
    answered("keys create bea --role analyst --scope preview --scope tables")
    assert "preview tables" in answered("keys list").output


def test_what_is_refused():
    assert "--scope" in refused("keys create bea --role auditor --scope ask")
    assert "--days" in refused("keys create bea --role auditor --days 0")
    assert "reason" in refused("keys revoke nobody --reason", "").lower()
    refused("keys revoke nobody --reason left")
    assert "does not exist" in refused("keys list --file nowhere.toml")
