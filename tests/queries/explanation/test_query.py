"""The explanation of a query: every step, from public facts, without a literal."""

from __future__ import annotations

import datetime
from fractions import Fraction

import pyarrow
import pytest

from discreet.data import Bounds, Dates, Keys, Limits, Table, col
from discreet.data.engines import base
from discreet.errors import UndeclaredColumn
from discreet.queries import Offer, TableRequest, explain, parse
from discreet.queries.question.terms import Terms
from queries.clinic import TABLES, visits
from queries.related import RELATED

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
        "exact integers of every group, and how far one person can move all of them:",
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


def explained(text, tables=RELATED, offer=None, **options):
    return explain(parse(text, tables), tables, offer, **options)


def test_joins_are_told():
    text = explained(
        "SELECT c.region AS r, COUNT(*) AS n FROM visits v JOIN cities c ON v.city = c.name GROUP BY r"
    )
    assert "each joined with the rows of the public table 'cities', where 'city' = its 'name'" in text
    assert "'r' (3 possible keys): 3 groups" in text
    text = explained(
        "SELECT COUNT(*) AS n FROM visits v LEFT JOIN (SELECT patient, MAX(age) AS oldest FROM staff "
        "WHERE ward = 1 GROUP BY patient) s ON v.patient = s.patient WHERE s.oldest IS NULL"
    )
    assert [line for line in text.splitlines() if "rows of" in line or line.startswith("   ")][:4] == [
        "rows of 'visits', version '1'; each person is one value of 'patient'",
        "each, even if there is none, joined with the rows of the same person, where the persons are equal:",
        "    rows of 'staff', version '1'; each person is one value of 'patient'",
        "    where ward = ?",
    ]
    assert "    per person: maximum of age as oldest" in text


def test_unions_windows_and_calculations_are_told():
    text = explained(
        "SELECT COUNT(*) AS n FROM (SELECT patient, age FROM visits UNION ALL SELECT patient, age * 2 AS age "
        "FROM staff) AS both"
    )
    assert "the rows of 2 parts, one below the other:" in text
    assert "  - rows of 'visits'" in text
    assert "    with 'age' = age * ?" in text
    text = explained(
        "SELECT AVG(age) AS m FROM (SELECT age, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) AS k "
        "FROM visits) AS t WHERE k = 1"
    )
    assert "row number within the person by day as k" in text
    assert "at most 1 row of each person: no one can have more" in text


def test_the_limits_are_those_that_hold():
    text = explained(
        "SELECT COUNT(*) AS n FROM (SELECT patient, COUNT(*) AS k FROM visits GROUP BY patient) t"
    )
    assert "at most 1 row of each person" in text
    assert "3 rows" not in text
    assert "at most" not in explained("SELECT COUNT(*) AS n FROM people")


def test_what_happens_afterwards_is_told():
    text = explained(
        "SELECT city, COUNT(*) AS n FROM visits GROUP BY city HAVING n > 7 ORDER BY n DESC LIMIT 2"
    )
    assert "only groups having n > ?" in text
    assert "sorted by 'n' descending" in text
    assert "cut to the first groups" in text


def test_keys_that_nobody_declared():
    sql = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
    text = explained(sql)
    assert "by 'note' (keys to be chosen): as many groups as keys are shown" in text
    assert "each of whom counts for at most 3" in text
    assert "0.5 of epsilon and half of delta" in text
    text = explained(sql, offer=Offer(epsilon=1, delta=1e-6), terms=Terms(key_share=Fraction(1, 2)))
    assert (
        "TruncatedGeometric(epsilon=0.5, delta=5e-7, keys=3): a key is shown with probability 50% at" in text
    )
    assert "epsilon 0.5" in text
    with pytest.raises(UndeclaredColumn, match="offer epsilon or rho, with delta"):
        explained(sql, offer=Offer(epsilon=1))
    listed = parse(sql, RELATED).with_keys(note=["a", "b"])
    assert "'note' (2 listed keys): 2 groups" in explain(listed, RELATED)


def test_prepared_tables_are_bounded_before_conditions():
    columns = {"day": Dates(datetime.date(2026, 1, 1), datetime.date(2026, 3, 31)), "city": Keys(["a"])}
    rows = pyarrow.table({"who": [1], "city": ["a"], "day": [datetime.date(2026, 1, 2)]})
    ready = Table(rows, person="who", limits=Limits(rows=3), columns=columns, prepare=True)
    tables = {"t": ready, "u": Table(rows, person="who", limits=Limits(rows=5))}
    sql = "SELECT DATE_TRUNC('month', day) AS m, COUNT(*) AS n FROM t WHERE city = 'a' GROUP BY m"
    text = explained(sql, tables)
    assert "; bounded before any condition, to 3 rows of each person" in text
    assert "at most 3 rows of each person, drawn in advance: before any condition" in text
    assert "'m' (3 possible keys)" in text
    joined = explained("SELECT COUNT(*) AS n FROM t JOIN u ON t.who = u.who", tables)
    assert "at most 5 rows of each person, sampled by a keyed hash" in joined


def test_the_statement_is_shown_and_reads_nothing(monkeypatch):
    for name in ("fetch", "keep"):
        monkeypatch.setattr(base, name, None)
    for sql in (
        "SELECT city, AVG(cost) AS m FROM visits WHERE age < 40 GROUP BY city",
        "SELECT COUNT(*) AS n FROM visits v JOIN staff s ON v.patient = s.patient WHERE v.age < 40",
        "SELECT note, COUNT(*) AS n FROM visits WHERE age < 40 GROUP BY note",
    ):
        text = explained(sql, sql=True)
        assert "the engine's statement" in text
        assert "GROUP BY" in text
        assert "40" in text.split("the engine's statement")[1]
        assert "40" not in text.split("the engine's statement")[0].replace("2400", "")
