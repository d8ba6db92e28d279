"""What a refusal says to write instead is answered, and with what the engine itself would say."""

# ruff: noqa: S608

from __future__ import annotations

import datetime
import re

import duckdb
import pyarrow
import pytest

import discreet as dp
from discreet.errors import RequestRefused

FIRST = datetime.date(2024, 1, 1)
MOMENTS = [datetime.datetime(2024, 1, 1 + place % 3, place % 24, place % 60) for place in range(200)]
ROWS = pyarrow.table(
    {
        "who": range(200),
        "day": [FIRST + datetime.timedelta(days=(7 * place) % 91) for place in range(200)],
        "arrived": MOMENTS,
        "undeclared": [FIRST] * 200,
        "ward": [("A", "B", None)[place % 3] for place in range(200)],
    }
)
DAYS = dp.Dates(FIRST, "2024-03-31")


@pytest.fixture
def clinic(tmp_path):
    columns = {"day": DAYS, "arrived": DAYS, "ward": dp.Keys(["A", "B"])}
    table = dp.Table(ROWS, person="who", limits=dp.Limits(rows=1), columns=columns)
    budget = dp.Budget(epsilon=10**9, delta=1e-3)
    return dp.Curator({"visits": table}, budget=budget, ledger=tmp_path / "l.ledger")


def exact(text: str) -> list[tuple[object, ...]]:
    connection = duckdb.connect()
    connection.register("visits", ROWS)
    return connection.sql(text).fetchall()


def refusal(clinic, text: str) -> str:
    before = clinic.spent.requests
    with pytest.raises(RequestRefused) as caught:
        clinic.ask(text, epsilon=10)
    assert clinic.spent.requests == before
    return str(caught.value)


@pytest.mark.parametrize(
    "aggregate", ["MIN({})", "MAX({})", "MEDIAN({})", "QUANTILE({}, 0.25)", "QUANTILE({}, 0.9)", "AVG({})"]
)
@pytest.mark.parametrize("column", ["day", "arrived"])
def test_aggregates_of_dates_are_refused_with_days_that_are_answered(clinic, aggregate, column):
    words = refusal(clinic, f"SELECT {aggregate.format(column)} AS d FROM visits")
    assert "Bounds" not in words
    (instead,) = re.findall(r"take that of (DATEDIFF\(.*\)), the days since", words)
    assert instead == f"DATEDIFF('day', DATE '2024-01-01', {column})"
    text = f"SELECT {aggregate.format(instead)} AS d FROM visits"
    ((truth,),) = exact(text)
    (row,) = clinic.ask(text, epsilon=10**4).to_pandas().to_dict("records")
    assert row["d_lower"] - 1e-6 <= truth <= row["d_upper"] + 1e-6


def test_of_dates_that_nobody_declared_the_declaration_is_named(clinic):
    words = refusal(clinic, "SELECT MAX(undeclared) AS d FROM visits")
    assert "columns={'undeclared': Dates(first, last)}" in words
    assert "Bounds" not in words


@pytest.mark.parametrize("delta", [None, "1e-6"])
def test_an_hour_is_no_key_and_the_refusal_says_which_are(clinic, delta):
    text = "SELECT DATE_TRUNC('hour', arrived) AS h, COUNT(*) AS n FROM visits GROUP BY 1"
    with pytest.raises(RequestRefused, match=r"group by CAST\(arrived AS DATE\), HOUR\(arrived\)"):
        clinic.ask(text, epsilon=10, **({} if delta is None else {"delta": delta}))
    text = (
        "SELECT CAST(arrived AS DATE) AS d, HOUR(arrived) AS h, COUNT(*) AS n FROM visits "
        "WHERE arrived < '2024-01-04' GROUP BY CAST(arrived AS DATE), HOUR(arrived)"
    )
    found = clinic.ask(text, epsilon=10**4)
    counts = dict(zip(zip(found["d"], found["h"], strict=True), found["n"], strict=True))
    assert {key: many for key, many in counts.items() if many} == {(d, h): n for d, h, n in exact(text)}


@pytest.mark.parametrize("function", ["IFNULL", "COALESCE"])
def test_what_replaces_no_key_is_refused_with_the_key_that_is_replaced(clinic, function):
    text = f"SELECT {function}(ward, '?') AS w, COUNT(*) AS n FROM visits GROUP BY "
    words = refusal(clinic, f"{text}ward")
    assert "are in no group of GROUP BY ward; group by the COALESCE itself, as with GROUP BY 1" in words
    found = clinic.ask(f"{text}1", epsilon=10**4)
    assert dict(zip(found["w"], found["n"], strict=True)) == dict(exact(f"{text}1"))


def test_keys_with_a_missing_one_and_totals_are_replaced(tmp_path):
    table = dp.Table(
        ROWS, person="who", limits=dp.Limits(rows=1), columns={"ward": dp.Keys(["A", "B", None])}
    )
    clinic = dp.Curator({"visits": table}, budget=dp.Budget(epsilon=10**9), ledger=tmp_path / "l.ledger")
    text = "SELECT COALESCE(ward, '?') AS w, COUNT(*) AS n FROM visits GROUP BY ward"
    found = clinic.ask(text, epsilon=10**4)
    assert dict(zip(found["w"], found["n"], strict=True)) == dict(exact(text))


def test_totals_of_a_key_have_none_so_that_it_is_replaced(clinic):
    text = (
        "SELECT COALESCE(ward, 'all') AS w, COUNT(*) AS n FROM visits WHERE ward IS NOT NULL "
        "GROUP BY ROLLUP (ward)"
    )
    found = clinic.ask(text, epsilon=10**4)
    assert dict(zip(found["w"], found["n"], strict=True)) == dict(exact(text))
