"""Other spellings of aggregates: the same question."""

# ruff: noqa: S608
from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow
import pytest

from discreet.curator import Budget
from discreet.data import Bounds, Limits, Table
from discreet.front import Curator
from discreet.queries import parse
from discreet.queries.sql.formulas import aggregates
from discreet.queries.sql.syntax.aggregate_spellings import KNOWN
from queries.phrases import by_duckdb, counted, declared, frames
from queries.related import RELATED

SAME = [
    ("APPROX_COUNT_DISTINCT(city)", "COUNT(DISTINCT city)"),
    ("APPROX_DISTINCT(patient)", "COUNT(DISTINCT patient)"),
    ("APPROX_QUANTILES(age, 4)[OFFSET(1)]", "QUANTILE(age, 0.25)"),
    ("APPROX_QUANTILES(age, 100)[SAFE_ORDINAL(51)]", "MEDIAN(age)"),
    ("PERCENTILE_CONT(age, 0.9)", "QUANTILE(age, 0.9)"),
    ("PERCENTILE(age, 0.9)", "QUANTILE(age, 0.9)"),
    ("PERCENTILE_APPROX(age, 0.9, 100)", "QUANTILE(age, 0.9)"),
    ("PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY age DESC)", "QUANTILE(age, 0.1)"),
    ("APPROX_MEDIAN(age)", "MEDIAN(age)"),
    ("VAR(age)", "VAR_SAMP(age)"),
    ("VARP(age)", "VAR_POP(age)"),
    ("STDEVP(age)", "STDDEV_POP(age)"),
    ("COUNT_BIG(*)", "COUNT(*)"),
    ("SUM(1)", "COUNT(*)"),
    ("SUM(1) FILTER (WHERE age > 3)", "COUNT(*) FILTER (WHERE age > 3)"),
    ("SUMIF(age, ward = 1)", "SUM(CASE WHEN ward = 1 THEN age END)"),
    ("AVGIF(age, ward = 1)", "AVG(CASE WHEN ward = 1 THEN age END)"),
    ("MIN(DISTINCT age)", "MIN(age)"),
    ("APPROX_TOP_COUNT(city, 2)", "APPROX_TOP_K(city, 2)"),
    ("ANY_VALUE(city)", "MODE(city)"),
    ("ARBITRARY(city)", "MODE(city)"),
    ("REGR_R2(age, cost)", "CORR(age, cost) * CORR(age, cost)"),
    ("REGR_AVGX(age, cost)", "AVG(CASE WHEN age IS NOT NULL THEN cost END)"),
    ("REGR_COUNT(age, cost)", "COUNT(CASE WHEN age IS NOT NULL AND cost IS NOT NULL THEN 1 END)"),
]


@pytest.mark.parametrize(("written", "plain"), SAME)
def test_a_spelling_is_the_same_question(written, plain):
    one, other = (parse(f"SELECT {text} AS x FROM visits", RELATED) for text in (written, plain))
    assert one == other


def test_aggregates_without_a_node_are_known():
    assert set(aggregates._NAMED) == KNOWN


def test_any_value_of_a_key_is_the_key():
    text = "SELECT city, {} AS town, COUNT(*) AS n FROM visits GROUP BY city"
    written = parse(text.format("UPPER(ANY_VALUE(city))"), RELATED)
    assert written == parse(text.format("UPPER(city)"), RELATED)


def test_regressions_are_those_of_duckdb(tmp_path):
    draw = np.random.default_rng(3)
    x = draw.integers(0, 100, 400).astype(float)
    y = np.clip(np.round(0.4 * x + draw.normal(10, 5, 400)), 0, 100)
    missing = [None if place % 9 == 0 else float(one) for place, one in enumerate(y)]
    frame = pyarrow.table({"person": list(range(400)), "x": x, "y": missing})
    table = Table(
        frame, person="person", limits=Limits(rows=1), columns=dict.fromkeys("xy", Bounds(0, 100, step=1))
    )
    curator = Curator({"t": table}, budget=Budget(epsilon=10**6), ledger=tmp_path / "ledger")
    names = ("SLOPE", "INTERCEPT", "R2", "COUNT", "AVGX", "AVGY")
    listed = ", ".join(f"REGR_{name}(y, x) AS {name.lower()}" for name in names)
    release = curator.ask(f"SELECT {listed} FROM t", epsilon=3000)  # so that no interval fails by chance
    expected = by_duckdb(f"SELECT {listed} FROM t", {"t": frame})[0]
    for column, value in zip(release.outputs, expected, strict=True):
        assert column.values[0] == pytest.approx(value, rel=0.03)
        assert column.lower[0] <= value <= column.upper[0]


@pytest.mark.parametrize(
    "inner",
    [
        "SELECT patient, COUNT_IF(ward > 1) AS k FROM visits GROUP BY patient",
        "SELECT patient, COUNT(*) FILTER (WHERE ward > 1) AS k FROM visits GROUP BY patient",
        "SELECT patient, SUM(ward) FILTER (WHERE city = 'Oslo') AS k FROM visits GROUP BY patient",
        "SELECT patient, CASE WHEN BOOL_OR(urgent) THEN 2 END AS k FROM visits GROUP BY patient",
        "SELECT patient, CASE WHEN BOOL_AND(urgent) THEN 2 END AS k FROM visits GROUP BY patient",
    ],
)
def test_aggregates_of_each_person_are_those_of_duckdb(inner):
    found = frames(8)
    text = f"SELECT COUNT(*) AS n FROM ({inner}) x WHERE k = 2"
    assert counted(text, declared(found)) == by_duckdb(text, found)[0][0]


def test_shares_are_exact():
    query = parse("SELECT APPROX_QUANTILES(age, 8)[OFFSET(3)] AS q FROM visits", RELATED)
    assert query.outputs[0][1].parameter == Fraction(3, 8)
