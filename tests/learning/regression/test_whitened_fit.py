"""Fits: intervals that cover and are hardly wider than they must be, and what their deviations consist of."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.learning.design.features import Features, NumberColumn
from discreet.learning.regression.whitened_fit import WhitenedFit
from discreet.learning.regression.whitened_regression import WhitenedRegression
from discreet.learning.training.budgets import stated_budget
from effort import releases, sizes
from learning.regression.replayed_noise import recorded
from significance import FALSE_ALARM

BETA = np.array([1.0, -0.5, 0.0])
MIXED = np.linalg.cholesky(np.array([[1, 0.9, 0.3], [0.9, 1, 0.3], [0.3, 0.3, 1]]))
FEATURES = Features.of((-10, 10), ["x0", "x1", "x2"], by_name=False)
TARGET = NumberColumn(name="y", lower=Fraction(-30), upper=Fraction(30))


def learner(rows=1, **budget):
    return WhitenedRegression(features=FEATURES, target=TARGET, budget=stated_budget(**budget), rows=rows)


def made_up(count, source):
    """Columns of which two resemble each other, around 2, and normal errors."""
    design = source.normal(size=(count, 3)) @ MIXED.T + 2
    return [*design.T, 3 + design @ BETA + source.normal(size=count)]


def simulated(runs, count, found, believed, source):
    """Return errors of the coefficients, and half widths, of as many releases."""
    errors, halves = [], []
    for _ in range(runs):
        fit = WhitenedFit.of(believed, found.draw(made_up(count, source)))
        errors.append(fit.coefficients - BETA)
        halves.append(fit.half_widths(0.95)[:3])
    return np.array(errors), np.array(halves)


SETTINGS = {
    "few rows, much noise": (2_000, {"epsilon": 1, "delta": 1e-6}),
    "noise and errors": (12_000, {"epsilon": 1, "delta": 1e-6}),
    "errors of the model": (2_000, {"epsilon": 100, "delta": 1e-3}),
    "rho": (6_000, {"rho": Fraction(1, 20)}),
    "pure": (12_000, {"epsilon": 4}),
}


@pytest.mark.statistical
@pytest.mark.parametrize(
    "setting",
    [pytest.param(one, marks=() if place < 2 else pytest.mark.slow) for place, one in enumerate(SETTINGS)],
)
@pytest.mark.parametrize("runs", sizes(100, exhaustive=max(1_000, releases(10_000))))
def test_intervals_cover_and_are_hardly_wider_than_the_errors_need(setting, runs):
    """The oracle: how large errors really are, over as many releases of fresh rows with fresh noise."""
    count, budget = SETTINGS[setting]
    found = learner(**budget)
    errors, halves = simulated(runs, count, found, found, np.random.default_rng())
    covered = (np.abs(errors) <= halves).sum(axis=0)
    assert (stats.binom.cdf(covered, runs, 0.95) > FALSE_ALARM).all(), covered / runs
    needed = np.quantile(np.abs(errors), 0.95, axis=0)
    # Of a hundred releases the quantile itself is off by a fifth.
    assert (np.median(halves, axis=0) <= (1.5 if runs > 1_000 else 2) * needed).all(), halves / needed


@pytest.mark.statistical
@pytest.mark.parametrize("runs", sizes(150, exhaustive=2_000))
def test_intervals_that_believe_half_the_noise_do_not_cover(runs):
    """A planted fault: rows are fitted with the noise of persons with two rows, as if they had one."""
    budget = {"epsilon": Fraction(1, 2), "delta": 1e-6}
    found, believed = learner(rows=2, **budget), learner(**budget)
    errors, halves = simulated(runs, 12_000, found, believed, np.random.default_rng())
    covered = (np.abs(errors) <= halves).sum(axis=0)
    assert (stats.binom.cdf(covered, runs, 0.95) < FALSE_ALARM).any(), covered / runs


def test_the_error_of_a_fit_is_what_the_proof_says():
    """Proposition 5: M e + M (E + L)(theta0 - beta), with noise e and E that is known, beta least squares."""
    source = np.random.default_rng(12)
    found = learner(epsilon=100, delta=1e-2)
    known, _ = recorded(found)
    drawn = dict(known.draw(made_up(4_000, source)))
    exact = found.noisy_moments(np.array(drawn["moments"]))
    plain = np.linalg.solve(exact.matrix, exact.products)
    added = source.normal(0, 300 * exact.noise * 4096**2, len(drawn["moments"]))
    noisy = found.noisy_moments(np.array(drawn["moments"]) + added)
    inverse, raised = noisy.inverse()
    start = np.rint(np.ldexp(plain + 0.01, 20)) / 2.0**20
    gradient_noise = source.normal(0, 1, 4)
    gradient = exact.matrix @ (plain - start) + gradient_noise  # no residual is clipped
    expected = inverse @ gradient_noise + inverse @ (noisy.matrix - exact.matrix + raised) @ (start - plain)
    unit = drawn["clip"] / 4096**3
    drawn |= {
        "moments": (np.array(drawn["moments"]) + added).tolist(),
        "start": np.ldexp(start, 20).astype(np.int64).tolist(),
        "gradient": (gradient / unit).tolist(),
    }
    fit = WhitenedFit.of(found, drawn)
    # The same fit if the gradient at the same start says that least squares are off by what is expected.
    shifted = np.linalg.solve(inverse, plain + expected - start)
    other = WhitenedFit.of(found, drawn | {"gradient": (shifted / unit).tolist()})
    assert fit.coefficients == pytest.approx(other.coefficients, abs=1e-8)
    assert np.linalg.norm(expected) > 1e-4


@pytest.mark.statistical
def test_a_penalty_draws_coefficients_to_zero_and_intervals_follow():
    found = learner(epsilon=1, delta=1e-6)
    drawn = found.draw(made_up(12_000, np.random.default_rng(13)))
    sizes_of = [
        np.linalg.norm(WhitenedFit.of(found, drawn, penalty=penalty).coefficients)
        for penalty in (0.0, 1e4, 1e5, 1e9)
    ]
    assert sizes_of == sorted(sizes_of, reverse=True)
    assert sizes_of[-1] < 1e-2
    wide, narrow = (WhitenedFit.of(found, drawn, penalty=penalty).half_widths()[0] for penalty in (0.0, 1e5))
    assert narrow < wide
    by_rule = WhitenedFit.of(found, drawn, penalty=None)
    assert 0 < np.linalg.norm(by_rule.coefficients) < 1.2 * sizes_of[0]


def test_a_stored_answer_gives_the_same_fit():
    found = learner(epsilon=1, delta=1e-6)
    drawn = found.draw(made_up(500, np.random.default_rng(14)))
    one, other = WhitenedFit.of(found, drawn), WhitenedFit.of(found, json.loads(json.dumps(drawn)))
    assert (one.weights == other.weights).all()
    assert (one.half_widths(0.5) == other.half_widths(0.5)).all()
    assert (one.half_widths(0.5) < one.half_widths(0.99)).all()


def test_laplace_noise_has_wider_intervals_than_its_deviation_says():
    found = learner(epsilon=1)
    fit = WhitenedFit.of(found, found.draw(made_up(500, np.random.default_rng(15))))
    assert fit.heavy
    assert (fit.half_widths(0.95) - fit.shifts) / fit.deviations == pytest.approx(np.log(20) / 2**0.5)


@pytest.mark.parametrize("confidence", [0, 1, 2])
def test_wrong_levels_are_refused(confidence):
    found = learner(epsilon=1, delta=1e-6)
    fit = WhitenedFit.of(found, found.draw(made_up(0, np.random.default_rng())))
    with pytest.raises(ParameterError):
        fit.half_widths(confidence)
