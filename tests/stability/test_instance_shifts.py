"""Shifts against removing each person and computing again."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.stability.instance_shifts import count_shifts, mean_shifts, regression_shifts, sum_shifts

SOURCE = np.random.default_rng(21)
PERSONS = SOURCE.integers(0, 7, 40)
VALUES = SOURCE.integers(-5, 20, 40)


def without(person):
    return VALUES[person != PERSONS]


def test_sums_and_counts():
    for index, person in enumerate(np.unique(PERSONS)):
        assert sum_shifts(VALUES, PERSONS)[index] == abs(VALUES.sum() - without(person).sum())
        assert count_shifts(PERSONS)[index] == len(VALUES) - len(without(person))


def test_means():
    for index, person in enumerate(np.unique(PERSONS)):
        expected = abs(VALUES.mean() - without(person).mean())
        assert mean_shifts(VALUES, PERSONS)[index] == pytest.approx(expected, rel=1e-12)
    assert mean_shifts([7, 9], ["a", "a"], empty=3).tolist() == [5]
    assert mean_shifts([], []).tolist() == []


@pytest.mark.parametrize("rows", [1, 2, 30])
def test_d9_the_regression_estimate_moves_as_if_it_were_fitted_again(rows):
    source = np.random.default_rng(rows)
    design, response = source.normal(size=(rows, 3)), source.normal(size=rows)

    def estimate(kept):
        held = design[kept]
        return np.linalg.solve(held.T @ held + 0.5 * np.eye(3), held.T @ response[kept])

    everyone = np.arange(rows)
    found = regression_shifts(design, response, ridge=0.5)
    for row in everyone:
        moved = estimate(everyone) - estimate(everyone[everyone != row])
        assert found[row] == pytest.approx(np.linalg.norm(moved), rel=1e-9)


def test_singular_and_empty_designs_have_shifts():
    assert regression_shifts(np.zeros((3, 2)), np.ones(3), ridge=1).tolist() == [0, 0, 0]
    assert np.isfinite(regression_shifts(np.ones((4, 2)), np.arange(4), ridge="1e-3")).all()
    assert regression_shifts(np.zeros((0, 2)), np.zeros(0), ridge=1).tolist() == []


def test_lengths_are_checked():
    with pytest.raises(ParameterError):
        sum_shifts([1, 2], [1])
    with pytest.raises(ParameterError):
        regression_shifts([[1, 2]], [1, 2], ridge=1)
    with pytest.raises(ParameterError):
        regression_shifts([[1, 2]], [1], ridge=0)
