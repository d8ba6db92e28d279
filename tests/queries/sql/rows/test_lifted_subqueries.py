"""IN, EXISTS and scalar subqueries about rows of the same person: the rows of DuckDB, NULL by NULL."""

from __future__ import annotations

import pyarrow
import pytest

from discreet.data import to_json
from discreet.data.facts.limits import limits_of
from discreet.data.tables.ownership import owned_tables
from discreet.errors import UnsupportedQuery
from discreet.queries import bind, parse
from queries.key_schemas import wholesaler, wholesaler_tables
from queries.phrases import by_duckdb, counted, declared, frames

COUNT = "SELECT COUNT(*) AS n FROM "
OWN = "SELECT {} FROM staff s WHERE s.patient = v.patient"
CONDITIONS = [
    "v.patient IN (SELECT patient FROM staff)",
    "v.patient NOT IN (SELECT patient FROM staff WHERE ward = 1)",
    "NOT v.patient IN (SELECT patient FROM staff WHERE ward = 1)",
    "v.patient = ANY (SELECT patient FROM staff)",
    "v.patient <> ALL (SELECT patient FROM staff WHERE ward > 1)",
    "v.patient IN (SELECT patient FROM staff GROUP BY patient HAVING COUNT(*) > 1)",
    "v.patient IN (SELECT DISTINCT patient FROM staff UNION ALL SELECT patient FROM visits WHERE cost > 7)",
    f"EXISTS ({OWN.format(1)})",
    f"NOT EXISTS ({OWN.format('*')})",
    f"EXISTS ({OWN.format('NULL')} AND s.ward = 1)",
    f"EXISTS ({OWN.format(1)} AND s.ward = v.ward)",
    f"NOT EXISTS ({OWN.format(1)} AND s.ward = v.ward)",
    f"EXISTS ({OWN.format(1)} AND s.day > v.day)",
    f"NOT EXISTS ({OWN.format(1)} AND s.day > v.day AND s.ward <= v.ward + 1)",
    f"EXISTS ({OWN.format(1)} AND (s.ward = v.ward OR s.day = v.day))",
    f"v.city = 'Oslo' OR EXISTS ({OWN.format(1)} AND ward = 2)",
    f"v.ward IN ({OWN.format('ward')})",
    f"v.ward NOT IN ({OWN.format('ward')})",
    f"v.ward NOT IN ({OWN.format('s.ward')} AND s.day IS NOT NULL)",
    f"(v.ward IN ({OWN.format('ward')})) IS NULL",
    f"(v.ward NOT IN ({OWN.format('ward')})) IS NOT NULL",
    f"v.ward + 1 IN ({OWN.format('ward')})",
    f"v.ward NOT IN ({OWN.format('ward + 1')})",
    "(v.patient, v.ward) IN (SELECT patient, ward FROM staff)",
    "(v.patient, v.ward) NOT IN (SELECT patient, ward FROM staff)",
    "(v.patient, v.ward, v.day) IN (SELECT patient, ward, day FROM staff)",
    "(ward, patient) NOT IN (SELECT ward, patient FROM staff WHERE day > DATE '2024-02-01')",
    "EXISTS (SELECT 1 FROM cities c WHERE c.name = v.city)",
    "NOT EXISTS (SELECT 1 FROM cities c WHERE c.name = v.city AND c.ward > 1)",
    "EXISTS (SELECT 1 FROM cities c WHERE c.ward > v.ward)",
    "NOT EXISTS (SELECT 1 FROM cities c, cities d WHERE c.ward = d.ward AND d.name = v.city)",
    "v.ward IN (SELECT c.ward FROM cities c WHERE c.name = v.city)",
    "EXISTS (SELECT 1 FROM staff s JOIN cities c ON s.ward = c.ward WHERE s.patient = v.patient)",
    "EXISTS (SELECT 1 FROM cities c, staff s WHERE s.ward = c.ward AND s.patient = v.patient "
    "AND c.name = v.city)",
    "v.patient IN (SELECT patient FROM staff s WHERE EXISTS (SELECT 1 FROM visits w WHERE "
    "w.patient = s.patient AND w.day = s.day))",
    "v.patient IN (SELECT patient FROM staff WHERE ward IN (SELECT ward FROM cities WHERE name = 'Rome'))",
    "EXISTS (SELECT 1 FROM visits w WHERE w.patient = v.patient AND w.day > v.day) "
    "AND v.patient NOT IN (SELECT patient FROM staff)",
    "CASE WHEN v.patient IN (SELECT patient FROM staff) THEN v.ward ELSE 2 END = 2",
    "v.cost > (SELECT AVG(w.cost) FROM visits w WHERE w.patient = v.patient)",
    "v.ward >= (SELECT MAX(s.ward) - 1 FROM staff s WHERE s.patient = v.patient AND s.day = v.day)",
    "(SELECT COUNT(*) FROM staff s WHERE s.patient = v.patient) < 2",
    "(SELECT COUNT(s.ward) FROM staff s WHERE s.patient = v.patient AND s.ward > 1) = 0",
]


