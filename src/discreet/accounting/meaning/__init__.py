"""What an epsilon means: to an attacker, to a person, and for two finite laws exactly.

- `advantage`, `true_positive_rate`, `posterior`: bounds on every attack, from a guarantee or a
  hockey-stick curve.
- `hockey_stick`, `privacy_loss`, `tradeoff`: exact answers for two laws on finitely many outcomes.

Proofs: docs/proofs/meaning.md.
"""

from discreet.accounting.meaning.attack import HockeyStickCurve, advantage, posterior, true_positive_rate
from discreet.accounting.meaning.finite_laws import (
    FiniteTradeoff,
    PrivacyLoss,
    hockey_stick,
    hockey_stick_at,
    privacy_loss,
    tradeoff,
)
from discreet.exports import publish

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

publish(__name__)
