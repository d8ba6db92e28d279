"""Gaussian noise in closed form, enclosed: no float decides.

With mu^2 the sum of 1 / noise_multiplier^2 over all steps, a fraction, the profile is

    delta(epsilon) = Phi(mu / 2 - epsilon / mu) - e^epsilon Phi(-mu / 2 - epsilon / mu).

Near delta(0), for tiny mu and for huge ratios its two terms cancel, and floats keep few digits or none.
So both terms are found in decimals with as many digits as the difference needs, with a bound on their
error. Proof: docs/proofs/closed_gaussian.md.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, inf, log, log1p, nextafter, sqrt

from discreet.privacy.rational import float_above, float_below

__all__ = [
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_epsilon_above",
    "gaussian_epsilon_below",
    "profile_enclosed",
]

_DIGITS = 50
_ENOUGH = Decimal("1e-25")
_SMALL = 3  # standard deviations up to which the power series is summed; beyond, the continued fraction
_MOST_NEWTON = 60
_MOST_HALVINGS = 1100  # floats between 0 and the largest are halved away by then
_TINY = 5e-324
_FARTHEST = 8000  # squared standard deviations: beyond, delta is below exp(-4000) < 1e-1700
_NEXT_TO_NOTHING = Decimal("1e-1700")

DecimalEnclosure = tuple[Decimal, Decimal]


def gaussian_delta(squared_mu: Fraction, epsilon: Fraction) -> tuple[float, float]:
    """Return the floats next to delta at an epsilon >= 0; a delta below all floats is (0, 5e-324).

    Examples
    --------
    >>> gaussian_delta(Fraction(1), Fraction(1))
    (0.12693673750664394, 0.12693673750664397)
    """
    low, high = profile_enclosed(squared_mu, epsilon)
    # A decimal far below all floats would be a fraction of astronomic length.
    if high < Decimal("1e-330"):
        return 0.0, _TINY
    return max(float_below(Fraction(low)), 0.0), min(float_above(Fraction(high)), 1.0)


def gaussian_epsilon(squared_mu: Fraction, delta: Fraction) -> tuple[float, float]:
    """Return the largest float and the smallest one between which epsilon lies at a delta, 0 < delta < 1.

    The upper one is the least float at which delta is proven to be kept: noise that was calibrated for an
    epsilon is never charged more than that epsilon.

    Examples
    --------
    >>> gaussian_epsilon(Fraction(1), Fraction(1, 10**5))
    (4.3771780956812245, 4.377178095681225)
    """

    def excess(at: float) -> int:
        return _excess(squared_mu, delta, at)

    guess = _guess(squared_mu, delta)
    upper = _beyond(guess, lambda at: excess(at) < 0, up=True)
    lower = _beyond(min(guess, upper), lambda at: at == 0 or excess(at) > 0, up=False)
    if lower == 0 and excess(0.0) < 0:
        return 0.0, 0.0
    # Close in: `upper` keeps the delta, `lower` breaks it.
    for _ in range(_MOST_HALVINGS):
        middle = lower + (upper - lower) / 2
        if not lower < middle < upper or upper == inf:
            break
        side = excess(middle)
        if side == 0:
            break
        lower, upper = (middle, upper) if side > 0 else (lower, middle)
    return lower, upper


def gaussian_epsilon_above(squared_mu: Fraction, delta: Fraction) -> float:
    """Return a float at which delta is proven to be kept, within a few floats of epsilon."""
    return _beyond(_guess(squared_mu, delta), lambda at: _excess(squared_mu, delta, at) < 0, up=True)


def gaussian_epsilon_below(squared_mu: Fraction, delta: Fraction) -> float:
    """Return a float at which delta is proven to be broken, within a few floats of epsilon; or 0."""
    guess = _guess(squared_mu, delta)
    return _beyond(guess, lambda at: at == 0 or _excess(squared_mu, delta, at) > 0, up=False)


def _excess(squared_mu: Fraction, delta: Fraction, at: float) -> int:
    """Tell where the delta of an epsilon is proven to lie: 1 above the target, -1 not above it, 0 neither."""
    low, high = profile_enclosed(squared_mu, Fraction(at))
    return -1 if _at_most(high, delta) else 1 if not _at_most(low, delta) else 0


def _at_most(value: Decimal, bound: Fraction) -> bool:
    return value <= 0 or Fraction(value) <= bound if value.adjusted() > -5000 else bound > 0


def _guess(squared_mu: Fraction, delta: Fraction) -> float:
    """Return about where the answer is: as floats see it, refined by Newton's method in decimals."""
    context = _context(_DIGITS)
    target = context.divide(Decimal(delta.numerator), Decimal(delta.denominator))
    at = Fraction(_float_guess(sqrt(squared_mu), float(context.ln(target))))
    for _ in range(_MOST_NEWTON):
        first, second = _terms(squared_mu, at, _DIGITS)
        value = context.subtract(first, second)
        if value <= 0 or second <= 0:
            break
        # Newton on log delta: delta falls by e^epsilon Phi(far) for each unit of epsilon.
        step = context.multiply(context.ln(context.divide(value, target)), context.divide(value, second))
        if step and not -400 < step.adjusted() < 300:  # out of the range of floats: leave it to halving
            break
        moved = max(at + Fraction(step), Fraction(0))
        if abs(moved - at) <= moved * Fraction(1, 10**9):  # digits double: the next step would change nothing
            return float(moved)
        at = Fraction(_rounded_up(moved, 25))
    return float(at)


