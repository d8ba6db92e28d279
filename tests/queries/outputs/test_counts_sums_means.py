"""Intervals cover the bounded statistic: by enumeration of the law, and in 10,000 draws of shipped noise."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import stats

from discreet.curator.request.request import Draw
from discreet.data import Bounds, Limits, col, count
from discreet.mechanisms import Gaussian, Laplace
from discreet.queries import Offer, expectations
from queries.releases import LIMITS, OFFERS, drawn, exact, finished, request_for
from significance import FALSE_ALARM

COUNT = {"n": count()}
SUM = {"s": col("cost").sum()}
MEAN = {"m": col("cost").mean()}
ALL = {"n": col("cost").count(), "s": col("cost").sum(), "m": col("cost").mean()}
DRAWS = 10_000


def probabilities(part, reach):
    """P(noise = k) for abs(k) <= reach, from the definition of the law."""
    event, steps = part.mechanism.event, np.arange(-reach, reach + 1)
    if isinstance(part.mechanism, Laplace):
        weights = np.exp(-np.abs(steps) / float(event.scale))
    else:
        weights = np.exp(-(steps**2) / (2 * float(event.variance)))
    return steps, weights / weights.sum()


def covered(column, truth):
    return (column.lower <= truth) & (truth <= column.upper)


def enumerated(request, integers, reach):
    """Every pair (or single) of noises up to `reach`, as draws, and their probabilities."""
    laws = [probabilities(part, reach) for part in request.parts]
    noises = np.array(list(product(*(steps for steps, _ in laws))))
    weights = np.array([np.prod(point) for point in product(*(law for _, law in laws))])
    draws = {
        part.measure: Draw(part=part, steps=integers[index] + noises[:, index])
        for index, part in enumerate(request.parts)
    }
    return finished(request, draws), weights


@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999"])
@pytest.mark.parametrize("truth", [0, 1, 4, 1000])
@pytest.mark.parametrize("offer", [Offer(epsilon=1), Offer(epsilon=20), Offer(rho=0.5), Offer(rho=40)])
def test_a_count_is_covered_as_the_law_says(offer, truth, confidence):
    request = request_for(COUNT, offer, cells=1, confidence=confidence)
    columns, weights = enumerated(request, [truth], 300)
    column, law = columns["n"], request.parts[0].mechanism.error
    coverage = weights[covered(column, truth)].sum()
    assert coverage >= float(Fraction(confidence)) - 1e-9
    margin = int(law.quantile(Fraction(confidence)))
    inside = 1 - law.tail(margin)
    assert coverage >= inside - 1e-9
    if truth > margin:
        assert coverage == pytest.approx(inside, abs=1e-9)
        assert (
            not margin or 1 - law.tail(margin - 1) < float(Fraction(confidence)) + 1e-8
        )  # no wider than needed
    assert (column.lower >= 0).all()
    assert (column.lower <= column.upper).all()
    assert column.values.dtype == column.lower.dtype == column.upper.dtype == np.int64


@pytest.mark.parametrize(
    "bounds", [Bounds(-5, 5, step=1), Bounds(0, 8, step=1), Bounds(10, 12, step=0.5), Bounds(-9, -4, step=1)]
)
@pytest.mark.parametrize("offer", [Offer(epsilon=6), Offer(rho=4)])
def test_sums_and_means_are_covered_over_all_noises(offer, bounds):
    """Every pair of noises is tried, weighted by its probability: nothing is drawn."""
    request = request_for(ALL, offer, cells=1, bounds=bounds)
    assert len(request.parts) == 2
    for size, share in ((1, 0), (1, 1), (3, 0.5), (30, 0.1), (400, 1)):
        grid = round(share * float((bounds.upper - bounds.lower) / bounds.step))
        total = size * (bounds.lower + grid * bounds.step)
        integers = exact(request, total, size)
        columns, weights = enumerated(request, integers, 60)
        truths = {"n": size, "s": float(total), "m": float(total) / size}
        for name, truth in truths.items():
            column = columns[name]
            assert weights[covered(column, truth)].sum() >= 0.95 - 1e-9
            assert np.isfinite(column.values).all()
            assert (column.lower <= column.upper).all()
            if name != "n":
                assert (column.lower <= column.values).all()
                assert (column.values <= column.upper).all()
        mean = columns["m"]
        assert mean.lower.min() >= float(bounds.lower) - 1e-9
        assert mean.upper.max() <= float(bounds.upper) + 1e-9


@pytest.mark.parametrize("offer", [Offer(epsilon=7.5), Offer(rho=7.5)])
def test_two_noises_fail_together_no_more_often_than_one_may(offer):
    """Either noise is 0 with little more than 95%, both with less: an interval of no width is too narrow."""
    request = request_for(MEAN, offer, cells=1, bounds=Bounds(0, 2, step=1), limits=Limits(rows=1))
    assert all(0.025 < part.mechanism.error.tail(0) < 0.05 for part in request.parts)
    columns, weights = enumerated(request, exact(request, 500, 400), 30)
    assert weights[covered(columns["m"], 1.25)].sum() >= 0.95


def test_the_mean_of_nobody_is_anything_within_the_bounds():
    request = request_for(MEAN, Offer(epsilon=4), cells=1, bounds=Bounds(-3, 9, step=1))
    columns, weights = enumerated(request, [0, 0], 60)
    assert weights[(columns["m"].lower == -3) & (columns["m"].upper == 9)].sum() >= 0.97
    assert np.isfinite(columns["m"].values).all()


def test_intervals_narrow_as_counts_grow():
    request = request_for(MEAN, Offer(epsilon=1), cells=1)
    total, counted = request.parts
    widths = []
    for size in (1, 10, 100, 1000, 10**6, 10**12):
        draws = [Draw(part=total, steps=np.array([-10 * size])), Draw(part=counted, steps=np.array([size]))]
        column = request.outputs[0].finish(draws, request.confidence)
        assert column.values[0] == pytest.approx(20.0)
        widths.append(column.upper[0] - column.lower[0])
    assert widths[0] == 50
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 1e-6


def test_extreme_integers_stay_finite():
    bounds = Bounds(2**51 - 2**20, 2**51, step=1)
    request = request_for(ALL, Offer(epsilon=1), cells=4, bounds=bounds)
    extremes = np.array([2**62 + 10**9, -(2**62) - 10**9, 0, 1])
    draws = {part.measure: Draw(part=part, steps=extremes) for part in request.parts}
    columns = finished(request, draws)
    for name in ("s", "m"):
        for array in (columns[name].values, columns[name].lower, columns[name].upper):
            assert np.isfinite(array).all()
            assert array.dtype == np.float64
        assert (columns[name].lower <= columns[name].values).all()
        assert (columns[name].values <= columns[name].upper).all()
    assert columns["s"].values[0] == pytest.approx(float(2**62) * (1 + 2**51), rel=1e-6)


def test_the_sum_beside_a_mean_is_the_sum():
    request = request_for(ALL, Offer(epsilon=1), cells=1, bounds=Bounds(0, 50, step="1/3"))
    integers = exact(request, Fraction(100), 6)
    draws = {
        part.measure: Draw(part=part, steps=np.array([k]))
        for part, k in zip(request.parts, integers, strict=True)
    }
    columns = finished(request, draws)
    assert columns["s"].values[0] == 100
    assert columns["m"].values[0] == pytest.approx(100 / 6, rel=1e-12)
    assert columns["n"].values[0] == 6


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_margins_are_those_that_were_expected(offer):
    request = request_for(ALL | {"k": count()}, offer, cells=3)
    expected = {one.name: one for one in expectations(request, rows=500)}
    columns = drawn(request, exact(request, 500 * 20, 500))
    for name in ("n", "k"):
        assert (columns[name].upper - columns[name].lower == 2 * expected[name].margin).all()
    widths = columns["s"].upper - columns["s"].lower
    assert widths == pytest.approx(2 * expected["s"].margin, rel=1e-12)
    far = request_for(MEAN, offer, cells=3)
    margin = expectations(far, rows=500)[0]
    total, counted = (
        Draw(part=part, steps=np.full(3, k))
        for part, k in zip(far.parts, exact(far, 25 * 500, 500), strict=True)
    )
    middle = far.outputs[0].finish([total, counted], far.confidence)
    assert (middle.upper - middle.lower <= 2 * margin.margin).all()
    assert margin.assumes.startswith("500 values in every group")
    assert 0 < margin.standard_deviation <= margin.margin
    assert all(not expected[name].assumes for name in ("n", "k", "s"))


def test_the_margin_of_a_mean_holds_wherever_the_mean_is():
    request = request_for(MEAN, Offer(rho=0.1), cells=1)
    margin = expectations(request, rows=200)[0].margin
    for mean in range(51):
        integers = exact(request, 200 * mean, 200)
        draws = [
            Draw(part=part, steps=np.array([k])) for part, k in zip(request.parts, integers, strict=True)
        ]
        column = request.outputs[0].finish(draws, request.confidence)
        assert max(column.upper[0] - column.values[0], column.values[0] - column.lower[0]) <= margin * (
            1 + 1e-9
        )
    assert expectations(request, rows=1)[0].margin == 25


def allowed_misses(draws, failure):
    """The most misses that an interval of this failure probability has, except for a false alarm."""
    return int(stats.binom.isf(FALSE_ALARM, draws, failure))


def test_draws_use_both_mechanisms():
    kinds = {
        (name, limited): type(request_for(COUNT, offer, cells=50, limits=limits).parts[0].mechanism)
        for name, offer in OFFERS.items()
        for limited, limits in LIMITS.items()
    }
    assert kinds["pure", "rows"] is kinds["pure", "groups"] is Laplace
    assert kinds["zCDP", "rows"] is kinds["zCDP", "groups"] is Gaussian
    assert kinds["approximate", "rows"] is Laplace
    assert kinds["approximate", "groups"] is Gaussian


@pytest.mark.statistical
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_intervals_cover_in_ten_thousand_draws(offer, limits):
    """Exact integers once, the shipped noise and intervals each time; fails by chance at the stated rate."""
    for aggregates in (COUNT, SUM, MEAN, ALL):
        request = request_for(aggregates, offer, cells=DRAWS, limits=limits)
        columns = drawn(request, exact(request, 700 * 20, 700))
        truths = {"n": 700, "s": 14_000.0, "m": 20.0}
        for name, column in columns.items():
            misses = int((~covered(column, truths[name])).sum())
            assert misses <= allowed_misses(DRAWS, 0.05)
            if name == "n" or aggregates is SUM:
                law = request.part_of(column_measure(request, name)).mechanism.error
                failure = law.tail(law.quantile(request.confidence))
                assert stats.binomtest(misses, DRAWS, failure).pvalue >= FALSE_ALARM


def column_measure(request, name):
    return next(output.measures[0] for output in request.outputs if output.name == name)


@pytest.mark.statistical
def test_intervals_that_are_too_narrow_are_found_out():
    """The same test rejects intervals of 90%."""
    request = request_for(COUNT, OFFERS["zCDP"], cells=DRAWS, confidence=0.9)
    column = drawn(request, [700])["n"]
    assert int((~covered(column, 700)).sum()) > allowed_misses(DRAWS, 0.05)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("confidence", ["0.8", "0.95", "0.99"])
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_intervals_cover_in_many_draws(offer, limits, confidence):
    draws = 200_000
    failure = 1 - float(Fraction(confidence))
    for bounds in (Bounds(0, 50, step=0.5), Bounds(-20, 5, step=0.1), Bounds(1000, 1010, step=1)):
        for size, share in ((0, 0), (1, 1), (40, 0.25), (5000, 0.9)):
            request = request_for(
                ALL, offer, cells=draws, limits=limits, bounds=bounds, confidence=confidence
            )
            grid = round(share * float((bounds.upper - bounds.lower) / bounds.step))
            total = size * (bounds.lower + grid * bounds.step)
            columns = drawn(request, exact(request, total, size))
            truths = {"n": size, "s": float(total)} | ({"m": float(total) / size} if size else {})
            for name, truth in truths.items():
                assert int((~covered(columns[name], truth)).sum()) <= allowed_misses(draws, failure)
            assert np.isfinite(columns["m"].values).all()


@pytest.mark.parametrize("offer", [Offer(epsilon=1), Offer(epsilon=0.1), Offer(rho=0.5), Offer(rho=0.01)])
def test_what_raising_to_0_adds_is_what_the_law_says(offer):
    """By enumeration: the stated excess at a true count of 0, and less above larger ones."""
    request = request_for(COUNT, offer, cells=1)
    added = []
    for truth in (0, 1, 5, 40):
        columns, weights = enumerated(request, [truth], 2000)
        raised = columns["n"].nonnegative()
        assert (raised.values == np.maximum(columns["n"].values, 0)).all()
        assert (raised.lower <= raised.values).all()
        assert (raised.values <= raised.upper).all()
        added.append(float(weights @ raised.values) - truth)
    assert added[0] == pytest.approx(raised.bias, rel=1e-6)
    assert all(0 <= later < sooner for sooner, later in pairwise(added))


def test_what_a_mean_does_not_know_is_marked():
    request = request_for(MEAN, OFFERS["pure"], cells=200)
    for size, lost in ((0, True), (2000, False)):
        column = drawn(request, exact(request, 20 * size, size))["m"]
        whole = (column.lower == 0) & (column.upper == 50)
        assert (column.unknown <= whole).all()
        assert column.unknown.mean() > 0.9 if lost else not column.unknown.any()
