"""The trade-off of an event is never above that of its laws, and close to it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import meaning, profile, tradeoff
from discreet.accounting.meaning import posterior
from discreet.accounting.meaning import tradeoff as exact_tradeoff
from discreet.errors import ParameterError
from discreet.privacy import PureDP, events

REPORT = events.RandomizedResponse(truth="3/4")
RATES = [
    Fraction(1, 10**9),
    Fraction(1, 1000),
    Fraction(1, 20),
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(99, 100),
]


def laws_of_reports(times):
    """Both laws of several reports of one bit, by enumeration."""
    one = {0: Fraction(3, 4), 1: Fraction(1, 4)}
    outcomes = list(product((0, 1), repeat=times))
    first = {y: prod((one[bit] for bit in y), start=Fraction(1)) for y in outcomes}
    second = {y: prod((one[1 - bit] for bit in y), start=Fraction(1)) for y in outcomes}
    return first, second


@pytest.mark.parametrize("times", [1, 2, 5])
def test_it_is_a_lower_bound_on_every_test_of_the_two_laws(times):
    exact = exact_tradeoff(*laws_of_reports(times))
    found = tradeoff(REPORT * times)
    for rate in [Fraction(0), *RATES, Fraction(1), *(corner for corner, _ in exact.vertices)]:
        bound = found(float(rate))
        assert bound <= exact(rate) + Fraction(1, 10**15)
        assert bound >= exact(rate) - Fraction(2, 1000)
    assert exact.advantage <= found.advantage <= exact.advantage * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("shift", [0.2, 1, 4])
@given(rate=st.floats(0, 1))
def test_gaussian_noise_against_the_normal_law(shift, rate):
    found = FOUND[shift]
    with mpmath.workdps(30):
        if rate in (0.0, 1.0):
            exact = mpmath.mpf(1 - rate)
        else:
            quantile = mpmath.sqrt(2) * mpmath.erfinv(2 * mpmath.mpf(rate) - 1)
            exact = mpmath.ncdf(-quantile - shift)
        assert found(rate) <= exact + mpmath.mpf("1e-15")
        assert found(rate) >= exact - mpmath.mpf("0.004")


FOUND = {shift: tradeoff(events.Gaussian(noise_multiplier=1 / shift)) for shift in (0.2, 1, 4)}


def test_rates_come_as_numbers_or_arrays():
    found = FOUND[1]
    both = found([0.1, 0.2])
    assert isinstance(found(0.1), float)
    assert both.tolist() == [found(0.1), found(0.2)]
    assert np.asarray(found.true_positive_rate([0.1, 0.2])) == pytest.approx(1 - both)
    assert found(0.0) == pytest.approx(1)
    assert found(1.0) == 0


def test_small_true_positive_rates_keep_their_digits():
    """At a rate of 1e-9 a pure event of 1 allows a true positive rate of e 1e-9, which 1 - f would lose."""
    found = tradeoff(events.Pure(epsilon=1))
    assert found.true_positive_rate(1e-9) == pytest.approx(float(mpmath.e) * 1e-9, rel=1e-6)
    assert meaning.true_positive_rate(PureDP(epsilon=1), 1e-9) <= found.true_positive_rate(1e-9) * (1 + 1e-9)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), [0.5, 2]])
def test_bad_rates(rate):
    with pytest.raises(ParameterError, match=r"^false_positive_rate "):
        FOUND[1](rate)


def test_a_profile_is_a_curve_for_meaning():
    """A pure event, seen through its profile, means what its guarantee means."""
    seen, record = profile(events.Pure(epsilon=1)), PureDP(epsilon=1)
    assert meaning.advantage(seen) == pytest.approx(meaning.advantage(record), rel=1e-6)
    assert meaning.true_positive_rate(seen, 0.05) == pytest.approx(
        meaning.true_positive_rate(record, 0.05), rel=2e-3
    )
    assert posterior(seen, 0.5, failure=0) == pytest.approx(posterior(record, 0.5), rel=0.01)
    run = events.PoissonSampled(events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
    assert 0.5 < posterior(profile(run), 0.5, failure=1e-6) < 0.8


def test_relation_and_certificate_are_those_of_the_profile():
    found = tradeoff(REPORT)
    assert found.neighbors == REPORT.neighbors
    assert found.certified
    assert not tradeoff(events.Renyi(curve=[(8, 0.1)])).certified


def test_it_is_printed_as_a_sentence():
    assert str(tradeoff(events.Gaussian(noise_multiplier=1))) == (
        "trade-off (add-remove person): advantage at most 0.382925; the least false negative rate is "
        "0.907614 at 0.01, 0.610836 at 0.1 of false positives"
    )
