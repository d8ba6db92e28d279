"""Local reports: exact pairs of finitely many reports."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import log1p

from discreet.accounting.loss.pair import Pair, finite_pair, pair_of
from discreet.accounting.loss.pure import MOST_EPSILON
from discreet.privacy import events

__all__ = ["log_ratio"]


@pair_of.register
def _(event: events.RandomizedResponse) -> Pair | None:
    """Tell two values apart; all other reports are one outcome."""
    if event.pure_epsilon > MOST_EPSILON:
        return None
    lie = (1 - event.truth) / (event.categories - 1)
    p = [float(event.truth), float(lie), float(1 - event.truth - lie)]
    loss = log_ratio(event.truth / lie)
    return finite_pair(p, [p[1], p[0], p[2]], losses=[loss, -loss, 0.0])


@pair_of.register
def _(event: events.UnaryEncoding) -> Pair | None:
    """Two values differ in two bits; all other bits have the same law."""
    if event.pure_epsilon > MOST_EPSILON:
        return None
    keep, flip = event.keep, event.flip

    def mass(bit: int, chance: Fraction) -> Fraction:
        return chance if bit else 1 - chance

    reports = list(product((0, 1), repeat=2))
    p = [mass(a, keep) * mass(b, flip) for a, b in reports]
    q = [mass(a, flip) * mass(b, keep) for a, b in reports]
    losses = [log_ratio(a / b) for a, b in zip(p, q, strict=True)]
    return finite_pair([float(x) for x in p], [float(x) for x in q], losses=losses)


def log_ratio(ratio: Fraction) -> float:
    """Return log(ratio) with all digits, also near 1."""
    return log1p(float(ratio - 1)) if ratio >= 1 else -log1p(float(1 / ratio - 1))
