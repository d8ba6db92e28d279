"""Several pairs of which any may be met: the one pair whose profile is the largest of theirs.

Where a unit may sit in any of several parallel parts, chosen in view of the answers so far, no single part
need be the worst at every epsilon, and neither is any fixed choice of parts. The largest of all profiles is
the profile of a pair (docs/proofs/parallel_parts.md), and that pair composes.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import cast

import numpy as np

from discreet.accounting.loss.cells import CutPair
from discreet.accounting.loss.gaussian import GaussianPair
from discreet.accounting.loss.gridded import summed
from discreet.accounting.loss.law import AtomicLoss, LossLaw
from discreet.accounting.loss.mixture import MOST_SHIFT, MixturePair
from discreet.accounting.loss.pair import BoundedPair, Pair, Side
from discreet.array_types import Floats
from discreet.records import dataclass

__all__ = ["WorstPair", "worst_pair"]

Way = tuple[tuple[Pair, int], ...]

_MOST_LOSS = 300.0  # so that no product of a mass and e^-loss leaves the range of floats
_SUMMED_CELLS = 400
_UNIT = 2.0**-53


@dataclass(frozen=True, slots=True)
class WorstPair(Pair):
    """The largest profile of several ways, each a sequence of steps; nothing is claimed from below."""

    ways: tuple[Way, ...]
    attained: bool = False

    @property
    def directions(self) -> int:  # type: ignore[override]
        """2 where some step has two."""
        return max((pair.directions for way in self.ways for pair, _ in way), default=1)

    @property
    def finite(self) -> bool:  # type: ignore[override]
        """Whether every way is one step with finitely many outcomes."""
        return all(pair.finite and times == 1 and len(way) == 1 for way in self.ways for pair, times in way)

    def law(self, direction: int, side: Side, cells: int) -> LossLaw:
        """Return a law that dominates the loss of every way; from below, one that tells nothing."""
        return _law(self, direction, side, cells)


@lru_cache(maxsize=16)
def _law(pair: WorstPair, direction: int, side: Side, cells: int) -> AtomicLoss:
    if side == "lower":
        return AtomicLoss(np.ones(1), np.zeros(1), 0.0)
    return largest_profile([_atoms(way, direction, cells) for way in pair.ways])


def worst_pair(ways: list[Way]) -> WorstPair | None:
    """Return the pair of several ways; None if a loss is beyond what floats hold here."""
    worst = WorstPair(tuple(ways))
    if not all(_is_usual(pair) for way in ways for pair, _ in way):
        return None
    for direction in range(worst.directions):
        law = cast(AtomicLoss, worst.law(direction, "upper", 16))
        if max(abs(law.losses.min()), abs(law.losses.max())) > _MOST_LOSS:
            return None
    return worst


def _is_usual(pair: Pair) -> bool:
    """Return whether a pair can be cut into atoms."""
    if isinstance(pair, BoundedPair):
        return _is_usual(pair.upper)
    if isinstance(pair, GaussianPair):
        return pair.mu <= min(MOST_SHIFT, sqrt(_MOST_LOSS) / 2)
    return isinstance(pair, CutPair | WorstPair) or isinstance(pair.law(0, "upper", 3), AtomicLoss)


def _atoms(way: Way, direction: int, cells: int) -> AtomicLoss:
    """Return a law of finitely many losses that dominates a way."""
    if all(isinstance(pair, GaussianPair) for pair, _ in way):
        mu = sqrt(sum(n * pair.mu**2 for pair, n in way if isinstance(pair, GaussianPair)))
        return _cut(GaussianPair(mu), direction, cells)
    if len(way) == 1 and way[0][1] == 1:
        return _cut(way[0][0], direction, cells)
    return _summed(way, direction)


@lru_cache(maxsize=64)
def _summed(way: Way, direction: int) -> AtomicLoss:
    return summed([(_cut(pair, direction, _SUMMED_CELLS), times) for pair, times in way])


def _cut(pair: Pair, direction: int, cells: int) -> AtomicLoss:
    if isinstance(pair, BoundedPair):
        return _cut(pair.upper, direction, cells)
    if isinstance(pair, GaussianPair):
        pair = MixturePair((pair.mu,), (1.0,), 0.0)
    turned = direction if pair.directions == 2 else 0
    if isinstance(pair, CutPair):
        found = pair.outcomes(max(cells, 4))
        return (found if turned == 0 else found.exchanged()).law("upper")
    return cast(AtomicLoss, pair.law(turned, "upper", cells))


def largest_profile(laws: list[AtomicLoss]) -> AtomicLoss:
    """Return a law whose delta is at least that of every law given, at each epsilon, and hardly more.

    Between two neighboring losses all profiles are straight over e^epsilon. Just above a loss t_k the law has
    the tail P(L > t_k) of whichever law has the largest profile at t_k, and never less than farther up.
    """
    nodes = np.unique(np.concatenate([law.losses for law in laws]))
    for _ in range(len(laws)):
        nodes = _with_crossings(laws, nodes)
    masses, tails, profiles = zip(*(_on(law, nodes) for law in laws), strict=True)
    noise = 8 * _UNIT * (len(nodes) + 16)
    near = np.array(profiles) >= np.max(profiles, axis=0) * (1 - noise)
    # Of equal profiles, the one with the least tail is the largest just above.
    best = np.argmin(np.where(near, np.array(tails), np.inf), axis=0)
    each = np.arange(len(nodes))
    picked = np.array(tails)[best, each]
    tail = np.maximum.accumulate(picked[::-1])[::-1]
    whole = max(float(part.sum()) + law.infinity for part, law in zip(masses, laws, strict=True))
    before = np.append(max(whole, float(tail[0])), tail[:-1])
    own = np.array(masses)[best, each]
    # Where one law is the largest on both sides of a loss, its own mass has more digits than the difference.
    as_picked = picked == tail
    same = np.append(False, (best[1:] == best[:-1]) & as_picked[1:] & as_picked[:-1])
    moved = np.where(same, own, np.maximum(before - tail + 4 * _UNIT * before, 0.0))
    infinity = max(law.infinity for law in laws)
    rounding = 1 + 3 * noise
    keep = moved > 0
    return AtomicLoss(moved[keep] * rounding, nodes[keep], infinity * rounding)


def _with_crossings(laws: list[AtomicLoss], nodes: Floats) -> Floats:
    """Add the points where the largest profile goes over from one law to another, between two nodes."""
    profiles = np.array([_on(law, nodes)[2] for law in laws])
    best = np.argmax(profiles, axis=0)
    changes = np.flatnonzero(best[1:] != best[:-1])
    low, high = best[changes], best[changes + 1]
    before = profiles[low, changes] - profiles[high, changes]
    after = profiles[high, changes + 1] - profiles[low, changes + 1]
    inside = (before > 0) & (after > 0)
    share = before[inside] / (before + after)[inside]
    places = changes[inside]
    gaps = nodes[places + 1] - nodes[places]
    return np.union1d(nodes, nodes[places] + np.log1p(np.expm1(gaps) * share))


def _on(law: AtomicLoss, nodes: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the mass at each node, the mass beyond it, and delta at it."""
    masses = np.zeros(len(nodes))
    np.add.at(masses, np.searchsorted(nodes, law.losses), law.masses)
    beyond = np.append(np.cumsum(masses[::-1])[::-1][1:], 0.0) + law.infinity
    # The Q-mass from each node on; delta grows by the Q-mass beyond, times the change of e^epsilon.
    other = np.cumsum((masses * np.exp(-nodes))[::-1])[::-1]
    steps = np.exp(nodes[1:]) * -np.expm1(-np.diff(nodes)) * other[1:]
    deltas = np.append(np.cumsum(steps[::-1])[::-1], 0.0) + law.infinity
    return masses, beyond, deltas
