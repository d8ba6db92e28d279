"""What holds for every page: forms need the token of the session, headers are strict, values are escaped."""

from __future__ import annotations

import re

import pytest

from discreet.server.catalogue import CATALOGUE
from server.pages.dashboard import BY_CITY

FORMS = {
    "logout": {},
    "ask": {"question": BY_CITY, "epsilon": "0.01"},
    "ask/preview": {"question": BY_CITY, "epsilon": "0.01"},
    "counts": {"kind": "ranges", "table": "visits", "columns": "age", "epsilon": "0.01"},
    "counts/preview": {"kind": "ranges", "table": "visits", "columns": "age", "epsilon": "0.01"},
    "counts/read": {"number": "1"},
    "history/repeat": {"number": "1"},
    "history/label": {"number": "1"},
    "ledger": {},
    "owner/create": {"name": "planted", "role": "owner", "days": "1"},
    "owner/revoke": {"which": "forged", "reason": "test"},
    "owner/caps": {"epsilon": "9", "reason": "x", "digest": "x"},
    "owner/caps/draft": {"epsilon": "9"},
    "owner/tables": {"source": "file:x.csv", "name": "x"},
    "owner/tables/draft": {"source": "file:x.csv", "name": "x"},
    "owner/tables/declare": {"source": "file:x.csv", "name": "x"},
    "owner/agree": {"proposal": "x"},
    "owner/withdraw": {"proposal": "x"},
    "owner/check": {"table": "visits"},
    "owner/suggest": {"table": "visits", "epsilon": "0.01"},
    "owner/suggest/preview": {"table": "visits", "epsilon": "0.01"},
}
PAGES = (
    "ask",
    "history",
    "ledger",
    "owner",
    *(f"owner/{one}" for one in ("caps", "check", "suggest", "tables")),
)
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


@pytest.mark.parametrize("path", FORMS)
def test_S9_a_form_without_the_token_of_the_session_does_nothing(dashboard, path):
    other = dashboard.user("other").token()
    user = dashboard.user("forged", "owner")
    before = len(dashboard.keys.all()), len(dashboard.pool.words)
    for token in ("", "0" * 64, other):
        answer = user.post(f"/pages/{path}", data={**FORMS[path], "form_token": token})
        assert answer.status_code == 403
        assert CATALOGUE["stale_form"].message in answer.text
    assert user.post(f"/pages/{path}", data=FORMS[path]).status_code in {400, 403}
    assert (len(dashboard.keys.all()), len(dashboard.pool.words)) == before
    assert user.get("/pages/data").status_code == 200, "they are still logged in"


def test_every_form_that_is_shown_has_the_token(dashboard):
    user = dashboard.user("shown", "owner")
    user.send("/pages/ask", question=BY_CITY, epsilon="0.01")
    answered = user.send("/pages/ask", question=BY_CITY, epsilon="0.01").text
    shown = [answered, *(user.get(f"/pages/{path}").text for path in PAGES)]
    forms = [form for page in shown for form in re.findall(r"<form.*?</form>", page, re.DOTALL)]
    assert len(forms) > 10
    for form in forms:
        assert 'method="post"' in form
        assert user.token() in form


@pytest.mark.parametrize("path", ["login", "data", "budget", "counts", *PAGES, "nowhere"])
def test_S9_pages_allow_only_files_of_their_own(dashboard, path):
    answer = dashboard.user("headers", "owner").get(f"/pages/{path}")
    policies = answer.headers.get_list("content-security-policy")
    assert len(policies) == 1
    allowed = dict(one.strip().split(" ", 1) for one in policies[0].split(";"))
    assert allowed["default-src"] == "'none'"
    assert allowed["frame-ancestors"] == allowed["base-uri"] == "'none'"
    assert {*allowed.values()} <= {"'none'", "'self'"}, "nothing inline, nothing from elsewhere"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-frame-options"] == "DENY"
    assert not re.search(r"<script(?! src=\"/pages/static/)", answer.text)
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", answer.text)
    assert not re.search(r"\s(?:src|href|action|formaction)=\"(?!/pages/|#)", answer.text)


