"""Upper tails P(Z > z) by mpmath, from definitions other than the package's."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mpmath import MPContext

high = MPContext()
high.prec = 230

Tail = Callable[[Fraction], object]


def real(x: Fraction):
    return high.mpf(x.numerator) / x.denominator


def student(degrees: int) -> Tail:
    """Through the incomplete beta function."""
    d = high.mpf(degrees)

    def tail(z: Fraction):
        x = d / (d + real(z) ** 2)
        return high.betainc(d / 2, high.mpf(1) / 2, 0, x, regularized=True) / 2

    return tail


def cauchy(power: int) -> Tail:
    """By quadrature of the density."""
    height = power * high.sin(high.pi / power) / (2 * high.pi)

    def tail(z: Fraction):
        end = real(z)
        cuts = [cut for cut in (0.25, 0.5, 1, 2, 4, 16, 128, 10**4, 10**7) if cut < end]
        return high.mpf(1) / 2 - height * high.quad(lambda x: 1 / (1 + x**power), [0, *cuts, end])

    return tail


def laplace(z: Fraction):
    return high.exp(-real(z)) / 2


def gaussian(z: Fraction):
    return high.erfc(real(z) / high.sqrt(2)) / 2


def laplace_log_normal(sigma: Fraction) -> Tail:
    """By quadrature over the normal variable."""

    def tail(z: Fraction):
        return (
            high.quad(
                lambda y: high.npdf(y) * high.exp(-real(z) * high.exp(-real(sigma) * y)),
                list(range(-20, 21, 2)),
            )
            / 2
        )

    return tail


def uniform_log_normal(sigma: Fraction) -> Tail:
    """By quadrature over the uniform variable: P(exp(sigma Y) > z / x) on 0 < x < 1."""

    def tail(z: Fraction):
        if z == 0:
            return high.mpf(1) / 2
        # With x = z exp(-sigma w) the integrand is smooth in w.
        start = high.log(real(z)) / real(sigma)
        cuts = [start, *(cut for cut in range(-14, 22, 2) if cut > start), max(start, 22) + 8]
        return (
            high.quad(
                lambda w: gaussian_of(w) * real(sigma) * real(z) * high.exp(-real(sigma) * w),
                [*cuts, high.inf],
            )
            / 2
        )

    return tail


def gaussian_of(w):
    return high.erfc(w / high.sqrt(2)) / 2


def arcsinh_normal(sigma: Fraction) -> Tail:
    return lambda z: gaussian_of(high.asinh(real(sigma) * real(z)) / real(sigma))
