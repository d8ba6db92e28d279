"""Slopes: those of the loss, never longer than stated, and of each row alone."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.special import softmax

from discreet.learning.training.score_losses import HUBER_HINGE, LOGISTIC, SCORE_BITS, SLOPE_STEPS, Softmax

FAR = 2.0**62


@pytest.mark.parametrize("loss", [LOGISTIC, HUBER_HINGE], ids=lambda loss: loss.name)
@pytest.mark.parametrize("label", [0, 1])
def test_no_slopes_are_longer_than_stated(loss, label):
    scores = np.concatenate([np.arange(-45 * 1024, 45 * 1024), [-FAR, FAR]]).astype(np.float64)[:, None]
    found = loss.slopes(scores, np.full(len(scores), label))
    assert (found**2).max() <= loss.squared_length == SLOPE_STEPS**2
    assert (found * (2 * label - 1) >= 0).all()
    assert (np.diff(found[:-2, 0]) <= 0).all()  # convex


def test_slopes_of_classes_are_no_longer_than_stated():
    grid = np.array(np.meshgrid(*[[-FAR, -50_000, -700, 0, 1, 2000, FAR]] * 3)).reshape(3, -1).T
    loss = Softmax(3)
    for label in range(3):
        found = loss.slopes(grid.astype(np.float64), np.full(len(grid), label))
        squares = (found**2).sum(axis=1)
        assert squares.max() <= loss.squared_length
        assert (found.sum(axis=1) >= 0).all()
    assert squares.max() > 1.99 * SLOPE_STEPS**2


def test_the_logistic_slope_is_that_of_the_loss():
    for score in (-9.25, -1.0, 0.0, 0.5, 3.0, 20.0):
        found = LOGISTIC.slopes(np.array([[score * 2**SCORE_BITS]]), np.array([1]))
        wanted = -mpmath.diff(lambda z: mpmath.log1p(mpmath.exp(-z)), score)
        assert abs(found[0, 0] / SLOPE_STEPS - wanted) <= 1 / SLOPE_STEPS


def test_the_slopes_of_classes_are_those_of_the_loss():
    scores = np.random.default_rng(1).normal(0, 3, (500, 4))
    steps = np.floor(scores * 2**SCORE_BITS)
    labels = np.arange(500) % 4
    found = Softmax(4).slopes(steps, labels) / SLOPE_STEPS
    wanted = np.eye(4)[labels] - softmax(steps / 2**SCORE_BITS, axis=1)
    assert np.abs(found - wanted).max() <= 2 / SLOPE_STEPS


def test_the_hinge_is_flat_beyond_its_parabola_and_steep_before_it():
    margins = np.array([[-3.0], [0.5], [1.0], [1.5], [4.0]]) * 2**SCORE_BITS
    found = HUBER_HINGE.slopes(margins, np.ones(5, np.int64))[:, 0] / SLOPE_STEPS
    assert found.tolist() == [1.0, 1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("loss", [LOGISTIC, HUBER_HINGE, Softmax(5)], ids=lambda loss: loss.name)
def test_slopes_do_not_depend_on_what_is_beside_them(loss):
    draw = np.random.default_rng(2)
    scores = np.floor(draw.normal(0, 4000, (10_007, loss.scores)))
    labels = draw.integers(0, max(loss.scores, 2), len(scores))
    whole = loss.slopes(scores, labels)
    for start, stop in ((0, 1), (3, 10), (1, 10_007)):
        assert (loss.slopes(scores[start:stop], labels[start:stop]) == whole[start:stop]).all()
