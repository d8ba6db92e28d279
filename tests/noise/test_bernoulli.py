from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ParameterError
from discreet.noise.bernoulli import (
    Coin,
    ExponentialCoin,
    ExponentialCoins,
    bernoulli,
    bernoulli_exponential,
    settle_exponential,
)
from discreet.noise.entropy import Replay, System
from discreet.noise.powers import Powers
from noise.oracle import exp_minus, high, scaled
from noise.sources import Counting, Scripted
from significance import FALSE_ALARM

LAST = 2**64 - 1
RATES = [
    Fraction(1, 10**30),
    Fraction(1, 1000),
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 2),
    Fraction(10**30),
]


# Rational probabilities


@given(probability=st.fractions(0, 1), step=st.integers(-2, 2))
@example(probability=Fraction(2**99 + 12345, 2**100), step=0)  # dyadic, but not in 64 bits
@example(probability=Fraction(2**64 - 1, 2**128 - 1), step=0)
def test_a_rational_coin_is_decided_exactly(probability, step):
    word = (probability.numerator << 64) // probability.denominator + step
    if not 0 <= word <= LAST:
        return
    low, top = Fraction(word, 1 << 64), Fraction(word + 1, 1 << 64)
    coin = Coin(probability)
    if top <= probability or low >= probability:
        assert Scripted([word]).decide(coin, 1)[0] == int(top <= probability)
        return
    following = int((probability - low) * 2**128)
    exact = (probability - low) * 2**128 == following
    for bits, outcome in ((following - 1, 1), (following + 1, 0)):
        if 0 <= bits <= LAST:
            source = Scripted([word], [bits])
            assert source.decide(coin, 1)[0] == outcome
            assert source.spent
    if not exact:
        for last, outcome in ((0, 1), (LAST, 0)):
            rest = ((probability - low) * 2**128 - following) * 2**64
            if 1 <= rest <= LAST - 1:
                assert Scripted([word], [following, last]).decide(coin, 1)[0] == outcome


def test_certain_coins():
    words = [0, 1, 2**63, LAST]
    assert Scripted(words).decide(Coin(Fraction(0)), 4).tolist() == [0] * 4
    assert Scripted(words).decide(Coin(Fraction(1)), 4).tolist() == [1] * 4


def test_a_dyadic_coin_needs_no_more_bits():
    assert Scripted([2**63 - 1, 2**63, 2**63 + 1]).decide(Coin(Fraction(1, 2)), 3).tolist() == [1, 0, 0]


@pytest.mark.statistical
@pytest.mark.parametrize("probability", [Fraction(1, 3), Fraction(999, 1000), Fraction(1, 2)])
def test_frequencies(probability):
    heads = int(bernoulli(probability, 200_000, System()).sum())
    assert stats.binomtest(heads, 200_000, float(probability)).pvalue > FALSE_ALARM
    assert stats.binomtest(heads, 200_000, float(probability) * 0.95).pvalue < FALSE_ALARM


# Exponential probabilities


@given(
    exponent=st.fractions(0, 80, max_denominator=10**6),
    rounds=st.integers(0, 3),
)
@settings(deadline=None)
def test_an_exponential_coin_is_decided_at_whatever_precision_it_takes(exponent, rounds):
    if exponent == 0:
        assert settle_exponential(LAST, exponent, Scripted()) == 1
        return
    cut = scaled(exp_minus(exponent), 64 * (rounds + 2))
    chunks = [(cut >> (64 * place)) & LAST for place in range(rounds + 1, -1, -1)]
    agreed, last = chunks[:-1], chunks[-1]
    for bits, outcome in ((last - 1, 1), (last + 1, 0)):
        if 0 <= bits <= LAST:
            source = Scripted(agreed[:1], [*agreed[1:], bits])
            assert source.decide(ExponentialCoin(exponent), 1)[0] == outcome
            assert source.spent


@pytest.mark.parametrize("exponent", [45, 100, 700])
def test_a_coin_that_almost_never_shows_one(exponent):
    assert settle_exponential(1, Fraction(exponent), Scripted()) == 0
    chunks = int(exponent / high.log(2)) // 64  # of 64 zeros, at the start of exp(-exponent)
    below, above = [0] * chunks, [*[0] * (chunks - 1), LAST]
    assert settle_exponential(0, Fraction(exponent), Scripted([], below)) == 1
    assert settle_exponential(0, Fraction(exponent), Scripted([], above)) == 0


