"""Sums of ranks against plain integers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.stability.order_statistics.blocks import blocks
from discreet.stability.order_statistics.ordered import ordered
from effort import examples

VALUES = st.lists(st.one_of(st.integers(-5, 5), st.integers(-(2**53), 2**53)), min_size=1, max_size=20)


@given(VALUES, st.data())
@settings(max_examples=examples(200), deadline=None)
def test_totals_are_exact(values, data):
    sums = blocks(ordered(np.array(values), lower=-(2**53), upper=2**53))
    first = data.draw(st.integers(1, len(values)))
    last = data.draw(st.integers(first, len(values)))
    assert sums.total(first, last) == sum(sorted(values)[first - 1 : last])


@given(VALUES, st.integers(-8, 15), st.integers(0, 6), st.integers(1, 12))
@settings(max_examples=examples(200), deadline=None)
def test_the_largest_rise_is_that_of_plain_fractions(values, first, count, length):
    held = ordered(np.array(values), lower=-(2**53), upper=2**53)
    starts = np.arange(first, first + count + 1)
    ends = starts + length
    exact = max(
        held.at(int(s) + length) - Fraction(sum(held.at(int(s) + i) for i in range(length)), length)
        for s in starts
    )
    found = blocks(held).rise(starts, ends, length)
    assert exact <= found <= exact * (1 + Fraction(1, 2**49))
