"""Exposure: exact ranks by counting, and fitted laws against scipy, exact tails and whole spaces."""

from __future__ import annotations

from math import log, log2

import numpy as np
import pytest
from scipy.stats import norm, skewnorm

from discreet.audit import Exposure, fitted_exposure, rank_exposure
from discreet.audit.exposure import _log_probability, _skew_normal
from discreet.errors import ParameterError


def test_exact_exposure_counts_what_is_no_less_likely():
    others = [5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]
    assert rank_exposure(1.0, others) == Exposure(bits=3.0, error=0.0, most=3.0)
    assert rank_exposure(6.5, others).bits == pytest.approx(3 - log2(3))
    assert rank_exposure(6.0, others).bits == pytest.approx(3 - log2(3))  # a tie is no less likely
    assert rank_exposure(20.0, others).bits == 0


def test_a_secret_that_is_like_all_others_has_1_44_bits_on_average():
    values = np.random.default_rng(3).normal(size=1000)
    bits = [rank_exposure(values[k], np.delete(values, k)).bits for k in range(1000)]
    assert np.mean(bits) == pytest.approx(1 / log(2), abs=0.02)


@pytest.mark.parametrize("shape", [-4.0, 0.0, 2.5])
def test_the_law_has_the_moments_of_the_sample(shape):
    drawn = skewnorm.rvs(shape, 3, 2, size=4000, random_state=np.random.default_rng(8))
    place, scale, found = _skew_normal(drawn)
    mean, variance, skew = skewnorm.stats(found, place, scale, moments="mvs")
    assert mean == pytest.approx(drawn.mean())
    assert variance == pytest.approx(drawn.var())
    assert skew == pytest.approx((((drawn - drawn.mean()) / drawn.std()) ** 3).mean(), abs=1e-6)


@pytest.mark.parametrize("shape", [-3.0, 0.0, 3.0])
def test_probabilities_are_those_of_scipy_where_it_has_digits(shape):
    for z in (-2.0, -0.5, 0.0, 1.0, 4.0):
        assert _log_probability(z, shape) == pytest.approx(skewnorm.logcdf(z, shape), abs=1e-4, rel=1e-4)
    assert _log_probability(-12.0, 0.0) == pytest.approx(norm.logcdf(-12), rel=1e-4)


@pytest.mark.statistical
def test_fitted_exposure_agrees_with_the_rank_in_a_whole_space():
    space = skewnorm.rvs(2, 50, 5, size=2**16, random_state=np.random.default_rng(6))
    sample = space[:4000]
    for quantile in (0.5, 0.05, 0.001):
        secret = float(np.quantile(space, quantile))
        exact, fitted = rank_exposure(secret, space), fitted_exposure(secret, sample, len(space))
        assert fitted.bits == pytest.approx(exact.bits, abs=max(6 * fitted.error, 0.3))
        assert fitted.error > 0
    assert fitted_exposure(0.0, sample, len(space)).bits == 16.0
    assert fitted_exposure(1000.0, sample, len(space)).bits == pytest.approx(0, abs=1e-9)


def test_equal_perplexities_and_bad_input():
    assert fitted_exposure(1.0, np.full(100, 2.0), 1000).bits == pytest.approx(log2(1000))
    assert fitted_exposure(2.0, np.full(100, 2.0), 1000).bits == 0
    assert "bits" in str(rank_exposure(1.0, [2.0]))
    assert "±" in str(fitted_exposure(-1.0, np.random.default_rng(1).normal(size=200), 1000))
    for call in (
        lambda: rank_exposure(1.0, []),
        lambda: rank_exposure(1.0, [np.nan]),
        lambda: fitted_exposure(1.0, [1.0] * 10, 100),
        lambda: fitted_exposure(1.0, [1.0] * 100, 99),
    ):
        with pytest.raises(ParameterError):
            call()
