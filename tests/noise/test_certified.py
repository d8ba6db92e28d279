"""The certified rounding: the same integer as an evaluation of the same uniform number to 200 digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import MPContext
from scipy import stats

from discreet.audit.words import word_law
from discreet.noise.certified import CertifiedRounding, cumulative, sample_rounded
from discreet.noise.elementary import arctangent, enclose, pi
from discreet.noise.enclosure import quotient
from discreet.noise.entropy import Replay, Source, replay
from effort import examples
from noise.sources import Scripted

high = MPContext()
high.dps = 200


class PlainCauchy:
    """The Cauchy law, whose quantile mpmath has in closed form."""

    def upper(self, z: Fraction, bits: int) -> tuple[int, int]:
        low, above = quotient(arctangent(enclose(z, bits + 8), bits + 8), pi(bits + 8), bits + 8)
        half = 1 << (bits + 7)
        return (half - above) >> 8, -(-(half - low) >> 8)

    def guess(self, probability: float) -> float:
        return float(np.tan(np.pi * (0.5 - probability)))

    def density(self, z: float) -> float:
        return 1 / (np.pi * (1 + z * z))


class WrongGuess(PlainCauchy):
    """A guess that is off by orders of magnitude."""

    def guess(self, probability: float) -> float:
        return 1e6 if probability > 0.25 else 0.0

    def density(self, z: float) -> float:
        return 0.0


class Digits(Source):
    """One uniform number of 640 bits, and then nothing."""

    def __init__(self, number: int) -> None:
        self._digits = [(number >> (640 - 64 * (index + 1))) & ((1 << 64) - 1) for index in range(10)]

    def words(self, size: int) -> np.ndarray:
        return np.array([self._digits.pop(0) for _ in range(size)], np.uint64)


def expected(number: int, center: Fraction, scale: Fraction, least: int, most: int) -> int:
    """floor(center + scale tan(pi (U - 1/2)) + 1/2), to 200 digits."""
    u = high.ldexp(high.mpf(number), -640)
    z = high.tan(high.pi * (u - high.mpf(1) / 2))
    value = (
        high.mpf(center.numerator) / center.denominator + high.mpf(scale.numerator) / scale.denominator * z
    )
    return min(max(int(high.floor(value + high.mpf(1) / 2)), least), most)


@pytest.mark.parametrize("law", [PlainCauchy(), WrongGuess()], ids=["good guess", "wrong guess"])
@settings(max_examples=examples(60))
@given(
    number=st.one_of(st.integers(1, (1 << 640) - 1), st.integers(1, 1 << 600), st.integers(1, 1 << 560)),
    center=st.fractions(min_value=-1000, max_value=1000, max_denominator=1000),
    scale=st.one_of(
        st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000),
        st.integers(1, 1 << 60).map(Fraction),
        st.just(Fraction(1, 2**200)),
        st.just(Fraction(2**200)),
    ),
)
def test_rounding_agrees_with_two_hundred_digits(law, number, center, scale):
    least, most = -(1 << 53), 1 << 53
    drawn = sample_rounded(law, center=center, scale=scale, least=least, most=most, source=Digits(number))
    assert drawn == expected(number, center, scale, least, most)


def test_a_uniform_next_to_a_border_asks_for_more_bits():
    """The border between 0 and 1 lies at F(1/2 / scale); its first 64 bits leave the outcome open."""
    scale = Fraction(1)
    border = int(high.floor(high.ldexp(high.atan(high.mpf(1) / 2) / high.pi + high.mpf(1) / 2, 192)))
    word, middle, rest = border >> 128, (border >> 64) & ((1 << 64) - 1), border & ((1 << 64) - 1)
    for last, outcome in ((rest - 1, 0), (rest + 2, 1)):
        source = Scripted([word], [middle, last])
        drawn = sample_rounded(
            PlainCauchy(), center=Fraction(0), scale=scale, least=-9, most=9, source=source
        )
        assert drawn == outcome
        assert source.spent


def test_results_are_clamped_to_public_bounds():
    for word, outcome in ((0, -3), ((1 << 64) - 1, 5)):
        drawn = sample_rounded(
            PlainCauchy(),
            center=Fraction(1, 3),
            scale=Fraction(10**6),
            least=-3,
            most=5,
            source=Scripted([word]),
        )
        assert drawn == outcome
    assert (
        sample_rounded(
            PlainCauchy(), center=Fraction(0), scale=Fraction(1), least=4, most=4, source=Scripted([77])
        )
        == 4
    )


def test_the_law_of_the_decision_is_the_difference_of_the_distribution_function():
    """What an audit reads off the code by bisection is F(b_(k + 1)) - F(b_k)."""
    center, scale = Fraction(1, 3), Fraction(7, 5)
    law = word_law(CertifiedRounding(PlainCauchy(), center, scale, -6, 6), bits=80)
    assert sorted(law.masses) == list(range(-6, 7))

    def distribution(k: Fraction):
        z = (k - center) / scale
        return high.atan(high.mpf(z.numerator) / z.denominator) / high.pi + high.mpf(1) / 2

    for k, mass in law.masses.items():
        start = distribution(k - Fraction(1, 2)) if k > -6 else 0
        end = distribution(k + Fraction(1, 2)) if k < 6 else 1
        assert abs(high.ldexp(end - start, 80) - mass) <= 2


def test_samples_follow_the_law():
    source = Replay(2026)
    drawn = [
        sample_rounded(
            PlainCauchy(),
            center=Fraction(0),
            scale=Fraction(10**6),
            least=-(10**12),
            most=10**12,
            source=source,
        )
        for _ in range(3000)
    ]
    assert stats.kstest(np.array(drawn) / 1e6, stats.cauchy.cdf).pvalue > 1e-4
    assert stats.kstest(np.array(drawn) / 2e6, stats.cauchy.cdf).pvalue < 1e-9  # half the noise is seen


def test_a_replayed_source_repeats_itself():
    def draw() -> list[int]:
        with replay(7) as source:
            return [
                sample_rounded(
                    PlainCauchy(), center=Fraction(0), scale=Fraction(9), least=-99, most=99, source=source
                )
                for _ in range(20)
            ]

    assert draw() == draw()


def test_the_distribution_function_is_symmetric():
    low, above = cumulative(PlainCauchy(), Fraction(-3, 4), 96)
    other = cumulative(PlainCauchy(), Fraction(3, 4), 96)
    assert (low, above) == ((1 << 96) - other[1], (1 << 96) - other[0])
