"""Whatever one person stores, every question is answered, and nothing of others moves.

One person with hostile values of every type is added to a small table. Questions over all columns (keys that
nobody declared, conditions, functions, conversions, aggregates, joins, rows for trusted code) must be
answered in both worlds, and move no further than is declared.
"""

# ruff: noqa: E501, S608

from __future__ import annotations

import datetime
import uuid
from collections import Counter

import ibis
import pyarrow
import pytest

from data import three_engines
from discreet.data import Bounds, Dates, Keys, Limits, Table, Type
from discreet.data.compile import strings
from discreet.data.engines.base import fetch
from discreet.data.reading.normal_forms import LONGEST_TEXT
from discreet.data.salt import Salt
from discreet.data.tables.public_table import PublicTable
from queries.test_neighbors import ask
from queries.worlds import Worlds, created

LONG = 11_000_000  # a hundred times this is more than PostgreSQL holds in one value

DUCKDB = {
    "d": ("DATE", ["'infinity'", "'-infinity'", "'290000-01-01'", "'4000-01-01 (BC)'", "'0001-01-01'"]),
    "s": ("TIMESTAMP", ["'infinity'", "'-infinity'", "'290000-01-01'", "'4000-01-01 (BC) 00:00:00'"]),
    "z": ("TIMESTAMPTZ", ["'infinity'", "'-infinity'", "'290000-01-01 00:00:00+00'"]),
    "m": ("TIMESTAMP_S", ["'infinity'", "'-infinity'", "'290000-01-01'", "'9999-12-31'"]),
    "t": (
        "VARCHAR",
        [f"repeat('x', {LONG})", "repeat('a', 16384)", "repeat('ß', 9000)", "'a' || chr(0)", "''"],
    ),
    "f": ("DOUBLE", ["'nan'", "'inf'", "'-inf'", "1.8e308", "'-0.0'"]),
    "n": ("DECIMAL(38, 4)", ["9999999999999999999999999999999999.9999", "-0.0001"]),
    "h": ("HUGEINT", ["170141183460469231731687303715884105727", "-170141183460469231731687303715884105728"]),
    "o": ("INTERVAL", ["INTERVAL '100000 years'", "INTERVAL '-1 month'"]),
    "p": ("TIMETZ", ["'23:59:59+15:59'"]),
}
POSTGRES = {
    "d": (
        "date",
        [
            "'infinity'",
            "'-infinity'",
            "'5874897-12-31'",
            "'10000-01-01'",
            "'4713-01-01 BC'",
            "'0001-12-31 BC'",
        ],
    ),
    "s": ("timestamp", ["'infinity'", "'-infinity'", "'294276-12-31'", "'4713-01-01 BC'"]),
    "z": ("timestamptz", ["'infinity'", "'-infinity'", "'294276-12-31+00'", "'9999-12-31 23:59:59-12'"]),
    "m": ("timestamp(0)", ["'294276-12-31'", "'9999-12-31 23:59:59'"]),
    "t": ("text", [f"repeat('x', {LONG})", "repeat('a', 16384)", "repeat('ß', 9000)", "''"]),
    "f": ("float8", ["'nan'", "'inf'", "'-inf'", "1.7e308", "'-0'"]),
    "n": ("numeric(38, 4)", ["'NaN'", "9999999999999999999999999999999999.9999", "-0.0001"]),
    "h": (
        "numeric",
        ["'NaN'", "'Infinity'", "'-Infinity'", "1e1000::numeric", "1e-1000::numeric", "repeat('9', 1000)"],
    ),
    "o": ("interval", ["'100000 years'", "'-1 month'"]),
    "p": ("int4[]", ["'{}'", "'{1,NULL}'"]),
}
SPARK = {
    "d": ("DATE", ["DATE '+290000-01-01'", "DATE '-4000-01-01'", "DATE '0001-01-01'", "DATE '9999-12-31'"]),
    "s": (
        "TIMESTAMP_NTZ",
        ["TIMESTAMP_NTZ '+290000-01-01 00:00:00'", "TIMESTAMP_NTZ '-4000-01-01 00:00:00'"],
    ),
    "z": (
        "TIMESTAMP_LTZ",
        ["TIMESTAMP_LTZ '+290000-01-01 00:00:00Z'", "TIMESTAMP_LTZ '-4000-01-01 00:00:00Z'"],
    ),
    "m": ("TIMESTAMP_NTZ", ["TIMESTAMP_NTZ '+290000-01-01 00:00:00'"]),
    "t": (
        "STRING",
        [f"repeat('x', {LONG})", "repeat('a', 16384)", "CAST(X'FFFE41' AS STRING)", "repeat('ß', 9000)"],
    ),
    "f": ("DOUBLE", ["double('NaN')", "double('Infinity')", "double('-Infinity')", "1.7e308D", "-0.0D"]),
    "n": ("DECIMAL(38, 4)", ["9999999999999999999999999999999999.9999", "-0.0001"]),
    "h": ("DECIMAL(38, 0)", ["99999999999999999999999999999999999999", "-1"]),
    "o": ("INTERVAL DAY TO SECOND", ["INTERVAL '100000' DAY"]),
    "p": ("ARRAY<INT>", ["array(1, NULL)"]),
}
HOSTILE = {three_engines.DUCKDB: DUCKDB, three_engines.POSTGRES: POSTGRES, three_engines.SPARK: SPARK}

