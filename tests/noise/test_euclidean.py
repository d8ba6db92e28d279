"""Euclidean noise: the integers nearest to an ideal vector, against arithmetic of 300 digits."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import ParameterError
from discreet.noise.entropy import Replay, System
from discreet.noise.euclidean import _nearest, _point, _Uniform, sample_euclidean
from effort import examples, sizes
from noise.sources import Scripted
from significance import FALSE_ALARM, fit_p_value

high = mpmath.mp.clone()
high.prec = 1000
SIZES = sizes(3, 1, 2, 8)


def ideal(scale: Fraction, logarithms, points):
    """The absolute coordinates by the polar method in 1000 bits, from the same uniform numbers."""

    def number(uniform):
        return high.mpf(uniform.begin(900)) / high.mpf(2) ** 900

    length = -sum(high.log(number(one)) for one in logarithms) * scale.numerator / scale.denominator
    normal = []
    for point in points:
        a, b = map(number, point)
        s = a * a + b * b
        normal += [a * high.sqrt(-2 * high.log(s) / s), b * high.sqrt(-2 * high.log(s) / s)]
    normal = normal[: len(logarithms)]
    whole = high.sqrt(sum(one * one for one in normal))
    return [length * one / whole for one in normal]


@given(
    seed=st.integers(0, 2**60),
    size=st.integers(1, 9),
    exponent=st.integers(-8, 40),
    bits=st.sampled_from([16, 24, 32, 64, 128]),
)
@settings(max_examples=examples(160))
def test_what_is_decided_is_the_rounding_of_the_ideal_vector(seed, size, exponent, bits):
    """At few bits much is left open; nothing is ever decided wrongly."""
    source = Replay(seed)
    scale = Fraction(2) ** exponent * Fraction(7, 5)
    logarithms = [_Uniform(source) for _ in range(size)]
    points = [_point(source) for _ in range((size + 1) // 2)]
    found = _nearest(scale, logarithms, points, bits)
    if found is not None:
        assert found == [int(high.floor(one + high.mpf(1) / 2)) for one in ideal(scale, logarithms, points)]
    if bits == 128:
        assert found is not None


def test_a_border_is_decided_by_more_bits():
    """A first coordinate whose 128 bits are those of a border: the next 64 say on which side it is."""
    # Of size 1 the direction is 1, so the coordinate is -log U.
    for extra, nearest in ((0, 1), (2**64 - 1, 0)):
        bits = 128
        cut = int(high.floor(high.exp(-high.mpf(1) / 2) * high.mpf(2) ** bits))  # -log U = 1/2
        logarithm = _Uniform(Scripted(bits=[cut >> 64, cut & (2**64 - 1), extra, extra]))
        point = _Uniform(Scripted(bits=[2**63, 0, 0, 0])), _Uniform(Scripted(bits=[0, 1, 0, 0]))
        assert _nearest(Fraction(1), [logarithm], [point], 128) is None
        assert _nearest(Fraction(1), [logarithm], [point], 192) == [nearest]


def test_a_number_that_may_be_zero_is_revealed_further():
    zero = _Uniform(Scripted(bits=[0, 0, 5, 0]))
    point = _Uniform(Scripted(bits=[2**63, 0, 0, 0])), _Uniform(Scripted(bits=[0, 1, 0, 0]))
    assert _nearest(Fraction(1), [zero], [point], 128) is None
    assert _nearest(Fraction(1), [zero], [point], 256) is not None


@pytest.mark.parametrize("size", SIZES)
def test_lengths_have_a_gamma_law_and_directions_are_uniform(size):
    source, scale = System(), Fraction(2**30)
    drawn = np.array([sample_euclidean(scale, size, source) for _ in range(300)], dtype=np.float64)
    lengths = np.linalg.norm(drawn, axis=1)
    assert stats.kstest(lengths / 2**30, stats.gamma(size).cdf).pvalue > FALSE_ALARM
    assert stats.kstest(lengths / 2**30, stats.gamma(size + 2).cdf).pvalue < FALSE_ALARM or size > 3
    if size > 1:  # a coordinate of a uniform direction: its square has a beta law
        squares = (drawn[:, 0] / lengths) ** 2
        assert stats.kstest(squares, stats.beta(0.5, (size - 1) / 2).cdf).pvalue > FALSE_ALARM
        angles = np.arctan2(drawn[:, 1], drawn[:, 0])
        assert stats.kstest(angles, stats.uniform(-np.pi, 2 * np.pi).cdf).pvalue > FALSE_ALARM


def test_one_coordinate_is_a_rounded_laplace_number():
    scale, source = Fraction(5, 2), System()
    drawn = np.array([sample_euclidean(scale, 1, source)[0] for _ in range(1200)])

    def below(x):
        return np.exp(x / 2.5) / 2 if x < 0 else 1 - np.exp(-x / 2.5) / 2

    edges = np.arange(-12, 14)
    assert fit_p_value(drawn, lambda a, b: below(b - 0.5) - below(a - 0.5), edges) > FALSE_ALARM
    assert fit_p_value(drawn, lambda a, b: below(2 * b - 1) - below(2 * a - 1), edges) < FALSE_ALARM


@pytest.mark.parametrize("scale", [0, -1, Fraction(2**45), 1.5])
def test_what_cannot_be_drawn_is_refused(scale):
    with pytest.raises(ParameterError):
        sample_euclidean(scale, 2, System())
