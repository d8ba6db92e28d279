"""What is declared, what was spent, the ledger: each for those who may see it."""

from __future__ import annotations

import json

from discreet.curator.ledger.verification import verify_export
from server.pages.dashboard import BY_CITY


def test_declarations_are_shown(dashboard):
    page = dashboard.user("reader").get("/pages/data").text
    for word in (
        "visits",
        "patient_id",
        "at most 2 rows of each person count",
        "0 to 5,000, in steps of 0.01",
        "Taipei",
    ):
        assert word in page


def test_an_analyst_sees_their_own_spending_alone(dashboard):
    dashboard.user("secretive").send("/pages/ask", question=BY_CITY, epsilon="0.011")
    page = dashboard.user("curious").get("/pages/budget").text
    assert "secretive" not in page
    assert "<h3>curious</h3>" in page
    for role in ("owner", "auditor"):
        page = dashboard.user(f"my {role}", role).get("/pages/budget").text
        assert "<h3>secretive</h3>" in page


def test_an_analyst_sees_no_page_of_others(dashboard):
    analyst, auditor = dashboard.user("plain analyst"), dashboard.user("plain auditor", "auditor")
    for user, paths in (
        (analyst, ["ledger", "ledger/export", "owner"]),
        (auditor, ["ask", "history", "owner"]),
    ):
        shown = user.get("/pages/data").text
        for path in paths:
            answer = user.get(f"/pages/{path}")
            assert answer.status_code == 403
            assert "discreet_" not in answer.text
            assert f'href="/pages/{path}"' not in shown
    before = len(dashboard.keys.all())
    assert analyst.send("/pages/ledger").status_code == 403
    assert analyst.send("/pages/owner/create", name="x", role="owner", days="1").status_code == 403
    assert analyst.send("/pages/owner/revoke", which="plain auditor", reason="x").status_code == 403
    assert auditor.send("/pages/ask", question=BY_CITY, epsilon="0.01").status_code == 403
    assert len(dashboard.keys.all()) == before
    assert auditor.get("/pages/ledger").status_code == 200


def test_the_ledger_is_verified_and_exported(dashboard, tmp_path):
    user = dashboard.user("auditing", "auditor")
    dashboard.user("spender").send("/pages/ask", question=BY_CITY, epsilon="0.012")
    page = user.get("/pages/ledger").text
    assert "epsilon 0.012" in page
    assert "visits (version 1): count rows by city" in page
    assert "Intact" in user.send("/pages/ledger").text
    answer = user.get("/pages/ledger/export")
    assert answer.headers["content-disposition"].startswith("attachment")
    lines = answer.text.splitlines()
    file = tmp_path / "ledger.jsonl"
    file.write_text(answer.text)
    assert verify_export(file).entries == len(lines)
    assert json.loads(lines[0])["kind"] == "open"


def test_a_ledger_that_does_not_hold_is_said_to(dashboard, monkeypatch):
    from discreet.errors import LedgerTampered

    def broken(anchor=None):
        raise LedgerTampered("it is another entry than before", 3)

    monkeypatch.setattr(dashboard.pool.curator.ledger, "verify", broken)
    page = dashboard.user("doubting", "auditor").send("/pages/ledger").text
    assert "Not intact" in page
    assert "at entry 3" in page
