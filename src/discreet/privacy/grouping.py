"""Group privacy: what a guarantee for one unit says about several, and chains of divergences.

Tables that differ in k units are joined by a chain of k + 1 tables, each the neighbor of
the next. These formulas follow a guarantee along such a chain. Guarantees and events
share them; results that are not rational are rounded up.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ParameterError
from discreet.privacy.directed import exp_interval, sqrt_interval
from discreet.privacy.rational import MOST_BITS, Number, float_above, non_negative

__all__ = ["chain", "group_delta", "group_renyi"]


def group_delta(epsilon: Fraction, delta: Fraction, size: int) -> Fraction:
    """Return the delta of a group of `size` under an (epsilon, delta) guarantee, rounded up.

    Let P_0, ..., P_k be the laws along the chain. For every event S,
    P_i(S) <= e^epsilon P_{i+1}(S) + delta. Unrolled k times, this is
    P_0(S) <= e^(k epsilon) P_k(S) + delta (1 + e^epsilon + ... + e^((k - 1) epsilon)), so the
    group has (k epsilon, delta (e^(k epsilon) - 1) / (e^epsilon - 1)). The sum is k when
    epsilon is 0. Some chain attains the bound at every step. (Dwork & Roth 2014, Theorem 2.2,
    for epsilon alone; Vadhan 2017, Lemma 2.2, has a looser delta.)

    Parameters
    ----------
    epsilon, delta : Fraction
        The guarantee of one unit.
    size : int
        The number of units, k.

    Returns
    -------
    Fraction
        At most 1, where the guarantee says nothing.
    """
    if delta == 0 or size == 1:
        return delta
    if epsilon == 0:
        return min(size * delta, Fraction(1))
    # delta >= 2**-4096 and the sum is at least e^((k - 1) epsilon), so from here on the result is 1.
    if (size - 1) * epsilon >= MOST_BITS or size * delta >= 1:
        return Fraction(1)
    # e^epsilon - 1 loses as many digits as epsilon has leading zeros.
    zeros = max(0, epsilon.denominator.bit_length() - epsilon.numerator.bit_length())
    digits = 40 + zeros // 3
    above = exp_interval(size * epsilon, digits)[1] - 1
    below = exp_interval(epsilon, digits)[0] - 1
    total = delta * above / below
    return Fraction(1) if total >= 1 else Fraction(float_above(total))


def group_renyi(order: Fraction, epsilon: Fraction, size: int) -> tuple[Fraction, Fraction]:
    """Return the Rényi order and epsilon that a group of `size` keeps.

    An (order, epsilon) guarantee with order >= 2^(c + 1) gives every group of at most 2^c units
    (order / 2^c, 3^c epsilon) (Mironov 2017, Proposition 2). A size between powers of two
    takes the next one: the chain is lengthened by steps that change nothing.

    Raises
    ------
    ParameterError
        If the order is below 2^(c + 1), for which the theorem says nothing.
    """
    doublings = (size - 1).bit_length()
    if doublings == 0:
        return order, epsilon
    if doublings > MOST_BITS or order < 2 ** (doublings + 1):
        least = f"at least 2^{doublings + 1} for a group of {size}"
        raise ParameterError("order", "is too low for group privacy at this size", least)
    return order / 2**doublings, 3**doublings * epsilon


def chain(a: Number, b: Number) -> Fraction:
    """Join two concentrated steps: return (sqrt a + sqrt b)^2.

    If D_alpha(P || Q) <= alpha a and D_alpha(Q || R) <= alpha b for every alpha > 1, then
    D_alpha(P || R) <= alpha (sqrt a + sqrt b)^2 for every alpha > 1.

    Hölder's inequality gives, for every k > 1 and with m = (k alpha - 1) / (k - 1),
    D_alpha(P || R) <= k alpha / (k alpha - 1) D_m(P || Q) + D_(k alpha)(Q || R)
    <= alpha (a k / (k - 1) + b k), and k = 1 + sqrt(a / b) makes this the claim (Bun &
    Steinke 2016). For normal laws of one variance whose means lie in one line it
    is an equality. Chained k times from a = rho it gives the k^2 rho of group privacy.

    Parameters
    ----------
    a, b : number
        The two coefficients, 0 or greater.

    Returns
    -------
    Fraction
        Exact where sqrt(ab) is rational, otherwise the next float above.
    """
    first, second = non_negative(a, "a"), non_negative(b, "b")
    lower, upper = sqrt_interval(first * second)
    total = first + second + 2 * upper
    if lower == upper:
        return total
    rounded = float_above(total)
    return total if rounded == float("inf") else Fraction(rounded)