def _float_guess(mu: float, log_delta: float) -> float:
    from scipy.special import log_ndtr

    low, high = 0.0, mu * mu / 2 + mu * sqrt(2 * max(-log_delta, 0.0)) + mu
    for _ in range(60):
        middle = (low + high) / 2
        first = float(log_ndtr(mu / 2 - middle / mu))
        gap = middle + float(log_ndtr(-mu / 2 - middle / mu)) - first
        value = first + _log_complement(gap) if gap < 0 else -inf
        low, high = (middle, high) if value > log_delta else (low, middle)
    return high


def _log_complement(gap: float) -> float:
    return log(-expm1(gap)) if gap > -0.7 else log1p(-exp(gap))


def _beyond(guess: float, holds: Callable[[float], bool], *, up: bool) -> float:
    """Step outward from a guess, first by one float, then ever farther, until something is proven."""
    away, at = (inf if up else 0.0), guess
    stride = abs(nextafter(guess, away) - guess)
    for _ in range(_MOST_HALVINGS):
        if holds(at):
            return at
        at = min(at + stride, 1e300) if up else max(at - stride, 0.0)
        stride *= 4
    return inf if up else 0.0


def profile_enclosed(squared_mu: Fraction, epsilon: Fraction) -> DecimalEnclosure:
    """Enclose delta at an epsilon >= 0 to a relative 1e-25, by more and more digits."""
    far = epsilon - squared_mu / 2
    if far > 0 and far**2 > _FARTHEST * squared_mu:  # delta <= exp(-(far / mu)^2 / 2)
        return Decimal(0), _NEXT_TO_NOTHING
    digits = _DIGITS
    while True:
        first, second = _terms(squared_mu, epsilon, digits)
        error = _relative_error(squared_mu, epsilon, digits)
        down, up = _context(digits, ROUND_FLOOR), _context(digits, ROUND_CEILING)
        room = up.multiply(up.add(first, second), error)
        low, high = (
            down.subtract(down.subtract(first, second), room),
            up.add(up.subtract(first, second), room),
        )
        if low > 0 and up.subtract(high, low) <= up.multiply(low, _ENOUGH):
            return low, high
        digits *= 2


