"""Divergences of small laws in high precision, to compare Rényi bounds with."""

from __future__ import annotations

import mpmath
import numpy as np
from hypothesis import strategies as st

ORDERS = np.array([1.001, 1.3, 1.5, 2, 2.5, 3, 5, 7.7, 20, 33.5])


def finite(p, q, order):
    """D_order(P || Q) of two lists of masses, in high precision."""
    with mpmath.workdps(40):
        total = mpmath.fsum(
            mpmath.mpf(a) ** order * mpmath.mpf(b) ** (1 - order) for a, b in zip(p, q, strict=True)
        )
        return mpmath.log(total) / (order - 1)


def both(p, q, order):
    return max(finite(p, q, order), finite(q, p, order))


def mixed(p, q, rate):
    """The two directions of a sample, as pairs."""
    mixture = [(1 - rate) * b + rate * a for a, b in zip(p, q, strict=True)]
    return (mixture, q), (q, mixture)


def holds(bound, exact, slack=1e-9):
    """A bound that is never below, and close."""
    assert np.isfinite(bound)
    assert bound >= exact
    assert bound <= exact * (1 + slack)


def geometric_law(rate, center, reach):
    t = mpmath.exp(-rate)
    return [(1 - t) / (1 + t) * t ** abs(y - center) for y in range(-reach, reach + 1)]


def discrete_gaussian_law(variance, center, reach):
    masses = [mpmath.exp(-mpmath.mpf((y - center) ** 2) / (2 * variance)) for y in range(-reach, reach + 1)]
    whole = mpmath.fsum(mpmath.exp(-mpmath.mpf(y * y) / (2 * variance)) for y in range(-200, 201))
    return [mass / whole for mass in masses]


def bounded_range(epsilon, top):
    """The pair with the two losses top and top - epsilon."""
    e, t = mpmath.mpf(epsilon), mpmath.mpf(top)
    p = (mpmath.exp(e) - mpmath.exp(t)) / mpmath.expm1(e)
    return [p, 1 - p], [p * mpmath.exp(-t), (1 - p) * mpmath.exp(e - t)]


masses = st.lists(st.integers(1, 100), min_size=3, max_size=4)
