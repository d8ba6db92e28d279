from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.noise.entropy import System
from discreet.noise.uniform import UniformBelow, UniformBits, uniform_below
from noise.sources import Counting, Scripted
from significance import FALSE_ALARM

BOUNDS = [1, 2, 3, 5, 7, 64, 1000, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**61 + 3, 2**62 - 1, 2**62]
LAST = 2**64 - 1


def words_near_boundaries(bound: int, indices: list[int]) -> list[int]:
    words = {0, 1, LAST - 1, LAST}
    for index in indices:
        edge = (index << 64) // bound
        words |= {word for word in range(edge - 2, edge + 3) if 0 <= word <= LAST}
    return sorted(words)


def check_word(bound: int, word: int) -> None:
    """Compare with floor(bound U), for U with further bits on either side of every boundary."""
    low, top = Fraction(bound * word, 1 << 64), Fraction(bound * (word + 1), 1 << 64)
    if int(low) == -(-top.numerator // top.denominator) - 1:
        assert Scripted([word]).decide(UniformBelow(bound), 1)[0] == int(low)
        return
    # The integers inside the interval; the word alone cannot tell. Its next 64 bits are forced around each.
    for boundary in range(int(low) + 1, -(-top.numerator // top.denominator)):
        following = (Fraction(boundary << 64, bound) - word) * 2**64
        for bits in {int(following) - 1, int(following), int(following) + 1}:
            if not 0 <= bits <= LAST:
                continue
            exact_low = Fraction(bound * ((word << 64) + bits), 1 << 128)
            exact_top = Fraction(bound * ((word << 64) + bits + 1), 1 << 128)
            if int(exact_low) == -(-exact_top.numerator // exact_top.denominator) - 1:
                source = Scripted([word], [bits])
                assert source.decide(UniformBelow(bound), 1)[0] == int(exact_low)
            else:
                for last, outcome in ((0, boundary - 1), (LAST, boundary)):
                    source = Scripted([word], [bits, last])
                    assert source.decide(UniformBelow(bound), 1)[0] == outcome
            assert source.spent


@pytest.mark.parametrize("bound", BOUNDS)
def test_every_boundary_is_decided_exactly(bound):
    indices = (
        range(bound + 1)
        if bound <= 1000
        else [*range(50), bound // 3, bound // 2, *range(bound - 50, bound + 1)]
    )
    for word in words_near_boundaries(bound, list(indices)):
        check_word(bound, word)


@given(bound=st.integers(1, 2**62), word=st.integers(0, LAST))
def test_any_word_is_decided_exactly(bound, word):
    check_word(bound, word)


@given(bound=st.integers(1, 2**62), index=st.integers(0, 2**62), step=st.integers(-2, 2))
def test_any_boundary_is_decided_exactly(bound, index, step):
    word = ((index % (bound + 1)) << 64) // bound + step
    if 0 <= word <= LAST:
        check_word(bound, word)


def test_a_power_of_two_never_needs_more_bits():
    for exponent in range(63):
        words = np.array([0, 1, 2**63 - 1, 2**63, LAST], np.uint64)
        assert Scripted(words.tolist()).decide(UniformBelow(1 << exponent), 5).tolist() == [
            int(word) >> (64 - exponent) for word in words
        ]


@pytest.mark.parametrize("count", [1, 2, 10, 33, 34, 62])
def test_leading_bits(count):
    words = [0, 1, 2**62 + 5, 2**63, LAST]
    assert Scripted(words).decide(UniformBits(count), 5).tolist() == [word >> (64 - count) for word in words]


def test_each_value_takes_one_word():
    source = Counting()
    uniform_below(1000, 5000, source)
    assert source.drawn == 5000


def test_many_lanes_are_settled_in_their_places():
    third = 2**64 // 3
    source = Scripted([third, 0, third, LAST], [0, LAST])
    assert uniform_below(3, 4, source).tolist() == [0, 0, 1, 2]


@pytest.mark.statistical
@pytest.mark.parametrize("bound", [2, 3, 10, 97])
def test_draws_are_uniform(bound):
    counts = np.bincount(uniform_below(bound, 200_000, System()), minlength=bound)
    assert len(counts) == bound
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.statistical
def test_large_bounds_have_no_modulo_bias():
    bound = 3 * 2**60  # a word reduced modulo this would fall into the first third too often
    drawn = uniform_below(bound, 200_000, System())
    assert drawn.max() < bound
    thirds = np.bincount(drawn >> 60, minlength=3)
    assert stats.chisquare(thirds).pvalue > FALSE_ALARM
    biased = np.bincount((System().words(200_000) % np.uint64(bound)).astype(np.int64) >> 60, minlength=3)
    assert stats.chisquare(biased).pvalue < FALSE_ALARM
