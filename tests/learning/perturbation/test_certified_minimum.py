"""The minimum with its certificate: short gradients by an independent sum, for ordinary and extreme data."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.learning.perturbation import certified_minimum as module
from discreet.learning.perturbation.certified_minimum import certified_minimum
from discreet.learning.perturbation.smooth_slopes import SmoothSlopes
from discreet.learning.training.score_losses import HUBER_HINGE, LOGISTIC

from .test_smooth_slopes import plain_sum, some_rows

LOSSES = [LOGISTIC, HUBER_HINGE]


def gradient(slopes, rows, signs, weights, *, ridge, linear):
    total = plain_sum(slopes, rows, signs, list(weights))
    return [ridge * w + b - one for w, b, one in zip(weights, linear, total, strict=True)]


def squared(vector) -> Fraction:
    return sum((one * one for one in vector), Fraction(0))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize(
    "case",
    [
        (60, 3, Fraction(1), 0, Fraction(1, 2**24)),
        (60, 3, Fraction(1, 1000), 5, Fraction(1, 2**20)),
        (1, 4, Fraction(20), 100, Fraction(1, 2**24)),
        (0, 2, Fraction(1, 3), 7, Fraction(1, 2**30)),
        (40, 2, Fraction(10**6), 10**5, Fraction(1, 2**10)),
        (30, 3, Fraction(1), 1, Fraction(1, 2**70)),  # beyond doubles
        (12, 1, Fraction(1, 10**9), 0, Fraction(1, 2**20)),
    ],
)
def test_the_gradient_is_as_short_as_certified(loss, case):
    count, columns, ridge, push, tolerance = case
    slopes = SmoothSlopes(loss)
    rows, signs = some_rows(count + columns, count, columns)
    linear = [Fraction(push * (place + 1), 3) for place in range(columns)]
    found = certified_minimum(slopes, rows, signs, ridge=ridge, linear=linear, tolerance=tolerance)
    length = squared(gradient(slopes, rows, signs, found.weights, ridge=ridge, linear=linear))
    assert length <= found.gradient**2
    assert found.gradient <= tolerance


@pytest.mark.parametrize("ridge", [Fraction(1, 1000), Fraction(1), Fraction(17)])
@pytest.mark.parametrize("push", [0, 30])
def test_no_rows_keep_the_solver_busy(monkeypatch, ridge, push):
    """Nearly all rows of one class put the minimum behind a kink: few sums, none by integers."""
    rows, signs = np.full((20_001, 2), 2896, np.int16), np.ones(20_001)
    signs[-1] = -1
    sums, summed = [], module._Doubles.summed
    monkeypatch.setattr(
        module._Doubles, "summed", lambda self, weights: sums.append(1) or summed(self, weights)
    )
    monkeypatch.setattr(
        module._Integers, "summed", lambda self, weights: pytest.fail("fell to sums of integers")
    )
    linear = [Fraction(push), Fraction(-push, 2)]
    certified_minimum(
        SmoothSlopes(HUBER_HINGE), rows, signs, ridge=ridge, linear=linear, tolerance=Fraction(1, 2**12)
    )
    assert len(sums) <= 100


def test_a_search_along_a_step_ends_short_of_the_lowest_point():
    """Lemma 5: still downhill there, and flatter than at the start, unless it is the whole step."""
    slopes = SmoothSlopes(HUBER_HINGE)
    rows, signs = some_rows(2, 80, 3)
    data = module._Data(slopes, rows, signs)
    objective = module._Objective(data, Fraction(1, 10), (Fraction(3),) * 3)
    numbers = module._Doubles(slopes, rows, signs)
    source = np.random.default_rng(3)
    for size in 2.0 ** np.arange(-5, 12):
        start = objective.moved((Fraction(0),) * 3, source.normal(size=3) * size, numbers)
        for longer in (1e-3, 1.0, 1e3):
            step = longer * objective.newton(start, 1)
            there = objective.line_searched(start, step, numbers, Fraction(0))
            left = module._along(there, step)
            whole = objective.moved(start.weights, step, numbers)
            assert left >= 0
            assert left <= module._along(start, step) / 8 or there == whole


def test_a_solver_that_goes_astray_is_slow_and_never_wrong(monkeypatch):
    """Planted: steps that point anywhere. What is certified is the gradient, not the way."""
    slopes = SmoothSlopes(LOGISTIC)
    rows, signs = some_rows(8, 50, 2)
    source = np.random.default_rng(1)
    monkeypatch.setattr(module._Objective, "newton", lambda self, point, every: source.normal(size=2) * 1e3)
    found = certified_minimum(
        slopes, rows, signs, ridge=Fraction(2), linear=[Fraction(1)] * 2, tolerance=Fraction(1, 2**20)
    )
    length = squared(
        gradient(slopes, rows, signs, found.weights, ridge=Fraction(2), linear=[Fraction(1)] * 2)
    )
    assert length <= Fraction(1, 2**20) ** 2


def test_a_cautious_step_always_shortens_the_gradient():
    """Lemma 5: |M^(-1/2) g| falls by at least the factor 1 - ridge / |M|, from any point."""
    slopes = SmoothSlopes(HUBER_HINGE)
    rows, signs = some_rows(2, 80, 3)
    data = module._Data(slopes, rows, signs)
    objective = module._Objective(data, Fraction(1), (Fraction(3),) * 3)
    numbers = module._Doubles(slopes, rows, signs)
    source = np.random.default_rng(3)
    factor = 1 - 1 / np.linalg.norm(objective.root @ objective.root.T, 2)
    for size in 2.0 ** np.arange(-5, 12):
        start = objective.moved((Fraction(0),) * 3, source.normal(size=3) * size, numbers)
        there = objective.moved(start.weights, objective.cautious(start), numbers)
        assert objective.merit(there) <= factor * objective.merit(start) + 1e-9


def test_a_distance_follows_from_the_gradient():
    """Lemma 1: the minimizer is no farther than the gradient over the ridge, and two answers agree so far."""
    slopes = SmoothSlopes(LOGISTIC)
    rows, signs = some_rows(4, 50, 3)
    linear = [Fraction(1)] * 3
    rough = certified_minimum(slopes, rows, signs, ridge=Fraction(2), linear=linear, tolerance=Fraction(1, 4))
    fine = certified_minimum(
        slopes, rows, signs, ridge=Fraction(2), linear=linear, tolerance=Fraction(1, 2**40)
    )
    apart = squared([a - b for a, b in zip(rough.weights, fine.weights, strict=True)])
    assert apart <= ((rough.gradient + fine.gradient) / 2) ** 2
