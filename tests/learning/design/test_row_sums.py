"""Sums of rows: those of a product of matrices, and the same in any company."""

from __future__ import annotations

import numpy as np

from discreet.learning.design.row_sums import row_sums


def test_sums_are_those_of_a_product_of_matrices():
    source = np.random.default_rng(1)
    rows, weights = source.normal(0, 1, (50, 7)), source.normal(0, 1, (7, 3))
    assert np.allclose(row_sums(rows, weights), rows @ weights)
    assert row_sums(np.empty((0, 7)), weights).shape == (0, 3)


def test_no_row_changes_a_bit_of_another():
    source = np.random.default_rng(2)
    rows, weights = source.normal(0, 1, (1000, 40)), source.normal(0, 1, (40, 5))
    together = row_sums(rows, weights)
    for place in range(0, 1000, 37):
        assert (row_sums(rows[place : place + 1], weights)[0] == together[place]).all()
    assert (row_sums(rows[::-1], weights)[::-1] == together).all()
