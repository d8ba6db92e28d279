"""One person more, with the worst rows: expressions move exact integers no further than is declared.

A question that an engine fails to answer in one of the worlds would be a finding, too.
"""

from __future__ import annotations

from collections import Counter

import pytest

from data import three_engines
from data.conftest import engine, postgres, postgres_engine, spark_engine  # noqa: F401
from discreet.data.salt import Salt
from queries.hard_worlds import hard_worlds
from queries.test_attack import attack
from queries.test_neighbors import outcome

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits WHERE day >= '2024-01-31' AND 1 = 1",
    "SELECT SUM(age) AS s FROM visits WHERE age = '40' OR urgent = 1 OR age = TRUE",
    "SELECT COUNT(*) AS n FROM visits WHERE day IN ('2024-02-29', '0001-01-01') OR day = '9999-12-31'",
    "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY UPPER(city)",
    "SELECT age > 40, COUNT(*) AS n FROM visits GROUP BY age > 40",
    "SELECT COUNT(*) AS n FROM visits WHERE day + INTERVAL '9998' YEAR > day",
    "SELECT COUNT(*) AS n FROM visits WHERE day - INTERVAL '119987' MONTH IS NULL",
    "SELECT COUNT(*) AS n FROM visits WHERE DATEADD(day, -3652058, day) = '0001-01-01'",
    "SELECT DATEDIFF(month, day, DATE '2024-01-31') > 0 AS late, COUNT(*) AS n FROM visits GROUP BY late",
    "SELECT EXTRACT(DOW FROM day) AS dow, COUNT(*) AS n, SUM(balance) AS s FROM visits GROUP BY dow",
    "SELECT WEEK(day) AS week, COUNT(*) AS n FROM visits GROUP BY week",
    "SELECT SUM(CLIP(EPOCH(day), 0, 1000000)) AS s FROM visits",
    "SELECT SUM(LN(age)) AS s, SUM(LN(cost)) AS t, SUM(LOG10(balance)) AS u FROM visits",
    "SELECT SUM(CLIP(EXP(age), 0, 1000)) AS s, SUM(EXP(cost)) AS t FROM visits",
    "SELECT SUM(CLIP(EXP(ward), 0, 10)) AS s, SUM(LOG(2, ward)) AS t FROM visits",
    "SELECT SUM(POWER(age, 2)) AS s, SUM(CLIP(POWER(ward, -6), 0, 1)) AS t FROM visits",
    "SELECT SUM(CLIP(STRPOS(city, 'o'), 0, 9)) AS s, COUNT(RIGHT(city, 2)) AS t FROM visits",
    "SELECT LPAD(city, 2, 'é') AS short, COUNT(*) AS n FROM visits GROUP BY short",
    "SELECT COUNT(*) AS n FROM visits WHERE RPAD(city, 1000, '💶') > LPAD(city, 1000, 'a')",
    "SELECT COUNT(*) AS n FROM visits WHERE city ILIKE '%O%' OR city RLIKE '^(T|.s).*[a-z]$'",
    "SELECT CAST(ROUND(age) AS VARCHAR(1)) AS digit, COUNT(*) AS n FROM visits GROUP BY digit",
    "SELECT SUM(CAST(cost AS DECIMAL(10, 1))) AS s FROM visits",
]


@pytest.fixture(scope="module")
def pair():
    return hard_worlds(three_engines.embedded(), 28)


@pytest.mark.few(4)
@pytest.mark.parametrize("text", QUESTIONS)
def test_expressions_move_nothing_further_than_declared(text, pair):
    seen = Counter()
    query, words, _ = outcome(text, pair.without)
    assert query is not None, words
    attack(text, pair, Salt(value="salt"), seen)


@pytest.mark.slow
def test_expressions_fail_on_no_engine(engine):  # noqa: F811
    pair, seen = hard_worlds(engine, 29), Counter()
    for text in QUESTIONS:
        attack(text, pair, Salt(value="salt"), seen)
    assert sum(seen.values()) >= len(QUESTIONS)
