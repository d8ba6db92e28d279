"""Coefficients of correlated noise, against matrices written out."""

from __future__ import annotations

from itertools import pairwise
from math import comb

import numpy as np
import pytest
from scipy.linalg import toeplitz

from discreet.learning.deep.correlation import SCALE, chosen_band, prefix_error, root_coefficients


def matrix(band, steps):
    """The lower triangular matrix of the coefficients."""
    column = np.zeros(steps)
    column[: min(band, steps)] = np.array(root_coefficients(band))[:steps] / SCALE
    return toeplitz(column, np.zeros(steps))


def test_coefficients_are_those_of_the_inverse_root():
    found = root_coefficients(64)
    assert found[:3] == (SCALE, SCALE // 2, SCALE * 3 // 8)
    assert all(one == SCALE * comb(2 * k, k) // 4**k for k, one in enumerate(found))
    assert all(before >= after > 0 for before, after in pairwise(found))


@pytest.mark.parametrize(("band", "steps"), [(1, 7), (2, 9), (4, 4), (8, 30), (64, 100)])
def test_the_error_is_that_of_the_matrices(band, steps):
    strategy = matrix(band, steps)
    sums = np.tril(np.ones((steps, steps))) @ np.linalg.inv(strategy)
    length = np.linalg.norm(np.array(root_coefficients(band)) / SCALE)
    expected = length * np.sqrt((sums**2).sum() / steps)
    assert prefix_error(band, steps) == pytest.approx(expected, rel=1e-9)


def test_one_coefficient_is_independent_noise():
    assert prefix_error(1, 99) == pytest.approx(50**0.5)


def test_the_band_is_the_best_that_was_tried():
    assert chosen_band(1000, 1) == 1
    assert chosen_band(1, 1) == 1
    for steps, most in ((40, 20), (1000, 64), (1000, 3)):
        best = chosen_band(steps, most)
        assert best <= most
        assert all(
            prefix_error(best, steps) <= prefix_error(1 << power, steps)
            for power in range(7)
            if 1 << power <= most
        )


@pytest.mark.parametrize("band", [1, 2, 3, 16, 64])
def test_the_inverse_stays_bounded(band):
    """Zeros of the polynomial are outside of the circle, and entries of the inverse at most one."""
    if band > 1:
        assert np.abs(np.roots(root_coefficients(band)[::-1])).min() > 1
    assert np.abs(np.linalg.inv(matrix(band, 300))).max() <= 1 + 1e-9
