"""Local reports: exact pairs of finitely many reports."""

from __future__ import annotations

from itertools import product

from discreet.accounting.loss.pair import Pair, finite_pair, pair_of
from discreet.privacy import events

__all__: list[str] = []


@pair_of.register
def _(event: events.RandomizedResponse) -> Pair:
    lie = (1 - event.truth) / (event.categories - 1)
    others = 1 - event.truth - lie
    p = [float(event.truth), float(lie), float(others)]
    return finite_pair(p, [p[1], p[0], p[2]])


@pair_of.register
def _(event: events.UnaryEncoding) -> Pair:
    """Two values differ in two bits; all other bits have the same law."""
    keep, flip = float(event.keep), float(event.flip)

    def mass(bit: int, chance: float) -> float:
        return chance if bit else 1 - chance

    reports = list(product((0, 1), repeat=2))
    p = [mass(a, keep) * mass(b, flip) for a, b in reports]
    q = [mass(a, flip) * mass(b, keep) for a, b in reports]
    return finite_pair(p, q)
