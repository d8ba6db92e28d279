"""Many counts at once in a browser: previewed, paid for once, drawn, and read at no cost."""

from __future__ import annotations

import re

import pytest

from discreet.server.catalogue import CATALOGUE

AGES = {"kind": "ranges", "table": "visits", "columns": "age", "width": "10", "by": "city"}
MARGINALS = {
    "kind": "marginals",
    "table": "visits",
    "columns": "city, age, cost",
    "width": "age=20, cost=1000",
}


def charges(dashboard):
    return [one for one in dashboard.pool.curator.ledger.entries() if one.kind == "charge"]


def number_of(page):
    return re.search(r'name="number" value="(\d+)"', page)[1]


def test_a_preview_says_the_error_and_charges_nothing(dashboard):
    user = dashboard.user("planning")
    assert "Many counts at once" in user.get("/pages/counts").text
    before = len(charges(dashboard))
    part = user.send("/pages/counts/preview", **AGES, epsilon="0.5", part="1").text
    assert "<html" not in part
    assert "over 78 ranges" in part
    assert "How the error shrinks" in part
    assert len(charges(dashboard)) == before


def test_all_counts_are_charged_once_and_read_for_free(dashboard):
    user = dashboard.user("counting")
    before = len(charges(dashboard))
    page = user.send("/pages/counts", **AGES, epsilon="0.51").text
    assert page.count("<circle") == 24
    assert "10 up to 20, Hamilton" in page
    assert [one.body["analyst"] for one in charges(dashboard)[before:]] == ["counting"]
    read = user.send("/pages/counts/read", number=number_of(page), from0="2", to0="4", from1="0").text
    question = {"kind": "ranges", "table": "visits", "columns": ["age"], "width": "10", "by": ["city"]}
    stored = dashboard.pool.curator.ask(counted(question), epsilon="0.51").count(20, 40, city="Taipei")
    assert f"<strong>{float(stored):,.0f}</strong>" in read
    assert "20 &lt;= age &lt; 40 and city = Taipei" in read
    again = user.send("/pages/history/repeat", number=number_of(user.get("/pages/history").text)).text
    assert "free repeat" in again
    assert len(charges(dashboard)) == before + 1


def counted(question):
    import discreet as dp

    return dp.ranges(question["table"], *question["columns"], width=question["width"], by=question["by"])


def test_a_distribution_is_drawn_from_the_lowest(dashboard):
    user = dashboard.user("rising")
    page = user.send(
        "/pages/counts", kind="cdf", table="visits", columns="age", width="20", epsilon="0.52"
    ).text
    shown = re.findall(r'class="chart-name">([^<]*)<', page)
    assert shown[:6] == ["age &lt; 20", "age &lt; 40", "age &lt; 60", "age &lt; 80", "age &lt; 100", "all"]


def test_every_marginal_has_a_chart(dashboard):
    user = dashboard.user("crossing")
    page = user.send("/pages/counts", **MARGINALS, epsilon="0.53").text
    assert re.findall(r"<h2><code>(.*?)</code>", page) == ["city, age", "city, cost", "age, cost"]
    read = user.send("/pages/counts/read", number=number_of(page), from0="0", to1="2").text
    assert "city = Taipei and age &lt; 40" in read


def test_an_unreadable_count_is_refused_and_charges_nothing(dashboard):
    user, other = dashboard.user("reading"), dashboard.user("prying")
    page = user.send("/pages/counts", **AGES, epsilon="0.54").text
    before = len(charges(dashboard))
    number = number_of(page)
    for wrong in ({"from0": "999"}, {"from0": "x"}, {"from0": "4", "to0": "2"}):
        answer = user.send("/pages/counts/read", number=number, **wrong)
        code = re.search(r"Code: <code>(\w+)</code>", answer.text)[1]
        assert answer.status_code == CATALOGUE[code].status
    assert other.send("/pages/counts/read", number=number).status_code == 404, "it is not theirs"
    user.send("/pages/ask", question="SELECT COUNT(*) AS n FROM visits", epsilon="0.54")
    sql = number_of(user.get("/pages/history").text)
    before += 1
    assert user.send("/pages/counts/read", number=sql).status_code == 404, "SQL has no cells"
    assert len(charges(dashboard)) == before


def test_reading_never_pays(dashboard, monkeypatch):
    user = dashboard.user("careful")
    number = number_of(user.send("/pages/counts", **AGES, epsilon="0.55").text)
    do = dashboard.pool.do

    async def unanswered(message, **more):
        found = await do(message, **more)
        if message["word"] == "preview":
            found["content"]["answered"] = False
        return found

    monkeypatch.setattr(dashboard.pool, "do", unanswered)
    dashboard.pool.words.clear()
    assert user.send("/pages/counts/read", number=number).status_code == 404
    assert "Many counts" in user.send("/pages/history/repeat", number=number).text
    assert "ask" not in dashboard.pool.words


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"kind": "everything"}, "malformed"),
        ({"columns": "city"}, "unsupported"),
        ({"columns": "a\nb"}, "malformed"),
        ({"columns": ""}, None),
        ({"table": "elsewhere"}, None),
        ({"width": "0.5"}, "parameter"),
        ({"width": "age"}, None),
        ({"width": "=3"}, "malformed"),
        ({"epsilon": "41"}, "budget_exceeded"),
        ({"kind": "marginals"}, "parameter"),
    ],
)
def test_refusals_of_many_counts_are_those_of_the_catalogue(dashboard, fields, code):
    user = dashboard.user("refused counting")
    before = len(charges(dashboard))
    answer = user.send("/pages/counts", **{**AGES, "epsilon": "0.1", **fields})
    shown = re.search(r"Code: <code>(\w+)</code>", answer.text)[1]
    assert shown == code or code is None
    assert answer.status_code == CATALOGUE[shown].status
    assert "internal" not in shown
    assert len(charges(dashboard)) == before


def test_a_key_that_may_only_preview_reads_no_count(dashboard):
    user = dashboard.user("looking on", scopes=["preview"])
    assert 'id="table" name="table" required' in user.get("/pages/counts").text, "it may not list tables"
    assert user.send("/pages/counts", **AGES, epsilon="0.01").status_code == 403
