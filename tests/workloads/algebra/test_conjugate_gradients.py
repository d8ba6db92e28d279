"""Linear systems by products alone, against decompositions."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.workloads.algebra.conjugate_gradients import minimum_norm, positive_solution


@pytest.mark.parametrize("shape", [(1, 1), (3, 8), (8, 3), (6, 6)])
@pytest.mark.parametrize("rank", [1, 3])
def test_the_shortest_least_squares_solution(shape, rank):
    random = np.random.default_rng(1)
    matrix = random.normal(size=(shape[0], rank)) @ random.normal(size=(rank, shape[1]))
    right = random.normal(size=shape[0])
    point, _ = minimum_norm(lambda x: matrix @ x, lambda y: matrix.T @ y, right, shape[1])
    assert np.abs(point - np.linalg.lstsq(matrix, right, rcond=1e-10)[0]).max() < 1e-7


def test_positive_systems():
    random = np.random.default_rng(2)
    root = random.normal(size=(9, 9))
    matrix, right = root @ root.T + np.eye(9), random.normal(size=9)
    point = positive_solution(lambda x: matrix @ x, right, np.zeros(9), 1e-13, 100)
    assert np.abs(matrix @ point - right).max() < 1e-10
    assert positive_solution(lambda x: matrix @ x, np.zeros(9), np.zeros(9), 1e-13, 100).tolist() == [0] * 9


def test_steps_are_as_many_as_distinct_singular_values():
    diagonal = np.repeat([1.0, 2.0, 5.0], 50)
    _, steps = minimum_norm(lambda x: diagonal * x, lambda y: diagonal * y, np.ones(150), 150)
    assert steps <= 8
