"""The check in a browser: exact, marked as such, and for the owner alone."""

from __future__ import annotations

import pytest

from canary import DATA_TEXT
from discreet.server import answering
from discreet.server.pages.page import Page


def test_the_counts_are_exact_and_marked(dashboard):
    owner = dashboard.user("counting", "owner")
    before = len(dashboard.pool.words)
    assert "Count, exactly" in owner.get("/pages/owner/check").text
    assert "check" not in dashboard.pool.words[before:], "no row is read for the form"
    page = owner.send("/pages/owner/check", table="visits").text
    assert "402" in page
    assert "For you alone" in page
    assert DATA_TEXT not in page
    assert owner.send("/pages/owner/check", table="nothing").status_code == 422
    assert "402" not in owner.get("/pages/owner/check").text, "nothing is kept"


def test_S16_no_analyst_or_auditor_opens_it(dashboard):
    for role in ("analyst", "auditor"):
        user = dashboard.user(f"curious {role}", role)
        before = len(dashboard.pool.words)
        shown = user.get("/pages/owner/check")
        sent = user.send("/pages/owner/check", table="visits")
        assert (shown.status_code, sent.status_code) == (403, 403)
        assert "402" not in shown.text + sent.text
        assert "check" not in dashboard.pool.words[before:]
        assert "/pages/owner" not in user.get("/pages/data").text


def test_S16_control_open_doors_are_seen(dashboard, monkeypatch):
    with monkeypatch.context() as planted:
        planted.setattr(Page, "check_scope", lambda self, scope: None)
        with pytest.raises(AssertionError, match="200, 403"):
            test_S16_no_analyst_or_auditor_opens_it(dashboard)
    monkeypatch.setattr(answering, "key_for", lambda request, scope: request.scope["discreet"]["key"])
    with pytest.raises(AssertionError, match="403, 200"):
        test_S16_no_analyst_or_auditor_opens_it(dashboard)
