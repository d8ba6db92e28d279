"""Output perturbation: the sensitivity by search, the loss by enumeration, and planted faults."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import exp, log

import numpy as np
import pytest

from discreet import accounting
from discreet.errors import ParameterError
from discreet.learning.design.row_grid import RowGrid
from discreet.learning.perturbation import output_perturbation as module
from discreet.learning.perturbation.certified_minimum import CertifiedMinimum
from discreet.learning.perturbation.euclidean_noise import EuclideanNoise
from discreet.learning.perturbation.output_perturbation import OutputPerturbation
from discreet.learning.perturbation.smooth_slopes import SmoothSlopes, signs_of
from discreet.learning.training.budgets import stated_budget
from discreet.learning.training.score_losses import HUBER_HINGE, LOGISTIC
from discreet.privacy.events import Pure
from discreet.privacy.guarantees import ApproximateDP, PureDP, ZeroConcentratedDP

from .test_smooth_slopes import some_rows

LOSSES = [LOGISTIC, HUBER_HINGE]
LONGEST = 2**12


def output(columns=1, loss=HUBER_HINGE, rows=1, regularization=8, **stated):
    return OutputPerturbation(
        grid=RowGrid(columns=columns, largest=Fraction(1)),
        loss=loss,
        budget=stated_budget(**(stated or {"epsilon": 1})),
        rows=rows,
        regularization=regularization,
    )


def worst_pair(rows=1):
    """People of class 0 whose slopes are all 1, and a person of class 1 whose slopes are 1, too."""
    design = np.full((2 + rows, 1), LONGEST, dtype=np.int16)
    labels = np.array([0, 0] + [1] * rows)
    return (design[:2], labels[:2]), (design, labels)


def apart(first: list[int], second: list[int]) -> float:
    return float(np.linalg.norm(np.subtract(first, second, dtype=object).astype(float)))


def loss_of(scale: Fraction, shift: int) -> float:
    """The largest log ratio of the law of a rounded number, and of the same number moved: by enumeration."""

    def mass(k):
        a = 1 / float(scale)
        if k == 0:
            return 1 - exp(-a / 2)
        return exp(-a * abs(k)) * (exp(a / 2) - exp(-a / 2)) / 2

    reach = 3 * shift
    return max(abs(log(mass(k) / mass(k - shift))) for k in range(-reach, reach + 1))


@pytest.mark.parametrize("rows", [1, 2])
def test_the_sensitivity_is_attained(rows):
    found = output(rows=rows, regularization=8)
    steps = [found.minimizer_steps(*one) for one in worst_pair(rows)]
    moved = apart(*steps)
    assert moved * found.step == pytest.approx(rows / 8, rel=0.001)
    assert 0.999 * float(found.noise.sensitivity) <= moved <= float(found.noise.sensitivity)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_no_neighbors_are_farther_apart(loss):
    source = np.random.default_rng(11)
    for columns, regularization in ((1, 1), (2, Fraction(1, 2)), (5, 20)):
        found = output(columns=columns, loss=loss, regularization=regularization)
        for seed in range(6):
            design, signs = some_rows(seed + 100 * columns, 12, columns)
            labels = (signs > 0).astype(np.int64)
            full = found.minimizer_steps(design, labels)
            gone = int(source.integers(12))
            kept = np.delete(np.arange(12), gone)
            assert apart(full, found.minimizer_steps(design[kept], labels[kept])) <= found.noise.sensitivity


def test_epsilon_is_the_largest_loss_in_one_dimension():
    """By enumeration of the law drawn, for the worst neighbors: no more than epsilon, and hardly less."""
    found = output(regularization=8)
    assert isinstance(found.noise, EuclideanNoise)
    first, second = (found.minimizer_steps(*one)[0] for one in worst_pair())
    assert 0.99 <= loss_of(found.noise.scale, abs(first - second)) <= 1


def test_the_inverted_factor_of_a_lecture_is_seen():
    """Planted: |z| divided by lambda n epsilon / 2, not multiplied by it; and half of the noise."""
    epsilon = Fraction(1, 100)
    found = output(regularization=8, epsilon=epsilon)
    first, second = (found.minimizer_steps(*one)[0] for one in worst_pair())
    lost = {
        name: loss_of(scale / found.step, abs(first - second))
        for name, scale in (
            ("right", found.noise.scale * found.step),
            ("inverted", 8 * epsilon),
            ("half", found.noise.scale * found.step / 2),
        )
    }
    assert lost["right"] <= epsilon
    assert lost["half"] > 1.9 * epsilon
    assert lost["inverted"] > 100 * epsilon


def test_a_sloppy_solver_that_is_believed_is_seen(monkeypatch):
    """Planted: steps until the gradient is at most 20. Neighbors take different numbers of steps."""

    def sloppy(slopes, rows, signs, *, ridge, linear, tolerance):
        del linear, tolerance
        weight = 0.0
        while True:
            total = slopes.rounded_sum(rows, signs, np.array([weight]))
            gradient = float(ridge) * weight - float(total.values[0])
            if abs(gradient) <= 20:
                return CertifiedMinimum((Fraction(weight),), Fraction(gradient))
            weight -= gradient / (float(slopes.curvature) * len(rows) + float(ridge)) / 2

    found = output(loss=LOGISTIC, regularization=200)

    def farthest():
        steps = []
        for count in range(140, 180):
            rows = np.full((count, 1), LONGEST, dtype=np.int16)
            steps.append(found.minimizer_steps(rows, np.ones(count, np.int64)))
        return max(apart(*pair) for pair in pairwise(steps))

    assert farthest() <= found.noise.sensitivity
    monkeypatch.setattr(module, "certified_minimum", sloppy)
    assert farthest() > 1.5 * found.noise.sensitivity


def test_events_are_those_of_the_budget():
    assert output().event == Pure(epsilon=1)
    assert output().guarantee == PureDP(epsilon=1)
    assert output(rho=Fraction(1, 2)).event.concentrated_rho <= Fraction(1, 2)
    assert output(rho=Fraction(1, 2)).guarantee == ZeroConcentratedDP(rho=Fraction(1, 2))
    normal = output(columns=3, epsilon=1, delta=1e-6)
    assert normal.guarantee == ApproximateDP(epsilon=1, delta=1e-6)
    assert 0.99 <= accounting.epsilon(normal.event, delta=1e-6).upper <= 1 + 1e-9


@pytest.mark.parametrize("stated", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 1}])
def test_any_rows_have_weights(stated):
    found = output(columns=2, regularization=None, **stated)
    for count in (0, 1, 20):
        rows, signs = some_rows(count, count, 2)
        weights = found.release_steps(rows, (signs > 0).astype(np.int64))
        assert weights.shape == (2, 1)
        assert np.isfinite(weights).all()


def test_with_little_noise_the_weights_are_the_minimizer():
    found = output(columns=2, loss=LOGISTIC, epsilon=10**6, regularization=1)
    rows, signs = some_rows(3, 200, 2)
    labels = (signs > 0).astype(np.int64)
    ideal = np.array(found.minimizer_steps(rows, labels)) * float(found.step)
    assert np.allclose(found.release_steps(rows, labels)[:, 0], ideal, atol=0.01)
    total = SmoothSlopes(LOGISTIC).rounded_sum(rows, signs_of(labels), ideal).values
    assert np.linalg.norm([w - float(one) for w, one in zip(ideal, total, strict=True)]) < 0.01


def test_the_stated_deviation_is_that_of_scores():
    assert float(output(columns=3, regularization=8).deviation) == pytest.approx(2 / 8, rel=0.01)
    assert float(output(columns=3, regularization=8, rows=2).deviation) == pytest.approx(2 * 2 / 8, rel=0.01)


@pytest.mark.parametrize("wrong", [{"regularization": 0}, {"regularization": 2**50}, {"rows": 0}])
def test_wrong_parameters_are_refused(wrong):
    with pytest.raises(ParameterError):
        output(**wrong)
