"""Ordered values between bounds, and the widest window against trying all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.stability.order_statistics.ordered import ordered


@given(
    st.lists(st.integers(-3, 30), max_size=12),
    st.integers(-20, 20),
    st.integers(0, 25),
    st.integers(0, 30),
)
def test_the_widest_window_is_the_maximum_over_all(values, first, width, length):
    data = ordered(np.array(values, dtype=np.int64), lower=0, upper=20)
    starts = np.arange(first, first + width + 1)
    every = [data.at(int(start) + length) - data.at(int(start)) for start in starts]
    assert data.widest(first, first + width, length) == max(every)
    assert data.gaps(starts, starts + length).tolist() == every


def test_ranks_beyond_the_values_are_the_bounds():
    data = ordered(np.array([5, 2, 9]), lower=1, upper=10)
    assert [data.at(rank) for rank in range(-1, 6)] == [1, 1, 2, 5, 9, 10, 10]
    assert (data.size, data.spread) == (3, 9)


def test_values_are_clipped():
    data = ordered(np.array([-(2**63), 2**63 - 1, 4]), lower=0, upper=7)
    assert data.padded.tolist() == [0, 0, 4, 7, 7]
    large = np.array([2**64 - 1, 3], dtype=np.uint64)
    assert ordered(large, lower=-2, upper=7).padded.tolist() == [-2, 3, 7, 7]
    assert ordered(large, lower=-9, upper=-2).padded.tolist() == [-9, -2, -2, -2]
    assert ordered(np.array([200], dtype=np.uint8), lower=0, upper=2**40).at(1) == 200


def test_the_caller_keeps_the_order():
    values = np.array([3, 1, 2])
    ordered(values, lower=0, upper=5)
    assert values.tolist() == [3, 1, 2]


def test_a_mirror_turns_ranks_around():
    data = ordered(np.array([5, 2, 9]), lower=1, upper=10)
    assert [-data.reflected().at(4 - rank) for rank in range(5)] == [data.at(rank) for rank in range(5)]


def test_no_values_and_no_list():
    assert ordered([], lower=0, upper=5).size == 0
    assert ordered([1, 2], lower=0, upper=5).size == 2


def test_large_bounds_do_not_overflow():
    data = ordered(np.array([2**53, -(2**53)]), lower=-(2**53), upper=2**53)
    assert data.widest(0, 2, 1) == data.spread == 2**54


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"lower": 3, "upper": 2}, "lower"),
        ({"lower": 0.5, "upper": 2}, "lower"),
        ({"lower": 0, "upper": 2**53 + 1}, "upper"),
        ({"lower": -(2**53) - 1, "upper": 0}, "lower"),
    ],
)
def test_bounds_are_checked(arguments, name):
    with pytest.raises(ParameterError, match=name):
        ordered(np.array([1]), **arguments)


@pytest.mark.parametrize("values", [np.array([1.5]), np.array([[1]]), np.array([True]), np.array(["x"])])
def test_the_type_of_the_values_is_checked(values):
    with pytest.raises(ParameterError, match="values"):
        ordered(values, lower=0, upper=1)


def test_nothing_private_is_shown():
    assert repr(ordered(np.array([5]), lower=0, upper=9)) == "Ordered(private)"
