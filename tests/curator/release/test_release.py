"""An answer: its columns in every form, and what is stored of it."""

from __future__ import annotations

import datetime
import sys
from fractions import Fraction
from unittest import mock

import numpy as np
import pyarrow
import pytest

from curator.doors import BY_CITY, CITIES, COLUMNS, COUNT, clinic, visits
from discreet.curator import Draw
from discreet.curator.release.release import finish, pack, unpack
from discreet.data import Bounds, Keys, Limits, Table
from discreet.errors import MissingExtra
from discreet.front import Curator

NAMES = ["city", "n", "n_lower", "n_upper", "mean_cost", "mean_cost_lower", "mean_cost_upper"]


@pytest.fixture
def release(place):
    return clinic(place).ask(BY_CITY, epsilon=5)


def test_every_form_holds_the_same(release):
    expected = {name: list(values) for name, values in release.columns().items()}
    assert list(expected) == NAMES
    assert release.to_arrow().to_pydict() == expected
    assert release.to_pandas().to_dict("list") == expected
    assert release.to_polars().to_dict(as_series=False) == expected
    assert release.to_arrow().schema.field("n").type == pyarrow.int64()
    assert release.to_arrow().schema.field("mean_cost").type == pyarrow.float64()


def test_polars_is_an_extra(release):
    with mock.patch.dict(sys.modules, {"polars": None}), pytest.raises(MissingExtra, match="polars"):
        release.to_polars()


def test_groups_come_in_their_declared_order(place):
    frame = pyarrow.table(
        {
            "p": [1, 2],
            "day": [datetime.date(2026, 1, 1), None],
            "ok": [True, False],
            "ward": [3, 3],
        }
    )
    keys = {
        "day": Keys([datetime.date(2026, 1, 2), None, datetime.date(2026, 1, 1)]),
        "ok": Keys([False, True]),
        "ward": Keys([3]),
    }
    table = Table(frame, person="p", limits=Limits(rows=1), columns=keys)
    curator = Curator({"t": table}, budget=clinic(place).budget, ledger=place / "l")
    release = curator.ask("SELECT ok, day, ward, COUNT(*) AS n FROM t GROUP BY ok, day, ward", epsilon=5)
    days = list(keys["day"].values)
    assert release.keys == {"ok": [False] * 3 + [True] * 3, "day": days * 2, "ward": [3] * 6}
    assert release.to_arrow().num_rows == len(release.to_pandas()) == release.to_polars().height == 6
    assert [line.split()[0] for line in str(release).splitlines()[1:7]] == ["False"] * 3 + ["True"] * 3


def test_values_by_name(release, place):
    assert release["n"].dtype == np.int64
    assert release["mean_cost"].dtype == np.float64
    assert release["city"].tolist() == list(CITIES)
    assert len(release) == 3
    assert release.at([])
    with pytest.raises(KeyError, match="'n_lower'; the answer has city, n, mean_cost"):
        release["n_lower"]
    with pytest.raises(ValueError, match="several values"):
        float(release.value)
    single = clinic(place).ask(COUNT, epsilon=1)
    assert single.value == single["n"][0]
    assert single.event == single.request.event
    assert single.plan == single.request.plan


def test_what_is_printed(release):
    lines = str(release).splitlines()
    assert lines[0].split() == ["city", "n", "mean_cost"]
    assert [line.split()[0] for line in lines[1:4]] == list(CITIES)
    assert all("±" in line for line in lines[1:4])
    assert lines[-2:] == [
        "at most 3 rows per person counted, cost within 0 to 5,000; intervals at 95%",
        "paid epsilon 5; left: a pure epsilon of 5",
    ]
    assert repr(release) == str(release)
    html = release._repr_html_()
    assert html.count("<tr>") == 4
    assert html.count("<td>") == 9
    assert "<br>".join(lines[-2:]) in html


def test_counts_are_printed_in_full_and_long_answers_are_cut(place):
    keys = {**COLUMNS, "household": Keys(range(50))}
    curator = clinic(place, tables={"visits": visits(columns=keys)})
    request = curator.request("SELECT household, COUNT(*) AS n FROM visits GROUP BY household", epsilon=1)
    steps = np.arange(12_345_678, 12_345_728)
    release = finish(request, [Draw(part=request.parts[0], steps=steps)], {"private": True})
    lines = str(release).splitlines()
    assert "12,345,678 ±" in lines[1]
    assert len(lines) == 22
    assert lines[-1] == "… 30 more groups: to_pandas() has all of them"
    assert release._repr_html_().count("<tr>") == 21


def test_what_a_notebook_shows_is_escaped(place):
    columns = {**COLUMNS, "city": Keys(["<script>", "&"])}
    curator = clinic(place, tables={"visits": visits(columns=columns)})
    release = curator.ask('SELECT city, COUNT(*) AS "<b>" FROM visits GROUP BY city', epsilon=1)
    html = release._repr_html_()
    assert "&lt;script&gt;" in html
    assert "&lt;b&gt;" in html
    assert "<script>" not in html


@pytest.mark.parametrize("largest", [0, 7, 2**62, -(2**62), 2**63 - 1, -(2**63)])
def test_stored_integers_come_back_exactly(place, largest):
    request = clinic(place).request(BY_CITY, epsilon=1)
    draws = [Draw(part=part, steps=np.array([largest, 0, -1])) for part in request.parts]
    content = pack(draws)
    again = unpack(request, content)
    assert all((one.steps == other.steps).all() for one, other in zip(draws, again, strict=True))
    assert pack(again) == content
    assert content.startswith(b"[[")


def test_extreme_sums_have_intervals(place):
    largest = 2**40
    frame = pyarrow.table({"p": [1], "x": [2**62]})
    table = Table(frame, person="p", limits=Limits(rows=1), columns={"x": Bounds(-largest, largest)})
    curator = Curator({"t": table}, budget=clinic(place).budget, ledger=place / "l")
    release = curator.ask("SELECT SUM(x) AS s, AVG(x) AS m FROM t", epsilon=5)
    for column in release.outputs:
        assert column.lower[0] <= column.values[0] <= column.upper[0]
    assert float(release.request.confidence) == float(Fraction(95, 100))
