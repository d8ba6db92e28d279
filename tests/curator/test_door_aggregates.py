"""Every aggregate goes through the door: charged, stored, answered again for nothing, labeled, shown."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from curator.doors import CITIES, LIMITS, clinic, usual_visits, visits
from discreet.cli.rendering import render
from discreet.curator import Budget
from discreet.curator.release.release import pack, unpack
from discreet.curator.request.histogram_choices import Choices
from discreet.curator.request.request import Draw
from discreet.data import Limits
from discreet.errors import LedgerTampered, ParameterError
from discreet.queries import Offer, build_request, parse

TABLES = {"visits": usual_visits()}
EVERYTHING = """
    SELECT city, COUNT(*) AS n, COUNT(DISTINCT patient) AS persons, COUNT(DISTINCT age) AS ages,
        SUM(age) AS s, AVG(age) AS m, VAR_POP(age) AS v, STDDEV(cost) AS d, COVAR_POP(age, cost) AS c,
        CORR(age, cost) AS r, MEDIAN(age) AS half,
        QUANTILE(age, 0.9) AS high, MIN(cost) AS low, MAX(cost) AS top_cost
    FROM visits GROUP BY city"""
FREQUENT = "SELECT MODE(city) AS often, APPROX_TOP_K(city, 2) AS two, COUNT(*) AS n FROM visits"
OFFERS = {
    "pure": {"epsilon": 1},
    "approximate": {"epsilon": 1, "delta": 1e-6},
    "concentrated": {"rho": "1/10"},
}

BUDGETS = {
    (1, False): Budget(epsilon=10),
    (2, False): Budget(epsilon=10, delta=1e-5),
    (1, True): Budget(rho=2),
}


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
@pytest.mark.parametrize("question", [EVERYTHING, FREQUENT], ids=["numbers", "keys"])
def test_every_aggregate_is_answered_once(place, question, offer):
    curator = clinic(place, budget=BUDGETS[len(offer), "rho" in offer])
    previewed = curator.preview(question, **offer)
    assert "nan" not in str(previewed)
    first = curator.ask(question, **offer)
    spent = curator.spent
    again = curator.ask(question, **offer)
    assert again.columns() == first.columns()
    assert str(curator.spent) == str(spent)
    assert first.label["private"] is True
    assert json.dumps(first.label)
    for form in ("table", "csv", "json"):
        assert render(first, form)
    assert first.to_arrow().num_rows == len(first.to_pandas())
    *same, paid = str(first).splitlines()
    *lines, nothing = str(again).splitlines()
    assert same == lines
    assert paid.startswith("paid ")
    assert nothing.startswith("answered from the store, nothing spent; left: ")
    assert first._repr_html_()
    assert first.event == curator.request(question, **offer).event


def test_keys_come_without_intervals(place):
    answer = clinic(place).ask(FREQUENT, epsilon=1)
    columns = answer.columns()
    assert list(columns) == ["often", "two", "n", "n_lower", "n_upper"]
    assert columns["often"][0] in CITIES
    assert set(columns["two"][0]) <= set(CITIES)
    assert len(columns["two"][0]) == 2
    assert "often: at most" in str(answer)
    assert "rows short of the most frequent, with 0.95 confidence" in str(answer)
    assert answer["often"].dtype == object
    with pytest.raises(ParameterError, match="keys, which cannot be drawn"):
        answer.plot("often")
    assert clinic(place).ask("SELECT MODE(city) AS often FROM visits", epsilon=1).value in CITIES


def request(sql=EVERYTHING, offer=None):
    return build_request(parse(sql, TABLES), TABLES, offer or Offer(epsilon=1))


def drawn(asked):
    return [
        Draw(part=part, steps=np.zeros(size, np.int64))
        for part, size in zip(asked.parts, asked.sizes, strict=True)
    ]


def test_what_is_stored_has_the_sizes_of_its_parts():
    asked = request()
    sizes = dict(zip((type(part.measure).__name__ for part in asked.parts), asked.sizes, strict=True))
    assert sizes["CountRows"] == 3
    choices = [part.mechanism for part in asked.parts if isinstance(part.mechanism, Choices)]
    assert [one.picks for one in choices] == [4, 2]
    draws = drawn(asked)
    assert [draw.steps.tolist() for draw in unpack(asked, pack(draws))] == [
        draw.steps.tolist() for draw in draws
    ]
    with pytest.raises(LedgerTampered):
        unpack(asked, pack(draws[:-1]))
    for wrong in (-1, 10**6):
        place = next(i for i, part in enumerate(asked.parts) if isinstance(part.mechanism, Choices))
        broken = list(draws)
        broken[place] = Draw(part=asked.parts[place], steps=np.full(asked.sizes[place], wrong))
        with pytest.raises(LedgerTampered):
            unpack(asked, pack(broken))


def test_a_request_for_choices_is_checked_against_the_tables():
    asked = request()
    asked.check(TABLES)
    with pytest.raises(ParameterError):
        asked.check({"visits": visits(limits=Limits(rows=4))})
    assert Limits(rows=3) == LIMITS


def test_a_choice_of_another_number_of_groups_is_refused():
    asked = request("SELECT city, MEDIAN(age) AS m FROM visits GROUP BY city")
    (part,) = asked.parts
    with pytest.raises(ParameterError, match="not those of the plan"):
        replace(asked, parts=(replace(part, mechanism=replace(part.mechanism, cells=2)),))
