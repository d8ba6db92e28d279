"""Two enumerated laws against a claim: inequalities proven in integers.

Every figure is a bound on the safe side. The mass of an output is known from below; what
was not resolved is given, whole, to whichever output speaks for the mechanism. So a
violation that is reported here is certain, and none is ever reported by rounding.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, isqrt, log
from typing import TYPE_CHECKING

from discreet.audit.claims import points
from discreet.noise.enclosure import exponential
from discreet.privacy.guarantees import ApproximateDP, GaussianDP, PureDP, RenyiDP
from discreet.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.audit.enumeration import OutputLaw
    from discreet.privacy.guarantees import Guarantee

__all__ = ["LawComparison", "compare_laws", "least_delta", "least_renyi_sum", "tightest", "worst_ratio"]

_BITS = 256
_ORDER_STEPS = 4
_LARGEST_ORDER = 129
_ORDERS = [1 + Fraction(2) ** step for step in range(-3, 6)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LawComparison:
    """Whether one law certainly breaks a claim against another.

    Attributes
    ----------
    violated : bool
        Whether the claim is broken, beyond all rounding and unresolved mass.
    detail : str
        The figures.
    tightness : float
        What was found over what is claimed: how much of the claim is used.
    """

    violated: bool
    detail: str
    tightness: float


def compare_laws(p: OutputLaw, q: OutputLaw, claim: Guarantee) -> LawComparison:
    """Compare the law P at one input with the law Q at a neighbor.

    Pure: p(y) <= e^epsilon q(y) for every output y, and for the set of all outputs that exceed
    it. Approximate: the hockey-stick divergence at epsilon. Rényi and zero-concentrated: the
    divergence at one and at nine orders. Gaussian: the hockey-stick at 41 epsilons.
    """
    if isinstance(claim, PureDP):
        return _compare_pure(p, q, claim.epsilon)
    if isinstance(claim, ApproximateDP):
        return _compare_approximate(p, q, claim)
    if isinstance(claim, GaussianDP):
        return _compare_gaussian(p, q, claim)
    if isinstance(claim, RenyiDP):
        # Divergences grow with the order: a smaller, dyadic order must keep the same bound.
        order = max(_dyadic(min(claim.order, Fraction(_LARGEST_ORDER))), 1 + Fraction(1, 1 << _ORDER_STEPS))
        if order > claim.order:
            return LawComparison(
                violated=False, detail="the order is too close to 1 to be checked", tightness=0.0
            )
        return _compare_renyi(p, q, [(order, claim.epsilon)])
    return _compare_renyi(p, q, [(order, order * claim.rho) for order in _ORDERS])


def _compare_pure(p: OutputLaw, q: OutputLaw, epsilon: Fraction) -> LawComparison:
    ratio = worst_ratio(p, q)
    if ratio is None:
        return LawComparison(violated=True, detail="an output is possible at one input only", tightness=inf)
    low, bits = _inverse_power(epsilon)
    delta = least_delta(p, q, epsilon)
    figures = f"the worst likelihood ratio is e^{_log(ratio):.12g}, where e^{float(epsilon):.12g} is claimed"
    if ratio * low <= 1 << bits and delta > 0:
        figures = f"delta at epsilon {_show(epsilon)} is at least {float(delta):.6g}, where 0 is claimed"
    return LawComparison(
        violated=delta > 0 or ratio * low > 1 << bits,
        detail=figures,
        tightness=_share(_log(ratio), float(epsilon)),
    )


def _compare_approximate(p: OutputLaw, q: OutputLaw, claim: ApproximateDP) -> LawComparison:
    delta, claimed = least_delta(p, q, claim.epsilon), float(claim.delta)
    found = max(float(delta), 0.0)
    return LawComparison(
        violated=delta > claim.delta,
        detail=f"delta at epsilon {_show(claim.epsilon)} is {found:.9g}, where {claimed:.9g} is claimed",
        tightness=_share(found, claimed),
    )


def _compare_gaussian(p: OutputLaw, q: OutputLaw, claim: GaussianDP) -> LawComparison:
    comparisons = []
    for epsilon, claimed in points(claim):  # the claimed deltas are raised far beyond their rounding
        delta = least_delta(p, q, Fraction(epsilon))
        found = max(float(delta), 0.0)
        comparison = LawComparison(
            violated=delta > Fraction(claimed),
            detail=f"delta at epsilon {epsilon:.4g} is {found:.6g}, where {claimed:.6g} is claimed",
            tightness=_share(found, claimed),
        )
        comparisons.append(comparison)
    return tightest(comparisons)


def _compare_renyi(p: OutputLaw, q: OutputLaw, curve: list[tuple[Fraction, Fraction]]) -> LawComparison:
    comparisons = []
    for order, bound in curve:
        total = least_renyi_sum(p, q, order)
        if total is None:
            return LawComparison(
                violated=True, detail="an output is possible at one input only", tightness=inf
            )
        low, bits = _inverse_power((order - 1) * bound)
        found = max(_log(total), 0.0) / float(order - 1)
        comparison = LawComparison(
            violated=total * low > 1 << bits,
            detail=f"the divergence of order {_show(order)} is {found:.9g},"
            f" where {float(bound):.9g} is claimed",
            tightness=_share(found, float(bound)),
        )
        comparisons.append(comparison)
    return tightest(comparisons)


def tightest(comparisons: Sequence[LawComparison]) -> LawComparison:
    """Return the comparison that matters most: a violation, or else the tightest."""
    return max(comparisons, key=lambda found: (found.violated, found.tightness))


def _share(found: float, claimed: float) -> float:
    if claimed == 0:
        return inf if found > 0 else 0.0
    return found / claimed


def worst_ratio(p: OutputLaw, q: OutputLaw) -> Fraction | None:
    """Bound the largest likelihood ratio p(y) / q(y) from below; None if it is infinite."""
    worst = Fraction(0)
    for key, mass in p.masses.items():
        other = q.masses.get(key, 0) + q.unresolved
        if other == 0:
            return None
        if mass > worst * other:
            worst = mass / other
    return worst


def least_delta(p: OutputLaw, q: OutputLaw, epsilon: Fraction) -> Fraction:
    """Bound the hockey-stick divergence sup over S of P(S) - e^epsilon Q(S) from below."""
    low, bits = _inverse_power(epsilon)
    power = Fraction(1 << bits, low)
    total = Fraction(0)
    for key, mass in p.masses.items():
        total += max(mass - power * q.masses.get(key, 0), Fraction(0))
    return total - power * q.unresolved


def least_renyi_sum(p: OutputLaw, q: OutputLaw, order: Fraction) -> Fraction | None:
    """Bound exp((order - 1) D_order(P || Q)) = sum p(y) (p(y) / q(y))^(order - 1) from below.

    The order is 1 + k / 2^j with j <= 4: roots are integer square roots, rounded down. None
    stands for infinity.
    """
    steps = (order - 1) * (1 << _ORDER_STEPS)
    if steps.denominator != 1 or steps < 1:
        raise ValueError("the order must be 1 + k / 16")
    total = 0
    for key, mass in p.masses.items():
        other = q.masses.get(key, 0) + q.unresolved
        if other == 0:
            return None
        ratio = ((mass / other) * (1 << _BITS)).__floor__()
        for _ in range(_ORDER_STEPS):
            ratio = isqrt(ratio << _BITS)
        total += ((mass * (1 << _BITS)).__floor__() * _power(ratio, int(steps))) >> _BITS
    return Fraction(total, 1 << _BITS)


def _power(base: int, exponent: int) -> int:
    result = 1 << _BITS
    while exponent:
        if exponent & 1:
            result = (result * base) >> _BITS
        base = (base * base) >> _BITS
        exponent >>= 1
    return result


def _inverse_power(x: Fraction) -> tuple[int, int]:
    """Return (low, bits) with e^x <= 2^bits / low, as tight as 200 bits."""
    bits = _BITS + 2 * x.__ceil__()
    return exponential(x, bits)[0], bits


def _dyadic(order: Fraction) -> Fraction:
    return Fraction((order * (1 << _ORDER_STEPS)).__floor__(), 1 << _ORDER_STEPS)


def _log(x: Fraction) -> float:
    return log(x.numerator) - log(x.denominator) if x > 0 else -inf


def _show(x: Fraction) -> str:
    return str(x) if len(str(x)) < 10 else f"{float(x):.9g}"
