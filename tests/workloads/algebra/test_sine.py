"""The algebra of sines against dense matrices."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.workloads.algebra.sine import (
    bilinear_minimum,
    kernel,
    sine_diagonal,
    sine_transform,
    spectrum_of,
)


def sines(size):
    places = np.arange(1, size + 1)
    return np.sqrt(2 / (size + 1)) * np.sin(np.pi * np.outer(places, places) / (size + 1))


@pytest.mark.parametrize("size", [1, 2, 3, 8, 33])
def test_kernels_spectra_and_diagonals_agree_with_the_matrix(size):
    generator = np.random.default_rng(size)
    spectrum, last = generator.random(size), generator.random()
    matrix = sines(size) @ np.diag(spectrum) @ sines(size)
    np.testing.assert_allclose(sine_transform(np.eye(size)), sines(size), atol=1e-12)
    for half in (kernel(spectrum), kernel(spectrum, last)):
        places = np.arange(1, size + 1)
        total = places[:, None] + places
        folded = np.where(total > size + 1, 2 * (size + 1) - total, total)
        np.testing.assert_allclose(half[np.abs(places[:, None] - places)] - half[folded], matrix, atol=1e-12)
        np.testing.assert_allclose(spectrum_of(half), spectrum, atol=1e-12)
    np.testing.assert_allclose(sine_diagonal(spectrum), np.diagonal(matrix), atol=1e-12)


@pytest.mark.parametrize("size", [1, 2, 63, 64, 65, 130, 300])
def test_bilinear_minimum_is_the_double_sum(size):
    generator = np.random.default_rng(size)
    spectrum, weights = 1 + generator.random(size), generator.random(size)
    places = np.arange(1, size + 1)
    matrix = sines(size) @ np.diag(spectrum) @ sines(size)
    expected = (np.minimum(places[:, None], places) * np.outer(weights, weights) * matrix).sum()
    assert bilinear_minimum(weights, kernel(spectrum), spectrum) == pytest.approx(expected, rel=1e-9)
