"""Fits: near least squares on rich data, shrunk on poor data, with intervals that cover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.learning import AdaptiveRidge
from significance import FALSE_ALARM

BETA = np.array([0.5, 1.0, -0.7])
LENGTH = 3**0.5


def made_up(count, source, deviation=0.3):
    design = np.column_stack([np.ones(count), source.uniform(-1, 1, (count, 2))])
    return design, design @ BETA + deviation * source.normal(size=count)


def regression(rho):
    return AdaptiveRidge(columns=3, largest=str(LENGTH), response=4, rho=rho)


@pytest.mark.statistical
def test_rich_data_need_no_ridge_and_give_nearly_least_squares():
    design, response = made_up(100_000, np.random.default_rng(1))
    plain = np.linalg.lstsq(design, response, rcond=None)[0]
    fit = regression(1).release(design, response)
    assert fit.ridge == 0
    assert fit.coefficients == pytest.approx(plain, abs=0.02)
    assert fit.predict(design[:5]) == pytest.approx(design[:5] @ fit.coefficients)


@pytest.mark.statistical
def test_singular_data_get_the_ridge_of_the_noise():
    """The smallest eigenvalue is 0; the ridge is near twice the bound on the noise, not more."""
    design = np.repeat(np.random.default_rng(2).uniform(-1, 1, (5000, 1)), 3, axis=1)
    fit = regression(1).release(design, design.sum(axis=1))
    eta = fit._spectral(0.005)
    assert 0 < fit.ridge <= 2 * eta
    assert fit.coefficients.sum() == pytest.approx(3, abs=0.5)
    values = np.linalg.eigvalsh(fit.matrix + fit.ridge * np.eye(3))
    assert values.min() > 0


@pytest.mark.statistical
@pytest.mark.parametrize(("count", "rho"), [(3000, 0.5), (10_000, 0.05)])
def test_intervals_cover_at_their_level_and_without_the_noise_they_would_not(count, rho):
    source, runs = np.random.default_rng(), 150
    mechanism = regression(rho)
    covered = naive = 0
    for _ in range(runs):
        fit = mechanism.release(*made_up(count, source))
        ends = fit.intervals(0.9)
        covered += bool(ends[1, 0] <= BETA[1] <= ends[1, 1])
        assert 0 < ends[1, 1] - ends[1, 0] < 1
        deviation = 0.3 / np.sqrt(count / 3)  # of least squares without noise
        naive += bool(abs(fit.coefficients[1] - BETA[1]) <= 1.645 * deviation)
    assert stats.binom.cdf(covered, runs, 0.9) > FALSE_ALARM
    assert stats.binom.cdf(naive, runs, 0.9) < FALSE_ALARM


@pytest.mark.statistical
def test_intervals_cover_where_the_errors_of_the_model_dominate():
    """With hardly any noise, an interval must still be as wide as that of least squares."""
    source, runs, count = np.random.default_rng(), 150, 3000
    mechanism, covered = regression(500), 0
    for _ in range(runs):
        low, high = mechanism.release(*made_up(count, source)).intervals(0.9)[1]
        covered += bool(low <= BETA[1] <= high)
        assert 1.645 * 0.3 / np.sqrt(count / 3) < (high - low) / 2 < 6 * 0.3 / np.sqrt(count / 3)
    assert stats.binom.cdf(covered, runs, 0.9) > FALSE_ALARM


def test_where_the_data_bound_nothing_an_interval_has_no_end():
    fit = regression(0.1).release(np.zeros((0, 3)), [])
    assert np.isinf(fit.intervals()).all()


@pytest.mark.statistical
def test_a_public_bound_on_the_norm_gives_singular_data_an_interval():
    design = np.repeat(np.random.default_rng(2).uniform(-1, 1, (20_000, 1)), 3, axis=1)
    fit = regression(1).release(design, design.sum(axis=1))
    assert np.isinf(fit.intervals()).all()
    ends = fit.intervals(largest_norm=2)
    assert np.isfinite(ends).all()
    assert ((ends[:, 0] <= 1) & (ends[:, 1] >= 1)).all()


def test_what_is_added_to_small_eigenvalues_is_in_the_intervals():
    """A matrix that the noise made negative, and an eigenvalue that claims to be large."""
    mechanism = regression(1)
    fit = mechanism.release(np.zeros((0, 3)), [])
    scale = fit.noise.matrix
    moments = np.array([0.0, 0.0, 0.0, 1e3 * scale, 1e4 * fit.units.weight])
    bad = replace(fit, eigenvalue=1e6 * scale, matrix=-2 * scale * np.eye(3), moments=moments)
    assert bad.ridge == 0
    shrinkage = bad._solved()[2]
    assert shrinkage == pytest.approx(3 * scale)
    assert np.isinf(bad.intervals()).all()
    half = np.diff(bad.intervals(largest_norm=1))[0, 0] / 2
    assert half > shrinkage / scale  # of a coefficient vector of length 1


@pytest.mark.parametrize(
    "options", [{"confidence": 1}, {"confidence": 0}, {"confidence": "0." + "9" * 400}, {"largest_norm": 0}]
)
def test_wrong_levels_are_refused(options):
    fit = regression(1).release(np.zeros((0, 3)), [])
    with pytest.raises(ParameterError):
        fit.intervals(**options)


@pytest.mark.statistical
def test_intervals_cover_where_all_rows_are_at_their_bound():
    """Rounding is the same in every row, and does not fall with their number as noise and errors do."""
    source, count, beta = np.random.default_rng(), 300_000, np.array([0.6, 0.5])
    mechanism = AdaptiveRidge(columns=2, largest=1, response=1, rho=1)
    off = []
    for _ in range(3):
        angles = source.uniform(0, 2 * np.pi, count)
        design = np.column_stack([np.cos(angles), np.sin(angles)]) * (1 - 1e-12)
        fit = mechanism.release(design, design @ beta + source.normal(0, 0.001, count))
        ends = fit.intervals(0.99999)
        assert ((ends[:, 0] <= beta) & (beta <= ends[:, 1])).all()
        assert (np.diff(ends) < 0.004).all()
        off.extend(fit.coefficients - beta)
    assert abs(np.mean(off)) < 5e-5  # rows that were all shortened by rounding would be off by 8e-5


@pytest.mark.statistical
def test_intervals_cover_where_every_row_is_rounded_to_the_same_side():
    """One row half a step off the grid, a hundred thousand times: the worst that rounding can do."""
    mechanism = AdaptiveRidge(columns=1, largest=1, response=1, rho=10, resolution=16)
    design = np.full((100_000, 1), 6.49 / mechanism.units.row_steps)
    response = design[:, 0] * 0.9 + np.random.default_rng(3).normal(0, 0.001, len(design))
    low, high = mechanism.release(design, response).intervals(0.99999)[0]
    assert low <= 0.9 <= high


def test_no_interval_ends_in_nothing():
    fit = AdaptiveRidge(columns=1, largest=1, response=1, rho=1).release(np.zeros((0, 1)), [])
    for size in (-4, 0, 4):
        made = replace(fit, matrix=np.array([[size * fit.noise.matrix]]), moments=np.zeros(3), eigenvalue=0.0)
        for known in (None, 1):
            assert np.isinf(made.intervals(largest_norm=known)).all()


def test_predictions_refuse_text_by_its_type():
    fit = regression(1).release(np.zeros((0, 3)), [])
    with pytest.raises(ParameterError, match="does not hold numbers"):
        fit.predict([["secret", 1.0, 2.0]])
