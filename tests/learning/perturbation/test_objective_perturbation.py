"""Objective perturbation: losses by densities in one dimension, the solver's distance, and planted faults."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.learning.design.row_grid import RowGrid
from discreet.learning.perturbation import objective_perturbation as module
from discreet.learning.perturbation.certified_minimum import certified_minimum
from discreet.learning.perturbation.linear_terms import NormalTerm
from discreet.learning.perturbation.objective_perturbation import ObjectivePerturbation
from discreet.learning.perturbation.smooth_slopes import signs_of
from discreet.learning.training.budgets import stated_budget
from discreet.learning.training.score_losses import HUBER_HINGE, LOGISTIC
from discreet.privacy.events import Approximate, Pure
from discreet.privacy.guarantees import ApproximateDP, PureDP

from .test_smooth_slopes import plain_sum, some_rows

LOSSES = [LOGISTIC, HUBER_HINGE]
DATA = [[], [1], [-1], [1, 1], [-1, 1], [-1, -1, 0.5]]
"""Rows y x of one dimension."""


def objective(columns=1, loss=HUBER_HINGE, rows=1, regularization=None, **stated):
    return ObjectivePerturbation(
        grid=RowGrid(columns=columns, largest=Fraction(1)),
        loss=loss,
        budget=stated_budget(**(stated or {"epsilon": 1})),
        rows=rows,
        regularization=regularization,
    )


def slope_and_bend(loss, z):
    if loss is HUBER_HINGE:
        return np.clip(1.5 - z, 0, 1), ((z > 0.5) & (z < 1.5)).astype(float)
    slope = 1 / (1 + np.exp(z))
    return slope, slope * (1 - slope)


def term_and_volume(loss, rows, ridge, weights):
    """b with the minimizer w, and the derivative of -b by w: by closed formulas."""
    term, volume = -ridge * weights, np.full(weights.shape, ridge)
    for row in rows:
        slope, bend = slope_and_bend(loss, row * weights)
        term, volume = term + slope * row, volume + bend * row * row
    return term, volume


def log_density(loss, rows, ridge, weights, scale):
    """The log density of the minimizer where that of b falls as exp(-|b| / scale)."""
    term, volume = term_and_volume(loss, rows, ridge, weights)
    return -np.abs(term) / scale - np.log(2 * scale) + np.log(volume)


def worst_loss(loss, first, second, ridge, scale):
    weights = np.linspace(-30, 30, 60_001) + 1e-7
    one, two = (log_density(loss, rows, ridge, weights, scale) for rows in (first, second))
    return float(np.abs(one - two).max())


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("epsilon", [4, 1, Fraction(1, 10)])
def test_pure_epsilon_holds_for_every_added_row(loss, epsilon):
    found = objective(loss=loss, epsilon=epsilon)
    left = float(epsilon - found.noise.epsilon)
    for rows in DATA:
        for more in (1, -1, 0.3):
            ridge = float(found.regularization)
            assert worst_loss(loss, rows, [*rows, more], ridge, float(found.term.scale)) <= left + 1e-9


def test_pure_epsilon_is_attained_and_second_derivatives_are_needed():
    """The worst row: of slope 1 and the largest second derivative at once, just beyond a margin of 1/2."""
    found = objective(epsilon=1, regularization=2)
    lost = worst_loss(HUBER_HINGE, [], [1], 2.0, float(found.term.scale))
    assert 0.999 * (1 - 1 / 64) <= lost <= 1 - 1 / 64
    forgotten = 1 / (1 - 1 / 64)  # Planted: nothing is left for second derivatives
    assert worst_loss(HUBER_HINGE, [], [1], 2.0, forgotten) > 1.3


def test_a_person_with_two_rows_costs_no_more():
    found = objective(epsilon=1, rows=2, regularization=4)
    lost = worst_loss(HUBER_HINGE, [], [1, 1], 4.0, float(found.term.scale))
    assert 0.99 * (1 - 1 / 64) <= lost <= 1 - 1 / 64
    once = objective(epsilon=1, rows=1, regularization=4)
    assert worst_loss(HUBER_HINGE, [], [1, 1], 4.0, float(once.term.scale)) > 1


def test_the_scale_of_a_lecture_is_half_of_what_replacing_needs():
    """n public, a row replaced: Gamma(d, 2 / epsilon') keeps epsilon; planted, 1 / epsilon does not."""
    epsilon, ridge = 1.0, 8.0  # n lambda = 8
    left = epsilon - 2 * np.log(1 + 1 / ridge)
    for first, second in (([1], [-1]), ([1, 1], [1, -1]), ([-1, 1, 1], [-1, -1, 1])):
        assert worst_loss(HUBER_HINGE, first, second, ridge, 2 / left) <= epsilon
    assert worst_loss(HUBER_HINGE, [1], [-1], ridge, 1 / epsilon) > 1.9


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("regularization", [None, 50])
def test_epsilon_and_delta_hold_by_integration(loss, regularization):
    """The hockey-stick divergence of the densities of minimizers, both ways, for every added row."""
    found = objective(loss=loss, epsilon=1, delta=Fraction(1, 100), regularization=regularization)
    assert isinstance(found.term, NormalTerm)
    spread, ridge = float(found.term.scale), float(found.regularization)
    worst = 0.0
    for rows in DATA:
        for more in (1, -1):
            reach = (10 * spread + 4) / ridge
            weights = np.linspace(-reach, reach, 50_001) + 1e-9
            laws = []
            for held in (rows, [*rows, more]):
                term, volume = term_and_volume(loss, held, ridge, weights)
                laws.append(np.exp(-((term / spread) ** 2) / 2) / spread / np.sqrt(2 * np.pi) * volume)
            width = weights[1] - weights[0]
            assert sum(laws[0]) * width == pytest.approx(1, abs=1e-3)
            for one, two in (laws, laws[::-1]):
                worst = max(worst, np.maximum(one - np.exp(1 - 1 / 64) * two, 0).sum() * width)
    assert worst <= 0.01
    if loss is HUBER_HINGE and regularization == 50:  # a row with a slope of 1, and nothing else: hardly less
        assert worst > 0.009


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("stated", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}], ids=["pure", "delta"])
def test_two_answers_for_one_ideal_minimizer_are_as_near_as_the_noise_covers(loss, stated):
    """Neighbors with the terms that lead both to w, by fractions: noise covers what solvers tell."""
    found = objective(columns=3, loss=loss, **stated)
    source = np.random.default_rng(7)
    for seed in range(4):
        rows, signs = some_rows(seed, 15, 3)
        labels = (signs > 0).astype(np.int64)
        ideal = [Fraction(one) for one in source.normal(size=3).tolist()]
        answers = [_answer(found, rows[kept], labels[kept], ideal) for kept in (slice(0, 15), slice(0, 14))]
        assert _squared(*answers) <= found.noise.sensitivity**2
        near = [one / found.step for one in ideal]
        assert all(_squared(one, near) <= (found.noise.sensitivity / 2) ** 2 for one in answers)


