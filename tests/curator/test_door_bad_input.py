"""Strange names, strange data, strange numbers: refused before the charge, or answered like any other."""

from __future__ import annotations

import math

import numpy as np
import pyarrow
import pytest

from curator.doors import BY_CITY, CITIES, COLUMNS, COUNT, clinic, entries, usual_visits, visits
from discreet.curator import Budget
from discreet.data import EACH_ROW, Bounds, Keys, Limits, Table, col, count
from discreet.errors import BudgetExceeded, DiscreetError, ParameterError
from discreet.front import Curator

SHARP = {"epsilon": 50}
"""So much that noise is hardly ever more than a few units."""
RICH = Budget(epsilon=10**6)


def row(**values):
    return {"patient": 1, "household": 1, "city": "Oslo", "age": 30, "cost": 100.0, **values}


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row(patient=None)] * 50,
        [row(city="Atlantis")] * 50,
        [row(city=None)] * 50,
    ],
)
def test_without_rows_that_count_there_is_a_whole_answer(place, rows):
    table = visits(rows)
    release = clinic(place, tables={"visits": table}, budget=RICH).ask(BY_CITY, **SHARP)
    assert release.keys == {"city": list(CITIES)}
    assert np.abs(release["n"]).max() < 10
    assert np.isfinite(release["mean_cost"]).all()


def test_one_person_who_owns_every_row_counts_as_one(place):
    table = visits([row(household=n, cost=float(n)) for n in range(3000)])
    curator = clinic(place, tables={"visits": table}, budget=RICH)
    assert curator.ask(COUNT, **SHARP).value == pytest.approx(3, abs=2)


def test_all_rows_in_one_group(place):
    table = visits([row(patient=n) for n in range(500)])
    release = clinic(place, tables={"visits": table}, budget=RICH).ask(BY_CITY, **SHARP)
    assert release["n"].tolist() == pytest.approx([0, 0, 500], abs=5)
    assert release["mean_cost"][2] == pytest.approx(100, abs=5)


EXTREMES = [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1.7e308, -1.7e308, None]


def test_values_beyond_everything_are_clipped(place):
    """Each of them moves the sum by at most its bound, and NaN and NULL by nothing."""
    table = visits([row(patient=n, cost=value) for n, value in enumerate(EXTREMES)], limits=Limits(rows=1))
    curator = clinic(place, tables={"visits": table}, budget=RICH)
    total = curator.ask("SELECT SUM(cost) AS s, COUNT(cost) AS n FROM visits", epsilon=100)
    assert total["s"][0] == pytest.approx(10_000, abs=3000)
    assert total["n"][0] == pytest.approx(6, abs=1)


def test_integers_at_the_ends_of_their_range(place):
    ages = [2**63 - 1, -(2**63), 0, 110, 111, None]
    table = visits([row(patient=n, age=age) for n, age in enumerate(ages)], limits=Limits(rows=1))
    curator = clinic(place, tables={"visits": table}, budget=RICH)
    assert curator.ask("SELECT SUM(age) AS s FROM visits", epsilon=10_000).value == pytest.approx(330, abs=3)


def test_sums_beyond_sixty_four_bits_are_taken_on_a_coarser_grid(place):
    largest = 2**52
    frame = pyarrow.table({"p": list(range(5000)), "x": [2**62] * 5000})
    table = Table(frame, person="p", limits=Limits(rows=1), columns={"x": Bounds(-largest, largest)})
    curator = Curator({"t": table}, budget=RICH, ledger=place / "l")
    release = curator.ask("SELECT SUM(x) AS s FROM t", epsilon=10**5)
    assert release.value == pytest.approx(5000 * 2.0**52, rel=1e-6)


STRANGE = [
    "a\"b'c",
    "naïve ß",
    "日本語",
    "x; DROP TABLE visits; --",
    "%s{}\\n",
    " lead",
    "SELECT",
    "\U0001f600",
]


@pytest.mark.parametrize("name", STRANGE)
def test_strange_names_of_tables_columns_keys_and_outputs(place, name):
    frame = pyarrow.table({"p": [1, 2, 3], name: [name, name, "b"], f"{name}2": [1, 2, 3]})
    columns = {name: Keys([name, "b", "'"]), f"{name}2": Bounds(0, 9)}
    table = Table(frame, person="p", limits=Limits(rows=1), columns=columns)
    curator = Curator({name: table}, budget=RICH, ledger=place / "l")
    query = curator.table(name).filter(col(name) != "zz").group_by(name).agg(**{f"{name}3": count()})
    release = curator.ask(query, analyst=name.strip(), **SHARP)
    assert release.keys == {name: [name, "b", "'"]}
    assert release[f"{name}3"].tolist() == pytest.approx([2, 1, 0], abs=3)
    assert release.to_arrow().column_names == [name, f"{name}3", f"{name}3_lower", f"{name}3_upper"]
    assert entries(curator, "charge")[0].body["analyst"] == name.strip()
    assert name in str(release)
    again = Curator({name: table}, budget=RICH, ledger=place / "l")
    assert again.ask(query, **SHARP).columns() == release.columns()


