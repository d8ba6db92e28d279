"""The editor, the answer, and what was asked before."""

from __future__ import annotations

import json
import re

import pytest

from discreet.server.catalogue import CATALOGUE
from server.pages.dashboard import BY_CITY, clinic_with_pages


def charges(dashboard):
    return [one for one in dashboard.pool.curator.ledger.entries() if one.kind == "charge"]


def test_a_preview_says_price_and_error_and_spends_nothing(dashboard):
    user = dashboard.user("careful")
    before = len(charges(dashboard))
    page = user.send("/pages/ask/preview", question=BY_CITY, epsilon="0.2").text
    assert len(charges(dashboard)) == before
    margins = [float(one.replace(",", "")) for one in re.findall(r'<span class="number">± ([\d.,]+)', page)]
    prices = re.findall(r'data-epsilon="([\d.]+)"', page)
    assert prices == ["0.05", "0.1", "0.2", "0.4", "0.8"]
    assert margins == sorted(margins, reverse=True)
    assert len({*margins}) == 5
    found = dashboard.pool.curator.preview(BY_CITY, epsilon="0.2")
    assert margins[2] == found.expectations[0].margin


def test_a_wanted_error_is_turned_into_a_price(dashboard):
    user = dashboard.user("exacting")
    page = user.send("/pages/ask/preview", question=BY_CITY, epsilon="7", error="n=30").text
    wanted = dashboard.pool.curator.preview(BY_CITY, error={"n": 30})
    assert re.search(rf"</button> {wanted.epsilon:.4g}</strong>", page)


def test_a_part_is_the_preview_alone(dashboard):
    user = dashboard.user("scripted")
    part = user.send("/pages/ask/preview", question=BY_CITY, epsilon="0.2", part="preview").text
    assert "<html" not in part
    assert "How the error shrinks" in part


def test_an_answer_is_charged_once_and_shown_with_its_intervals(dashboard):
    user = dashboard.user("paying")
    before = len(charges(dashboard))
    page = user.send("/pages/ask", question=BY_CITY, epsilon="0.0371").text
    assert len(charges(dashboard)) == before + 1
    assert charges(dashboard)[-1].body["analyst"] == "paying"
    stored = dashboard.pool.curator.ask(BY_CITY, epsilon="0.0371")
    for value in stored["n"].tolist():
        assert f">{value:,}<" in page
    assert page.count("<circle") == 2
    again = user.send("/pages/ask", question=BY_CITY, epsilon="0.0371").text
    assert "free repeat" in again
    assert len(charges(dashboard)) == before + 1


def test_what_is_bought_is_said_before_and_after(dashboard):
    user = dashboard.user("buying")
    fields = {"question": BY_CITY, "epsilon": "0.0371", "buy": "limits"}
    assert "is bought first" in user.send("/pages/ask/preview", **fields).text
    assert "Bought: at most" in user.send("/pages/ask", **fields).text


def test_history_repeats_for_free_and_is_ones_own(dashboard):
    user, other = dashboard.user("remembering"), dashboard.user("forgetful")
    user.send("/pages/ask", question=BY_CITY, epsilon="0.0372")
    before = len(charges(dashboard))
    page = user.get("/pages/history").text
    number = re.search(r'name="number" value="(\d+)"', page)[1]
    assert "epsilon 0.0372" in page
    assert "Answer" in user.send("/pages/history/repeat", number=number).text
    label = json.loads(user.send("/pages/history/label", number=re_number(user)).text)
    assert label["format"] == "discreet-label-1"
    assert len(charges(dashboard)) == before
    assert "0.0372" not in other.get("/pages/history").text
    for wrong in (number, "0", "x", "-1", "9" * 30, ""):
        assert other.send("/pages/history/repeat", number=wrong).status_code == 404


def re_number(user):
    return re.search(r'name="number" value="(\d+)"', user.get("/pages/history").text)[1]


