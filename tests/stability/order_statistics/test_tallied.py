"""Counted values against the same values one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_ROW
from discreet.stability.order_statistics.blocks import blocks
from discreet.stability.order_statistics.ordered import ordered
from discreet.stability.order_statistics.quantile import quantile, rank_profile
from discreet.stability.order_statistics.ranks import rank_rule
from discreet.stability.order_statistics.tallied import MOST_VALUES, tallied
from discreet.stability.order_statistics.trimmed_mean import trimmed_mean, trimmed_profile
from discreet.stability.order_statistics.trimming import trimming
from effort import examples

COUNTS = st.lists(st.integers(0, 4), min_size=1, max_size=6)
SPACING = 3


def spelled_out(counts):
    return np.repeat(np.arange(len(counts), dtype=np.int64) * SPACING, counts)


def both(counts):
    upper = (len(counts) - 1) * SPACING
    return tallied(np.array(counts), spacing=SPACING), ordered(spelled_out(counts), lower=0, upper=upper)


@given(COUNTS, st.integers(-8, 20), st.integers(0, 12), st.integers(0, 12))
@settings(max_examples=examples(300), deadline=None)
def test_ranks_and_gaps_are_those_of_the_values(counts, first, width, length):
    for one, other in zip(both(counts), (x.reflected() for x in both(counts)[::-1]), strict=True):
        assert one.size == other.size
    short, long = both(counts)
    for one, other in ((short, long), (short.reflected(), long.reflected())):
        assert (one.size, one.spread) == (other.size, other.spread)
        assert [one.at(rank) for rank in range(-3, 30)] == [other.at(rank) for rank in range(-3, 30)]
        assert one.widest(first, first + width, length) == other.widest(first, first + width, length)
        starts = np.arange(first, first + width + 1)
        assert one.gaps(starts, starts + length).tolist() == other.gaps(starts, starts + length).tolist()


@given(COUNTS, st.integers(-8, 20), st.integers(0, 6), st.integers(1, 9))
@settings(max_examples=examples(300), deadline=None)
def test_sums_are_those_of_the_values(counts, first, width, length):
    short, long = (blocks(data) for data in both(counts))
    starts = np.arange(first, first + width + 1)
    assert short.rise(starts, starts + length, length) == long.rise(starts, starts + length, length)
    size = short.data.size
    for last in range(1, size + 1):
        assert short.total(1, last) == long.total(1, last)
        assert short.total(last, size) == long.total(last, size)


@given(COUNTS, st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)]), st.integers(1, 3))
@settings(max_examples=examples(150), deadline=None)
def test_profiles_are_those_of_the_values(counts, share, rows):
    data, bounds = both(counts)[0], {"lower": 0, "upper": (len(counts) - 1) * SPACING}
    for relation, most in ((ADD_REMOVE_PERSON, rows), (REPLACE_ROW, 1)):
        options = {"relation": relation, "rows": most}
        trim = share / 3
        pairs = [
            (
                rank_profile(data, rank_rule(share), **options),
                quantile(spelled_out(counts), level=share, **bounds, **options),
            ),
            (
                trimmed_profile(data, trimming(trim), **options),
                trimmed_mean(spelled_out(counts), trim=trim, **bounds, **options),
            ),
        ]
        for short, long in pairs:
            assert (short.value, short.reach) == (long.value, long.reach)
            assert [short.local_at(k) for k in range(8)] == [long.local_at(k) for k in range(8)]


def test_counts_are_limited_each_by_itself():
    most = MOST_VALUES // 3
    for counts in ([most + 5, 2, -1], [2**62, 2, 0]):
        assert tallied(np.array(counts), spacing=1).size == most + 2
    full = tallied(np.full(3, 2**62), spacing=2**40)
    assert full.size == 3 * most
    assert blocks(full).total(1, full.size) == most * 3 * 2**40


def test_one_value_more_is_at_most_one_value_more():
    most = MOST_VALUES // 3
    for place in range(3):
        for counts in ([most - 1, most, 4], [most, most + 9, 0]):
            more = [count + (place == index) for index, count in enumerate(counts)]
            before, after = (np.diff(tallied(np.array(x), spacing=1).last)[:-1] for x in (counts, more))
            change = after - before
            assert change.sum() in (0, 1)
            assert (change >= 0).all()


def test_large_counts_keep_ranks_and_sums_exact():
    data = tallied(np.full(4096, 2**40), spacing=64)
    size = data.size
    assert size == 2**33
    assert data.at(size // 2) == 2047 * 64
    profile = trimmed_profile(data, trimming(Fraction(249, 999)), relation=ADD_REMOVE_PERSON, rows=3)
    assert abs(profile.value - Fraction(4095 * 64, 2)) < 64
    assert 0 < profile.local_at(5) < Fraction(1, 10**3)


@pytest.mark.parametrize("counts", [np.array([]), np.array([[1]]), np.array([1.5])])
def test_what_is_no_histogram_is_refused(counts):
    with pytest.raises(ParameterError, match="counts"):
        tallied(counts, spacing=1)
    with pytest.raises(ParameterError, match="spacing"):
        tallied(np.array([1, 2, 3]), spacing=2**53)


def test_nothing_private_is_shown():
    assert repr(tallied(np.array([5]), spacing=1)) == "Ordered(private)"
