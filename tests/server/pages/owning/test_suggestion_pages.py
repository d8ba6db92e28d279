"""Suggested bounds in a browser: the price first, then what to write."""

from __future__ import annotations

from html import unescape


def test_a_suggestion_is_priced_and_bought(dashboard):
    owner = dashboard.user("suggesting", "owner")
    fields = {"table": "visits", "column": "cost", "epsilon": "20"}
    charges = dashboard.pool.curator.account().charges
    priced = owner.send("/pages/owner/suggest/preview", **fields).text
    assert "price" in priced
    assert dashboard.pool.curator.account().charges == charges
    bought = unescape(owner.send("/pages/owner/suggest", **fields).text)
    assert "cost = { lower = 100, upper = 200, step = 0.01 }" in bought
    assert "[tables.visits.columns]" in bought
    assert "epsilon 20" in bought
    assert dashboard.pool.curator.account().charges == charges + 1
    assert "free repeat" in owner.send("/pages/owner/suggest", **fields).text
    limit = owner.send("/pages/owner/suggest", table="visits", epsilon="10").text
    assert "limits = { rows = 2 }" in limit


def test_what_is_refused_costs_nothing_and_what_says_nothing_is_billed(dashboard):
    owner = dashboard.user("refused", "owner")
    charges = dashboard.pool.curator.account().charges
    for fields in ({"column": "city", "epsilon": "1"}, {"epsilon": "x"}, {"epsilon": ""}, {"epsilon": "41"}):
        for path in ("suggest", "suggest/preview"):
            answer = owner.send(f"/pages/owner/{path}", table="visits", **fields)
            if (path, fields["epsilon"]) != ("suggest/preview", "41"):
                assert answer.status_code in {409, 422}, (path, fields)
                assert "Nothing was charged" in answer.text
    assert dashboard.pool.curator.account().charges == charges
    noise = owner.send("/pages/owner/suggest", table="visits", column="cost", epsilon="0.0001").text
    assert "Nothing can be said" in noise
    assert "epsilon 0.0001" in noise
    assert "Nothing was charged" not in noise


def test_an_auditor_buys_nothing(dashboard):
    auditor = dashboard.user("auditing", "auditor")
    assert auditor.get("/pages/owner/suggest").status_code == 403
    assert auditor.send("/pages/owner/suggest", table="visits", epsilon="1").status_code == 403