def test_a_repeat_never_pays(dashboard, monkeypatch):
    """If an answer would have to be paid again, its price is shown instead."""
    user = dashboard.user("thrifty")
    user.send("/pages/ask", question=BY_CITY, epsilon="0.0373")
    number = re_number(user)
    do = dashboard.pool.do

    async def unanswered(message, **more):
        found = await do(message, **more)
        if message["word"] == "preview":
            found["content"]["answered"] = False
        return found

    monkeypatch.setattr(dashboard.pool, "do", unanswered)
    dashboard.pool.words.clear()
    page = user.send("/pages/history/repeat", number=number).text
    assert "Preview" in page
    assert "ask" not in dashboard.pool.words
    assert user.send("/pages/history/label", number=number).status_code == 404


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"question": "SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id"}, "undeclared"),
        ({"question": "DROP TABLE visits"}, "unsupported"),
        ({"question": "SELECT COUNT(*) AS n FROM elsewhere"}, None),
        ({"question": BY_CITY, "epsilon": "-1"}, "parameter"),
        ({"question": BY_CITY, "epsilon": "1e999999999"}, None),
        ({"question": BY_CITY, "epsilon": "41"}, "budget_exceeded"),
        ({"question": BY_CITY, "rows": "many"}, "malformed"),
        ({"question": BY_CITY, "error": "n"}, "malformed"),
        ({"question": BY_CITY, "buy": "all"}, "malformed"),
        ({"question": "", "epsilon": "1"}, None),
        ({"question": "x" * 100_001}, "too_large"),
        ({"question": BY_CITY, "unknown": "1"}, "malformed"),
    ],
)
def test_refusals_are_those_of_the_catalogue_and_charge_nothing(dashboard, fields, code):
    user = dashboard.user("refused")
    before = len(charges(dashboard))
    answer = user.send("/pages/ask", **{"epsilon": "0.1", **fields})
    shown = re.search(r"Code: <code>(\w+)</code>", answer.text)[1]
    assert shown == code or code is None
    assert answer.status_code == CATALOGUE[shown].status
    assert "Traceback" not in answer.text
    assert len(charges(dashboard)) == before


def test_a_key_that_may_only_preview_shows_no_way_to_pay(dashboard):
    user = dashboard.user("looking", scopes=["tables", "preview"])
    assert "Pay and ask" not in user.get("/pages/ask").text
    assert user.send("/pages/ask", question=BY_CITY, epsilon="0.01").status_code == 403
    assert user.get("/pages/history").status_code == 403


def test_a_key_that_is_revoked_while_its_question_is_answered_gets_nothing(dashboard, monkeypatch):
    user = dashboard.user("revoked meanwhile")
    do = dashboard.pool.do

    async def revoking(message, **more):
        found = await do(message, **more)
        if message["word"] == "ask":
            dashboard.keys.revoke("revoked meanwhile", reason="test")
        return found

    token = user.token()
    monkeypatch.setattr(dashboard.pool, "do", revoking)
    answer = user.post("/pages/ask", data={"form_token": token, "question": BY_CITY, "epsilon": "0.02"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/pages/login")
    assert "<circle" not in answer.text


def test_caps_hold_for_browsers(tmp_path):
    with clinic_with_pages(tmp_path, epsilon=1, share=0.5) as small:
        ana, ben, eve = (small.user(name) for name in ("ana", "ben", "eve"))
        assert ana.send("/pages/ask", question=BY_CITY, epsilon="0.5").status_code == 200
        assert ana.send("/pages/ask", question=BY_CITY, epsilon="0.1").status_code == 409
        assert ben.send("/pages/ask", question=BY_CITY, epsilon="0.4").status_code == 200
        assert eve.send("/pages/ask", question=BY_CITY, epsilon="0.2").status_code == 409
        assert eve.send("/pages/ask", question=BY_CITY, epsilon="0.5").status_code == 200, "paid for by ana"


def test_a_history_says_that_a_restart_loses_no_answer(dashboard):
    page = dashboard.user("restarted").get("/pages/history").text
    assert "has forgotten this list and its jobs, and no answer" in page
    assert "at no cost" in page
