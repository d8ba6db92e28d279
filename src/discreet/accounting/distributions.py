"""Privacy-loss distributions as plain arrays on a grid: read from other accountants, written for them.

What is written is pessimistic and certified: no delta of the event, in either order of neighbors, exceeds
that of the arrays, and this survives composition. What is read is trusted to be so. Proofs:
docs/proofs/finite.md.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, isfinite, log
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from discreet.accounting.curves import check_event, profile
from discreet.accounting.epsilon_and_delta import epsilon as tight_epsilon
from discreet.accounting.loss import Pair, pair_of
from discreet.accounting.loss.cells import CutPair
from discreet.accounting.loss.finite import worst_outcomes
from discreet.accounting.loss.law import AtomicLoss
from discreet.array_types import Floats
from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.events import Event
from discreet.privacy.events.finite import MOST_OUTCOMES
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, Neighbors
from discreet.privacy.rational import Number, float_above, rational, whole
from discreet.records import Record, dataclass

__all__ = ["LossDistribution", "LossDistributions", "loss_distributions", "read_losses"]


_MOST_LOSS = 600.0  # beyond, e^loss comes near the end of floats
_MOST_ASKED, _MOST_HELD = 200, 10**6
_FEW_STEPS, _MOST_CONVOLVED = 300, 20_000
_CELLS = 60_000
_SLACK = 1e-12
"""More than the relative rounding of any mass that is written, or of e^-loss at a loss up to 600."""
_TOLERANCE = 1e-6
"""How far sums of masses that another accountant wrote may exceed 1: its transforms leave about 1e-8."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LossDistribution(Record):
    """The law of log(P / Q) under P, on the multiples of a spacing.

    Parameters
    ----------
    spacing : float
        The distance between two losses, greater than 0.
    lowest : int
        The first loss, in multiples of the spacing.
    masses : array
        The P-mass of each loss from there on.
    infinity : float
        The P-mass of infinite loss.
    """

    spacing: float
    lowest: int
    masses: Floats
    infinity: float = 0.0

    def __init__(self, *, spacing: float, lowest: int, masses: ArrayLike, infinity: float = 0.0) -> None:
        array = np.array(masses, dtype=np.float64, ndmin=1)
        rest = float(infinity)
        if array.ndim != 1 or not array.size or not np.isfinite(array).all() or (array < 0).any():
            raise ParameterError("masses", "are not probabilities", "a list of numbers from 0 to 1")
        if not 0 <= rest <= 1 or array.sum() + rest > 1 + _TOLERANCE:
            raise ParameterError("masses", "sum to more than 1", "at most 1, together with infinity")
        step, first = float(spacing), whole(lowest, "lowest", least=-(10**9), most=10**9)
        if not (isfinite(step) and step > 0):
            raise ParameterError("spacing", "is not a positive number", "above 0")
        if max(abs(first), abs(first + array.size)) * step > _MOST_LOSS:
            raise ParameterError(
                "masses", "reach beyond a loss of 600", "on a shorter range; the rest is infinite"
            )
        array.flags.writeable = False
        self._set(spacing=step, lowest=first, masses=array, infinity=rest)

    @property
    def losses(self) -> Floats:
        """The losses, one for each mass."""
        return np.asarray(self.spacing * (self.lowest + np.arange(len(self.masses))), np.float64)

    def delta(self, epsilon: float) -> float:
        """Return E max(0, 1 - e^(epsilon - L)), with the infinite losses."""
        gains = -np.expm1(np.minimum(epsilon - self.losses, 0.0))
        return float(self.masses @ gains) + self.infinity


class LossDistributions(NamedTuple):
    """The distributions when a unit is removed and when one is added."""

    removed: LossDistribution
    added: LossDistribution


def loss_distributions(
    event: Event, *, spacing: Number, smallest_delta: Number = Fraction(1, 10**12)
) -> LossDistributions:
    """Return pessimistic distributions of the privacy loss of an event, on a grid.

    Guarantee
    ---------
    At every epsilon, negative ones too, no delta of the event exceeds that of the arrays; so they may be
    composed in place of the event. Up to 300 steps with atoms, or cells, are composed on the grid, and the
    two orders of neighbors are kept apart. All else has one distribution for both, that of its profile at
    up to 200 multiples of the spacing.

    Finite precision
    ----------------
    Certified where `accounting.delta` is. Masses are raised by 1e-12 of themselves, more than rounding took.

    Parameters
    ----------
    event : Event
        Any event.
    spacing : number
        The distance between two losses. The larger, the more is charged, by its square.
    smallest_delta : number
        The range ends about where delta falls below this; what lies beyond has infinite loss.

    Examples
    --------
    >>> from discreet.privacy import events
    >>> found = loss_distributions(events.Gaussian(noise_multiplier=2), spacing=0.01).removed
    >>> round(found.delta(1.0), 4), len(found.masses)
    (0.0068, 691)
    """
    check_event(event)
    step = float(rational(spacing, "spacing", positive=True))
    least = float_above(rational(smallest_delta, "smallest_delta", positive=True))
    found = _from_steps(event, step, least) or [_from_profile(event, step, least)]
    return LossDistributions(found[0], found[-1])