@pytest.mark.few(12)
@pytest.mark.parametrize("condition", CONDITIONS)
def test_rows_are_those_of_duckdb(condition):
    for seed in (1, 2):
        found = frames(seed)
        text = f"{COUNT}visits v WHERE {condition}"
        assert counted(text, declared(found)) == by_duckdb(text, found)[0][0]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM (SELECT v.patient IN (SELECT patient FROM staff) AS works FROM visits v) "
        "AS x WHERE works",
        "SELECT COUNT(*) AS n FROM (SELECT ward, CASE WHEN EXISTS (SELECT 1 FROM staff s WHERE s.patient = "
        "v.patient AND s.ward > v.ward) THEN 1 ELSE 0 END AS k FROM visits v WHERE v.cost > 1) x WHERE k = 1",
        "SELECT COUNT(*) AS n FROM (SELECT patient, COUNT(*) AS k FROM visits WHERE patient IN "
        "(SELECT patient FROM staff) GROUP BY patient) x WHERE k > 2",
        "WITH w AS (SELECT patient FROM staff WHERE ward = 1) SELECT COUNT(*) AS n FROM visits "
        "WHERE patient IN (SELECT patient FROM w)",
        "SELECT COUNT(*) AS n FROM visits v JOIN staff s ON v.patient = s.patient AND "
        "EXISTS (SELECT 1 FROM cities c WHERE c.name = v.city AND c.ward = s.ward)",
    ],
)
def test_subqueries_may_be_anywhere(text):
    found = frames(3)
    assert counted(text, declared(found)) == by_duckdb(text, found)[0][0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "visits v WHERE EXISTS (SELECT 1 FROM staff s WHERE s.patient = v.patient)",
            "visits v SEMI JOIN staff s ON s.patient = v.patient",
        ),
        (
            "visits WHERE (patient, ward) IN (SELECT patient, ward FROM staff)",
            "visits v SEMI JOIN staff s ON s.patient = v.patient AND s.ward = v.ward",
        ),
    ],
)
def test_what_every_row_must_meet_is_a_semi_join(one, other):
    tables = declared(frames(1))
    assert to_json(parse(COUNT + one, tables).relation) == to_json(parse(COUNT + other, tables).relation)


def test_groups_and_aggregates_may_hold_subqueries():
    found = frames(4)
    tables = declared(found)
    text = (
        "SELECT EXISTS (SELECT 1 FROM staff s WHERE s.patient = v.patient) AS works, "
        "SUM(CASE WHEN v.patient NOT IN (SELECT patient FROM staff WHERE ward = 1) THEN 1 ELSE 0 END) AS n "
        "FROM visits v GROUP BY 1"
    )
    query = parse(text, tables)
    assert [key.name for key in query.keys] == ["works"]
    assert bind(query, tables).plan.keys[0].values.values == (False, True)


def test_a_person_has_no_more_rows_than_without_the_condition():
    tables = declared(frames(1))
    for condition in CONDITIONS:
        query = parse(f"{COUNT}visits v WHERE {condition}", tables)
        assert limits_of(query.relation, tables) == tables["visits"].limits


@pytest.mark.parametrize(
    "condition",
    [
        "EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)",
        "NOT EXISTS (SELECT 1 FROM lineitem WHERE l_orderkey = o_orderkey AND l_shipdate > o_orderdate)",
        "o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING SUM(l_quantity) > 60)",
        "o_totalprice > (SELECT SUM(l_extendedprice) FROM lineitem WHERE l_orderkey = o_orderkey)",
    ],
)
def test_rows_that_belong_to_persons_through_others_are_found_by_their_keys(condition):
    found = wholesaler()
    tables, text = owned_tables(wholesaler_tables(found)), f"{COUNT}orders WHERE {condition}"
    arrows = {name: pyarrow.Table.from_pandas(frame) for name, frame in found.items()}
    assert counted(text, tables) == by_duckdb(text, arrows)[0][0]


REFUSED = [
    ("ward IN (SELECT ward FROM staff)", "other persons"),
    ("EXISTS (SELECT 1 FROM staff)", "other persons"),
    ("EXISTS (SELECT 1 FROM staff s WHERE s.ward = v.ward)", "other persons"),
    ("EXISTS (SELECT 1 FROM staff s WHERE s.patient = v.patient OR s.ward = v.ward)", "other persons"),
    ("EXISTS (SELECT 1 FROM staff s WHERE s.patient = v.patient + 0)", "other persons"),
    ("NOT EXISTS (SELECT 1 FROM staff s WHERE s.patient >= v.patient)", "other persons"),
    ("patient IN (SELECT patient + 1 FROM staff)", "other persons"),
    ("patient IN (SELECT ward FROM staff)", "other persons"),
    ("v.ward > (SELECT AVG(s.ward) FROM staff s WHERE s.ward = v.ward)", "other persons"),
    ("v.ward > (SELECT s.ward FROM staff s WHERE s.patient = v.patient)", "several rows"),
    ("v.ward > (SELECT COUNT(*) + 1 FROM staff s WHERE s.patient = v.patient)", "calculation with COUNT"),
    ("EXISTS (SELECT COUNT(*) FROM staff s WHERE s.patient = v.patient)", "EXISTS with this"),
    ("EXISTS (SELECT 1 FROM cities)", "says nothing"),
    ("patient IN (SELECT patient, ward FROM staff)", "more or fewer columns"),
    (
        "(patient, ward, day) NOT IN (SELECT patient, ward, day FROM staff)",
        "IN with this subquery here",
    ),
    ("patient IN (SELECT patient FROM staff LIMIT 1)", "LIMIT"),
]


@pytest.mark.parametrize(("condition", "words"), REFUSED)
def test_rows_of_others_decide_nothing(condition, words):
    tables = declared(frames(1))
    with pytest.raises(UnsupportedQuery, match=words):
        bind(parse(f"{COUNT}visits v WHERE {condition}", tables), tables)
