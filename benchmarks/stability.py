"""Noise for these data against noise for the worst data: error, and how long it takes to find out.

    python -m benchmarks.stability

Errors are medians over releases of one table of 1,000 normal values (deviation 100) within bounds
10,000 times as wide, epsilon 1. Times are of one run each, on a million values or edges.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from discreet.mechanisms import Laplace
from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.stability import Profile, median, trimmed_mean
from discreet.stability.graphs.triangles import triangles

EPSILON, SIZE, DEVIATION, WIDTH = 1, 1000, 100, 10**6
DECAY = Fraction(1, 10)


def releases(profile: Profile, sensitivity: int | Fraction, runs: int = 200) -> tuple[float, float]:
    """Return the median errors with noise for the global sensitivity, and for the smooth one."""
    smooth = SmoothSensitivity.best(
        epsilon=EPSILON, decay=DECAY, lower=0, upper=WIDTH, neighbors=profile.relation
    )
    worst = Laplace(sensitivity=float(sensitivity), epsilon=EPSILON)
    truth = float(profile.value)
    errors = [
        (abs(float(worst.release(truth)) - truth), abs(float(smooth.release(profile)) - truth))
        for _ in range(runs)
    ]
    first, second = np.median(errors, axis=0)
    return float(first), float(second)


def errors() -> None:
    """Print the errors of the median and the trimmed mean."""
    values = np.rint(np.random.default_rng(1).normal(WIDTH / 2, DEVIATION, SIZE)).astype(np.int64)
    kept = SIZE - 2 * (SIZE // 10)
    statistics: tuple[tuple[str, Profile, int | Fraction], ...] = (
        ("median", median(values, lower=0, upper=WIDTH, relation=REPLACE_ROW), WIDTH),
        (
            "trimmed mean, 0.1",
            trimmed_mean(values, trim=Fraction(1, 10), lower=0, upper=WIDTH, relation=REPLACE_ROW),
            Fraction(WIDTH, kept),
        ),
    )
    print(f"{'median error, epsilon 1':<28}{'global':>12}{'smooth':>12}{'ratio':>10}")
    for name, profile, sensitivity in statistics:
        worst, smooth = releases(profile, sensitivity)
        print(f"{name:<28}{worst:>12.4g}{smooth:>12.4g}{worst / smooth:>10.0f}")


def timed(name: str, work: Callable[[], Profile]) -> None:
    """Print how long a profile and its smooth sensitivity take."""
    begin = time.perf_counter()
    work().smooth(DECAY)
    print(f"{name:<40}{time.perf_counter() - begin:>8.2f} s")


def times() -> None:
    """Print times for a million values, and for networks of a million edges."""
    random = np.random.default_rng(2)
    values = random.normal(WIDTH / 2, 10_000, 10**6).astype(np.int64)
    timed(
        "median of 10^6 values, replace", lambda: median(values, lower=0, upper=WIDTH, relation=REPLACE_ROW)
    )
    timed("median of 10^6 values, persons of 3", lambda: median(values, lower=0, upper=WIDTH, rows=3))
    timed(
        "trimmed mean of 10^6 values, persons of 3",
        lambda: trimmed_mean(values, trim=Fraction(1, 10), lower=0, upper=WIDTH, rows=3),
    )
    for name, nodes, skew in (("even", 100_000, 0.0), ("skewed", 100_000, 0.6)):
        weights = np.arange(1, nodes + 1) ** -skew
        ends = random.choice(nodes, (2, 1_000_000), p=weights / weights.sum())
        timed(
            f"triangles of 10^6 edges, {name}",
            lambda ends=ends, nodes=nodes: triangles(ends[0], ends[1], nodes=nodes),  # type: ignore[misc]
        )


if __name__ == "__main__":
    errors()
    print()
    times()
