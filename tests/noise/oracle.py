"""What the samplers are compared with: slow, independent and obviously right.

Two oracles. The first is the laws themselves, to 1200 bits, by closed forms that the samplers do
not use (hyperbolic tangents, Poisson summation). The second is the rejection samplers of
Canonne, Kamath and Steinke (2020) in rational arithmetic, with randomness from `secrets`.
"""

from __future__ import annotations

import secrets
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st
from mpmath import MPContext

if TYPE_CHECKING:
    from collections.abc import Callable

SCALES = [
    Fraction(1, 100),
    Fraction(1, 7),
    Fraction(1, 2),
    Fraction(1),
    Fraction(10),
    Fraction(16),
    Fraction(17),
    Fraction(637, 10),
    Fraction(1000),
    Fraction(10**4),
    2**20 + Fraction(1, 3),
    Fraction(2**40),
]

RANDOM_SCALES = st.builds(
    lambda exponent, numerator, denominator: Fraction(2) ** exponent * Fraction(numerator, denominator),
    st.integers(-5, 37),
    st.integers(1001, 3999),
    st.integers(1000, 2000),
)
LONG_SCALE = Fraction(123456789 * 2**1000 + 1, 2**1010 + 7)

high = MPContext()
high.prec = 1200


def real(x: Fraction):
    """Return a rational as a number of 1200 bits."""
    return high.mpf(x.numerator) / x.denominator


def scaled(x, bits: int) -> int:
    """Return floor(x 2^bits) of a number of 1200 bits."""
    return int(high.floor(high.ldexp(x, bits)))


def exp_minus(x: Fraction):
    """Return exp(-x) to 1200 bits."""
    return high.exp(-real(x))


def geometric_mass(scale: Fraction, value: int):
    """P(k) = (1 - r) r^k for r = exp(-1 / scale)."""
    return -high.expm1(-1 / real(scale)) * exp_minus(value / scale)


def digit_mass(scale: Fraction, position: int, count: int, digit: int):
    """P(d) of the digit with place value 2^position of a geometric, by summing its own law."""
    step = Fraction(1 << position) / scale
    return exp_minus(digit * step) * high.expm1(-real(step)) / high.expm1(-real(count * step))


def laplace_mass(scale: Fraction, value: int):
    """P(y) = tanh(1 / (2 scale)) exp(-|y| / scale)."""
    return high.tanh(1 / (2 * real(scale))) * exp_minus(abs(value) / scale)


@lru_cache(maxsize=256)
def theta(variance: Fraction):
    """Sum exp(-y^2 / (2 variance)) over all integers, the shorter way round."""
    return theta_by_summation(variance) if variance < Fraction(1, 6) else theta_by_duality(variance)


def theta_by_summation(variance: Fraction):
    """Add up the terms."""
    total, index = high.mpf(1), 1
    while (term := exp_minus(Fraction(index * index) / (2 * variance))) > high.ldexp(1, -high.prec):
        total += 2 * term
        index += 1
    return total


def theta_by_duality(variance: Fraction):
    """Add up the terms of the Fourier transform (Poisson summation)."""
    v = real(variance)
    total, index = high.mpf(1), 1
    while (term := high.exp(-2 * high.pi**2 * v * index * index)) > high.ldexp(1, -high.prec):
        total += 2 * term
        index += 1
    return total * high.sqrt(2 * high.pi * v)


def gaussian_mass(variance: Fraction, value: int):
    """P(y) = exp(-y^2 / (2 variance)) / theta."""
    return exp_minus(Fraction(value * value) / (2 * variance)) / theta(variance)


def normal_tail(variance: Fraction, edge: Fraction):
    """P(X >= edge) of a normal X, by the complementary error function."""
    return high.erfc(real(edge) / high.sqrt(2 * real(variance))) / 2


def rounded_mass(variance: Fraction, value: int):
    """P(k - 1/2 <= X < k + 1/2) of a normal X, for the magnitude of k: a difference of two small tails."""
    edge = abs(value) - Fraction(1, 2)
    return normal_tail(variance, edge) - normal_tail(variance, edge + 1)


def block_mass(variance: Fraction, shift: int, start: int):
    """P(sign, h) proportional to exp(-(2^shift h)^2 / (2 variance)), for both signs of h >= 0."""
    reduced = variance / (1 << (2 * shift))
    return exp_minus(Fraction((start >> shift) ** 2) / (2 * reduced)) / (theta(reduced) + 1)


def laplace_between(scale: float) -> Callable[[int, int], float]:
    """Return (a, b) -> P(a <= Y < b) for the discrete Laplace law, in floats that lose no digits."""
    rate = 1.0 / scale

    def right(a: int, b: int) -> float:  # 0 <= a < b
        return float(np.exp(-a * rate) * -np.expm1(-(b - a) * rate) / (1 + np.exp(-rate)))

    def between(a: int, b: int) -> float:
        if a >= 0:
            return right(a, b)
        if b <= 1:
            return right(1 - b, 1 - a)
        return right(1, 1 - a) + right(0, b)

    return between


def gaussian_between(variance: float) -> Callable[[int, int], float]:
    """Return (a, b) -> P(a <= Y < b) for the discrete Gaussian law, in floats.

    Above a standard deviation of 1000 the sum is replaced by its integral; by Poisson summation
    over a bin the error is of the order of the second derivative, below 1e-7.
    """
    from scipy import stats

    deviation = variance**0.5
    if deviation > 1000:

        def smooth(a: int, b: int) -> float:
            ends = (np.array([a, b]) - 0.5) / deviation
            return float(stats.norm.cdf(ends[1]) - stats.norm.cdf(ends[0]))

        return smooth
    reach = int(15 * deviation) + 2
    support = np.arange(-reach, reach + 1)
    weights = np.exp(-(support**2) / (2 * variance))
    cumulative = np.concatenate([[0.0], np.cumsum(weights / weights.sum())])

    def between(a: int, b: int) -> float:
        first, last = (min(max(end + reach, 0), len(support)) for end in (a, b))
        return float(cumulative[last] - cumulative[first])

    return between


def bernoulli(probability: Fraction) -> bool:
    """Return True with a rational probability."""
    return secrets.randbelow(probability.denominator) < probability.numerator


def bernoulli_exp(x: Fraction) -> bool:
    """Return True with probability exp(-x), x >= 0 (Canonne, Kamath, Steinke, Algorithm 1)."""
    while x > 1:
        if not bernoulli_exp(Fraction(1)):
            return False
        x -= 1
    trials = 1
    while bernoulli(x / trials):
        trials += 1
    return trials % 2 == 1


def textbook_laplace(scale: Fraction) -> int:
    """Draw from exp(-|y| / scale) (Algorithm 2). Its loops run longer for larger values."""
    numerator, denominator = scale.numerator, scale.denominator
    while True:
        offset = secrets.randbelow(numerator)
        if not bernoulli_exp(Fraction(offset, numerator)):
            continue
        rounds = 0
        while bernoulli_exp(Fraction(1)):
            rounds += 1
        magnitude = (offset + numerator * rounds) // denominator
        negative = secrets.randbelow(2)
        if not (negative and magnitude == 0):
            return -magnitude if negative else magnitude


def textbook_gaussian(variance: Fraction) -> int:
    """Draw from exp(-y^2 / (2 variance)) (Algorithm 3)."""
    scale = isqrt(variance.numerator // variance.denominator) + 1
    while True:
        candidate = textbook_laplace(Fraction(scale))
        if bernoulli_exp((abs(candidate) - variance / scale) ** 2 / (2 * variance)):
            return candidate
