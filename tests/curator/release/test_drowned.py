"""Where noise hides most values: what is said of it, and what would help."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from curator.doors import COLUMNS, clinic, visits
from discreet.curator import Budget
from discreet.curator.release.drowned import drowned
from discreet.curator.request.request import AnswerColumn
from discreet.data import Keys, Limits
from discreet.privacy import events

BY_HOUSEHOLD = "SELECT household, COUNT(*) AS n FROM visits GROUP BY household"


def column(values, error, **more):
    values = np.array(values, float)
    return AnswerColumn(name="n", values=values, lower=values - error, upper=values + error, **more)


def said(*columns, event=None):
    request = SimpleNamespace(confidence=Fraction(95, 100))
    return drowned(columns, request, event or events.Laplace(epsilon=1), {})


def test_nothing_is_said_of_values_above_their_error():
    assert said(column([100, 200, 300], 50)) == ""
    assert said(column([100, 200, 3], 50)) == ""
    assert said(column([0, 0, 0], 0)) == ""
    assert said(AnswerColumn(name="k", values=np.array(["a"], object))) == ""
    assert said() == ""


def test_how_many_drown_and_what_would_help():
    found = said(column([10, 12, 8, 200], 50))
    assert found.startswith("n: the error is larger than the value in 3 of 4 groups; ")
    small = column([10, 11, 9] * 12, 50)
    assert said(small) == (
        "n: the error is larger than the value in 36 of 36 groups; an error of half the value takes about "
        "epsilon 10 or groups 10 times as coarse"
    )
    assert "rho 12.5 or" in said(small, event=events.Gaussian(noise_multiplier=2))
    approximate = events.Approximate(epsilon=1, delta="1e-6")
    assert "10 times the offer" in said(small, event=approximate)


def test_values_that_may_all_be_0_get_no_number():
    found = said(column([3, -2, 1, -4], 50))
    assert found.endswith("; a larger epsilon or coarser groups would help")
    assert said(column([20], 50)).endswith("; a larger epsilon would help")
    unknown = column([4000, 10], 5000, unknown=np.array([True, True]))
    assert "in 2 of 2 groups" in said(unknown)
    nothing = column([0], np.inf)
    assert said(nothing).startswith("n: the error is larger than the value; ")


def test_null_does_not_drown():
    lag = AnswerColumn(
        name="lag",
        values=np.array([np.nan, 50.0]),
        lower=np.array([np.nan, 49.0]),
        upper=np.array([np.nan, 51.0]),
    )
    assert said(lag) == ""


@pytest.mark.parametrize(
    ("rows", "words"),
    [(1, ""), (2, "a lower limit than 2 rows per person"), (5000, " per person instead of 5,000")],
)
def test_a_lower_limit_is_named_where_there_is_one(place, rows, words):
    columns = {**COLUMNS, "household": Keys(range(7))}
    table = visits(columns=columns, limits=Limits(rows=rows))
    curator = clinic(place, tables={"visits": table}, budget=Budget(epsilon=10))
    release = curator.ask(BY_HOUSEHOLD, epsilon="0.1")
    values = np.array([8.0] * 7)
    noisy = AnswerColumn(name="n", values=values, lower=values - 800, upper=values + 800)
    sure = AnswerColumn(name="n", values=values, lower=values - 10, upper=values + 10)
    few = drowned([sure], release.request, release.event, release.label)
    assert words in few
    assert ("per person" in few) == (rows > 1)
    assert "would help" in drowned([noisy], release.request, release.event, release.label)
    if rows == 5000:
        assert "a limit of 1,666 rows per person instead of 5,000" in few


def test_the_advice_holds(place):
    """With the epsilon that is named, the error is about half of a typical value."""
    columns = {**COLUMNS, "household": Keys(range(7))}
    curator = clinic(place, tables={"visits": visits(columns=columns)}, budget=Budget(epsilon=10**6))
    request = curator.request(BY_HOUSEHOLD, epsilon="0.1")
    margin = curator.preview(BY_HOUSEHOLD, epsilon="0.1")["n"].margin
    values = np.full(7, margin / 2)
    one = AnswerColumn(name="n", values=values, lower=values - margin, upper=values + margin)
    found = drowned([one], request, request.event, {})
    assert "epsilon 0.4 " in found
    assert curator.preview(BY_HOUSEHOLD, epsilon="0.4")["n"].margin == pytest.approx(margin / 4, rel=0.1)


def test_most_values_are_more_than_half_and_an_error_as_large_as_its_value_hides_it():
    assert said(column([100, 200, 3, 4], 50)) == ""
    assert "in 3 of 3 groups" in said(column([50, 50, 50], 50))


def test_values_of_which_nothing_is_known_drown_and_null_ones_do_not_count():
    nothing = AnswerColumn(
        name="n", values=np.array([np.nan] * 2), lower=np.array([0.0] * 2), upper=np.array([1.0] * 2)
    )
    assert "in 2 of 2 groups" in said(nothing)
    assert "in 2 of 2 groups" in said(column([4000, 4000], 10, unknown=np.array([True, True])))
    values = np.array([np.nan, 5.0, 5.0])
    assert "in 2 of 2 groups" in said(
        AnswerColumn(name="lag", values=values, lower=values - 50, upper=values + 50)
    )


def test_what_would_help_is_read_off_known_values_and_serves_all_outputs():
    known = [10] * 31
    some = column([*known, *[10**6] * 5], 50, unknown=np.array([False] * 31 + [True] * 5))
    assert "epsilon 10 or" in said(some)
    few, many = column([40] * 36, 50), column([10] * 36, 50)
    assert "epsilon 10 or" in said(few, many)
    assert "epsilon 10 or" in said(many, few)


def test_nobody_is_advised_to_spend_a_thousand_times_as_much():
    assert "would help" in said(column(np.ones(400_000), 600))


def test_a_limit_of_the_question_is_the_one_that_is_named(place):
    columns = {**COLUMNS, "household": Keys(range(7))}
    table = visits(columns=columns, limits=Limits(rows=5000))
    curator = clinic(place, tables={"visits": table}, budget=Budget(epsilon=10))
    release = curator.ask(BY_HOUSEHOLD, epsilon="0.1", limits=Limits(rows=3))
    values = np.array([8.0] * 7)
    one = AnswerColumn(name="n", values=values, lower=values - 10, upper=values + 10)
    found = drowned([one], release.request, release.event, release.label)
    assert "a limit of 1 row per person instead of 3" in found


PER_PERSON = "SELECT patient, COUNT(*) AS visited FROM visits GROUP BY patient"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) AS n FROM ({PER_PERSON}) AS each WHERE visited > 10",  # noqa: S608
        f"SELECT SUM(CLIP(visited, 0, 9)) AS n FROM ({PER_PERSON}) AS each",  # noqa: S608
        "SELECT COUNT(DISTINCT patient) AS n FROM visits",
    ],
)
def test_no_lower_limit_is_advised_where_the_noise_does_not_feel_it(place, sql):
    curator = clinic(place, tables={"visits": visits(limits=Limits(rows=10))}, budget=Budget(epsilon=10))
    wide, narrow = (
        curator.preview(sql, epsilon=1, limits=limits)["n"].margin for limits in (None, Limits(rows=1))
    )
    assert wide == narrow
    release = curator.ask(sql, epsilon=1)
    for noisy in (column([8], 7.9), column([0], 10), column([8] * 20, 10)):
        found = drowned([noisy], release.request, release.event, release.label)
        assert "per person" not in found
    assert "epsilon" in found


def test_persons_in_groups_feel_no_more_rows_than_there_are_groups(place):
    curator = clinic(place, tables={"visits": visits(limits=Limits(rows=10))}, budget=Budget(epsilon=10))
    sql = "SELECT city, COUNT(DISTINCT patient) AS n FROM visits GROUP BY city"
    release = curator.ask(sql, epsilon=1)
    found = drowned([column([8.0] * 3, 10)], release.request, release.event, release.label)
    assert "a limit of 1 row per person instead of 10" in found
    found = drowned([column([0, 0, 0], 10)], release.request, release.event, release.label)
    assert "a lower limit than 3 rows per person" in found