def test_a_solver_that_stops_too_early_is_seen(monkeypatch):
    """Planted: a tolerance that is a thousand times as large, with noise for the stated one."""

    def sloppy(*args, tolerance, **named):
        found = certified_minimum(*args, tolerance=tolerance, **named)
        moved = 1000 * tolerance / named["ridge"]
        return type(found)(tuple(one + moved * (len(args[1]) % 2) for one in found.weights), found.gradient)

    found = objective(columns=3)
    rows, signs = some_rows(1, 15, 3)
    labels = (signs > 0).astype(np.int64)
    monkeypatch.setattr(module, "certified_minimum", sloppy)
    ideal = [Fraction(1, 3)] * 3
    answers = [_answer(found, rows[kept], labels[kept], ideal) for kept in (slice(0, 15), slice(0, 14))]
    assert _squared(*answers) > found.noise.sensitivity**2


def _answer(found, rows, labels, ideal):
    """The answer, before its noise, of rows with the ideal term whose minimizer is given."""
    total = plain_sum(found.slopes, rows, signs_of(labels), ideal)
    term = [one - found.regularization * w for one, w in zip(total, ideal, strict=True)]
    return found.minimizer_steps(rows, labels, [round(one / found.term_step) for one in term])


def _squared(first, second) -> Fraction:
    return sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(first, second, strict=True))


def test_events_are_those_of_the_budget():
    assert objective().event == Pure(epsilon=1)
    assert objective().guarantee == PureDP(epsilon=1)
    normal = objective(epsilon=1, delta=1e-6)
    assert normal.event == Approximate(epsilon=1, delta=1e-6)
    assert normal.guarantee == ApproximateDP(epsilon=1, delta=1e-6)
    with pytest.raises(ParameterError, match="rho"):
        objective(rho=1)


def test_too_little_regularization_is_raised_by_a_public_rule():
    """So that second derivatives never take more than half of epsilon."""
    found = objective(epsilon=Fraction(1, 10), regularization=Fraction(1, 1000))
    assert found.regularization == 20 * found.slopes.curvature
    assert objective(epsilon=1, regularization=40).regularization == 40


def test_noise_on_the_answer_is_small_beside_the_term():
    for stated in ({"epsilon": 1}, {"epsilon": 0.1}, {"epsilon": 1, "delta": 1e-6}):
        found = objective(columns=100, **stated)
        answer = float(found.noise.scale * found.step) * 10
        assert answer < float(found.term.deviation(100) / found.regularization) / 100


@pytest.mark.parametrize("stated", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}])
def test_any_rows_have_weights(stated):
    found = objective(columns=2, **stated)
    for count in (0, 1, 20):
        rows, signs = some_rows(count, count, 2)
        weights = found.release_steps(rows, (signs > 0).astype(np.int64))
        assert weights.shape == (2, 1)
        assert np.isfinite(weights).all()


def test_more_epsilon_is_less_noise():
    scales = [float(objective(epsilon=one, regularization=100).term.scale) for one in (0.1, 1, 10)]
    assert all(one > two for one, two in pairwise(scales))
