"""The work that everybody does: each script of this folder imports it, in its own environment.

A script prints one line of JSON for each task that its library has, with CPU time of one thread.
"""

from __future__ import annotations

import gc
import json
import statistics
import time
from collections.abc import Callable, Sequence

SCALE = 10
"""Noise and time: releases of integers with Laplace noise of this scale."""
NOISE, RATE, STEPS, DELTA = 4.0, 0.01, 10_000, 1e-5
"""Accounting: the epsilon of this training run at this delta."""
PERSONS, PER_PERSON, CITIES, TOP, EPSILON = 5_000, 4, 20, 500, 1.0
"""Groups: count and sum of costs per city, with at most four rows of each person, at this epsilon."""
DRAWS = 15


def rows() -> dict[str, list[int]]:
    """Return the table: person, city and cost, the same for everybody; cities differ in size."""
    number = range(PERSONS * PER_PERSON)
    return {
        "person": [one % PERSONS for one in number],
        "city": [min((one * 7919) % 211, (one * 104729) % 199) * CITIES // 200 for one in number],
        "cost": [(one * one * 31 + one * 17) % (TOP + 1) for one in number],
    }


def exact() -> dict[int, tuple[int, int]]:
    """Return the count and the sum of each city."""
    held = rows()
    found = dict.fromkeys(range(CITIES), (0, 0))
    for city, cost in zip(held["city"], held["cost"], strict=True):
        count, total = found[city]
        found[city] = count + 1, total + cost
    return found


def group_errors(answers: Sequence[dict[int, tuple[float, float]]]) -> dict[str, float]:
    """Return the mean absolute error of counts and of sums over all cities and draws."""
    truth = exact()
    gaps = [
        (abs(answer[city][0] - truth[city][0]), abs(answer[city][1] - truth[city][1]))
        for answer in answers
        for city in truth
    ]
    return {
        "count error": statistics.mean(one for one, _ in gaps),
        "sum error": statistics.mean(one for _, one in gaps),
    }


def timed(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the median CPU time, in seconds, after one run that is not counted."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def time_correlation(release: Callable[[], float], count: int = 50_000) -> float:
    """Return the rank correlation of the time that a release of zero takes with the size of its noise.

    It is near zero for a sampler whose work does not depend on what it draws; one in a hundred thousand such
    samplers exceeds 4.4 / sqrt(count), 0.02.
    """
    clock = time.perf_counter_ns
    for _ in range(1_000):
        release()
    gc.disable()
    times, sizes = [], []
    for _ in range(count):
        start = clock()
        found = release()
        times.append(clock() - start)
        sizes.append(abs(found))
    gc.enable()
    return statistics.correlation(_ranks(times), _ranks(sizes))


def _ranks(values: Sequence[float]) -> list[float]:
    """Return the rank of each value; equal ones share the mean of theirs."""
    places: dict[float, list[int]] = {}
    for place, value in enumerate(sorted(values)):
        places.setdefault(value, [place, place])[1] = place
    return [sum(places[value]) / 2 for value in values]


def tell(task: str, **numbers: float | None) -> None:
    """Print what was measured."""
    print(json.dumps({"task": task, **numbers}), flush=True)
