"""Shifts against removing each person and computing again."""

from __future__ import annotations

from fractions import Fraction

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
def test_the_regression_estimate_moves_as_if_it_were_fitted_again(rows):
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


def exact_shifts(design, response, ridge):
    """The shifts by rational arithmetic."""
    columns = len(design[0])

    def estimate(kept):
        matrix = [[Fraction(ridge) * (i == j) for j in range(columns)] for i in range(columns)]
        right = [Fraction(0)] * columns
        for row in kept:
            x, y = [Fraction(entry) for entry in design[row]], Fraction(response[row])
            matrix = [[matrix[i][j] + x[i] * x[j] for j in range(columns)] for i in range(columns)]
            right = [r + entry * y for r, entry in zip(right, x, strict=True)]
        if columns == 1:
            return [right[0] / matrix[0][0]]
        (a, b), (_, c) = matrix
        determinant = a * c - b * b
        return [
            (c * right[0] - b * right[1]) / determinant,
            (a * right[1] - b * right[0]) / determinant,
        ]

    everyone = range(len(design))
    whole = estimate(everyone)
    rests = [estimate([i for i in everyone if i != row]) for row in everyone]
    return [sum((a - b) ** 2 for a, b in zip(whole, rest, strict=True)) for rest in rests]


@pytest.mark.parametrize(
    ("design", "response", "ridge", "finite"),
    [
        ([[1e9]], [1e9], "1e-9", True),
        ([[1e7]], [1e7], "1e-3", True),
        ([[1e200], [3.0]], [1.0, 1e200], 1, False),
        ([[1e200], [3e200]], [1.0, 1e200], 2**700, True),
        ([[1.0, 1e9], [2.0, 3e9], [0.5, -1e9]], [1.0, 2.0, 3.0], "1e-3", True),
        ([[1e-9, 1.0], [2e-9, 3.0], [5e-10, -1.0]], [1.0, 2.0, 3.0], "1e-19", True),
        ([[1e8, 1e8], [1e8, 1e8 + 1]], [1.0, 2.0], "1e-3", False),
        ([[1e9, 1e9], [1e9, 1e9]], [1.0, 1.0], "1e-9", False),
        ([[1e200, 1e9], [1e9, 1e9]], [1.0, 1.0], "1e-9", False),
        ([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], [1.0, 2.0, 3.0], "1e-6", True),
        ([[1e6], [1.0], [1.0]], [1e6, 1.0, 1.0], 1, True),  # the residuals of a perfect fit cancel
    ],
)
def test_shifts_of_hard_designs_are_never_understated(design, response, ridge, finite):
    found = regression_shifts(design, response, ridge=ridge)
    for shift, squared in zip(found, exact_shifts(design, response, ridge), strict=True):
        assert np.isinf(shift) or Fraction(float(shift)) ** 2 >= squared
        assert np.isfinite(shift) or not finite


def test_shifts_of_random_designs_are_never_understated_and_near():
    source = np.random.default_rng(17)
    for _ in range(200):
        rows = int(source.integers(1, 6))
        design = source.normal(size=(rows, 2)) * 10.0 ** source.integers(-3, 4, 2)
        response = source.normal(size=rows) * 10.0 ** source.integers(-3, 4)
        found = regression_shifts(design, response, ridge=1)
        for shift, squared in zip(found, exact_shifts(design.tolist(), response.tolist(), 1), strict=True):
            assert Fraction(float(shift)) ** 2 >= squared
            assert shift <= float(squared) ** 0.5 * (1 + 1e-3) + 1e-6 * np.abs(response).max()


def test_means_and_sums_do_not_cancel():
    values = [1e16] * 3 + [1e16 + 2]
    assert mean_shifts(values, range(4)) == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2], rel=1e-12)
    assert sum_shifts([1e16, 1.0, -1e16], [0, 0, 0]).tolist() == [1]
    assert sum_shifts([2**62 + 1, -(2**62)], [0, 0]).tolist() == [1]
    assert sum_shifts([10**400, 5], [0, 1]).tolist() == [np.inf, 5]
    assert sum_shifts([1e308, 1e308], [0, 0]).tolist() == [np.inf]
    assert mean_shifts([0.1, 0.1, 0.1], [0, 1, 2]).tolist() == [0, 0, 0]


@pytest.mark.parametrize("bad", [np.nan, np.inf, None])
def test_shifts_that_are_not_known_are_infinite(bad):
    assert sum_shifts([1.0, bad, 2.0], [0, 1, 0]).tolist() == [3, np.inf]
    assert np.isinf(mean_shifts([1.0, bad], [0, 1])).all()
    assert np.isinf(regression_shifts([[1.0], [bad]], [1.0, 1.0], ridge=1)).all()
    assert np.isinf(regression_shifts([[1.0], [1.0]], [1.0, bad], ridge=1)).all()


def test_wrong_types_are_refused_without_a_word_about_the_data():
    for call in (
        lambda: sum_shifts(["secret", 1.0], [0, 1]),
        lambda: mean_shifts([1j], [0]),
        lambda: regression_shifts([["secret"]], [1.0], ridge=1),
        lambda: regression_shifts([[1.0]], [object()], ridge=1),
        lambda: count_shifts([None, 1, "secret"]),
        lambda: regression_shifts([[1.0]], [1.0], ridge="1e-400"),
    ):
        with pytest.raises(ParameterError) as caught:
            call()
        assert "secret" not in str(caught.value)
