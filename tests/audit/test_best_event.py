from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from audit.mutants import FloatLaplace, HalvedScale
from audit.right import GridLaplace, IntegerGaussian, IntegerLaplace, RandomizedResponse
from discreet.audit.best_event import (
    _codes,
    _count,
    _label_codes,
    attack,
    check_best_event,
    clopper_pearson,
)
from discreet.audit.samples import Sample, collect, draw
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, PureDP, RenyiDP, ZeroConcentratedDP
from significance import FALSE_ALARM


def test_clopper_pearson_inverts_the_binomial_tail():
    from scipy import stats

    low, high = clopper_pearson(np.array([0, 30, 100]), np.array([0, 30, 100]), (100, 100), 0.02)
    assert low[0] == 0
    assert high[2] == 1
    assert stats.binom.sf(29, 100, low[1]) == pytest.approx(0.01)
    assert stats.binom.cdf(30, 100, high[1]) == pytest.approx(0.01)
    assert stats.binom.sf(99, 100, low[2]) == pytest.approx(0.01)
    assert stats.binom.cdf(0, 100, high[0]) == pytest.approx(0.01)


@pytest.mark.statistical
def test_a_million_releases_resolve_epsilon_to_two_hundredths():
    mechanism = IntegerLaplace()
    samples = [draw(mechanism, x, 10**6) for x in (0, 1)]
    bound = attack(*samples, mechanism.guarantee, FALSE_ALARM)
    assert -0.04 < bound.excess <= 0
    assert attack(*samples, PureDP(epsilon=Fraction(95, 100)), FALSE_ALARM).excess > 0


@pytest.mark.statistical
def test_approximate_claims_subtract_delta():
    mechanism = IntegerGaussian()
    samples = [draw(mechanism, x, 10**5) for x in (0, 1)]
    # The exact delta of sigma = 2 at epsilon 1/4 is 0.11.
    assert attack(*samples, ApproximateDP(epsilon="0.25", delta="0.12"), FALSE_ALARM).excess <= 0
    assert attack(*samples, ApproximateDP(epsilon="0.25", delta="0.03"), FALSE_ALARM).excess > 0


@pytest.mark.statistical
def test_curves_of_points_accept_the_truth_and_reject_a_quarter_of_it():
    mechanism = IntegerGaussian()
    samples = [draw(mechanism, x, 10**5) for x in (0, 1)]
    for right, wrong in (
        (ZeroConcentratedDP(rho="0.125"), ZeroConcentratedDP(rho="0.02")),
        (RenyiDP(order=4, epsilon="0.5"), RenyiDP(order=4, epsilon="0.02")),
        (GaussianDP(mu="0.6"), GaussianDP(mu="0.3")),
    ):
        assert attack(*samples, right, FALSE_ALARM).excess <= 0
        assert attack(*samples, wrong, FALSE_ALARM).excess > 0


@pytest.mark.statistical
def test_vectors_are_told_apart_by_their_distances():
    mechanism = IntegerLaplace(4)
    inputs = (np.zeros(4, np.int64), np.ones(4, np.int64))
    samples = [draw(mechanism, x, 10**5) for x in inputs]
    bound = attack(*samples, mechanism.guarantee, FALSE_ALARM, inputs)
    assert bound.event == "distances in L1"
    assert -0.35 < bound.excess <= 0


@pytest.mark.slow
@pytest.mark.statistical
def test_floats_are_told_apart_by_their_low_order_bits():
    broken, right = FloatLaplace(), GridLaplace()
    bound = attack(*(draw(broken, x, 10**4) for x in (0.0, 1.0)), broken.guarantee, FALSE_ALARM)
    assert bound.excess > 1
    assert "bits" in bound.event
    assert attack(*(draw(right, x, 10**4) for x in (0.0, 1.0)), right.guarantee, FALSE_ALARM).excess <= 0


@pytest.mark.statistical
def test_kinds_of_output_are_an_event():
    numbers, floats = collect([1, 2] * 500), collect([1.0, 2.0] * 500)
    mixed = collect([1, None] * 500)
    for samples in ((numbers, floats), (numbers, collect([None] * 1000)), (mixed, collect([None, 2] * 500))):
        assert attack(*samples, PureDP(epsilon=1), FALSE_ALARM).excess > 0


@pytest.mark.statistical
@pytest.mark.statistical
@pytest.mark.parametrize("size", [4000, 20_000])
@pytest.mark.parametrize("kind", ["vectors", "pairs"])
def test_outputs_that_never_repeat_prove_nothing(kind, size):
    """One law for both inputs, and a new output every time: which are new must not move the event."""
    source = np.random.default_rng(size)
    words = [source.integers(0, 2**60, (size, 2)) for _ in range(2)]
    if kind == "pairs":
        samples = [collect([tuple(row) for row in side.tolist()]) for side in words]
    else:
        samples = [Sample(values=side, keys=None) for side in words]
    assert attack(*samples, PureDP(epsilon="0.1"), FALSE_ALARM).excess <= 0


def test_an_event_is_the_same_whatever_the_fresh_outputs_are():
    """The codes of the first halves, which choose events, and how many there may be, are theirs alone."""
    words = np.random.default_rng(5).integers(0, 3000, (4, 2000))
    for numbered in (_codes, lambda first, second: _label_codes(first.tolist(), second.tolist())):
        found = []
        for others in (words[2:], words[2:, ::-1] + 1500):
            sides = numbered(*(np.concatenate(pair) for pair in zip(words[:2], others, strict=True)))
            found.append((_count(*sides), *(side[:2000].tolist() for side in sides)))
            assert all(side.max() < _count(*sides) for side in sides)
        assert found[0] == found[1]


def test_both_orders_of_neighbors_are_attacked():
    """A mechanism that keeps quiet at one input leaks in one order only."""
    silent, loud = collect([0] * 5000), collect([0, 1] * 2500)
    for pair in ((silent, loud), (loud, silent)):
        finding = check_best_event([pair], [(0, 1)], PureDP(epsilon=1), FALSE_ALARM)
        assert finding.verdict == "failed"


@pytest.mark.slow
@pytest.mark.statistical
def test_the_finding_holds_the_bound_and_its_rate():
    for mechanism, verdict in ((RandomizedResponse(), "passed"), (HalvedScale(), "failed")):
        pairs = mechanism.neighboring_inputs()
        samples = [tuple(draw(mechanism, x, 20_000) for x in pair) for pair in pairs]
        finding = check_best_event(samples, pairs, mechanism.guarantee, FALSE_ALARM)
        assert finding.verdict == verdict
        assert finding.false_alarm == FALSE_ALARM
        assert "epsilon is at least" in finding.detail
