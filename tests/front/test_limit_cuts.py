"""How much limits cut, through the one paid entrance."""

from __future__ import annotations

import pandas as pd
import pytest

from discreet.curator import Budget
from discreet.data import AUTO, Bounds, Limits, Table
from discreet.errors import BudgetExceeded, ParameterError
from discreet.front import Curator

SIZES = [1] * 600 + [4] * 300 + [12] * 100
FRAME = pd.DataFrame({"who": [person for person, rows in enumerate(SIZES) for _ in range(rows)], "age": 30})
COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture
def curator(place):
    table = Table(FRAME, person="who", limits=Limits(rows=2), columns={"age": Bounds(0, 120)})
    return Curator({"visits": table}, budget=Budget(epsilon=60), ledger=place / "l")


def test_persons_over_the_limit_and_rows_that_it_cuts(curator):
    found = curator.cut_by_limits(COUNT, epsilon=50)
    exact = {"persons": 1000, "persons_over": 400, "rows_kept": 1400, "rows_cut": 1600}
    exact |= {"share_of_persons": 0.4, "share_of_rows": 1600 / 3000}
    for name, value in exact.items():
        assert found[name][0] == pytest.approx(value, rel=0.05)
    assert curator.spent.requests == 1
    assert "what a limit of 2 rows per person cuts, of at most 20 rows per person" in str(found)
    assert "paid epsilon 50; left: a pure epsilon of 10" in str(found)
    assert curator.cut_by_limits(curator.table("visits"), epsilon=50).stored


def test_of_the_rows_that_a_question_is_about_and_under_another_limit(curator):
    none = curator.cut_by_limits("SELECT AVG(age) AS m FROM visits WHERE age > 90", epsilon=5)
    assert abs(none["rows_kept"][0]) < 100
    wide = curator.cut_by_limits(COUNT, epsilon=50, limits=Limits(rows=12), most=24)
    assert abs(wide["persons_over"][0]) < 10


def test_what_is_refused_costs_nothing(curator):
    with pytest.raises(BudgetExceeded):
        curator.cut_by_limits(COUNT, epsilon=100)
    with pytest.raises(ParameterError, match="one question"):
        curator.cut_by_limits("SELECT (SELECT COUNT(*) FROM visits) AS a, 1 AS b", epsilon=1)
    per_person = "SELECT AVG(n) AS m FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) AS t"
    with pytest.raises(ParameterError, match="each person has one"):
        curator.cut_by_limits(per_person, epsilon=1)
    assert curator.spent.requests == 0


def test_limits_that_are_bought_have_to_be_stated(place):
    table = Table(FRAME, person="who", limits=Limits(rows=AUTO, at_most=50))
    curator = Curator({"visits": table}, budget=Budget(epsilon=60), ledger=place / "l")
    with pytest.raises(ParameterError, match="are bought"):
        curator.cut_by_limits(COUNT, epsilon=1)
    assert curator.cut_by_limits(COUNT, epsilon=20, limits=Limits(rows=4))["persons_over"][0] > 50


def test_shares_and_intervals_are_within_what_is_possible_and_most_is_named_where_noise_hides_them(place):
    few = pd.DataFrame({"who": range(5)})
    curator = Curator(
        {"visits": Table(few, person="who", limits=Limits(rows=30))},
        budget=Budget(epsilon=60),
        ledger=place / "l",
    )
    told = []
    for number in range(6):
        found = curator.cut_by_limits(COUNT, epsilon=f"0.0{number + 1}")
        for column in found.outputs:
            assert (column.lower >= 0).all()
            assert (column.upper >= 0).all()
            if column.name.startswith("share"):
                assert (column.unknown | (column.values >= 0) & (column.values <= 1)).all()
                assert (column.upper <= 1).all()
        assert "lower limit" not in str(found)
        told.append("of at most 300 rows per person; most=150 would have less noise" in str(found))
    assert any(told)  # one draw in twenty is so large that it does not look like noise
    assert "most=" not in str(curator.cut_by_limits(COUNT, epsilon="0.1", most=31))


def test_most_is_not_named_where_the_noise_hides_nothing(curator):
    assert "would have less noise" not in str(curator.cut_by_limits(COUNT, epsilon=50))
