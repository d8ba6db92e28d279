"""What answers and checks cost at one order, as tables over an integer that a person moves by at most one.

That of an answer is a function of the largest count, that of a check one of what is checked. So the total of
many is a sum of functions of integers, and so is a smooth bound on it. Costs are integers, in units of 2^-40,
rounded up. Proof: docs/proofs/private_teachers.md.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.learning.teachers.vote_noise import EventReach, VoteNoise, normal_reach, normal_tail_above
from discreet.privacy.rational import Number, rational

__all__ = ["UNIT", "answer_costs", "check_costs", "checked_order", "smooth_costs"]

UNIT = Fraction(1, 2**40)
"""What costs are multiples of."""
_MOST_ORDER = 1024
_ABOVE = 1 + 1e-10
_REFINED = 16
_SHRINKING = np.append(2.0 ** -np.arange(1, 45), 0.0)
_NEAR = 35.0
"""Within so many deviations of the threshold, both probabilities of a check are normal floats."""


def checked_order(order: Number) -> Fraction:
    """Return an order as a fraction, or refuse it."""
    found = rational(order, "order")
    if not 1 < found <= _MOST_ORDER:
        raise ParameterError("order", "is out of range", f"above 1 and at most {_MOST_ORDER}")
    return found


@lru_cache(maxsize=64)
def answer_costs(noise: VoteNoise, order: Fraction, teachers: int, classes: int) -> Integers:
    """Bound the divergence of one answer from those of all neighbors, for the largest counts 0, 1, …, T.

    Never grows with the count.
    """
    tops = np.arange(teachers // 2 + 1, teachers + 1)
    # Of all votes with this top, the ones in which all others agree are the likeliest to be overtaken.
    chances = noise.overtaken(2 * tops - teachers) + (classes - 2) * noise.overtaken(tops)
    whole = np.full(teachers + 1, np.inf)
    whole[tops] = _largest_up_to(chances * (1 + 1e-12), noise, float(order))
    return _sealed(np.minimum.accumulate(whole), noise.worst(order))


@lru_cache(maxsize=64)
def check_costs(sigma: Fraction, order: Fraction, threshold: int, teachers: int) -> Integers:
    """Return the divergence of one check from those of neighbors, for what is checked from -T to T.

    A check is whether a number with rounded normal noise reaches the threshold. Its law has one probability,
    so that the divergence is exact but for rounding; beyond 35 deviations it is bounded as an answer's is.
    """
    deviation, power = float(sigma), float(order)
    numbers = np.arange(-teachers - 1, teachers + 2)
    places: Floats = (threshold - numbers - 0.5).astype(np.float64) / deviation
    yes, no = normal_tail_above(places), normal_tail_above(-places)
    found = np.maximum(_divergence(yes, no, -1, power), _divergence(yes, no, 1, power))
    far = np.maximum.accumulate(_bounds_in_cells(normal_reach(1 / deviation, power), power))
    beyond = far[
        np.searchsorted(normal_reach(1 / deviation, power).high, normal_tail_above(np.array([_NEAR])))[0]
    ]
    found = np.where(np.abs(places[1:-1]) <= _NEAR, found, beyond)
    return _sealed(found, order / (2 * sigma**2))


def smooth_costs(costs: Integers, decay: Fraction) -> Integers:
    """Return the least integers, at least the costs, that change by a factor of at most e^decay in a step.

    Each is about the largest of e^(-decay k) times a cost at a distance of k.
    """
    ratio = math.exp(-float(decay)) * (1 + 1e-12)
    found = costs.tolist()
    for place in range(1, len(found)):
        found[place] = max(found[place], math.ceil(found[place - 1] * ratio))
    for place in range(len(found) - 2, -1, -1):
        found[place] = max(found[place], math.ceil(found[place + 1] * ratio))
    return np.array(found, dtype=np.int64)


def _divergence(yes: Floats, no: Floats, step: int, order: float) -> Floats:
    """Return the divergence of each inner law of two outcomes from the next one, by a step."""
    inner, other = slice(1, -1), slice(1 + step, len(yes) - 1 + step)
    with np.errstate(all="ignore"):
        ratio_yes = np.expm1((order - 1) * np.log(yes[inner] / yes[other]))
        ratio_no = np.expm1((order - 1) * np.log(no[inner] / no[other]))
        found = np.log1p(yes[inner] * ratio_yes + no[inner] * ratio_no) / (order - 1)
    return np.asarray(np.where(np.isnan(found), np.inf, found))


def _largest_up_to(chances: Floats, noise: VoteNoise, order: float) -> Floats:
    """Bound the divergence of answers in which another class wins with at most these probabilities.

    Cells are those of `VoteNoise.reach`, but for the last few, which are replaced by ever smaller ones that
    end at the probability: so the bound exceeds the largest value of the formula by less than 1e-9 of it.
    """
    known = noise.reach(order)
    before = np.concatenate([[-np.inf], np.maximum.accumulate(_bounds_in_cells(known, order))])
    kept = np.maximum(np.searchsorted(known.high, chances) - _REFINED, 0)
    start = np.where(kept > 0, known.high[np.maximum(kept, 1) - 1] * (1 - 3e-12), 0.0)
    inner = np.minimum(chances, known.high[-1])
    ends = inner[:, None] - (inner - start)[:, None] * _SHRINKING
    low = np.column_stack([start, ends[:, :-1]])
    fine = _bounds_in_cells(EventReach(low, ends, *noise.moved_and_moment(ends, order)), order)
    found = np.maximum(before[kept], fine.max(axis=1))
    return np.where(chances <= known.high[-1], found, np.inf)


def _bounds_in_cells(known: EventReach, order: float) -> Floats:
    """Bound the divergence of an answer by the probability of another winner, in each cell."""
    with np.errstate(all="ignore"):
        stays = np.expm1(order * np.log1p(-known.low) + (1 - order) * np.log1p(-known.moved))
        found = np.log1p(stays + known.moment) / (order - 1)
    return np.asarray(np.where((known.moved < 1) & ~np.isnan(found), found, np.inf))


def _sealed(bounds: Floats, worst: Fraction) -> Integers:
    """Return bounds in units, rounded up, and never above what holds whatever the votes are."""
    most = math.ceil(worst / UNIT)
    units = np.ceil(np.minimum(bounds * _ABOVE, float(worst) * 2) / float(UNIT)) + 1
    found: Integers = np.minimum(units, float(most)).astype(np.int64)
    found[units >= most] = most
    found.setflags(write=False)
    return found