def test_a_huge_exponent_is_decided_at_the_first_bit():
    assert settle_exponential(0, Fraction(10**300), Scripted([], [0, 0, 1])) == 0


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{float(rate):g}")
def test_many_coins_agree_with_the_exponential_around_every_cut(rate):
    powers = Powers(rate)
    generator = np.random.default_rng(7)
    exponents = [0, 1, 2, 3, 255, 256, 257, 65535, 10**6, 2**40, 2**62, 2**63 - 1]
    exponents += [int(k) for k in generator.integers(0, 2**62, 10) >> generator.integers(0, 60, 10)]
    lanes, words, expected, bits = [], [], [], []
    for k in exponents:
        cut = scaled(exp_minus(k * rate), 128) if k else 1 << 128
        floor = cut >> 64
        for distance in [
            1,
            2,
            3,
            4,
            5,
            1 << 10,
            1 << 14,
            1 << 16,
            1 << 17,
            1 << 18,
            1 << 19,
            1 << 24,
            1 << 50,
        ]:
            for word in (floor - distance, floor + distance):
                if 0 <= word <= LAST:
                    lanes.append(k)
                    words.append(word)
                    expected.append(int(word < floor))
        if 0 < cut < 1 << 128 and 0 < (rest := cut & LAST) < LAST:
            for following, outcome in ((rest - 1, 1), (rest + 1, 0)):
                lanes.append(k)
                words.append(floor)
                bits.append(following)
                expected.append(outcome)
    source = Scripted(words, bits)
    coins = ExponentialCoins(np.array(lanes), powers)
    assert source.decide(coins, len(lanes)).tolist() == expected
    assert source.spent


@given(
    rate=st.fractions(Fraction(1, 10**6), 20, max_denominator=10**6),
    k=st.integers(0, 1000),
    distance=st.integers(1, 1 << 22),
    sign=st.sampled_from([-1, 1]),
)
@settings(deadline=None, max_examples=40)
def test_coins_at_random_distances(rate, k, distance, sign):
    cut = scaled(exp_minus(k * rate), 64)
    word = cut + sign * distance
    if 0 <= word <= LAST:
        coins = ExponentialCoins(np.array([k]), Powers(rate))
        assert Scripted([word]).decide(coins, 1)[0] == int(word < cut)


def test_lanes_past_the_first_batch_meet_their_own_exponent():
    size = (1 << 17) + 3
    exponents = np.zeros(size, np.int64)
    exponents[-1] = 1
    cut = scaled(exp_minus(Fraction(1)), 64)
    coins = ExponentialCoins(exponents, Powers(Fraction(1)))
    heads = Scripted([0] * (size - 1) + [cut + 1]).decide(coins, size)
    assert heads[-1] == 0
    assert heads[:-1].all()


def test_one_word_for_each_coin():
    source = Counting()
    bernoulli_exponential(np.arange(1000), Fraction(1, 100), source)
    assert source.drawn == 1000
    assert bernoulli_exponential(np.array([], np.int64), Fraction(1), source).size == 0


@pytest.mark.statistical
def test_exponential_frequencies():
    exponents = np.repeat(np.arange(5), 100_000)
    heads = bernoulli_exponential(exponents, Fraction(1, 3), System()).reshape(5, -1).sum(axis=1)
    assert heads[0] == 100_000
    for k in range(1, 5):
        assert stats.binomtest(int(heads[k]), 100_000, float(high.exp(-k / 3))).pvalue > FALSE_ALARM
        assert stats.binomtest(int(heads[k]), 100_000, float(high.exp(-k / 3)) * 0.9).pvalue < FALSE_ALARM


def test_a_band_that_is_too_narrow_is_caught(monkeypatch):
    """Plant the bug: believe floats everywhere."""
    rate = Fraction(1, 1000)

    class Believing(ExponentialCoins):
        def outcomes(self, words, lane, source):
            del lane, source
            return (words.astype(float) < self._powers.approximate(self._exponents) * 2.0**64).astype(
                np.int64
            )

    monkeypatch.setitem(globals(), "ExponentialCoins", Believing)
    with pytest.raises(AssertionError):
        test_many_coins_agree_with_the_exponential_around_every_cut(rate)


@pytest.mark.parametrize("probability", [Fraction(-1, 10**30), 1 + Fraction(1, 10**30), Fraction(3, 2)])
def test_what_is_no_probability_is_refused(probability):
    with pytest.raises(ParameterError, match="probability"):
        bernoulli(probability, 1, Replay(1))
