"""Variances, deviations, covariances and correlations: what they are, and intervals that cover them."""

from __future__ import annotations

import statistics
from dataclasses import replace
from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.curator.request.request import Draw
from discreet.data import Bounds, Limits, col, correlation, covariance
from discreet.queries import Offer, expectations
from discreet.queries.outputs.float_interval import FloatInterval, mean_range, product, root, square
from queries.releases import OFFERS
from queries.spread_data import X, Y, allowed_misses, answers, exact_of, noiseless, request_for

ROWS = Limits(rows=2)
GROUPS = Limits(groups=40, rows_per_group=1)
SPREAD = {
    "v": col("age").variance(),
    "s": col("age").std(),
    "vs": col("age").variance(sample=True),
    "ss": col("age").std(sample=True),
}
PAIR = {
    "c": covariance(col("age"), col("cost")),
    "cs": covariance(col("age"), col("cost"), sample=True),
    "r": correlation(col("age"), col("cost")),
}


def truths(data):
    """By definition, from fractions; None if a statistic does not exist."""
    ages = [Fraction(value) for value in data["age"] if value is not None]
    pairs = [
        (Fraction(a), Fraction(b))
        for a, b in zip(data["age"], data["cost"], strict=True)
        if a is not None and b is not None
    ]
    found = dict.fromkeys([*SPREAD, *PAIR])
    if ages:
        found["v"] = statistics.pvariance(ages)
        found["s"] = sqrt(found["v"])
    if len(ages) > 1:
        found["vs"] = statistics.variance(ages)
        found["ss"] = sqrt(found["vs"])
    if pairs:
        means = [sum(side) / len(pairs) for side in zip(*pairs, strict=True)]
        together = sum((a - means[0]) * (b - means[1]) for a, b in pairs)
        found["c"] = together / len(pairs)
        if len(pairs) > 1:
            found["cs"] = together / (len(pairs) - 1)
        spreads = [statistics.pvariance(side) for side in zip(*pairs, strict=True)]
        if all(spreads):
            found["r"] = float(found["c"]) / sqrt(spreads[0] * spreads[1])
    return found