def _relative_error(squared_mu: Fraction, epsilon: Fraction, digits: int) -> Decimal:
    """Bound the relative error of both terms: 10^-digits for each operation, and what exponents lose."""
    exponent = epsilon + squared_mu + epsilon**2 / squared_mu + 1
    return _context(10, ROUND_CEILING).multiply(
        Decimal(10) ** (4 - digits), _context(10, ROUND_CEILING).add(1, _rounded_up(exponent))
    )


def _rounded_up(x: Fraction, digits: int = 10) -> Decimal:
    return _context(digits, ROUND_CEILING).divide(Decimal(x.numerator), Decimal(x.denominator))


def _terms(squared_mu: Fraction, epsilon: Fraction, digits: int) -> DecimalEnclosure:
    """Return Phi(mu / 2 - epsilon / mu) and e^epsilon Phi(-mu / 2 - epsilon / mu), to about `digits`."""
    context = _context(digits)
    mu = context.sqrt(context.divide(Decimal(squared_mu.numerator), Decimal(squared_mu.denominator)))
    # mu / 2 - epsilon / mu = (mu^2 / 2 - epsilon) / mu: the difference is a fraction, and nothing cancels.
    near = _quotient(squared_mu / 2 - epsilon, mu, context)
    far = _quotient(squared_mu / 2 + epsilon, mu, context)
    density = context.divide(
        context.exp(_quotient(-((squared_mu / 2 - epsilon) ** 2) / (2 * squared_mu), Decimal(1), context)),
        context.sqrt(context.multiply(2, _pi(digits))),
    )
    first = (
        context.multiply(density, _mills(-near, digits))
        if near <= 0
        else context.subtract(1, context.multiply(density, _mills(near, digits)))
    )
    # e^epsilon phi(far) = phi(near): the second term has the same factor.
    return first, context.multiply(density, _mills(far, digits))


def _quotient(x: Fraction, by: Decimal, context: Context) -> Decimal:
    return context.divide(context.divide(Decimal(x.numerator), Decimal(x.denominator)), by)


def _mills(x: Decimal, digits: int) -> Decimal:
    """Return (1 - Phi(x)) / phi(x) at x >= 0."""
    if x <= _SMALL:
        return _mills_series(x, digits)
    context = _context(digits + 5)
    # Convergents close in from both sides, by about exp(-2 x sqrt(2 n)).
    last = int((2.4 * (digits + 8) / (2 * float(min(x, Decimal(10**6))))) ** 2 / 2) + 8
    value = x
    for n in range(last, 0, -1):
        value = context.add(x, context.divide(n, value))
    return context.divide(1, value)


def _mills_series(x: Decimal, digits: int) -> Decimal:
    """Return sqrt(pi / 2) e^(x^2 / 2) less the sum of x^(2k+1) / (2k+1)!!; at most 4 digits cancel."""
    context = _context(digits + 8)
    square = context.multiply(x, x)
    term, total, odd, negligible = x, x, 1, Decimal(10) ** -(digits + 8)
    while term > context.multiply(total, negligible):
        odd += 2
        term = context.divide(context.multiply(term, square), odd)
        total = context.add(total, term)
    half = context.sqrt(context.divide(_pi(digits + 8), 2))
    return context.subtract(context.multiply(half, context.exp(context.divide(square, 2))), total)


@lru_cache(maxsize=16)
def _pi(digits: int) -> Decimal:
    """Return pi by Machin's formula, 16 arctan(1/5) - 4 arctan(1/239)."""
    scale = 10 ** (digits + 10)

    def arctan_inverse(n: int) -> int:
        power: int = scale // n
        total = power
        k, sign = 1, 1
        while power:
            power //= n * n
            k, sign = k + 2, -sign
            total += sign * (power // k)
        return total

    scaled = 16 * arctan_inverse(5) - 4 * arctan_inverse(239)
    return _context(digits).divide(Decimal(scaled), Decimal(scale))


def _context(digits: int, rounding: str | None = None) -> Context:
    return Context(prec=digits, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
