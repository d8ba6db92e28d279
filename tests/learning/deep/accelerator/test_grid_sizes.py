"""Sizes of grids, against what Triton has for them."""

from __future__ import annotations

import triton
from hypothesis import given
from hypothesis import strategies as st

from discreet.learning.deep.accelerator.grid_sizes import block_count, next_power


@given(count=st.integers(0, 2**40), size=st.integers(1, 2**20))
def test_blocks_hold_all_and_none_is_empty(count, size):
    assert block_count(size, count) == triton.cdiv(count, size)
    assert 0 <= block_count(size, count) * size - count < size


@given(st.one_of(st.integers(1, 2**40), st.integers(0, 40).map(lambda exponent: 2**exponent)))
def test_powers_of_two_are_those_of_triton(count):
    assert next_power(count) == triton.next_power_of_2(count)
    assert next_power(0) == 1
