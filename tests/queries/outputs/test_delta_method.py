"""Intervals by the law of first order: they cover, and are hardly wider than the error that they cover."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.curator.request.request import Draw, Part
from discreet.data import Bounds, Limits, col, correlation, covariance
from discreet.queries import Offer
from discreet.queries.outputs import delta_method
from discreet.queries.outputs.delta_method import box_share, has_law, within_both, within_law
from discreet.queries.outputs.float_interval import FloatInterval
from queries.releases import OFFERS
from queries.spread_data import allowed_misses, exact_of, request_for

TWO = {"m": col("age").mean()}
MOMENTS = {
    "v": col("age").variance(),
    "c": covariance(col("age"), col("cost")),
    "r": correlation(col("age"), col("cost")),
}
TIMES = 1000
CONFIDENCE = Fraction(19, 20)


def data_of(rows):
    random = np.random.default_rng(7)
    ages = random.integers(-20, 81, rows)
    costs = (ages + 20) // 10 + random.integers(0, 5, rows) / 2
    return {"age": ages.tolist(), "cost": np.clip(costs, 0, 12).tolist()}


def draws_of(request, data, times=TIMES):
    found = {}
    for part in request.parts:
        integers = np.full(times, exact_of(part.measure, data)[0])
        found[part.measure] = Draw(part=part, steps=np.asarray(part.mechanism.release(integers)))
    return found


def of_sums(offer, rows, times=TIMES):
    """A ratio of a sum and a count, its draws and the exact one."""
    request = request_for(TWO, offer, cells=times, limits=Limits(rows=1))
    (output,) = request.outputs
    data = data_of(rows)
    total, count = (exact_of(measure, data)[0] for measure in output.measures)
    return output, draws_of(request, data, times), total / count


def missed(found, truth):
    return int(((found.low > truth) | (truth > found.high)).sum())


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("rows", [60, 400, 9000])
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_ratios_are_covered_and_hardly_wider_than_their_error(offer, rows):
    output, draws, truth = of_sums(offer, rows)
    found = within_law(lambda of: (of[output.total], of[output.count]), draws, CONFIDENCE)
    assert missed(found, truth) <= allowed_misses(TIMES, 0.05)
    if rows > 60:
        error = np.quantile(np.abs(found.value - truth), 0.95)
        assert np.median(found.high - found.low) / 2 < 1.4 * error


def test_a_negative_divisor_is_turned():
    output, draws, truth = of_sums(Offer(epsilon=1), 400)

    sides = FloatInterval(low=-np.ones(TIMES), value=-np.ones(TIMES), high=-np.ones(TIMES))
    one = within_law(lambda of: (of[output.total], of[output.count]), draws, CONFIDENCE)
    other = within_law(
        lambda of: (of[output.total], delta_method.between(sides, of[output.count]) * of[output.count]),
        draws,
        CONFIDENCE,
    )
    assert other.low == pytest.approx(-one.high, rel=1e-6)
    assert missed(other, -truth) <= allowed_misses(TIMES, 0.05)


def narrower(monkeypatch, change):
    """How many of the intervals of a covariance miss, if something is changed."""
    request = request_for({"c": MOMENTS["c"]}, Offer(epsilon=1), cells=TIMES, limits=Limits(rows=1))
    data = data_of(20_000)
    (output,) = request.outputs
    truth = np.cov(data["age"], data["cost"], bias=True)[0, 1]
    draws = draws_of(request, data)
    change(monkeypatch)
    column = output.finish([draws[measure] for measure in output.measures], CONFIDENCE)
    return int(((column.lower > truth) | (truth > column.upper)).sum())


def test_half_a_margin_is_noticed(monkeypatch):
    """The control: intervals of half the width miss more often than a false alarm explains."""
    exact = delta_method.margins_of_largest_weights

    def halved(laws, weights, failure):
        return exact(laws, weights, failure) / 2

    assert narrower(monkeypatch, lambda _: None) <= allowed_misses(TIMES, 0.05)
    assert narrower(
        monkeypatch, lambda patch: patch.setattr(delta_method, "margins_of_largest_weights", halved)
    ) > allowed_misses(TIMES, 0.05)


@pytest.mark.parametrize(("noise", "truth"), [(0, 0), (3, 270)], ids=["products", "count"])
def test_a_forgotten_noise_is_noticed(monkeypatch, noise, truth):
    """The control: products are the error of a small covariance, the count is much of that of a large one."""
    exact = delta_method.margins_of_largest_weights

    def without(laws, weights, failure):
        kept = weights.copy()
        kept[noise] = 0
        return exact(laws, kept, failure)

    request = request_for({"c": MOMENTS["c"]}, Offer(epsilon=1), cells=TIMES, limits=Limits(rows=1))
    (output,) = request.outputs
    costs = [0, 12] if truth else [6, 6]
    draws = draws_of(request, {"age": [-20, 80] * 4500 + [30] * 1000, "cost": costs * 4500 + [6] * 1000})
    monkeypatch.setattr(delta_method, "margins_of_largest_weights", without)
    column = output.finish([draws[measure] for measure in output.measures], CONFIDENCE)
    misses = (column.lower > truth) | (column.upper < truth)
    assert int(misses.sum()) > allowed_misses(TIMES, 0.05)


def test_a_forgotten_remainder_is_noticed():
    """S^2 of a sum that is 0 is all of second order; a twentieth of the bound on it is not enough."""
    request = request_for(TWO, Offer(epsilon=1), cells=TIMES, limits=Limits(rows=1))
    (output,) = request.outputs
    draws = draws_of(request, {"age": [30] * 500, "cost": [0] * 500})

    def squared(of):
        return of[output.total] * of[output.total], of[output.count]

    found = within_law(squared, draws, CONFIDENCE)
    assert missed(found, 0.0) <= allowed_misses(TIMES, 0.05)
    chunk = delta_method._Chunk.of(squared, draws, slice(0, TIMES), CONFIDENCE)
    orders = chunk.orders(FloatInterval(low=np.zeros(TIMES), value=np.zeros(TIMES), high=np.zeros(TIMES)))
    remainder = np.asarray(draws[output.total].steps).astype(np.float64) ** 2
    assert int((remainder > orders.second).sum()) <= allowed_misses(TIMES, 0.05 * 9 / 40)
    assert int((remainder > orders.second / 20).sum()) > allowed_misses(TIMES, 0.05 * 9 / 40)


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("rows", [3000, 30_000])
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_intervals_are_at_most_half_wider_than_their_error(offer, rows):
    request = request_for(MOMENTS, offer, cells=TIMES, limits=Limits(rows=1))
    data = data_of(rows)
    draws = draws_of(request, data)
    together = np.cov(data["age"], data["cost"], bias=True)
    truths = {
        "v": together[0, 0],
        "c": together[0, 1],
        "r": together[0, 1] / np.sqrt(together[0, 0] * together[1, 1]),
    }
    for output in request.outputs:
        column = output.finish([draws[measure] for measure in output.measures], CONFIDENCE)
        truth = truths[output.name]
        misses = int(((column.lower > truth) | (truth > column.upper)).sum())
        assert misses <= allowed_misses(TIMES, 0.05), output.name
        error = np.quantile(np.abs(column.values - truth), 0.95)
        assert np.median(column.upper - column.lower) / 2 < 1.6 * error, output.name


def test_the_most_of_a_sum_is_that_of_a_linear_program():
    random = np.random.default_rng(3)
    weights = random.random((6, 20))
    for largest, total in ((3.0, 7.5), (3.0, 2.0), (1.0, 50.0)):
        found = delta_method._at_most(weights, largest, total)
        for column in range(20):
            best = linprog(-weights[:, column], A_ub=np.ones((1, 6)), b_ub=[total], bounds=[(0, largest)] * 6)
            assert found[column] == pytest.approx(-best.fun)


def test_intervals_that_do_not_meet_are_the_first():
    one = FloatInterval(low=np.array([0.0, 0.0, np.nan]), value=np.zeros(3), high=np.array([2.0, 2.0, 2.0]))
    other = FloatInterval(low=np.array([1.0, 3.0, 1.0]), value=np.ones(3), high=np.array([5.0, 4.0, 1.5]))
    found = within_both(one, other)
    assert found.low.tolist() == [1.0, 0.0, 1.0]
    assert found.high.tolist() == [2.0, 2.0, 1.5]
    assert found.value.tolist() == [0.0, 0.0, 0.0]


def test_other_noises_have_no_law_and_extreme_confidences_none():
    request = request_for(MOMENTS, Offer(epsilon=1), cells=2, limits=Limits(rows=1))
    parts = list(request.parts)
    assert has_law(parts, CONFIDENCE)
    assert not has_law(parts, 1 - Fraction(1, 10**6))
    assert not has_law(parts * 3, CONFIDENCE)

    class Other(Part):
        __slots__ = ()

    other = Other(statistic=parts[0].statistic, mechanism=parts[0].mechanism)
    assert not has_law([other], CONFIDENCE)
    assert box_share([other], CONFIDENCE) == CONFIDENCE
    assert box_share(parts[:2], CONFIDENCE) == 1 - Fraction(1, 20) / 10


def of_few_persons(related, offer):
    """Draws of a correlation of 650 persons, whose values are spread over a fifth of the bounds."""
    between = Bounds(0, 100, step=1)
    request = request_for(
        {"r": MOMENTS["r"]},
        offer,
        cells=TIMES,
        limits=Limits(rows=1),
        columns={"age": between, "cost": between},
    )
    one, other = np.random.default_rng(7).normal(0, 10, (2, 650))
    other = related * one + np.sqrt(1 - related**2) * other
    data = {"age": np.round(50 + one).tolist(), "cost": np.round(50 + other).tolist()}
    (output,) = request.outputs
    draws = draws_of(request, data)
    return (
        output,
        [draws[measure] for measure in output.measures],
        np.corrcoef(data["age"], data["cost"])[0, 1],
    )


@pytest.mark.statistical
@pytest.mark.parametrize(("related", "widest"), [(0.0, 0.6), (0.7, 0.55)])
def test_a_correlation_of_few_persons_is_told(monkeypatch, related, widest):
    """Sums of squares that are above 0 by their own law tell much, though a box of all noises holds 0."""
    output, draws, truth = of_few_persons(related, Offer(epsilon=2))
    column = output.finish(draws, CONFIDENCE)
    assert int(((column.lower > truth) | (truth > column.upper)).sum()) <= allowed_misses(TIMES, 0.05)
    assert np.median(column.upper - column.lower) / 2 < widest
    exact = delta_method.margins_of_largest_weights
    monkeypatch.setattr(delta_method, "margins_of_largest_weights", lambda *of: exact(*of) / 8)
    column = output.finish(draws, CONFIDENCE)
    assert int(((column.lower > truth) | (truth > column.upper)).sum()) > allowed_misses(TIMES, 0.05)


def test_the_balance_of_two_numbers_is_between_its_ends():
    random = np.random.default_rng(3)
    first, second = np.exp(random.normal(0, 2, (2, 200)))
    low = np.exp(random.normal(0, 2, 200))
    high = low * np.exp(random.exponential(1, 200))
    same = [FloatInterval(low=one, value=one, high=one) for one in (first, second)]
    found = delta_method._balanced(*same, FloatInterval(low=low, value=low, high=high))
    shares = np.geomspace(low, high, 2001)
    tried = (shares * first + second / shares) / 2
    assert (found.low <= tried).all()
    assert (tried <= found.high).all()
    assert found.low == pytest.approx(tried.min(axis=0), rel=1e-4)
    assert found.high == pytest.approx(tried.max(axis=0), rel=1e-9)


def hard_data(rows):
    """Values at both ends, at one end, spread evenly, and all the same."""
    random = np.random.default_rng(rows)
    return {
        "ends": {"age": [-20, 80] * (rows // 2), "cost": [0, 12] * (rows // 2)},
        "opposite": {"age": [-20, 80] * (rows // 2), "cost": [12, 0] * (rows // 2)},
        "one end": {
            "age": random.integers(70, 81, rows).tolist(),
            "cost": (random.integers(20, 25, rows) / 2).tolist(),
        },
        "even": {
            "age": random.integers(-20, 81, rows).tolist(),
            "cost": (random.integers(0, 25, rows) / 2).tolist(),
        },
        "constant": {"age": [75] * rows, "cost": [11] * rows},
    }


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("rows", [2, 60, 300, 2000])
@pytest.mark.parametrize("offer", [*OFFERS.values(), Offer(epsilon=30)], ids=[*OFFERS, "much"])
def test_ten_thousand_releases_are_covered(offer, rows):
    times = 10_000
    request = request_for(MOMENTS, offer, cells=times, limits=Limits(rows=1))
    for kind, data in hard_data(rows).items():
        draws = draws_of(request, data, times)
        together = np.cov(data["age"], data["cost"], bias=True)
        truths = {"v": together[0, 0], "c": together[0, 1]}
        if kind != "constant":
            truths["r"] = together[0, 1] / np.sqrt(together[0, 0] * together[1, 1])
        for output in request.outputs:
            if output.name in truths:
                column = output.finish([draws[measure] for measure in output.measures], CONFIDENCE)
                truth, slack = truths[output.name], 1e-9 * max(1, abs(truths[output.name]))
                misses = int(((column.lower > truth + slack) | (truth - slack > column.upper)).sum())
                assert misses <= allowed_misses(times, 0.05), (kind, output.name)
