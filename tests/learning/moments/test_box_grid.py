"""Rows in a box: clipped and rounded one by one."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.errors import ParameterError
from discreet.learning.design.features import Features
from discreet.learning.moments.box_grid import STEPS, BoxGrid


def grid(*bounds):
    return BoxGrid.of(Features.of(list(bounds), [f"x{i}" for i in range(len(bounds))], by_name=False))


def test_bounds_are_corners_and_the_middle_is_zero():
    values = np.array([-1e300, 0.0, 2.5, 5.0, 7.5, 10.0, np.inf, -np.inf, np.nan])
    steps = grid((0, 10)).rounded([values])[:, 0]
    assert steps.tolist() == [-STEPS, -STEPS, -STEPS // 2, 0, STEPS // 2, STEPS, STEPS, -STEPS, 0]


def test_no_value_is_beyond_a_bound_whatever_it_is():
    odd = np.array(["n/a", None, 10**400, -(10**400), 1j, [], "7", True], dtype=object)
    found = grid((0, 1)).rounded([odd])[:, 0]
    assert np.abs(found).max() <= STEPS
    assert found.tolist() == [0, 0, STEPS, -STEPS, 0, 0, 0, STEPS]


def test_a_value_is_read_alike_in_any_company():
    values = np.random.default_rng(3).normal(0, 1, 40_000)
    of = grid((-2, 3))
    together = of.rounded([values])[:, 0]
    for place in (0, 17, 20_000, 39_999):
        assert of.rounded([values[place : place + 1]])[0, 0] == together[place]


def test_clipped_rows_are_in_the_units_of_the_columns():
    found = grid((0, 10), (-1, 1)).clipped([np.array([3.5, 99.0]), np.array([np.nan, -0.25])])
    assert found.tolist() == [[3.5, 0.0], [10.0, -0.25]]


def test_no_rows_are_rows():
    assert grid((0, 1), (0, 1)).rounded([np.empty(0), np.empty(0)]).shape == (0, 2)


def test_keys_are_refused():
    with pytest.raises(ParameterError, match="declares keys"):
        grid((0, 1), dp.Keys(["a"]))
