"""Partial sums and changes of the variance in integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discreet.stability.sorted_sums as module
from discreet.stability.sorted_sums import SortedSums, largest_variance_change, listed
from stability.variance_oracle import plain


def test_sums_are_those_of_the_smallest():
    data = SortedSums(np.array([1, 4, 4, 7]), 9)
    assert data.sums.tolist() == [0, 1, 5, 9, 16]
    assert data.squares.tolist() == [0, 1, 17, 33, 82]
    assert data.mirrored().values.tolist() == [2, 5, 5, 8]


def test_long_values_are_integers_of_python():
    assert SortedSums(np.array([2**52]), 2**53).sums.dtype == object
    assert SortedSums(np.array([3]), 9).sums.dtype == np.int64
    assert SortedSums(np.array([3]), 2**18).sums.dtype == np.int64
    assert SortedSums(np.array([3]), 2**18, rows=2**8).sums.dtype == object


def test_all_pairs_up_to_each_number():
    which, rank = listed(np.array([0, 2, 1]))
    assert list(zip(which.tolist(), rank.tolist(), strict=True)) == [
        (0, 0),
        (1, 0),
        (1, 1),
        (1, 2),
        (2, 0),
        (2, 1),
    ]


def parts(before, joins):
    size, many = len(before), len(joins)
    return (
        size**2 * plain(before),
        many**2 * plain(joins),
        Fraction(many * sum(before) - size * sum(joins)),
    )


@pytest.mark.parametrize("scale", [1, 2**40])
def test_a_change_is_that_of_the_variances(scale):
    rng = np.random.default_rng(1)
    for _ in range(30):
        joined = int(rng.integers(1, 4))
        pairs = [
            (
                [scale * int(v) for v in rng.integers(0, 9, rng.integers(1, 7))],
                rng.integers(0, 9, joined) * scale,
            )
            for _ in range(5)
        ]
        pairs = [(before, [int(v) for v in joins]) for before, joins in pairs]
        size = np.array([len(before) for before, _ in pairs])
        arrays = tuple(
            np.array([int(part) for part in column], dtype=object)
            for column in zip(*(parts(*pair) for pair in pairs), strict=True)
        )
        changes = [plain(before + joins) - plain(before) for before, joins in pairs]
        assert largest_variance_change(size, joined, arrays, 1) == max(changes)
        assert largest_variance_change(size, joined, arrays, -1) == max(-change for change in changes)


def test_floats_choose_and_integers_decide(monkeypatch):
    """Two changes that are the same in floats: the larger one is found, the second, and not the first."""
    size = np.array([10**6, 10**6])
    arrays = tuple(np.array(each, dtype=object) for each in ([10**20, 10**20 - 1], [0, 0], [5, 5]))
    exact = largest_variance_change(size, 1, arrays, 1)
    assert exact == module._change(1, 10**6, 10**20 - 1, 0, 5) > module._change(1, 10**6, 10**20, 0, 5)
    monkeypatch.setattr(module.np, "flatnonzero", lambda some: np.array([0]))
    assert largest_variance_change(size, 1, arrays, 1) < exact
