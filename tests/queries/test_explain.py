"""The explanation of a query: every step, from public facts, without a literal."""

from __future__ import annotations

from discreet.data import Bounds, col
from discreet.queries import Offer, TableRequest, explain, parse
from queries.clinic import TABLES, visits

TEXT = (
    "SELECT city, COUNT(*) AS n, AVG(cost) AS m, SUM(cost) AS s FROM visits "
    "WHERE age < 5908273141 AND note = 'canary' GROUP BY city"
)


def test_every_step_is_there():
    assert explain(parse(TEXT, TABLES), TABLES).splitlines() == [
        "rows of 'visits', version '1'; each person is one value of 'patient'",
        "where (age < ?) and (note = ?)",
        "by 'city' (3 declared keys): 3 groups",
        "at most 3 rows of each person, sampled by a keyed hash",
        "exact integers of every group, and the most that one person moves them all:",
        "  m1  count of rows",
        "     L0 3, L1 3, L2 3, largest 3 (add-remove person)",
        "  m2  sum of cost - 2500 in [0, 5000], step 0.01; NaN left out, infinity clamp, NULL left out",
        "     L0 3, L1 750000, L2 750000, largest 750000, in steps of 0.01 (add-remove person)",
        "  m3  count of cost; NaN left out, infinity clamp, NULL left out",
        "     L0 3, L1 3, L2 3, largest 3 (add-remove person)",
        "the answer, by public arithmetic:",
        "  n = the count, from m1",
        "  m = 2500 + the sum / the count, from m2, m3",
        "  s = the sum + 2500 x the count, from m2, m3",
        "cost: what is offered, divided as",
        "  epsilon: m1 0.317, m2 0.341, m3 0.341",
        "  rho: m1 0.309, m2 0.345, m3 0.345",
    ]


def test_an_offer_shows_noise_cost_and_margins():
    text = explain(parse(TEXT, TABLES), TABLES, Offer(epsilon=1))
    assert "Laplace(sensitivity=3, " in text
    assert "epsilon " in text
    assert "n ± " in text
    assert "assuming 1000 values in every group" in text
    text = explain(parse(TEXT, TABLES), {"visits": visits([])}, Offer(rho=0.1))
    assert "each row is a person" in text
    assert "Gaussian(sensitivity=1, " in text
    assert "rho " in text


def test_rules_are_told():
    columns = {"cost": Bounds(0, 9, step=1, nan=3, infinity="drop")}
    tables = {"staff": visits([], limits=TABLES["staff"].limits, columns=columns)}
    text = explain(TableRequest(table="staff").agg(s=col("cost").sum()), tables)
    assert "NaN as 3, infinity left out, NULL left out" in text
    assert "at most 4 rows of each person in each of 2 groups" in text
    assert "all rows together: 1 group" in text


def test_no_literal_is_shown():
    for offer in (None, Offer(epsilon=1)):
        text = explain(parse(TEXT, TABLES), TABLES, offer)
        assert "canary" not in text
        assert "5908273141" not in text