DECLARED = {
    "t": Keys(["a", "b", None]),
    "f": Bounds(0, 9, step=0.5, nan=1),
    "n": Bounds(0, 9, step=0.5),
    "s": Dates(datetime.date(2026, 1, 1), datetime.date(2026, 12, 31)),
}
QUESTIONS = [
    "SELECT d, COUNT(*) AS n FROM v GROUP BY d",
    "SELECT w, COUNT(*) AS n FROM v GROUP BY w",
    "SELECT DATE_TRUNC('month', m) AS k, COUNT(*) AS n FROM v GROUP BY k",
    "SELECT CAST(z AS DATE) AS k, COUNT(*) AS n FROM v GROUP BY k",
    "SELECT k, COUNT(*) AS n FROM (SELECT id, MAX(d) AS k FROM v GROUP BY id) x GROUP BY k",
    "SELECT k, COUNT(*) AS n FROM (SELECT id, MIN(w) AS k FROM v GROUP BY id) x GROUP BY k",
    "SELECT t, COUNT(*) AS n, SUM(f) AS a, SUM(n) AS b FROM v GROUP BY t",
    "SELECT COUNT(*) AS n FROM v WHERE " + " || ".join(["w"] * 99) + " LIKE '%x'",
    "SELECT COUNT(*) AS n FROM v WHERE REPLACE(w, 'x', '" + "y" * 99 + "') LIKE '%a%a%a%a%a_b'",
    "SELECT COUNT(*) AS n FROM v WHERE w LIKE '%a%a%a%a%b' OR UPPER(w) = 'ß' OR LENGTH(w) > 20000",
    "SELECT COUNT(*) AS n FROM v WHERE CONTAINS(w, t) OR STARTS_WITH(t, w) OR ENDS_WITH(w, LOWER(TRIM(t)))",
    "SELECT COUNT(*) AS n FROM v WHERE CAST(w AS INTEGER) IS NULL AND CAST(w AS DATE) IS NULL",
    "SELECT COUNT(*) AS n FROM v WHERE YEAR(d) > 9999 OR d > DATE '9999-01-01' OR m < TIMESTAMP '0001-01-02 00:00:00'",
    "SELECT MONTH(s) AS k, COUNT(DISTINCT d) AS n FROM v GROUP BY k",
    "SELECT COUNT(DISTINCT w) AS a, COUNT(DISTINCT id) AS b, COUNT(DISTINCT z) AS c FROM v",
    "SELECT COUNT(*) AS n FROM v WHERE DATEDIFF('day', d, m) > 5 OR CAST(d AS TEXT) LIKE '0%'",
    "SELECT COUNT(*) AS n FROM v WHERE h > 5 OR ROUND(h) = 1 OR SQRT(f) > 2 OR f > 3 OR n < 0 OR f <> f",
    "SELECT COUNT(*) AS n FROM v WHERE o IS NULL OR p IS NOT NULL",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT id, d, w, z FROM v) x",
    "SELECT COUNT(*) AS n FROM v a JOIN v b ON a.id = b.id AND a.w = b.w AND a.d = b.d",
    "SELECT region, COUNT(*) AS n FROM v JOIN names ON w = name GROUP BY region",
    "SELECT COUNT(*) AS n FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY id ORDER BY d, w, z, f) AS k FROM v) x WHERE k = 1",
    "SELECT COUNT(*) AS n FROM (SELECT id, d, w FROM v UNION ALL SELECT id, d, w FROM v) x WHERE w >= 'a'",
]
BENIGN = {
    three_engines.DUCKDB: [
        "1",
        "DATE '2026-01-31'",
        "TIMESTAMP '2026-01-31'",
        "'2026-01-31 00:00:00+00'",
        "'2026-01-31'",
    ],
    three_engines.POSTGRES: [
        "1",
        "date '2026-01-31'",
        "timestamp '2026-01-31'",
        "'2026-01-31+00'",
        "'2026-01-31'",
    ],
    three_engines.SPARK: [
        "1",
        "DATE '2026-01-31'",
        "TIMESTAMP_NTZ '2026-01-31 00:00:00'",
        "TIMESTAMP_LTZ '2026-01-31 00:00:00Z'",
        "TIMESTAMP_NTZ '2026-01-31 00:00:00'",
    ],
}


