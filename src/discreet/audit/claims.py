"""What a guarantee says about events: P(S) <= e^epsilon Q(S) + delta, at one or many epsilons.

Every guarantee implies a family of such inequalities, and an attack that breaks one of them
breaks the guarantee. Pure and approximate guarantees are one inequality each; the others
imply one for every epsilon, with the smallest delta that a standard conversion yields.
"""

from __future__ import annotations

from math import erfc, exp, inf, log, log1p, sqrt

from discreet.errors import ParameterError
from discreet.privacy.guarantees import (
    ApproximateDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    ZeroConcentratedDP,
)

__all__ = ["check_claim", "gaussian_delta", "points"]

_SLACK = 1e-9
_EPSILONS = 40
_ORDERS = [1 + 2.0 ** (step / 4) for step in range(-24, 40)]


def check_claim(claim: object) -> Guarantee:
    """Return a guarantee that this package can check, or refuse it."""
    if isinstance(claim, PureDP | ApproximateDP | ZeroConcentratedDP | RenyiDP | GaussianDP):
        return claim
    problem = "is missing, and the mechanism states no guarantee" if claim is None else "is not a guarantee"
    raise ParameterError("claim", problem, "a record of discreet.guarantees, such as PureDP(epsilon=1)")


def points(claim: Guarantee) -> list[tuple[float, float]]:
    """Return pairs (epsilon, delta) that the claim implies, each rounded in its favor."""
    if isinstance(claim, PureDP):
        return [(_raised(float(claim.epsilon)), 0.0)]
    if isinstance(claim, ApproximateDP):
        return [(_raised(float(claim.epsilon)), _raised(float(claim.delta)))]
    if isinstance(claim, ZeroConcentratedDP):
        rho = float(claim.rho)
        return [(e, _renyi_delta([(a, rho * a) for a in _ORDERS], e)) for e in _spread(sqrt(2 * rho))]
    if isinstance(claim, RenyiDP):
        curve = [(float(claim.order), float(claim.epsilon))]
        reach = float(claim.epsilon) + 14 / (float(claim.order) - 1)
        return [(e, _renyi_delta(curve, e)) for e in _grid(reach)]
    mu = float(claim.mu)
    return [(e, gaussian_delta(mu, e)) for e in _spread(mu)]


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return Phi(-epsilon / mu + mu / 2) - e^epsilon Phi(-epsilon / mu - mu / 2), rounded up.

    The delta of the pair N(0, 1), N(mu, 1) (Dong, Roth & Su 2022, Corollary 2.13).
    """
    if mu == 0:
        return _SLACK
    near = erfc((epsilon / mu - mu / 2) / sqrt(2)) / 2
    far = erfc((epsilon / mu + mu / 2) / sqrt(2)) / 2
    return min(1.0, (near - exp(epsilon) * far) + _SLACK * near + 1e-300)


def _renyi_delta(curve: list[tuple[float, float]], epsilon: float) -> float:
    """Return the smallest delta that divergences of the given orders imply.

    D_alpha(P || Q) <= tau implies delta = exp((alpha - 1)(tau - epsilon)) (1 - 1 / alpha)^alpha
    / (alpha - 1) (Canonne, Kamath & Steinke 2020, Proposition 12).
    """
    best = inf
    for order, divergence in curve:
        exponent = (order - 1) * (divergence - epsilon) + order * log1p(-1 / order) - log(order - 1)
        best = min(best, exponent)
    return min(1.0, exp(best) * (1 + _SLACK)) if best < 0 else 1.0


def _spread(mu: float) -> list[float]:
    """Return epsilons that a normal shift of mu exceeds with probabilities from 1/2 to 1e-7."""
    return _grid(mu * (mu / 2 + 5.2))


def _grid(reach: float) -> list[float]:
    return [reach * step / _EPSILONS for step in range(_EPSILONS + 1)]


def _raised(x: float) -> float:
    return x * (1 + 1e-12)
