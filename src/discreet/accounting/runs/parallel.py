"""Bounds on runs with parallel releases, where a unit's part may be another one each time.

From below: every fixed choice of parts. From above: the largest profile over the ways of each release,
composed, which also covers rules that are made in view of earlier answers (docs/proofs/parallel_parts.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from discreet.accounting.loss import Pair, pair_of
from discreet.accounting.loss.worst import Way, worst_pair
from discreet.accounting.runs.composed_run import TwoSided
from discreet.accounting.runs.course import Course, worse
from discreet.accounting.runs.scenarios import scenarios, ways
from discreet.privacy.events import Event, Parallel, compose

__all__ = ["Solve", "bounds_of"]

_FEW = 24  # first steps for which the first part of all is taken as fixed

Steps = Counter[Event]
Solve = Callable[[Course], TwoSided]


def bounds_of(steps: Steps, solve: Solve) -> TwoSided | None:
    """Bound a number of a run; None if a step has no known worst pair, or too many ways."""
    fixed, parallel = _resolved(steps)
    if not parallel:
        return _solved(fixed, solve)
    if not fixed and sum(parallel.values()) == 1:
        # Nothing was released before, so that the part is the same for any answers.
        options = ways(next(iter(parallel)))
        found = [bounds_of(way, solve) for way in options or ()]
        known = [bounds for bounds in found if bounds is not None]
        return worse(known) if known and len(known) == len(found) else None
    upper = [_solved(first, solve, rest) for first, rest in _first_steps(fixed, parallel)]
    known = [bounds for bounds in upper if bounds is not None]
    if not known or len(known) < len(upper):
        return None
    event = compose(step * times for step, times in (fixed + parallel).items())
    lower = [_solved(Counter(dict(leaves)), solve) for leaves in scenarios(event)]
    attained = max((bounds.lower for bounds in lower if bounds is not None), default=0.0)
    return worse(known)._replace(lower=attained, attained=False)


def _resolved(steps: Steps) -> tuple[Steps, Counter[Parallel]]:
    """Part the steps that a unit meets in any case from parallel releases with several ways."""
    fixed: Steps = Counter()
    parallel: Counter[Parallel] = Counter()
    for step, times in steps.items():
        options = ways(step) if isinstance(step, Parallel) else None
        if isinstance(step, Parallel) and options is not None and len(options) == 1:
            inner_fixed, inner_parallel = _resolved(options[0])
            for inner, count in inner_fixed.items():
                fixed[inner] += count * times
            for release, count in inner_parallel.items():
                parallel[release] += count * times
        elif isinstance(step, Parallel):
            parallel[step] += times
        else:
            fixed[step] += times
    return fixed, parallel


def _solved(fixed: Steps, solve: Solve, parallel: Counter[Parallel] | None = None) -> TwoSided | None:
    """Bound a run of fixed steps and of the worst pairs of parallel ones."""
    worst: list[tuple[Pair, int]] = []
    leaves, nested = _resolved(fixed)
    for release, times in ((parallel or Counter()) + nested).items():
        found = _worst(release)
        if found is None:
            return None
        common, pair = found
        for step, count in common.items():
            leaves[step] += count * times
        worst.append((pair, times))
    if any(isinstance(step, Parallel) for step in leaves):
        return None
    course = Course(leaves.items(), worst)
    return solve(course) if course.is_known else None


def _first_steps(fixed: Steps, parallel: Counter[Parallel]) -> list[tuple[Steps, Counter[Parallel]]]:
    """Return what may come first, and the parallel releases that follow.

    If all releases are parallel, the first of them is met in one fixed way, before any answer.
    """
    options = [(release, way) for release in parallel for way in ways(release) or ()]
    if fixed or len(options) > _FEW or sum(parallel.values()) > _FEW:
        return [(fixed, parallel)]
    return [(way, parallel - Counter({release: 1})) for release, way in options]


@lru_cache(maxsize=256)
def _worst(release: Parallel) -> tuple[Steps, Pair] | None:
    """Return the steps that all ways share, and the worst pair of what is left of each."""
    options = ways(release)
    if options is None:
        return None
    common = options[0].copy()
    for way in options[1:]:
        common &= way
    found: list[Way] = []
    for way in options:
        pairs = _pairs(way - common)
        if pairs is None:
            return None
        found.append(pairs)
    pair = worst_pair(found)
    return None if pair is None else (common, pair)


def _pairs(way: Steps) -> Way | None:
    fixed, parallel = _resolved(way)
    found: list[tuple[Pair | None, int]] = [(pair_of(step), times) for step, times in fixed.items()]
    for release, times in parallel.items():
        inner = _worst(release)
        if inner is None:
            return None
        found += [(pair_of(step), count * times) for step, count in inner[0].items()]
        found.append((inner[1], times))
    known = tuple((pair, times) for pair, times in found if pair is not None)
    return known if len(known) == len(found) else None
