"""Second moments: how far a row moves them, and the least squares that they give."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.learning.regression.noisy_moments import RegressionMoments, product_steps, symmetric

SOURCE = np.random.default_rng(7)


def test_a_row_moves_products_by_its_squared_length_in_every_direction():
    """All rows of a grid, and long random ones: sqrt(50) |v|^2, and nearly so in every direction."""
    rows = [np.array(row) for row in product(range(-3, 4), repeat=3)]
    rows += [SOURCE.integers(-4096, 4097, 12) for _ in range(50)]
    for row in rows:
        moved = product_steps(np.outer(row, row))
        length = int(row @ row)
        assert (moved**2).sum() <= 50 * length**2
        assert (moved**2).sum() >= 49 * length**2
        assert np.abs(moved).sum() == 5 * np.abs(row).sum() ** 2 + 2 * length


def test_what_is_released_is_put_back_in_its_place():
    square = SOURCE.integers(-9, 10, (5, 5))
    square = square + square.T
    assert (symmetric(product_steps(square).astype(float), 5) == square).all()


def moments(noise, count=4000, floor=1.0):
    design = SOURCE.uniform(-0.5, 0.5, (count, 3))
    response = design @ [0.5, -0.25, 0.1] + SOURCE.normal(0, 0.05, count)
    held = np.column_stack([design, response, np.full(count, 0.25)])
    square = held.T @ held * 4096**2
    released = product_steps(np.rint(square).astype(np.int64)).astype(float)
    released += SOURCE.normal(0, 10 * 4096**2 * noise, len(released))
    found = RegressionMoments.of(released, width=3, steps=4096, noise=noise, floor=floor)
    return found, design, response


def test_without_noise_weights_are_least_squares():
    found, design, response = moments(1e-9)
    plain, squares = np.linalg.lstsq(design, response, rcond=None)[:2]
    assert found.weights == pytest.approx(plain, abs=1e-6)
    assert found.variance == pytest.approx(squares[0] / 3997, rel=1e-4)
    assert found.count == pytest.approx(4000, abs=0.01)


@pytest.mark.statistical
def test_the_variance_is_about_that_of_the_residuals_or_more():
    found = [moments(1.0)[0].variance for _ in range(300)]
    assert 0.05**2 < np.mean(found) < 1.5 * 0.05**2


def test_eigenvalues_below_the_noise_are_raised_to_it():
    found, *_ = moments(1e-9)
    singular = np.diag([100.0, 0.0, -5.0])
    poor = RegressionMoments(
        matrix=singular, products=found.products, squares=1.0, count=10.0, noise=2.0, least=4.0
    )
    inverse, raised = poor.inverse()
    assert np.allclose(inverse, np.diag([0.01, 0.25, 0.25]))
    assert np.allclose(raised, np.diag([0, 4, 9]))
    assert np.allclose(np.linalg.inv(inverse), singular + raised)
    assert np.allclose(poor.inverse(np.diag([0.0, 10.0, 10.0]))[1], np.diag([0, 0, 0]))
    assert np.allclose(poor.believed, np.diag([100, 0, 0]))
    assert poor.variance > 0
