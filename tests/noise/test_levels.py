"""Levels: inversion of rational laws, at and around every boundary."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ParameterError
from discreet.noise.entropy import System
from discreet.noise.levels import Levels, sample_levels
from noise.sources import Counting, Scripted
from significance import FALSE_ALARM

LAST = 2**64 - 1


def by_inversion(numerators, bits, uniform):
    """The first n with U < p_n, for U = uniform / 2^192 and further bits that do not matter."""
    return next(
        n for n, p in enumerate(numerators, 1) if Fraction(uniform, 1 << 192) < Fraction(p, 1 << bits)
    )


@given(
    bits=st.sampled_from([64, 65, 100, 128, 190]),
    shares=st.lists(st.fractions(0, 1), min_size=0, max_size=12),
    further=st.integers(0, 2**128 - 1),
)
def test_every_boundary_is_decided_exactly(bits, shares, further):
    one = 1 << bits
    numerators = [*sorted(int(share * one) for share in shares), one]
    law = Levels(numerators, bits)
    more = -(-(bits - 64) // 64) * 64
    for numerator in numerators:
        floor, rest = divmod(numerator << (192 - bits), 1 << 128)
        for word in {max(floor - 1, 0), min(floor, LAST), min(floor + 1, LAST), LAST, 0}:
            for tail in {further, rest, max(rest - 1, 0), 0, 2**128 - 1}:
                scripted = Scripted([word], [tail >> (128 - more)] if more else [])
                drawn = int(scripted.decide(law, 1)[0])
                assert drawn == by_inversion(numerators, bits, (word << 128) | tail)


def test_probabilities_below_a_word_are_exact():
    law = Levels([1, 2, 1 << 128], 128)
    for bits, level in ((0, 1), (1, 2), (2, 3), (2**64 - 1, 3)):
        assert Scripted([0], [bits]).decide(law, 1)[0] == level
    assert Scripted([1], []).decide(law, 1)[0] == 3


def test_releases_follow_the_law():
    numerators = [2**60, 3 * 2**60, 2**63, 2**63 + 2**62, 2**64]
    law = Levels(numerators, 64)
    drawn = sample_levels(law, 400_000, System())
    expected = np.diff([0, *(numerator / 2**64 for numerator in numerators)]) * len(drawn)
    found = np.bincount(drawn, minlength=6)[1:]
    assert stats.chisquare(found, expected).pvalue > FALSE_ALARM
    assert stats.chisquare(found, expected[::-1]).pvalue < FALSE_ALARM


def test_one_word_for_each_draw():
    source = Counting()
    sample_levels(Levels([2**70, 2**90, 2**100], 100), 1000, source)
    assert source.drawn == 1000
    assert (sample_levels(Levels([2**64], 64), 7, System()) == 1).all()


@pytest.mark.parametrize(
    ("numerators", "bits"),
    [
        ([], 64),
        ([5], 64),
        ([2**63, 2**62, 2**64], 64),
        ([-1, 2**64], 64),
        ([2**65, 2**64], 64),
        ([2**32], 32),
    ],
)
def test_what_is_no_law_is_refused(numerators, bits):
    with pytest.raises(ParameterError, match="numerators"):
        Levels(numerators, bits)