def rows_of(engine: str) -> tuple[list[str], list[str]]:
    """The rows of three persons, and those of a stranger, as SELECT statements."""
    columns = HOSTILE[engine]
    others = []
    for number in range(3):
        _, day, time, instant, other = BENIGN[engine]
        values = {"d": day, "s": time, "z": instant, "m": other, "t": f"'{'abc'[number]}'"}
        values |= {"f": "2.5", "n": "1.5", "h": "7", "o": "NULL", "p": "NULL"}
        others.append(selected(number, {name: values[name] for name in columns}, columns))
    stranger = []
    for name, (_, values) in columns.items():
        for value in values:
            alone = dict.fromkeys(columns, "NULL") | {name: value}
            stranger.append(selected(77, alone, columns))
    for place in range(6):
        mixed = {name: values[place % len(values)] for name, (_, values) in columns.items()}
        stranger.append(selected(77, mixed, columns))
    return others, stranger


def selected(person: int, values: dict[str, str], columns: dict[str, tuple[str, list[str]]]) -> str:
    cast = [f"CAST({value} AS {columns[name][0]}) AS {name}" for name, value in values.items()]
    return f"SELECT {person} AS id, {', '.join(cast)}, CAST({values['t']} AS {columns['t'][0]}) AS w"


@pytest.fixture(
    scope="module",
    params=[
        three_engines.DUCKDB,
        three_engines.POSTGRES,
        pytest.param(three_engines.SPARK, marks=pytest.mark.slow),
    ],
)
def worlds(request) -> Worlds:
    """Both worlds in an engine, written in its own words."""
    name = request.param
    made = None if name == three_engines.DUCKDB else request.getfixturevalue(f"{name}_engine")
    others, stranger = rows_of(name)
    found = []
    for rows in (others, others + stranger):
        statement, place = " UNION ALL ".join(rows), f"hostile_{uuid.uuid4().hex}"
        if name == three_engines.DUCKDB:
            connection = ibis.duckdb.connect()
            connection.raw_sql(f"CREATE TABLE {place} AS {statement}")
            source = created(connection, place)
        elif name == three_engines.POSTGRES:
            backend = made.source(pyarrow.table({"x": [1]})).get_backend()
            backend.con.execute(f"CREATE TABLE {place} AS {statement}")
            source = postgres_table(backend, place)
        else:
            session = made.source(pyarrow.table({"x": [1]})).sparkSession
            source = session.sql(statement).localCheckpoint()  # values, not a plan of them
        table = Table(source, person="id", limits=Limits(rows=2), columns=DECLARED)
        names = PublicTable(pyarrow.table({"name": ["a", "x" * 20_000], "region": ["north", "south"]}))
        found.append({"v": table, "names": names})
    return Worlds(without=found[0], with_person=found[1], prepared=True)  # two names: a statement for each


