"""One person more, with the worst rows: phrases about a person's own rows move nothing further than declared.

A question that an engine fails to answer in one of the worlds would be a finding, too.
"""

# ruff: noqa: S608
from __future__ import annotations

from collections import Counter

import pytest

import effort
from data import three_engines
from data.conftest import engine, postgres, postgres_engine, spark_engine  # noqa: F401
from discreet.data.salt import Salt
from queries.hard_worlds import hard_worlds
from queries.test_attack import attack
from queries.test_neighbors import outcome

COUNT = "SELECT COUNT(*) AS n FROM "
OWN = "SELECT {} FROM staff s WHERE s.patient = v.patient"
SUBQUERIES = [
    f"{COUNT}visits WHERE patient IN (SELECT patient FROM staff WHERE age > 0)",
    f"{COUNT}visits WHERE patient NOT IN (SELECT patient FROM staff)",
    f"SELECT SUM(age) AS s FROM visits v WHERE EXISTS ({OWN.format(1)} AND s.ward = v.ward)",
    f"{COUNT}visits v WHERE NOT EXISTS ({OWN.format(1)} AND s.ward > v.ward AND s.age <> v.age)",
    f"SELECT city, COUNT(*) AS n FROM visits v WHERE v.ward NOT IN ({OWN.format('ward')}) GROUP BY city",
    f"SELECT EXISTS ({OWN.format(1)}) AS k, SUM(cost) AS s FROM visits v GROUP BY k",
    f"{COUNT}visits v WHERE v.age > (SELECT AVG(s.age) FROM staff s WHERE s.patient = v.patient)",
    f"{COUNT}visits v WHERE NOT EXISTS (SELECT 1 FROM cities c WHERE c.name = v.city)",
    f"{COUNT}visits v WHERE EXISTS (SELECT 1 FROM wards w WHERE w.ward > v.ward AND w.floor < v.age)",
    f"{COUNT}crowd v WHERE NOT EXISTS (SELECT 1 FROM cities c WHERE c.name = v.city AND c.region IS NULL)",
]
EACH = "SELECT patient, {} AS n FROM visits GROUP BY patient"
COUNTED = [
    f"SELECT AVG(n) AS a FROM ({EACH.format('COUNT(*)')}) x",
    f"SELECT SUM(n) AS a, VARIANCE(n) AS v FROM ({EACH.format('COUNT(DISTINCT ward)')}) x",
    f"SELECT SUM(n) AS a, MEDIAN(n) AS m FROM ({EACH.format('SUM(cost)')}) x",
    f"SELECT SUM(n - 1) AS a FROM ({EACH.format('SUM(age)')}) x",
    "SELECT SUM(k) AS s FROM (SELECT COUNT(*) OVER (PARTITION BY patient) AS k FROM visits) x",
]
SORTED = "OVER (PARTITION BY patient ORDER BY seen)"
INNER = "SELECT COUNT(*) AS n FROM (SELECT age, cost, city, {} AS k FROM visits) x WHERE k {}"
WITHIN = [
    INNER.format(f"LAG(age) {SORTED}", "> age"),
    INNER.format(f"LEAD(cost, 2) {SORTED}", "< cost"),
    INNER.format(f"FIRST_VALUE(city) {SORTED}", "= city"),
    INNER.format("SUM(age) OVER (PARTITION BY patient ORDER BY cost)", "> 100"),
    INNER.format("SUM(cost) OVER (PARTITION BY patient, city)", "> 10"),
    INNER.format(f"AVG(cost) {SORTED}", "> 0"),
    INNER.format("DENSE_RANK() OVER (PARTITION BY patient ORDER BY ward DESC, cost)", "= 2"),
    INNER.format(f"SUM(age) {SORTED[:-1]} ROWS UNBOUNDED PRECEDING)", "> 100"),
    f"SELECT SUM(k) AS s FROM (SELECT LAG(age) {SORTED} AS k FROM visits) x",
    f"SELECT k, COUNT(*) AS n FROM (SELECT LAG(city) {SORTED} AS k FROM visits) x GROUP BY k",
    f"SELECT SUM(k) AS s FROM (SELECT SUM(age) {SORTED} AS k FROM visits) x",
]
DISTINCT = [
    "SELECT SUM(DISTINCT age) AS s FROM visits",
    "SELECT city, SUM(DISTINCT cost) AS s, COUNT(*) AS n FROM visits GROUP BY city",
    "SELECT AVG(DISTINCT balance) AS s, VARIANCE(DISTINCT age) AS v FROM visits",
    "SELECT STDDEV(DISTINCT cost) AS s FROM crowd",
]
JOINS = [
    f"{COUNT}visits v FULL JOIN staff s ON v.patient = s.patient",
    f"{COUNT}visits v FULL JOIN staff s USING (patient, ward) WHERE v.age IS NULL",
    "SELECT SUM(v.age) AS s FROM visits v LEFT JOIN staff s ON v.patient = s.patient AND v.ward < s.ward",
    f"{COUNT}visits v LEFT JOIN wards w ON v.ward = w.ward AND w.floor > v.age",
]
QUESTIONS = [*SUBQUERIES, *COUNTED, *WITHIN, *DISTINCT, *JOINS]


@pytest.fixture(scope="module")
def pair():
    return hard_worlds(three_engines.embedded(), 21)  # wards of both tables have one type


@pytest.mark.few(4)
@pytest.mark.parametrize("text", QUESTIONS)
def test_phrases_move_nothing_further_than_declared(text, pair):
    seen = Counter()
    query, words, _ = outcome(text, pair.without)
    assert query is not None, words
    attack(text, pair, Salt(value="salt"), seen)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [6, 29])
def test_phrases_fail_on_no_engine(engine, seed):  # noqa: F811
    pair, seen = hard_worlds(engine, seed), Counter()
    in_part = engine.name == three_engines.SPARK and not effort.ALL  # a question takes seconds there
    asked = QUESTIONS[seed % 4 :: 4] if in_part else QUESTIONS
    for text in asked:
        attack(text, pair, Salt(value="salt"), seen)
    assert sum(seen.values()) >= len(asked)
