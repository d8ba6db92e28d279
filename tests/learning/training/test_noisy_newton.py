"""Noisy Newton steps: exact sensitivities, the event, and weights near those of the least loss."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from discreet import accounting
from discreet.data import Keys
from discreet.errors import ParameterError
from discreet.learning.design.features import Features
from discreet.learning.design.indicator_rows import DenseRows
from discreet.learning.design.row_grid import RowGrid
from discreet.learning.training.budgets import stated_budget
from discreet.learning.training.noisy_newton import NewtonPlan, NoisyNewton
from discreet.learning.training.score_losses import HUBER_HINGE, LOGISTIC, OneAgainstOthers, Softmax
from discreet.privacy.guarantees import ApproximateDP, ZeroConcentratedDP

LOSSES = [LOGISTIC, HUBER_HINGE, Softmax(3)]


def newton(columns=3, largest=2, loss=LOGISTIC, rows=1, iterations=20, **stated):
    return NoisyNewton(
        grid=RowGrid(columns=columns, largest=Fraction(largest)),
        loss=loss,
        budget=stated_budget(**(stated or {"rho": Fraction(1, 2)})),
        rows=rows,
        plan=NewtonPlan(iterations=iterations, matrix_share=Fraction(1, 5), ridge=0.5),
    )


def made_up(count, source, classes=2):
    design = np.column_stack([np.ones(count), source.uniform(-1, 1, (count, 2))])
    scores = design @ np.array([[0.3, 2.0, -1.0], [0.0, -1.0, 1.5], [0.5, 0.0, 0.0]][:classes]).T
    return design, (scores + source.gumbel(size=scores.shape)).argmax(axis=1)


def test_the_event_is_one_matrix_and_all_gradients():
    found = newton(iterations=8)
    assert found.event == found.matrix.event + found.gradient.event * 8
    assert found.event.concentrated_rho == Fraction(1, 2)
    assert found.matrix.event.concentrated_rho == Fraction(1, 10)
    assert found.guarantee == ZeroConcentratedDP(rho=Fraction(1, 2))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_epsilon_and_delta_are_kept(loss):
    found = newton(loss=loss, epsilon=1, delta=1e-6)
    assert found.guarantee == ApproximateDP(epsilon=1, delta=1e-6)
    assert 0.999 <= accounting.epsilon(found.event, delta=1e-6).upper <= 1 + 1e-9


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_row_moves_a_gradient_by_its_own_part_and_nothing_else(loss):
    """The worst row of many, at weights of every size; all other rows keep their parts to the last bit."""
    source = np.random.default_rng(4)
    found = newton(columns=5, loss=loss, largest=1)
    rows = found.grid.rounded(source.normal(0, 0.5, (20_000, 5)))
    labels = source.integers(0, max(loss.scores, 2), len(rows))
    longest = 0
    for size in (0.0, 1e-3, 1.0, 1e3, 2.0**20 / 3):
        weights = source.normal(0, 1, (5, loss.scores)) * size / 3
        everybody = found.gradient_steps(DenseRows(rows), labels, weights)
        for who in (0, 777, len(rows) - 1):
            alone = found.gradient_steps(DenseRows(rows[who : who + 1]), labels[who : who + 1], weights)
            others = found.gradient_steps(DenseRows(np.delete(rows, who, 0)), np.delete(labels, who), weights)
            assert (everybody - others == alone).all()
        parts = np.array(
            [found.gradient_steps(DenseRows(rows[i : i + 1]), labels[i : i + 1], weights) for i in range(300)]
        )
        longest = max(longest, int((parts.astype(object) ** 2).sum(axis=(1, 2)).max()))
    allowed = found.gradient.event.squared_sensitivity
    assert 0.9 * allowed <= longest <= allowed == found.grid.steps**2 * loss.squared_length


def test_one_row_moves_the_matrix_by_its_square_at_most():
    found = newton(columns=2)
    steps = found.grid.steps
    most = max(x**4 + (x * y) ** 2 + y**4 for x, y in [(steps, 0), (2896, 2896), (4000, 800)])
    assert found.matrix.event.squared_sensitivity == most == steps**4


@pytest.mark.parametrize("loss", [*LOSSES, OneAgainstOthers(HUBER_HINGE, 3)], ids=lambda loss: loss.name)
def test_sums_of_absolute_parts_are_no_larger_than_stated(loss):
    """Rows of a number, a key of four and the intercept: three of six coordinates, as large as may be."""
    features = Features.of([(-1, 1), Keys(["a", "b", "c", "d"])], ["x", "k"], by_name=False)
    grid = features.grid
    assert (grid.columns, grid.entries) == (6, 3)
    run = NoisyNewton(grid=grid, loss=loss, budget=stated_budget(epsilon=1))
    rows = features.rows([np.array([-1.0, 1.0, 0.3]), np.array(["a", "d", "z"])])
    assert np.abs(rows).sum(axis=1).max() <= grid.total <= 1.001 * np.abs(rows).sum(axis=1).max()
    halves = [np.abs(np.outer(row, row)[np.triu_indices(6)].astype(object)).sum() for row in rows]
    assert max(halves) <= run.matrix.event.sensitivity
    for size in (0.0, 1.0, 100.0):
        weights = np.random.default_rng(3).normal(0, size, (6, loss.scores))
        for label in range(max(loss.scores, 2)):
            parts = [run.gradient_steps(DenseRows(row[None]), np.array([label]), weights) for row in rows]
            assert max(int(np.abs(part).sum()) for part in parts) <= run.gradient.event.sensitivity


def test_a_person_with_many_rows_has_as_many_times_the_sensitivity():
    one, seven = newton(), newton(rows=7)
    for part in ("matrix", "gradient"):
        squares = [getattr(each, part).event.squared_sensitivity for each in (one, seven)]
        assert squares[1] == 49 * squares[0]


@pytest.mark.parametrize("classes", [2, 3])
def test_with_little_noise_the_weights_are_those_of_the_least_loss(classes):
    design, labels = made_up(20_000, np.random.default_rng(6), classes)
    loss = LOGISTIC if classes == 2 else Softmax(3)
    found = newton(loss=loss, rho=10_000, iterations=100).release(design, labels)

    def total(flat):
        scores = design @ flat.reshape(3, -1)
        scores = np.column_stack([np.zeros(len(design)), scores]) if classes == 2 else scores
        chosen = scores[np.arange(len(scores)), labels]
        return (np.logaddexp.reduce(scores, axis=1) - chosen).sum()

    best = minimize(total, np.zeros(3 * loss.scores)).fun
    assert total(found.ravel()) <= best * (1 + 1e-5)


def test_bad_rows_are_rows():
    bad = [[np.nan, np.inf, -np.inf], [1e300, -1e300, 0.0], [0.0, 0.0, 0.0]]
    for rows, labels in ((bad, [0, 1, 0]), (np.empty((0, 3)), []), ([[1.0, 2.0, 3.0]], [1])):
        assert np.isfinite(newton().release(rows, labels)).all()


@pytest.mark.parametrize("labels", [[2, 0], [0.5, 1], [-1, 1], [0], ["a", "b"]])
def test_labels_that_are_no_classes_are_refused_without_a_word_about_them(labels):
    with pytest.raises(ParameterError, match="numbers from 0 to 1") as caught:
        newton().release(np.zeros((2, 3)), labels)
    assert "a" not in str(caught.value).split("allowed")[0].replace(
        "labels are not one class for each row", ""
    )


def test_rows_of_fewer_columns_have_weights_for_these_alone():
    """Columns beyond are 0: their noise is drawn and dropped, and the event is that of the wider grid."""
    design, labels = made_up(4_000, np.random.default_rng(3))
    found, wide = (newton(columns=columns, rho=Fraction(10**6)) for columns in (3, 6))
    rows = wide.grid.rounded(np.column_stack([design, np.zeros((4_000, 3))]))
    padded = wide.release_steps(rows[:, :3], labels)
    assert padded.shape == (3, 1)
    assert np.abs(padded - found.release(design, labels)).max() < 0.05
    assert wide.matrix.size == 21