def groups():
    random = np.random.default_rng(20)
    ages = random.integers(-20, 81, 900).tolist()
    return {
        "related": {"age": ages, "cost": [(age + 20) // 10 for age in ages]},
        "far off the middle": {"age": [75, 76, 77, 80] * 200, "cost": [0, 0.5, 0.5, 0] * 200},
        "some absent": {
            "age": [None if place % 3 == 0 else age for place, age in enumerate(ages)],
            "cost": [None if place % 5 == 0 else (age % 13) / 2 for place, age in enumerate(ages)],
        },
        "two values": {"age": [-20, 80], "cost": [12, 0]},
        "one value": {"age": [3], "cost": [4]},
        "extremes": {"age": [-20, 80] * 300, "cost": [0, 12] * 300},
    }


GROUPED = groups()


@pytest.mark.parametrize("name", GROUPED)
def test_without_noise_they_are_what_they_are_called(name):
    request = request_for(SPREAD | PAIR, Offer(epsilon=30), cells=1, limits=Limits(rows=1))
    found, true = noiseless(request, GROUPED[name]), truths(GROUPED[name])
    for output, truth in true.items():
        column = found[output]
        assert column.lower[0] <= column.values[0] <= column.upper[0]
        if truth is not None:
            assert column.values[0] == pytest.approx(float(truth), rel=1e-9, abs=1e-9)
            assert column.lower[0] - 1e-9 <= float(truth) <= column.upper[0] + 1e-9


@pytest.mark.statistical
@pytest.mark.parametrize("limits", [ROWS, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
@pytest.mark.parametrize("aggregates", [SPREAD, PAIR], ids=["spread", "pair"])
def test_intervals_cover_in_five_thousand_releases(aggregates, offer, limits):
    """Exact integers once, the shipped noise and intervals for each of 6 x 900 groups."""
    times = 900
    request = request_for(aggregates, offer, cells=times * len(GROUPED), limits=limits)
    found = answers(request, [data for data in GROUPED.values() for _ in range(times)])
    for number, (kind, data) in enumerate(GROUPED.items()):
        here, true = slice(number * times, (number + 1) * times), truths(data)
        for name in aggregates:
            column = found[name]
            assert (column.lower[here] <= column.upper[here]).all()
            assert np.isfinite(column.values).all()
            if true[name] is not None:
                truth, slack = float(true[name]), 1e-9 * abs(float(true[name]))
                missed = (column.lower[here] > truth + slack) | (truth - slack > column.upper[here])
                assert int(missed.sum()) <= allowed_misses(times, 0.05), (kind, name)


@pytest.mark.parametrize("aggregates", [SPREAD, PAIR], ids=["spread", "pair"])
def test_intervals_stay_within_what_is_possible(aggregates):
    request = request_for(aggregates, Offer(epsilon="1/10"), cells=200, limits=ROWS)
    found = answers(request, [GROUPED["two values"]] * 200)
    most = {"v": 2500, "s": 50, "vs": 5000, "ss": sqrt(5000), "c": 300, "cs": 600, "r": 1}
    for name, column in found.items():
        least = -most[name] if name in PAIR else 0
        assert column.lower.min() >= least - 1e-6
        assert column.upper.max() <= most[name] + 1e-6
        assert (column.lower <= column.values).all()
        assert (column.values <= column.upper).all()
        assert column.lower.min() <= least + 1e-6  # nothing is known about so few


def covered_without(mutate):
    """How often the variance is covered if the finish is given mutated outputs."""
    request = request_for({"v": col("age").variance()}, Offer(epsilon=2), cells=500, limits=ROWS)
    data = GROUPED["far off the middle"]
    truth = float(truths(data)["v"])
    (output,) = request.outputs
    draws = []
    for part in request.parts:
        integers = np.full(500, exact_of(part.measure, data)[0])
        draws.append(Draw(part=part, steps=np.asarray(part.mechanism.release(integers))))
    column = mutate(output).finish(draws, request.confidence)
    return ((column.lower <= truth) & (truth <= column.upper)).mean()


def test_a_forgotten_shift_is_caught():
    assert covered_without(lambda output: output) > 0.9
    assert covered_without(lambda output: replace(output, squares=replace(output.squares, shift=0))) < 0.5


@pytest.mark.parametrize("limits", [ROWS, GROUPS], ids=["rows", "groups"])
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_margins_hold_wherever_the_values_are(offer, limits):
    names = {"v": SPREAD["v"], "vs": SPREAD["vs"], "c": PAIR["c"], "cs": PAIR["cs"]}
    request = request_for(names, offer, cells=40, limits=limits)
    for rows in (2, 60, 4000):
        margins = {one.name: one for one in expectations(request, rows=rows)}
        for ages, costs in (
            ([80] * rows, [12] * rows),
            ([-20, 80] * (rows // 2), [0, 12] * (rows // 2)),
            ([-20, 80] * (rows // 2), [12, 0] * (rows // 2)),
            ([80] * (rows // 2) + [30] * (rows // 2), [0] * (rows // 2) + [6] * (rows // 2)),
        ):
            for name, column in noiseless(request, {"age": ages, "cost": costs}).items():
                assert (column.upper[0] - column.lower[0]) / 2 <= margins[name].margin * (1 + 1e-9)
                assert margins[name].standard_deviation > 0
                assert margins[name].assumes.startswith(f"{rows} ")


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_margins_of_roots_and_correlations_hold_for_values_that_are_spread_evenly(offer):
    names = {"s": SPREAD["s"], "ss": SPREAD["ss"], "r": PAIR["r"]}
    request = request_for(names, offer, cells=1, limits=Limits(rows=1))
    ages = list(range(-20, 81)) * 25 * 4
    costs = [step / 2 for step in range(25) for _ in range(101)] * 4
    assert abs(truths({"age": ages, "cost": costs})["r"]) < 1e-9
    margins = {one.name: one.margin for one in expectations(request, rows=len(ages))}
    for name, column in noiseless(request, {"age": ages, "cost": costs}).items():
        half = (column.upper[0] - column.lower[0]) / 2
        assert half <= margins[name] * 1.03  # a grid of few points is spread a little wider
        assert half >= margins[name] * 0.5
    assert all(one.margin > 0 for one in expectations(request, rows=1))


def test_more_budget_means_smaller_margins():
    for aggregates in (SPREAD, PAIR):
        small, large = (
            {
                one.name: one.margin
                for one in expectations(
                    request_for(aggregates, Offer(epsilon=e), cells=2, limits=ROWS), rows=5000
                )
            }
            for e in (1, 4)
        )
        assert all(large[name] < small[name] for name in aggregates)


numbers = st.integers(-(2**40), 2**40).map(lambda number: number / 2**34)
ends = st.tuples(numbers, numbers).map(sorted)


def ranged(pair):
    low, high = (np.array([end]) for end in pair)
    return FloatInterval(low=low, value=(low + high) / 2, high=high)


@settings(max_examples=100)
@given(ends, ends, st.floats(0, 1), st.floats(0, 1))
def test_interval_arithmetic_holds_what_it_should(one, other, place, elsewhere):
    x, y = (min(max(a + t * (b - a), a), b) for (a, b), t in ((one, place), (other, elsewhere)))
    first, second = ranged(one), ranged(other)
    for found, truth in (
        (product(first, second), x * y),
        (square(first), x * x),
        (first.minus(second), x - y),
        (first.plus(7), x + 7),
        (first.scaled(Fraction(1, 3)), x / 3),
        (root(square(first)), abs(x)),
    ):
        assert found.low[0] <= truth <= found.high[0]


@given(
    st.integers(-(10**6), 10**6), st.integers(0, 1000), st.integers(-5, 3000), st.integers(0, 1000), st.data()
)
def test_a_mean_lies_between_the_extreme_ratios(total, off, count, by, data):
    found = mean_range(np.array([total]), off, np.array([count]), by)
    true_total = total + data.draw(st.integers(-off, off))
    true_count = max(count + data.draw(st.integers(-by, by)), 1)
    assert found.low[0] <= true_total / true_count <= found.high[0]


def test_coarse_grids_where_squares_are_too_large_for_noise():
    wide = {"age": Bounds(0, 10**6)}
    request = request_for(
        {"s": col("age").std(), "n": col("age").mean()},
        Offer(epsilon="1/100"),
        cells=1,
        limits=Limits(rows=100),
        columns=wide,
    )
    squares = next(measure for measure in request.plan.measures if hasattr(measure, "factors"))
    assert squares.factors[0].bounds.step > 1
    assert len(request.plan.measures) == 4  # the count is shared, the sums are not
    column = answers(request, [{"age": [10**6, 0] * 50_000, "cost": [0] * 100_000}])["s"]
    assert column.lower[0] <= 500_000 <= column.upper[0]
    assert (X.step, Y.step) == (1, Fraction(1, 2))
