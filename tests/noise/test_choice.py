from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.noise.choice import ExponentialWeightsDecision, choose
from discreet.noise.entropy import System
from noise.oracle import exp_minus, scaled
from noise.sources import Counting, Scripted
from significance import FALSE_ALARM

BITS = 900
LAST = 2**64 - 1


def boundaries(exponents: list[int], rate: Fraction) -> list[int]:
    """Return floor(C_i / S 2^BITS) for the cumulative weights C_i and their sum S, by 1200-bit arithmetic."""
    weights = {k: exp_minus(k * rate) for k in set(exponents)}
    total, cumulative = 0, []
    for k in exponents:
        total += weights[k]
        cumulative.append(total)
    return [scaled(c / total, BITS) for c in cumulative]


def by_inversion(ends: list[int], uniform: int) -> int:
    """Return the first i with U < C_i / S, for U = (uniform + 1/2) / 2^128."""
    position = (2 * uniform + 1) << (BITS - 129)
    return int(np.searchsorted(np.array(ends, object), position, side="right"))


def check(exponents: list[int], rate: Fraction, indices, distances) -> None:
    ends = boundaries(exponents, rate)
    law = ExponentialWeightsDecision(np.array(exponents, np.int64), rate)
    for index in indices:
        edge = ends[index] >> (BITS - 128)
        floor, rest = edge >> 64, edge & LAST
        for distance in distances:
            for word in (floor - distance, floor + distance):
                if 0 <= word <= LAST and (distance > 1 or not ambiguous(ends, word)):
                    source = Scripted([word], [2**63] * 3)
                    assert source.decide(law, 1)[0] == by_inversion(ends, (word << 64) | 2**63)
        for bits in (rest - 2, rest + 2):
            if floor <= LAST and 0 <= bits <= LAST:
                source = Scripted([floor], [bits, 2**63, 2**63])
                assert source.decide(law, 1)[0] == by_inversion(ends, (floor << 64) | bits)


def ambiguous(ends: list[int], word: int) -> bool:
    return any(word == end >> (BITS - 64) for end in ends)


NEAR = [1, 2, 3, 10, 1 << 8, 1 << 12, 1 << 16, 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 24, 1 << 40]


@pytest.mark.parametrize("rate", [Fraction(1, 10**12), Fraction(1, 100), Fraction(1), Fraction(50)])
def test_decisions_near_every_boundary(rate):
    exponents = [3, 0, 7, 7, 1, 0, 2, 100, 0, 5]
    check(exponents, rate, range(len(exponents)), NEAR)


def test_thousands_of_candidates():
    generator = np.random.default_rng(5)
    exponents = generator.integers(0, 4000, 3000)
    exponents[1234] = 0
    indices = sorted({0, 1, 2998, 2999, *generator.integers(0, 3000, 3).tolist()})
    check(exponents.tolist(), Fraction(1, 500), indices, [1, 1 << 16, 1 << 30])


def test_a_hundred_thousand_candidates_fill_the_sums_without_overflow():
    exponents = np.zeros(100_000, np.int64)
    law = ExponentialWeightsDecision(exponents, Fraction(1))
    for index in (0, 1, 50_000, 99_999):
        word = ((2 * index + 1) << 63) // 100_000  # the middle of the candidate's share
        assert Scripted([word]).decide(law, 1)[0] == index


def test_ties_share_equally():
    exponents = [4] * 5 + [0] * 4 + [4] * 3
    check(exponents, Fraction(1, 7), range(12), NEAR)


@pytest.mark.parametrize("huge", [700, 10**6, 2**62, 2**63 - 1])
def test_huge_exponents(huge):
    for exponents in ([huge, 0], [0, huge], [huge, huge, 0, huge, 1, huge]):
        check(exponents, Fraction(1), range(len(exponents)), NEAR)
        law = ExponentialWeightsDecision(np.array(exponents), Fraction(1))
        allowed = {index for index, k in enumerate(exponents) if k < huge}
        for word in (2**40, 2**62, 2**63 + 12345, LAST - 2**40):
            assert int(Scripted([word]).decide(law, 1)[0]) in allowed


def test_a_candidate_below_every_float_still_has_its_share():
    """exp(-800) is not a float; the share of the first candidate is 1155 zero bits."""
    exponents, rate = [800, 0], Fraction(1)
    share = 1154  # exp(-800) > 2^-1155
    law = ExponentialWeightsDecision(np.array(exponents), rate)
    zeros = [0] * (share // 64 + 1)
    assert Scripted([0], zeros).decide(law, 1)[0] == 0
    assert Scripted([0], [*zeros[:16], 1 << 63]).decide(law, 1)[0] == 1


def test_a_single_candidate():
    law = ExponentialWeightsDecision(np.array([0]), Fraction(1))
    assert Scripted([0, 1, 2**63, LAST]).decide(law, 4).tolist() == [0] * 4


@given(
    exponents=st.lists(st.integers(0, 60), min_size=1, max_size=12),
    rate=st.fractions(Fraction(1, 1000), 5, max_denominator=1000),
    words=st.lists(st.integers(0, LAST), min_size=1, max_size=10),
)
@settings(deadline=None, max_examples=30)
def test_any_word(exponents, rate, words):
    exponents = [*exponents, 0]
    ends = boundaries(exponents, rate)
    law = ExponentialWeightsDecision(np.array(exponents), rate)
    for word in words:
        if not ambiguous(ends, word):
            assert Scripted([word]).decide(law, 1)[0] == by_inversion(ends, (word << 64) | 2**63)


def test_one_word_decides():
    source = Counting()
    for _ in range(200):
        choose(np.array([0, 1, 2, 3]), Fraction(1, 2), source)
    assert source.drawn == 200


def test_every_outcome_takes_the_same_number_of_comparisons(monkeypatch):
    exponents = np.arange(37) % 5
    law = ExponentialWeightsDecision(exponents, Fraction(1, 10))
    counts = []
    original = ExponentialWeightsDecision._cumulative

    def counted(self, index):
        counts[-1] += 1
        return original(self, index)

    monkeypatch.setattr(ExponentialWeightsDecision, "_cumulative", counted)
    chosen = set()
    for step in range(1, 400):
        counts.append(0)
        chosen.add(int(Scripted([step * (LAST // 400)]).decide(law, 1)[0]))
    assert chosen == set(range(37))
    # The first candidate has no lower boundary to look at.
    assert max(counts) - min(counts) <= 1
    assert counts[50:] == [counts[50]] * len(counts[50:])


@pytest.mark.statistical
def test_frequencies():
    exponents, rate = np.array([0, 1, 2, 5, 2, 0]), Fraction(1, 2)
    words = System().words(200_000)
    counts = np.bincount(
        ExponentialWeightsDecision(exponents, rate).outcomes(words, 0, System()), minlength=6
    )
    weights = np.exp(-exponents * 0.5)
    assert stats.chisquare(counts, weights / weights.sum() * 200_000).pvalue > FALSE_ALARM
    wrong = np.exp(-exponents * 0.5 * 1.1)
    assert stats.chisquare(counts, wrong / wrong.sum() * 200_000).pvalue < FALSE_ALARM


def test_a_search_without_slack_is_caught(monkeypatch):
    """Plant the bug: believe the 60-bit sums."""

    def believing(self, word, source):
        del source
        return int(
            np.searchsorted([self._cumulative(i) << 64 for i in range(len(self._high))], word * self._total)
        )

    monkeypatch.setattr(ExponentialWeightsDecision, "_one", believing)
    with pytest.raises(AssertionError):
        check([3, 0, 7, 7, 1, 0, 2], Fraction(1, 100), range(7), NEAR)
