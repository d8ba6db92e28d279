"""What an epsilon means: to an attacker, to a person, and for two finite laws exactly.

- `advantage`, `true_positive_rate`, `posterior`: bounds on every attack, from a guarantee or a
  hockey-stick curve.
- `hockey_stick`, `privacy_loss`, `tradeoff`: exact answers for two laws on finitely many outcomes.

Proofs: docs/proofs/meaning.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.accounting.meaning.attack import HockeyStickCurve, advantage, posterior, true_positive_rate
    from discreet.accounting.meaning.finite_laws import (
        FiniteTradeoff,
        PrivacyLoss,
        hockey_stick,
        hockey_stick_at,
        privacy_loss,
        tradeoff,
    )

__all__ = [
    "FiniteTradeoff",
    "HockeyStickCurve",
    "PrivacyLoss",
    "advantage",
    "hockey_stick",
    "hockey_stick_at",
    "posterior",
    "privacy_loss",
    "tradeoff",
    "true_positive_rate",
]

_HOMES = {
    "FiniteTradeoff": "discreet.accounting.meaning.finite_laws",
    "HockeyStickCurve": "discreet.accounting.meaning.attack",
    "PrivacyLoss": "discreet.accounting.meaning.finite_laws",
    "advantage": "discreet.accounting.meaning.attack",
    "hockey_stick": "discreet.accounting.meaning.finite_laws",
    "hockey_stick_at": "discreet.accounting.meaning.finite_laws",
    "posterior": "discreet.accounting.meaning.attack",
    "privacy_loss": "discreet.accounting.meaning.finite_laws",
    "tradeoff": "discreet.accounting.meaning.finite_laws",
    "true_positive_rate": "discreet.accounting.meaning.attack",
}

publish(__name__, homes=_HOMES)
