"""Slopes: facts about their tables, exact sums against plain fractions, and the bound on sums of doubles."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.learning.perturbation.smooth_slopes import SmoothSlopes, signs_of
from discreet.learning.training.score_losses import HUBER_HINGE, LOGISTIC, MarginLoss
from effort import examples

LOSSES = [LOGISTIC, HUBER_HINGE]


def plain_sum(slopes: SmoothSlopes, rows, signs, weights: list[Fraction]) -> list[Fraction]:
    """The sum as it is defined, row by row, by fractions."""
    table, last = slopes.table.tolist(), len(slopes.table) - 1
    total = [Fraction(0)] * len(weights)
    for row, sign in zip(rows.tolist(), signs.tolist(), strict=True):
        score = int(sign) * sum(
            (Fraction(x, 2**12) * w for x, w in zip(row, weights, strict=True)), Fraction(0)
        )
        place = min(max(score * 2**10 + last // 2, 0), last)
        line = min(int(place), last - 1)
        slope = Fraction(table[line]) + (table[line + 1] - table[line]) * (place - line)
        for column, x in enumerate(row):
            total[column] += int(sign) * slope / 2**30 * Fraction(x, 2**12)
    return total


def some_rows(seed: int, count: int, columns: int):
    source = np.random.default_rng(seed)
    rows = source.normal(size=(count, columns))
    rows *= 4095 / np.maximum(np.linalg.norm(rows, axis=1), 1e-9)[:, None]
    return rows.astype(np.int16), np.where(source.random(count) < 0.5, 1.0, -1.0)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_a_table_falls_from_one_to_zero_and_no_line_is_steeper_than_the_curvature(loss):
    slopes = SmoothSlopes(loss)
    falls = slopes.table[:-1] - slopes.table[1:]
    assert slopes.table[0] == 2**30
    assert slopes.table[-1] == 0
    assert falls.min() >= 0
    assert (
        Fraction(int(falls.max()), 2**20)
        <= slopes.curvature
        <= Fraction(loss.curvature) * (1 + Fraction(1, 2**17))
    )


def test_a_loss_that_is_steeper_than_it_says_is_refused():
    """Planted: a curvature that is half of what it is would halve what second derivatives cost."""
    wrong = MarginLoss("logistic", LOGISTIC.curvature / 2, LOGISTIC.slope)
    with pytest.raises(ArithmeticError, match="faster than its curvature"):
        _ = SmoothSlopes(wrong).table


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@given(
    seed=st.integers(0, 2**30), columns=st.integers(1, 5), size=st.integers(-20, 12), bits=st.integers(1, 90)
)
@settings(max_examples=examples(80))
def test_exact_sums_are_those_of_fractions(loss, seed, columns, size, bits):
    rows, signs = some_rows(seed, 6, columns)
    weights = [
        int(one * 2.0 ** (size + bits)) for one in np.random.default_rng(seed).normal(size=columns).tolist()
    ]
    found = SmoothSlopes(loss).exact_sum(rows, signs, weights, bits)
    assert list(found.values) == plain_sum(
        SmoothSlopes(loss), rows, signs, [Fraction(one, 1 << bits) for one in weights]
    )
    assert found.error == 0


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@given(seed=st.integers(0, 2**30), columns=st.integers(1, 40), size=st.integers(-30, 30))
@settings(max_examples=examples(80))
def test_sums_of_doubles_are_within_their_bound(loss, seed, columns, size):
    slopes = SmoothSlopes(loss)
    rows, signs = some_rows(seed, 50, columns)
    weights = np.random.default_rng(seed).normal(size=columns) * 2.0**size
    found = slopes.rounded_sum(rows, signs, weights)
    bits = 1100
    true = slopes.exact_sum(rows, signs, [int(Fraction(one) * (1 << bits)) for one in weights.tolist()], bits)
    squared = sum((a - b) ** 2 for a, b in zip(found.values, true.values, strict=True))
    assert squared <= found.error**2
    assert found.error <= len(rows) * (Fraction(1, 2**45) + Fraction(2.0**size) * columns**2 / 2**48)


def test_a_bound_without_the_error_of_scores_would_not_hold():
    """Planted: for long weights, what doubles lose in a score is more than a slope's last step."""
    slopes = SmoothSlopes(HUBER_HINGE)
    source, worst = np.random.default_rng(5), Fraction(0)
    for _ in range(20):
        rows, signs = some_rows(int(source.integers(2**30)), 50, 40)
        weights = source.normal(size=40)
        # Long weights and shorter ones, and a score near 1, where slopes fall.
        weights *= np.where(np.arange(40) < 20, 2.0**48, 2.0**10)
        direction = np.where(np.arange(40) < 20, rows.astype(float)[0], 0.0)
        row = rows.astype(float)[0]
        weights -= direction * (row @ weights - 4096 * signs[0]) / (direction @ direction)
        found = slopes.rounded_sum(rows[:1], signs[:1], weights)
        true = slopes.exact_sum(
            rows[:1], signs[:1], [int(Fraction(one) * 2**200) for one in weights.tolist()], 200
        )
        worst = max(worst, sum((a - b) ** 2 for a, b in zip(found.values, true.values, strict=True)))
    assert worst > Fraction(1, 2**49) ** 2 * 4


def test_scores_of_many_columns_are_nearly_exact():
    """A bound that grew with the number of columns would call for integers at a million rows."""
    rows, signs = some_rows(7, 3, 1000)
    weights = np.random.default_rng(7).normal(size=1000)
    found = SmoothSlopes(LOGISTIC).rounded_sum(rows, signs, weights)
    assert found.error < 3 * (Fraction(1, 2**49) + Fraction(32, 2**53))


def test_signs_are_those_of_classes():
    assert signs_of(np.array([0, 1, 1])).tolist() == [-1.0, 1.0, 1.0]


def test_second_derivatives_are_differences_of_slopes():
    slopes = SmoothSlopes(LOGISTIC)
    rows, signs = some_rows(3, 40, 3)
    weights = np.array([0.5, -1.0, 2.0])
    found = slopes.second_derivatives(rows, signs, weights)
    for place in range(3):
        moved = weights.copy()
        moved[place] += 2.0**-6
        more, less = (slopes.rounded_sum(rows, signs, one).values for one in (moved, weights))
        slope = np.array([float(b - a) for a, b in zip(more, less, strict=True)]) * 2**6
        assert np.allclose(found[place], slope, rtol=0.02, atol=0.02)
