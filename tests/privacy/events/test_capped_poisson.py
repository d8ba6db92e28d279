"""Capped samples: what may be recorded, when the cap can bind, and what pushing out another unit costs."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from discreet.errors import ParameterError
from discreet.privacy import events

PURE = events.Pure(epsilon="1/2")


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": -Fraction(1, 10**9)},
        {"rate": 1 + Fraction(1, 10**9)},
        {"most": 0},
        {"most": 10**18 + 1},
        {"population": 0},
        {"population": 10**18 + 1},
    ],
    ids=str,
)
def test_what_no_sample_can_have_is_refused(wrong):
    fitting = {"rate": "1/10", "most": 5, "population": 100}
    (name,) = wrong
    with pytest.raises(ParameterError, match=name):
        events.CappedPoissonSampled(PURE, **{**fitting, **wrong})


def test_ends_of_the_ranges_are_accepted():
    for rate in (0, 1):
        for count in (1, 10**18):
            found = events.CappedPoissonSampled(PURE, rate=rate, most=count, population=count)
            assert (found.rate, found.most, found.population) == (rate, count, count)


@pytest.mark.parametrize(
    ("rate", "most", "population", "capped"),
    [("1/2", 3, 3, False), ("1/2", 3, 4, True), (0, 3, 4, False), (1, 3, 4, True), ("1/2", 4, 3, False)],
)
def test_the_cap_binds_where_others_can_fill_the_batch(rate, most, population, capped):
    """A unit changes the fate of another only if `most` others may be drawn: there are population - 1."""
    event = events.CappedPoissonSampled(PURE, rate=rate, most=most, population=population)
    assert event.is_capped is capped
    plain = events.PoissonSampled(PURE, rate=rate)
    if not capped:
        assert (event.pure_epsilon, event.concentrated_rho) == (plain.pure_epsilon, plain.concentrated_rho)
    else:
        assert event.pure_epsilon > plain.pure_epsilon


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1)])
def test_a_unit_that_pushes_out_another_costs_two(rate):
    event = events.CappedPoissonSampled(PURE, rate=rate, most=3, population=9)
    with mpmath.workdps(40):
        exact = mpmath.log1p(
            mpmath.mpf(rate.numerator) / rate.denominator * mpmath.expm1(2 * mpmath.mpf(1) / 2)
        )
        found = mpmath.mpf(event.pure_epsilon.numerator) / event.pure_epsilon.denominator
        assert exact <= found <= exact * (1 + mpmath.mpf(10) ** -6)
    normal = events.CappedPoissonSampled(events.Gaussian(noise_multiplier=2), rate=rate, most=3, population=9)
    assert normal.concentrated_rho == 4 * Fraction(1, 8)
