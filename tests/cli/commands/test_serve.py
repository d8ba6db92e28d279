"""``discreet serve``: what is refused before anything is opened. Real servers are in tests/server."""

from __future__ import annotations

import pytest

from cli.folder import prepare
from cli.program import refused


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def test_what_is_refused():
    assert "in the clear" in refused("serve clinic.toml --host 192.168.0.7")
    assert "--seconds" in refused("serve clinic.toml --seconds soon")
    assert "--slot" in refused("serve clinic.toml --slot 0")
    assert "--port" in refused("serve clinic.toml --port 70000")
    assert "--workers" in refused("serve clinic.toml --workers 0")
    assert "does not exist" in refused("serve nowhere.toml")
    refused("serve clinic.toml --certificate none.crt --private-key none.key", code=5)
