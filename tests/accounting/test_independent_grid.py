"""Random event trees against oracles that share nothing with the package: plain convolution and enumeration.

Every step is cut into cells by hand. Merging each cell and lowering its loss to a grid bounds the truth from
below, raising it from above; sums are convolutions of numbers that are not negative. Any other
seeds may be put in place of those below.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations
from math import comb, exp, inf

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.accounting import delta, epsilon
from discreet.privacy import events

SPACING = 2e-4


def _number(rng, low, high):
    return float(f"{low * (high / low) ** rng.random():.3g}")


def _outcomes(event):
    """The masses with and without the unit, where they are finitely many."""
    match event:
        case events.Pure():
            p = 1 / (1 + exp(-event.epsilon))
            return np.array([[p, 1 - p], [1 - p, p]]).T
        case events.Approximate():
            p, d = 1 / (1 + exp(-event.epsilon)), float(event.delta)
            rest = (1 - d) * p, (1 - d) * (1 - p)
            return np.array([[d, 0], rest, rest[::-1], [0, d]]).T
        case events.FiniteLaws():
            return np.array([[float(p), float(q)] for p, q in event.outcomes]).T
        case events.DiscreteLaplace():
            ratio, shift = exp(-event.grid / event.scale), int(event.sensitivity)
            x = np.arange(-int(20 * event.scale) - 9, int(20 * event.scale) + 9)
            return (1 - ratio) / (1 + ratio) * np.array([ratio ** np.abs(x - shift), ratio ** np.abs(x)])
    return None


def _cells(event, direction, count=4000):
    """The masses under both laws, cells of continuous noise merged."""
    if isinstance(event, events.PoissonSampled):
        p, q = _cells(event.inner, 0, count)
        p = float(1 - event.rate) * q + float(event.rate) * p
    elif isinstance(event, events.Gaussian):
        shift = 1 / float(event.noise_multiplier)
        z = np.linspace(-11, shift + 11, count)
        p, q = (np.where(x[:-1] > 0, -np.diff(ndtr(-x)), np.diff(ndtr(x))) for x in (z - shift, z))
    elif isinstance(event, events.Laplace):
        rate, z = float(event.epsilon), np.linspace(0, 1, count)
        q = np.concatenate([[0.5], -np.diff(np.exp(-rate * z)) / 2, [exp(-rate) / 2]])
        p = q[::-1]
    else:
        p, q = _outcomes(event)
    return (p, q) if direction == 0 else (q, p)


def _on_grid(event, direction, towards):
    p, q = _cells(event, direction)
    both = (p > 1e-300) & (q > 1e-300)
    places = towards(np.log(p[both] / q[both]) / SPACING).astype(int)
    low = places.min()
    return low, np.bincount(places - low, p[both]), float(p[(p > 1e-300) & ~both].sum())


def _sum(one, other):
    """The law of a sum; what is next to nothing at its ends is left out, or counts as infinite."""
    masses = np.convolve(one[1], other[1])
    ends = np.flatnonzero((np.cumsum(masses) > 1e-17) & (np.cumsum(masses[::-1])[::-1] > 1e-22))
    first, last = ends[0], ends[-1] + 1
    return one[0] + other[0] + first, masses[first:last], 1 - (1 - one[2]) * (1 - other[2])


def _epsilon(event, at, towards):
    """Epsilon of a composition, from below or from above, up to 1e-15 of mass that was left out."""
    found = 0.0
    for direction in (0, 1):
        parts = event.parts if isinstance(event, events.Composed) else ((event, 1),)
        low, masses, infinity = 0, np.ones(1), 0.0
        for step, times in parts:
            law = _on_grid(step, direction, towards)
            for _ in range(times):
                low, masses, infinity = _sum((low, masses, infinity), law)
        losses = SPACING * (low + np.arange(len(masses)))
        if infinity > at:
            return inf
        least, most = 0.0, max(float(losses[-1]), 0.0)
        for _ in range(50):
            middle = (least + most) / 2
            beyond = losses > middle
            value = infinity + float(masses[beyond] @ -np.expm1(middle - losses[beyond]))
            least, most = (least, middle) if value <= at else (middle, most)
        found = max(found, most)
    return found


def _step(rng):
    laws = [[rng.randint(0, 9) for _ in range(4)] for _ in range(2)]
    laws[0][0] = laws[1][0] = 3
    masses = [(Fraction(a, sum(laws[0])), Fraction(b, sum(laws[1]))) for a, b in zip(*laws, strict=True)]
    step = rng.choice(
        [
            events.Gaussian(noise_multiplier=_number(rng, 1.2, 20)),
            events.Laplace(epsilon=_number(rng, 0.02, 3)),
            events.DiscreteLaplace(sensitivity=rng.randint(1, 3), scale=_number(rng, 0.6, 20), size=1),
            events.Pure(epsilon=_number(rng, 0.02, 3)),
            events.Approximate(epsilon=_number(rng, 0.02, 2), delta=_number(rng, 1e-8, 0.05)),
            events.FiniteLaws(outcomes=masses),
        ]
    )
    return events.PoissonSampled(step, rate=_number(rng, 0.005, 1)) if rng.random() < 0.4 else step


@pytest.mark.slow
@pytest.mark.parametrize("seed", [70_411_901, 70_411_902, 70_411_903, 70_411_904])
def test_compositions_lie_between_plain_convolutions(seed):
    rng = random.Random(seed)
    for _ in range(8):
        parts = [_step(rng) * rng.choice([1, 1, 2, 4]) for _ in range(rng.randint(1, 3))]
        run, at = sum(parts), float(f"{10 ** rng.uniform(-8, -0.3):.3g}")
        found = epsilon(run, delta=at)
        assert found.certified
        assert found.upper >= _epsilon(run, at * (1 + 1e-6), np.floor) - 1e-9
        assert found.lower <= _epsilon(run, at * (1 - 1e-6), np.ceil) + 2e-3
        assert epsilon(sum(parts[::-1]), delta=at) == found
        assert epsilon(run + _step(rng), delta=at).upper >= found.lower * (1 - 1e-9)
        if found.upper < inf:
            assert delta(run, epsilon=Fraction(found.upper)).lower <= at * (1 + 1e-9)


def _adversary(releases, gamma):
    """The largest delta of whoever chooses the part of each release in view of the answers before it."""
    if not releases:
        return max(0.0, 1 - gamma)
    return max(
        sum(p * (_adversary(releases[1:], gamma * q / p) if q else 1.0) for p, q in way if p)
        for way in releases[0]
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5_550_021, 5_550_022, 5_550_023])
def test_no_adversary_exceeds_parallel_parts(seed):
    rng = random.Random(seed)
    for _ in range(12):
        kinds = [events.Pure, events.Approximate]
        parts = [
            kind(epsilon=_number(rng, 0.05, 2.5), **({} if kind is events.Pure else {"delta": 0.01}))
            for kind in (rng.choice(kinds), *rng.sample(kinds, 2))
        ]
        release, times = events.Parallel(*parts), rng.choice([1, 2, 3])
        beside = events.Pure(epsilon=_number(rng, 0.05, 1))
        at = rng.choice([0.0, _number(rng, 0.1, 4)])
        ways = [[tuple(row) for row in _outcomes(part).T.tolist()] for part in parts]
        alone = [[tuple(row) for row in _outcomes(beside).T.tolist()]]
        exact = max(
            _adversary(order, exp(at)) for order in ([ways] * times + [alone], [alone] + [ways] * times)
        )
        found = delta(release * times + beside, epsilon=Fraction(at))
        assert found.lower <= exact * (1 + 1e-9) + 1e-13
        assert exact <= found.upper * (1 + 1e-9) + 1e-13


def _capped_law(laws, table, rate, most, order):
    """The law of a release about a capped sample: all samples, and all batches or the first of an order."""
    total = np.zeros(len(laws[0]))
    for size in range(len(table) + 1):
        for sample in combinations(table, size):
            weight = rate**size * (1 - rate) ** (len(table) - size)
            if size <= most:
                batches = [sample]
            elif order is None:
                batches = list(combinations(sample, most))
            else:
                batches = [tuple(sorted(sample, key=order.index)[:most])]
            assert len(batches) in (1, comb(size, most))
            for batch in batches:
                total += weight / len(batches) * laws[sum(1 << unit for unit in batch)]
    return total


@pytest.mark.slow
@pytest.mark.parametrize("seed", [330_101, 330_102, 330_103])
def test_no_small_table_exceeds_a_capped_sample(seed):
    rng, x = random.Random(seed), np.arange(-60, 61)
    for _ in range(6):
        units, rate = rng.randint(2, 5), rng.choice([0.05, 0.2, 0.5, 0.8, 0.95])
        most, scale = rng.randint(1, units), rng.choice([0.5, 1.0, 2.0])
        moves = [rng.choice([-1, 1]) for _ in range(units)]
        clip = rng.choice([1, 2, 9])
        laws = {}
        for held in range(1 << units):
            center = max(-clip, min(clip, sum(move for unit, move in enumerate(moves) if held >> unit & 1)))
            law = np.exp(-np.abs(x - center) / scale)
            laws[held] = law / law.sum()
        order = rng.choice([None, rng.sample(range(units), units)])
        one = rng.randrange(units)
        with_it = _capped_law(laws, range(units), rate, most, order)
        without = _capped_law(laws, [unit for unit in range(units) if unit != one], rate, most, order)
        inner = events.DiscreteLaplace(sensitivity=1, scale=scale, size=1)
        event = events.CappedPoissonSampled(inner, rate=rate, most=most, population=units)
        for at in (0.0, 0.4, 1.3):
            gamma = exp(at)
            once, twice = (delta(event * times, epsilon=Fraction(at)).upper for times in (1, 2))
            for p, q in ((with_it, without), (without, with_it)):
                assert np.maximum(p - gamma * q, 0).sum() <= once * (1 + 1e-9) + 1e-12
                both = np.maximum(np.outer(p, p) - gamma * np.outer(q, q), 0).sum()
                assert both <= twice * (1 + 1e-9) + 1e-12
