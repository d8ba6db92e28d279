"""Rows by their places: every product is that of the same rows with all their coordinates."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.learning.design.indicator_rows import DenseRows, IndicatorRows

WIDTH, STEP = 9, 400


def both(count: int) -> tuple[DenseRows, IndicatorRows]:
    """The same rows twice: places in three columns of three, or none, and an intercept."""
    source = np.random.default_rng(count)
    places = np.full((count, 4), WIDTH - 1, dtype=np.int16)
    for column in range(3):
        found = source.integers(-1, [3, 3, 2][column], count)
        places[:, column] = np.where(found < 0, WIDTH, found + 3 * column)
    rows = np.zeros((count, WIDTH + 1), dtype=np.int16)
    np.put_along_axis(rows, places.astype(np.int64), STEP, axis=1)
    return DenseRows(rows[:, :-1]), IndicatorRows(places, WIDTH, STEP)


@pytest.mark.parametrize("count", [0, 1, 40_000])
def test_products_are_those_of_all_coordinates(count):
    dense, sparse = both(count)
    assert dense.width == sparse.width
    assert len(sparse) == count
    assert (dense.products() == sparse.products()).all()


@pytest.mark.parametrize("scores", [1, 3])
def test_scores_and_sums_are_those_of_all_coordinates(scores):
    """Weights as long as may be: sums of integers that doubles just hold."""
    dense, sparse = both(40_000)
    source = np.random.default_rng(1)
    weights = source.integers(-(2**38), 2**38, (WIDTH, scores)).astype(float)
    slopes = source.integers(-(2**15), 2**15 + 1, (40_000, scores)).astype(float)
    found = [
        (
            np.concatenate([part.scores(weights) for _, part in rows.parts()]),
            sum(part.sums(slopes[place]) for place, part in rows.parts()),
        )
        for rows in (dense, sparse)
    ]
    assert (found[0][0] == found[1][0]).all()
    assert (found[0][1] == found[1][1]).all()
