"""Rényi curves of finite laws, given the outcomes that both laws can have.

The outcomes that only one of the laws can have are left out and both laws are made whole again; their
probability is the delta outside which the curve holds (docs/proofs/finite.md, lemma 3).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.accounting.formulas.stable_sums import excess
from discreet.array_types import Floats
from discreet.privacy import events
from discreet.privacy.events.finite import Masses

__all__ = ["finite_cumulant", "finite_share"]


_ABOVE = 1 + 1e-11
"""More than the rounding of an excess, whose ratio is a rounded fraction, times an order below 2^16."""


def finite_cumulant(event: events.FiniteLaws | events.PrivacyProfile, orders: Floats) -> Floats:
    """Return the cumulant of the common outcomes, in the worse order; infinity if there is no pair."""
    found = _orders(event)
    if found is None:
        return np.full_like(orders, np.inf)
    return np.asarray(np.max([_cumulant(outcomes, orders) for outcomes in found], axis=0))


def finite_share(event: events.FiniteLaws | events.PrivacyProfile) -> Fraction:
    """Return the probability of the outcomes that were left out, the larger of the two laws'."""
    found = _orders(event)
    if found is None:
        return Fraction(1)
    return max((p + q for order in found for p, q in order if not (p and q)), default=Fraction(0))


def _orders(event: events.FiniteLaws | events.PrivacyProfile) -> tuple[Masses, ...] | None:
    if isinstance(event, events.FiniteLaws):
        found = event.orders
    else:
        from discreet.accounting.loss.finite import worst_outcomes

        worst = worst_outcomes(event)
        found = () if worst is None else (worst,)
    return found if found and all(any(p and q for p, q in order) for order in found) else None


def _cumulant(outcomes: Masses, orders: Floats) -> Floats:
    common = [(p, q) for p, q in outcomes if p and q]
    left, right = sum(p for p, _ in common), sum(q for _, q in common)
    weights = np.array([float(q / right) for _, q in common])
    changes = np.array([float((p * right) / (q * left) - 1) for p, q in common])
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(_ABOVE * np.log1p(weights @ excess(changes[:, None], orders)))