def read_losses(
    removed: LossDistribution,
    added: LossDistribution | None = None,
    *,
    neighbors: Neighbors = ADD_REMOVE_PERSON,
) -> events.FiniteLaws:
    """Return the event of a privacy-loss distribution that another accountant wrote.

    Parameters
    ----------
    removed : LossDistribution
        A pessimistic one, of the law with a unit against the law without it.
    added : LossDistribution, optional
        Of the law without the unit against the law with it; where left out, the exchange of `removed`.
        Under a relation that replaces it is left out: `removed` holds whichever way round.
    neighbors : Neighbors
        The relation.

    Returns
    -------
    FiniteLaws
        Of at most 5000 outcomes: longer arrays are moved to a coarser grid, which charges a little more.
        Sums above 1, by rounding, are mended at the lowest losses, which no delta at epsilon >= 0 sees.
    """
    second = None if added is None else _outcomes(added)
    return events.FiniteLaws(outcomes=_outcomes(removed), added=second, neighbors=neighbors)


def _outcomes(found: LossDistribution) -> list[tuple[Fraction, Fraction]]:
    if not isinstance(found, LossDistribution):
        raise ParameterError("removed", "is not a distribution", "a LossDistribution")
    if len(found.masses) > MOST_OUTCOMES:
        coarser = found.spacing * ceil(len(found.masses) / (MOST_OUTCOMES - 2))
        found = _on_grid(found.masses, found.losses, found.infinity, coarser, 0.0)
    p = _trimmed(found.masses, 1 - found.infinity)
    q = _trimmed(found.masses * np.exp(-found.losses) * (1 - _SLACK), 1.0)
    return [(Fraction(float(a)), Fraction(float(b))) for a, b in zip(p, q, strict=True)]


def _trimmed(masses: Floats, most: float) -> Floats:
    """Lower the first masses until the sum, in fractions, is at most this."""
    over = sum(map(Fraction, masses.tolist()), Fraction(0)) - Fraction(most)
    if over > _TOLERANCE:
        raise ParameterError(
            "masses", "are not losses of two laws", "pessimistic: P e^-loss sums to at most 1"
        )
    left = masses.copy()
    for place, mass in enumerate(masses.tolist()):
        if over <= 0:
            break
        left[place] = max(0.0, float(np.nextafter(float(Fraction(mass) - over), -1)))
        over -= Fraction(mass) - Fraction(float(left[place]))
    return left


def _on_grid(masses: Floats, losses: Floats, infinity: float, step: float, least: float) -> LossDistribution:
    """Move every atom to its two neighbors on the grid, so that its P-mass and its Q-mass are kept."""
    low = np.floor(losses / step)
    first, last = _range(low, masses, least)
    below, above = low < first, low >= last
    place = np.where(below, first, np.minimum(low, last - 1)).astype(np.int64)
    gap = losses - place * step
    share = np.clip(np.expm1(-gap) / np.expm1(-step) * (1 + _SLACK), 0.0, 1.0)
    share = np.where(below, 0.0, share)  # P-mass under the first loss moves up to it
    raised = masses * (1 + _SLACK)
    inside = ~above
    grid = np.bincount(place[inside] - first, (raised * (1 - share))[inside], last - first + 1)
    grid = grid + np.bincount(place[inside] - first + 1, (raised * share)[inside], last - first + 1)
    far = infinity * (1 + _SLACK) + float(raised[above].sum())
    return _written(step, first, np.asarray(grid, np.float64), far)


