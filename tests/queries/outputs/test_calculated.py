"""Calculated columns: what they read, at which confidence, and what they say where nothing can be said."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.curator.release.release import finish
from discreet.curator.request.request import Draw
from discreet.data import Keys, Limits
from discreet.mechanisms import Laplace
from discreet.queries import Offer, build_request, parse
from discreet.queries.outputs.base import margin_of
from discreet.queries.outputs.calculated import CalculatedOutput
from queries.clinic import COLUMNS, visits

TABLES = {
    "visits": visits(
        [], limits=Limits(rows=3), columns={**COLUMNS, "city": Keys(["a", "b"]), "ward": Keys([1, 2])}
    )
}


def request_for(items, *, rest="", offer=None, **terms):
    text = f"SELECT {items} FROM visits {rest}"  # noqa: S608
    return build_request(parse(text, TABLES), TABLES, offer or Offer(epsilon=2), **terms)


def answered(request, *steps):
    """The answer if these noisy integers were drawn, one list for each part."""
    draws = [
        Draw(part=part, steps=np.array(values, np.int64))
        for part, values in zip(request.parts, steps, strict=True)
    ]
    return finish(request, draws, {"private": True})


def test_a_calculation_is_no_part_of_the_identity():
    """The same measurements serve the aggregates and everything that is calculated from them."""
    plain = request_for("SUM(age), COUNT(*)")
    for items in ("SUM(age) / COUNT(*)", "ROUND(100.0 * SUM(age) / COUNT(*), 2) AS x, 'y', COUNT(*) > 5"):
        request = request_for(items)
        assert request.identity == plain.identity
        assert request.event == plain.event
    assert request_for("SUM(age)").identity != plain.identity


def test_plain_questions_show_their_outputs():
    request = request_for("COUNT(*) AS n, AVG(age) AS m")
    assert request.shown == ()
    assert [column.name for column in request.columns] == ["n", "m"]


def test_parts_are_taken_at_the_confidence_that_several_need():
    request = request_for("GREATEST(SUM(age), -100000) - COUNT(*) AS x", confidence=0.9)
    (column,) = answered(request, [1000], [100]).outputs
    margins = [margin_of(part, Fraction(19, 20)) for part in request.parts]
    assert column.values[0] == 900
    assert column.lower[0] == pytest.approx(900 - sum(margins))
    assert column.upper[0] == pytest.approx(900 + sum(margins))


def test_one_part_keeps_its_confidence():
    alone, within = request_for("AVG(age) AS x"), request_for("AVG(age) * 1 AS x")
    (plain,), (column,) = (answered(one, [-5000], [300]).outputs for one in (alone, within))
    assert column.lower[0] == pytest.approx(plain.lower[0])
    assert column.upper[0] == pytest.approx(plain.upper[0])


def test_rounded_ends_are_outward():
    (plain,) = answered(request_for("AVG(age) AS x"), [-5000], [300]).outputs
    (column,) = answered(request_for("ROUND(AVG(age), 1) AS x"), [-5000], [300]).outputs
    assert column.values[0] == round(plain.values[0], 1)
    assert column.lower[0] == np.floor(plain.lower[0] * 10) / 10
    assert column.upper[0] == np.ceil(plain.upper[0] * 10) / 10


def test_division_by_what_may_be_0_is_unknown():
    request = request_for("SUM(age) / COUNT(*) AS x")
    for count in (0, 1, -4):
        release = answered(request, [1000], [count])
        (column,) = release.outputs
        assert column.unknown.tolist() == [True]
        assert (column.lower[0], column.upper[0]) == (-np.inf, np.inf)
        assert "unknown" in str(release)
    assert np.isnan(answered(request, [1000], [0]).outputs[0].values[0])
    assert not answered(request, [1000], [1000]).outputs[0].unknown[0]


def test_counts_calculated_with_stay_integers():
    (column,) = answered(
        request_for("COUNT(*) - 2 * COUNT(age) AS x", split={"count": 1, "count_age": 1}), [10], [3]
    ).outputs
    assert column.values.dtype == column.lower.dtype == np.int64
    assert column.values[0] == 4


def test_an_empty_group_has_sums_of_0_and_may_have_no_mean():
    near = [[0], [3]]
    (total,) = answered(request_for("COALESCE(SUM(age), -9) AS x"), [0]).outputs
    (plain,) = answered(request_for("SUM(age) AS x"), [0]).outputs
    assert (total.lower[0], total.upper[0]) == pytest.approx((plain.lower[0], plain.upper[0]))
    (mean,) = answered(request_for("COALESCE(AVG(age), -9) AS x"), *near).outputs
    assert mean.lower[0] == -9
    (median,) = request_for("COALESCE(MEDIAN(age), -9) AS x").columns
    assert median.reads[0].empty_is_null


def test_constants_and_keys_have_no_interval_and_text_says_what_decided_it():
    request = request_for(
        "city, ward * 10 AS w, ward / 4 AS q, 'x' AS what, 7 AS seven, NULL AS nothing, "
        "CASE WHEN COUNT(*) > 100 THEN 'large' ELSE city END AS size, COUNT(*) > 100 AS big",
        rest="GROUP BY city, ward",
    )
    release = answered(request, [500, 99, 102, -500])
    assert release["w"].tolist() == [10, 20, 10, 20]
    assert release["q"].tolist() == [0.25, 0.5, 0.25, 0.5]
    assert release["what"].tolist() == ["x"] * 4
    assert release["seven"].tolist() == [7] * 4
    assert release["nothing"].tolist() == [None] * 4
    assert release["size"].tolist() == ["large", "a", "large", "b"]
    assert release["big"].tolist() == [True, False, True, False]
    assert all(column.lower is None for column in release.outputs)
    assert "of the exact ones it may be another" in str(release)
    sure = answered(request, [5000, -5000, 5000, -5000])
    assert sure.outputs[-2].offers == ""
    assert sorted(release.columns()) == sorted(
        [*"wq", "what", "seven", "nothing", "size", "big", "city", "ward"]
    )


def test_what_is_chosen_for_a_confidence_is_chosen_for_the_higher_one():
    """Extremes that are calculated with others are measured for what both together need."""
    apart, together = (request_for(items) for items in ("MAX(age), MIN(age)", "MAX(age) - MIN(age) AS x"))
    assert apart.identity != together.identity
    assert together.confidence == apart.confidence
    assert request_for("ROUND(MAX(age), -1)").identity == request_for("MAX(age)").identity
    assert request_for("MAX(age) - MIN(age)").identity == together.identity


def test_calculations_with_estimates_have_no_interval():
    request = request_for("ROUND(SMOOTH_MEDIAN(age), 1) AS x")
    (column,) = request.columns
    assert isinstance(column, CalculatedOutput)
    steps = request.parts[0].mechanism.release(np.zeros(111, np.int64))
    found = answered(request, np.asarray(steps)).outputs[0]
    assert found.lower is None
    assert "no interval" in found.offers


def test_expected_margins_are_those_of_the_interval():
    request = request_for("SUM(age) / COUNT(*) AS x, COUNT(*) * 2 AS y, CORR(age, cost) * 2 AS z, 3 AS c")
    parts = {part.measure: part for part in request.parts}
    found = {
        column.name: column.expect([parts[one] for one in column.measures], request.confidence, 5000)
        for column in request.columns
    }
    (count,) = (
        part
        for part in request.parts
        if isinstance(part.mechanism, Laplace) and str(part.measure) == str(request.columns[1].measures[0])
    )
    assert found["y"].margin == pytest.approx(2 * margin_of(count, request.confidence))
    assert 0 < found["x"].standard_deviation < found["x"].margin < np.inf
    assert found["z"].margin == np.inf
    assert found["c"].margin == 0