def postgres_table(backend: ibis.BaseBackend, name: str) -> ibis.expr.types.Table:
    import ibis.expr.operations as ops
    import ibis.expr.schema as sch

    return ops.DatabaseTable(name, sch.Schema({}), backend, ops.Namespace()).to_expr()


@pytest.mark.few(10, slow=8)
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_is_answered_and_only_the_stranger_moves_it(worlds, question):
    seen = Counter()
    ask(question, worlds, Salt(value="salt"), seen)
    assert not seen["refused"]


def test_rows_for_trusted_code_are_there_whatever_they_hold(worlds):
    others = worlds.without["v"]._rows().to_pylist()
    everybody = worlds.with_person["v"]._rows().to_pylist()
    assert len(others) == 3
    assert sorted(str(row) for row in everybody if row["id"] != 77) == sorted(map(str, others))


def test_forms_are_what_is_written(worlds):
    table = worlds.with_person["v"]
    rows = table._relation
    lengths = fetch(rows.select(n=rows["w"].length()).distinct(), table._backend)["n"].to_pylist()
    assert max(one for one in lengths if one is not None) == LONGEST_TEXT
    for name in "dszm":
        found = fetch(rows.select(k=rows[name]).distinct(), table._backend)["k"].to_pylist()
        years = {value.year for value in found if value is not None}
        assert years <= {1, 2026, 9999}
        assert 2026 in years
    assert table.schema["o"] is table.schema["p"] is Type.OTHER
    assert set(fetch(rows.select(k=rows["o"]), table._backend)["k"].to_pylist()) == {None, b""}


def test_a_person_of_too_long_a_name_is_nobody(tmp_path):
    names = ["a" * LONGEST_TEXT, "a" * (LONGEST_TEXT + 1), "a" * (LONGEST_TEXT + 2)]
    table = Table(pyarrow.table({"id": names}), person="id", limits=Limits(rows=1))
    assert table._rows().column("id").to_pylist() == names[:1]


def test_texts_end_where_they_must(engine):
    rows = pyarrow.table({"row": [0, 1], "t": ["ä" * 8000, "a" * LONGEST_TEXT]})
    table = engine.table(rows)
    joined, replaced = strings.concat_texts, strings.replace
    found = engine.values(
        table,
        whole=lambda rows: joined(rows.t, "", ""),
        short=lambda rows: joined("<", rows.t, ">"),
        twice=lambda rows: joined(rows.t, rows.t, rows.t),
        longer=lambda rows: replaced(rows.t, "a", "bc"),
        same=lambda rows: replaced(rows.t, "a", "b"),
    )
    assert found["whole"] == rows["t"].to_pylist()
    assert found["short"] == ["<" + "ä" * 8000 + ">", "<" + "a" * (LONGEST_TEXT - 1)]
    assert found["twice"] == ["ä" * LONGEST_TEXT, "a" * LONGEST_TEXT]
    assert found["longer"] == ["ä" * 8000, "bc" * (LONGEST_TEXT // 2)]
    assert found["same"] == ["ä" * 8000, "b" * LONGEST_TEXT]
