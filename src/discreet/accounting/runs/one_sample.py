"""One Gaussian step on a Poisson sample: its profile is that of the step on all data, moved and scaled.

With delta_G the profile of the step without sampling, delta(epsilon) = q delta_G(epsilon'), where
e^epsilon' = 1 + (e^epsilon - 1) / q; adding a unit is never worse than removing it
(docs/proofs/lattice.md, lemma 1).
"""

from __future__ import annotations

from math import expm1, inf, log, log1p, nextafter

from discreet.accounting.loss.tilted import UNIT

__all__ = ["scaled_delta", "step_epsilon", "whole_epsilon"]

_ROUNDING = 16 * UNIT
_FAR = 600.0


def scaled_delta(delta: float, rate: float, *, above: bool) -> float:
    """Return the delta of the step without sampling, rounded up or down; it may exceed 1."""
    return delta / rate * (1 + _ROUNDING if above else 1 - _ROUNDING)


def step_epsilon(whole: float, rate: float, *, above: bool) -> float:
    """Return the epsilon of the sampled step from that of the step without sampling, rounded up or down."""
    found = whole + log(rate) + (1 - rate) / rate * 1e-250 if whole > _FAR else log1p(rate * expm1(whole))
    rounding = _ROUNDING * (found if whole <= _FAR else whole - 4 * log(rate))
    return nextafter(found + rounding, inf) if above and whole else max(found - rounding, 0.0)


def whole_epsilon(epsilon: float, rate: float, *, above: bool) -> float:
    """Return the epsilon of the step without sampling from that of the sampled step, rounded up or down."""
    if epsilon < _FAR:
        ratio = expm1(epsilon) / rate
        found = log1p(ratio) if ratio < inf else log(expm1(epsilon) + rate) - log(rate)
    else:
        found = epsilon - log(rate)
    return found * (1 + _ROUNDING) if above else found * (1 - _ROUNDING)
