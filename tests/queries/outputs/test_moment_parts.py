"""Slopes, intercepts and other calculations with moments: covered, and hardly wider than their error."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.curator.request.request import Draw
from discreet.data import Bounds, Keys, Limits
from discreet.data.language.expressions import Column
from discreet.queries import Offer, build_request, parse
from discreet.queries.outputs import moment_parts as module
from discreet.queries.outputs.moment_parts import moment_parts
from queries.clinic import visits
from queries.releases import OFFERS
from queries.spread_data import allowed_misses, exact_of

TIMES = 1000
CONFIDENCE = Fraction(19, 20)
BOTH = ("case when not (cost is null) then age end", "case when not (age is null) then cost end")


def request_of(formula, offer, cells=TIMES):
    declared = {"ward": Keys(range(cells)), "age": Bounds(0, 100), "cost": Bounds(0, 80, step=1)}
    tables = {"visits": visits([], limits=Limits(rows=1), columns=declared)}
    query = parse(f"SELECT ward, {formula} AS found FROM visits GROUP BY ward", tables)  # noqa: S608
    return build_request(query, tables, offer, confidence=CONFIDENCE)


def data_of(rows):
    random = np.random.default_rng(11)
    ages = random.integers(0, 101, rows)
    costs = np.clip(ages // 2 + random.integers(0, 31, rows), 0, 80)
    both = dict(zip(BOTH, (ages.tolist(), costs.tolist()), strict=True))
    return {"age": ages.tolist(), "cost": costs.tolist(), **both}


def truth_of(formula, data):
    ages, costs = np.array(data["age"], float), np.array(data["cost"], float)
    together = np.cov(costs, ages, bias=True)
    slope = together[0, 1] / together[1, 1]
    return {
        "REGR_SLOPE(cost, age)": slope,
        "REGR_INTERCEPT(cost, age)": costs.mean() - slope * ages.mean(),
        "REGR_R2(cost, age)": slope**2 * together[1, 1] / together[0, 0],
        "STDDEV_POP(age) / AVG(age)": ages.std() / ages.mean(),
        "COUNT(*) * COVAR_POP(cost, age)": len(ages) * together[0, 1],
        "ROUND(REGR_SLOPE(cost, age) * 10, 1)": round(10 * slope, 1),
        "REGR_SLOPE(cost, age) / (AVG(age) - 90)": slope / (ages.mean() - 90),
    }[formula]


def column_of(request, data, times=TIMES):
    draws = {}
    for part in request.parts:
        integers = np.full(times, exact_of(part.measure, data)[0])
        draws[part.measure] = Draw(part=part, steps=np.asarray(part.mechanism.release(integers)))
    (output,) = (one for one in request.columns if one.name == "found")
    return output.finish([draws[measure] for measure in output.measures], CONFIDENCE)


def misses_of(column, truth):
    return int(((column.lower > truth) | (truth > column.upper)).sum())


FORMULAS = {
    "REGR_SLOPE(cost, age)": 1.5,
    "REGR_INTERCEPT(cost, age)": 1.5,
    "REGR_R2(cost, age)": 1.5,
    "STDDEV_POP(age) / AVG(age)": 1.5,
    "COUNT(*) * COVAR_POP(cost, age)": 1.5,
    "ROUND(REGR_SLOPE(cost, age) * 10, 1)": 3,
    "REGR_SLOPE(cost, age) / (AVG(age) - 90)": 1.6,
}


@pytest.mark.few(2)
@pytest.mark.statistical
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
@pytest.mark.parametrize("formula", FORMULAS)
def test_regressions_are_covered_and_hardly_wider_than_their_error(formula, offer):
    request = request_of(formula, offer)
    for rows in (300, 8000):
        data = data_of(rows)
        truth, column = truth_of(formula, data), column_of(request, data)
        assert misses_of(column, truth) <= allowed_misses(TIMES, 0.05)
        if rows > 300:
            error = np.quantile(np.abs(column.values - truth), 0.95)
            assert np.median(column.upper - column.lower) / 2 < FORMULAS[formula] * error


def parts_of(formula):
    request = request_of(formula, Offer(epsilon=1), cells=2)
    (output,) = (one for one in request.columns if one.name == "found")
    noises = {part.measure: part for part in request.parts}
    return moment_parts(output.expression, output.reads, noises, len(output.reads), CONFIDENCE), output


def test_the_parts_of_a_regression_are_found():
    found, output = parts_of("REGR_INTERCEPT(cost, age)")
    assert list(found.parts.values()) == [output.expression]
    assert found.entering == 1
    found, _ = parts_of("CASE WHEN COUNT(*) > 5 THEN REGR_SLOPE(cost, age) ELSE -1 END")
    assert len(found.parts) == 1
    assert found.entering == 2
    for formula in (
        "AVG(age) / AVG(cost)",
        "COUNT(*) - SUM(age)",
        "STDDEV_POP(age) * 2",
        "MAX(age) - VAR_POP(age)",
    ):
        found, output = parts_of(formula)
        assert not found.parts
        assert found.expression == output.expression
        assert found.entering == len(output.reads)


def test_names_of_parts_are_those_of_no_column():
    found, output = parts_of("REGR_SLOPE(cost, age) + 0 * MAX(age)")
    (name,) = found.parts
    assert name not in {one.name for one in output.reads}
    assert Column(name=name) != output.expression


def test_a_part_with_too_few_rows_is_what_arithmetic_gives():
    request = request_of("REGR_SLOPE(cost, age)", Offer(epsilon=1), cells=50)
    column = column_of(request, data_of(5), times=50)
    assert np.isinf(column.upper).any()
    assert column.unknown is not None
    spread = request_of("STDDEV_POP(age) + AVG(age)", Offer(epsilon=1), cells=50)
    column = column_of(spread, data_of(5), times=50)
    assert np.isfinite(column.upper).all()
    assert np.isfinite(column.lower).all()


def test_a_square_is_not_negative():
    request = request_of("REGR_R2(cost, age)", Offer(epsilon=1))
    data = data_of(2000)
    data["cost"] = [place % 81 for place in range(2000)]
    data[BOTH[1]] = data["cost"]
    column = column_of(request, data)
    assert (column.lower >= 0).all()
    assert (column.upper < 1).any()


def test_half_a_margin_of_a_regression_is_noticed(monkeypatch):
    """The control: the law at a far lower confidence does not cover a slope."""
    request = request_of("REGR_SLOPE(cost, age)", Offer(epsilon=1))
    data = data_of(8000)
    truth, law = truth_of("REGR_SLOPE(cost, age)", data), module.within_law
    assert misses_of(column_of(request, data), truth) <= allowed_misses(TIMES, 0.05)
    monkeypatch.setattr(
        module, "within_law", lambda ratio, read, _, within: law(ratio, read, Fraction(1, 2), within)
    )
    assert misses_of(column_of(request, data), truth) > allowed_misses(TIMES, 0.05)