@pytest.mark.parametrize("analyst", ["", "ana", "Ana Ćosić", "o'hara", 'quo"te', "日本", "x" * 200])
def test_names_of_analysts(place, analyst):
    curator = clinic(place, budget=Budget(epsilon=2, per_analyst=Budget(epsilon=1)))
    curator.ask(COUNT, epsilon=1, analyst=analyst)
    assert curator.remaining_of(analyst).epsilon == 0
    assert curator.remaining_of(analyst[:-1] + "!").epsilon == 1


@pytest.mark.parametrize("analyst", ["x" * 201, "a\nb", "a\0", "\ud800", "\u202e", None, 7, b"ana", ["ana"]])
def test_what_is_no_name_of_an_analyst(place, analyst):
    curator = clinic(place)
    before = entries(curator)
    for attempt in (
        lambda: curator.ask(COUNT, epsilon=1, analyst=analyst),
        lambda: curator.preview(COUNT, epsilon=1, analyst=analyst),
        lambda: curator.permit("training", epsilon=1, analyst=analyst),
        lambda: curator.remaining_of(analyst),
    ):
        with pytest.raises(ParameterError, match="analyst"):
            attempt()
    assert entries(curator) == before


@pytest.mark.parametrize(
    "offer",
    [
        {},
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": math.nan},
        {"epsilon": math.inf},
        {"epsilon": "1e999999999"},
        {"epsilon": "one"},
        {"epsilon": True},
        {"epsilon": None},
        {"epsilon": 1e-300},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": 2},
        {"epsilon": 1, "delta": -1},
        {"epsilon": 1, "delta": math.nan},
        {"epsilon": 1, "rho": 1},
        {"rho": 0},
        {"rho": -1},
        {"delta": "1e-6"},
        {"epsilon": 1, "confidence": 0},
        {"epsilon": 1, "confidence": 1},
        {"epsilon": 1, "confidence": 2},
        {"epsilon": 1, "confidence": math.nan},
        {"epsilon": 1, "split": {}},
        {"epsilon": 1, "split": {"n": 0}},
        {"epsilon": 1, "split": {"n": -1}},
        {"epsilon": 1, "error": {"n": 5}},
        {"error": {}},
        {"error": {"n": 0}},
        {"error": {"n": -1}},
        {"error": {"m": 1}},
        {"error": {"n": 5}, "delta": "1e-6"},
    ],
)
def test_offers_that_buy_nothing_cost_nothing(place, offer):
    curator = clinic(place, budget=Budget(epsilon=10**6, delta="1e-6"))
    before = entries(curator)
    with pytest.raises((ParameterError, BudgetExceeded)):
        curator.ask(COUNT, **offer)
    assert entries(curator) == before


def test_each_row_may_be_a_person(place):
    table = Table(pyarrow.table({"age": [1, 2, 3] * 100}), person=EACH_ROW, columns={"age": Bounds(0, 110)})
    curator = Curator({"people": table}, budget=RICH, ledger=place / "l")
    release = curator.ask("SELECT COUNT(*) AS n FROM people", **SHARP)
    assert release.value == pytest.approx(300, abs=2)
    assert release.label["unit"] == {"people": "one row"}


def test_many_groups(place):
    keys = {"household": Keys(range(300)), "age": Keys(range(300)), "city": COLUMNS["city"]}
    table = visits(columns=keys)
    curator = clinic(place, tables={"visits": table}, budget=RICH)
    release = curator.ask("SELECT household, age, COUNT(*) AS n FROM visits GROUP BY household, age", **SHARP)
    assert len(release["n"]) == 90_000
    assert "more groups" in str(release)
    larger = visits(columns={**keys, "household": Keys(range(100_000))})
    other = clinic(place, tables={"visits": larger}, name="larger.ledger", budget=RICH)
    with pytest.raises(DiscreetError, match="groups"):
        other.ask("SELECT household, age, COUNT(*) AS n FROM visits GROUP BY household, age", **SHARP)


def test_two_tables_behind_one_door(place):
    staff = visits([row(patient=n) for n in range(10)], version="7")
    curator = clinic(place, tables={"visits": usual_visits(), "staff": staff}, budget=Budget(epsilon=2))
    curator.ask("SELECT COUNT(*) AS n FROM staff", epsilon=1)
    curator.ask(COUNT, epsilon=1)
    with pytest.raises(BudgetExceeded):
        curator.ask(BY_CITY, epsilon="0.1")