def test_what_is_sent_is_never_shown_unescaped(dashboard):
    user = dashboard.user(EVIL, "owner")
    named = "SELECT COUNT(*) AS {} FROM {}"
    pages = [
        user.get("/pages/data").text,
        user.send("/pages/ask/preview", question=EVIL, epsilon=EVIL).text,
        user.send("/pages/ask/preview", question=EVIL, epsilon="1", part="1").text,
        user.send("/pages/ask/preview", question=BY_CITY, epsilon="1", error=f"{EVIL}=1").text,
        user.send("/pages/ask", question=named.format("n", f'"{EVIL}"'), epsilon="1").text,
        user.send("/pages/ask", question=named.format(f'"{EVIL}"', "visits"), epsilon="0.01").text,
        user.send("/pages/counts/preview", kind=EVIL, table=EVIL, columns=EVIL, by=EVIL, width=EVIL).text,
        user.send("/pages/counts", kind="ranges", table="visits", columns=EVIL[:20], epsilon="1").text,
        user.get("/pages/history").text,
        user.get("/pages/budget").text,
        user.get("/pages/ledger").text,
        user.send("/pages/owner/create", name=EVIL, role=EVIL, days="1").text,
        user.send("/pages/owner/revoke", which=EVIL[:9], reason=EVIL).text,
        user.get("/pages/owner").text,
        user.send("/pages/owner/caps/draft", epsilon=EVIL).text,
        user.send("/pages/owner/tables", source=f"file:{EVIL}", name=EVIL, names=EVIL).text,
        user.send("/pages/owner/check", table=EVIL).text,
        user.send("/pages/owner/suggest/preview", table="visits", column=EVIL, epsilon=EVIL).text,
        user.send("/pages/owner/agree", proposal=EVIL[:90]).text,
        user.get(f"/pages/ledger?after={EVIL}").text,
        user.get(f"/pages/{EVIL}").text,
    ]
    for place, page in enumerate(pages):
        assert not re.search(r"<script(?! src=\"/pages/static/)|<img (?!src=\"/pages)", page), place
        assert "onerror" not in re.sub(r"&lt;img src=x onerror=alert\(1\)&gt;", "", page), place
    assert sum("&lt;script&gt;" in page for page in pages) >= 8, "it is shown, as text"


def test_hidden_characters_of_a_name_are_shown(dashboard):
    user = dashboard.user("plain", "owner")
    answer = user.send(
        "/pages/ask/preview", question='SELECT COUNT(*) AS "a\u202eb" FROM visits', epsilon="1"
    )
    table = answer.text[answer.text.index("How wrong") :]
    assert "\u202e" not in table
    assert "a\\u202eb" in table
    assert "a\u202eb" in answer.text, "the editor sends back what was typed"


def test_an_unknown_page_is_a_page(dashboard):
    user = dashboard.user("lost")
    answer = user.get("/pages/nowhere")
    assert answer.status_code == 404
    assert CATALOGUE["not_found"].message in answer.text
    assert user.get("/pages/logout").status_code == 405


def test_a_failure_says_nothing(dashboard, monkeypatch):
    user = dashboard.user("failing")

    async def fails(message):
        raise RuntimeError("HIV+")

    monkeypatch.setattr(dashboard.pool, "do", fails)
    answer = user.get("/pages/data")
    assert answer.status_code == 500
    assert "HIV" not in answer.text
    assert CATALOGUE["internal"].message in answer.text


def test_each_request_has_one_line_without_what_was_sent(dashboard):
    user = dashboard.user("logged")
    token = user.token()
    before = len(dashboard.logged())
    user.post("/pages/ask", data={"form_token": token, "question": BY_CITY, "epsilon": "0.0123"})
    lines = dashboard.logged()[before:]
    assert [(one["word"], one["status"], one["name"]) for one in lines] == [("page/ask", 200, "logged")]
    assert lines[0]["cost"] == "epsilon 0.0123"
    assert lines[0]["slot"] >= 1, "answers leave at slots"
    assert BY_CITY not in dashboard.log.getvalue()
    assert token not in dashboard.log.getvalue()