def _range(low: Floats, masses: Floats, least: float) -> tuple[int, int]:
    """Return the first and the last multiple between which all but a little of the mass lies."""
    order = np.argsort(low, kind="stable")
    ranked, total = low[order], np.cumsum(masses[order])
    first = ranked[min(int(np.searchsorted(total, least / 2)), len(ranked) - 1)]
    tail = np.cumsum(masses[order][::-1])
    last = ranked[::-1][min(int(np.searchsorted(tail, least / 2)), len(ranked) - 1)] + 1
    if last - first > _MOST_HELD:
        raise ParameterError(
            "spacing", "is too small for the range of losses", f"{_MOST_HELD} steps or fewer"
        )
    return int(first), int(max(last, first + 1))


def _from_steps(event: Event, step: float, least: float) -> list[LossDistribution] | None:
    """Return the distributions of few steps, composed on the grid; None if a step has no atoms."""
    parts = event.parts if isinstance(event, events.Composed) else ((event, 1),)
    total = sum(times for _, times in parts)
    pairs = [(pair_of(part), times) for part, times in parts]
    known = [(pair, times) for pair, times in pairs if pair is not None]
    if not 0 < total <= _FEW_STEPS or len(known) < len(pairs):
        return None
    spare = least / (8 * total)
    found = []
    for direction in range(max(pair.directions for pair, _ in known)):
        run = LossDistribution(spacing=step, lowest=0, masses=[1.0])
        for pair, times in known:
            law = _atoms(pair, direction if pair.directions == 2 else 0)
            if law is None:
                return None
            power = _on_grid(law.masses, law.losses, law.infinity, step, spare)
            for bit in reversed(f"{times:b}"):  # by repeated squaring
                if len(power.masses) + len(run.masses) > _MOST_CONVOLVED:
                    return None
                run = _convolved(run, power, spare) if bit == "1" else run
                power = _convolved(power, power, spare)
        found.append(run)
    return found


def _atoms(pair: Pair, direction: int) -> AtomicLoss | None:
    law = pair.law(direction, "upper", _CELLS)
    if not isinstance(law, AtomicLoss) and isinstance(pair, CutPair):
        cells = pair.outcomes(_CELLS)
        law = (cells.exchanged() if direction else cells).law("upper")
    return law if isinstance(law, AtomicLoss) else None


def _convolved(one: LossDistribution, other: LossDistribution, least: float) -> LossDistribution:
    """Add two losses, by sums of products that are not negative: each is off by this many units."""
    if len(one.masses) == 1 and one.lowest == 0:
        return other
    masses = np.convolve(one.masses, other.masses) * (1 + 2.0**-52 * (len(other.masses) + 4))
    infinity = (one.infinity + other.infinity - one.infinity * other.infinity) * (1 + 2.0**-50)
    places = one.lowest + other.lowest + np.arange(len(masses))
    first, last = _range(places.astype(np.float64), masses, least)
    inside = (places >= first) & (places <= last)
    kept = masses[inside]
    kept[0] += masses[places < first].sum()  # P-mass under the first loss moves up to it
    return _written(one.spacing, first, kept, infinity + float(masses[places > last].sum()) * (1 + _SLACK))


def _from_profile(event: Event, step: float, least: float) -> LossDistribution:
    """Return the worst distribution of the deltas at the multiples of the spacing."""
    largest = min(tight_epsilon(event, delta=least).upper, _MOST_LOSS - step)
    count = max(ceil(largest / step), 1)
    if count > _MOST_HELD:
        raise ParameterError(
            "spacing", "is too small for the range of losses", f"{_MOST_HELD} steps or fewer"
        )
    # Floats below a multiple may belong to a larger delta: the epsilons asked are the floats themselves.
    places = sorted({*range(0, count, ceil(count / _MOST_ASKED)), count})
    epsilons = [Fraction(step) * place for place in places]
    deltas = profile(event, epsilons=epsilons).upper
    points = [
        (epsilon, Fraction(min(float(delta), 1.0))) for epsilon, delta in zip(epsilons, deltas, strict=True)
    ]
    outcomes = worst_outcomes(events.PrivacyProfile(points=points))
    if outcomes is None:
        return _written(step, 0, np.zeros(1), 1.0)
    grid, far = np.zeros(2 * count + 1), 0.0
    for p, q in outcomes:
        if not q:
            far = float_above(p) * (1 + _SLACK)
        elif p:
            grid[count + round(log(p / q) / step)] += float_above(p) * (1 + _SLACK)
    return _written(step, -count, grid, far)


def _written(step: float, first: int, grid: Floats, far: float) -> LossDistribution:
    far = min(far, 1.0)
    return LossDistribution(spacing=step, lowest=first, masses=_trimmed(grid, 1 - far), infinity=far)
