"""Rows in other coordinates: exact, no longer than the grid, alike in any company."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.learning.design.row_grid import RowGrid
from discreet.learning.regression.row_frame import COORDINATE_STEPS, RowFrame

SOURCE = np.random.default_rng(6)


def made_up(count=500, width=7):
    coordinates = SOURCE.integers(-10_240, 10_241, (count, width)).astype(np.int16)
    coordinates[:5] = 0
    coordinates[5:40] = np.sign(coordinates[5:40]) * 10_240
    others = SOURCE.integers(-2048, 2049, (count, 2)).astype(np.int16)
    return coordinates, others, RowGrid(columns=width, largest=Fraction(1))


FRAMES = [
    RowFrame(matrix=None, bits=0, largest=1.7),
    RowFrame.turned(SOURCE.normal(size=(7, 7)) * 1e-6, 2.5e-6),
    RowFrame.turned(SOURCE.normal(size=(7, 7)) * 1e9, 1e6),
]


@pytest.mark.parametrize("frame", FRAMES, ids=["as they are", "small", "large"])
def test_no_row_is_longer_than_the_grid_and_weights_are_of_the_whole_row(frame):
    coordinates, others, grid = made_up()
    rows, more = frame.rows(coordinates, others, grid)
    assert ((rows**2).sum(axis=1) <= grid.steps**2).all()
    moved = coordinates / COORDINATE_STEPS @ frame.floats(7)
    lengths = np.linalg.norm(moved, axis=1)
    weights = frame.largest / np.maximum(lengths, frame.largest)
    assert np.abs(rows - moved * (weights * grid.row_steps / frame.largest)[:, None]).max() < 0.51
    assert np.abs(more - others * weights[:, None]).max() < 0.51
    assert (weights < 1).any()


@pytest.mark.parametrize("frame", FRAMES, ids=["as they are", "small", "large"])
def test_a_row_is_turned_alike_in_any_company(frame):
    coordinates, others, grid = made_up(300)
    together = frame.rows(coordinates, others, grid)
    order = SOURCE.permutation(300)
    moved = frame.rows(np.asfortranarray(coordinates[order]), others[order], grid)
    for whole, other in zip(together, moved, strict=True):
        assert (whole[order] == other).all()
    for place in range(0, 300, 37):
        alone = frame.rows(coordinates[place : place + 1], others[place : place + 1], grid)
        assert (alone[0] == together[0][place]).all()
        assert (alone[1] == together[1][place]).all()


def test_a_matrix_is_kept_to_29_bits_and_its_sums_are_exact():
    matrix = SOURCE.normal(size=(1000, 1000))
    frame = RowFrame.turned(matrix, 1.0)
    assert np.abs(frame.matrix).max() < 2**29
    assert np.abs(frame.floats(1000) - matrix).max() < 2.0**-25
    assert 1000 * 10_240 * 2**29 < 2**53


def test_no_rows_have_no_rows():
    grid = RowGrid(columns=7, largest=Fraction(1))
    rows, more = FRAMES[1].rows(np.zeros((0, 7), np.int16), np.zeros((0, 2), np.int16), grid)
    assert rows.shape == (0, 7)
    assert more.shape == (0, 2)
