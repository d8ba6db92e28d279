"""Numbers about privacy that are often written down wrong, each beside the one that holds.

A factor that is lost, a square that is dropped, a bound that is taken for a value: each line here is easy to
find in notes and slides. The right numbers are computed by the mechanisms and accountants of this package,
and checked in its tests by other means.

Run with ``python examples/often_misquoted.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fractions import Fraction
from math import ceil, exp, log, sqrt
from typing import NamedTuple

from picture import save

import discreet as dp
from discreet.accounting import theorems
from discreet.accounting.theorems import Step
from discreet.figures import GRAY, Axes, draw_points, label_axes, next_style, panels, reference
from discreet.mechanisms.adaptive.distance_to_instability import DistanceToInstability
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.privacy.sensitivity import overlapping_counts, standard_deviation
from discreet.workloads import AllRanges, direct_error

NOISE, RATE, STEPS, DELTA = 4, Fraction(1, 100), 10_000, 1e-5
"""A training run with noise multiplier 4 on samples of a hundredth, in ten thousand steps."""


class Statement(NamedTuple):
    """Something that is written, and what holds instead."""

    about: str
    written: float
    holds: float
    why: str


def about_sensitivity() -> Iterator[Statement]:
    """Yield what goes wrong before any noise is drawn."""
    yield Statement(
        "four counts, sensitivity",
        4,
        2,
        "men, women, and both with an index below 25: a person who comes or goes is in two of them",
    )
    rows = 100
    deviation = standard_deviation(0, 1, rows, neighbors=REPLACE_ROW)
    yield Statement(
        "deviation of 100 values",
        1 / rows,
        float(deviation.l1),
        "sqrt(n - 1) / n, just below 1 / sqrt(n), and far above the 1 / n of a mean",
    )


def about_errors() -> Iterator[Statement]:
    """Yield what goes wrong in the errors of Laplace noise."""
    k = 64
    noise = dp.Laplace(sensitivity=int(AllRanges(k).gram_diagonal().max()), epsilon=1)
    total = direct_error(AllRanges(k), noise)
    yield Statement(
        "all ranges of 64 cells, total", total.mean_square, total.total, "k^4 / 8 is one of k^2 / 2 queries"
    )
    counts, each = 10, dp.Laplace(sensitivity=overlapping_counts(10), epsilon=0.1)
    yield Statement(
        "variance of one of 10 counts",
        2 / 0.1**2,
        each.error.variance,
        "2 k^2 / epsilon^2: all k of them share epsilon",
    )
    vector = dp.Laplace(sensitivity=counts, epsilon=1, size=counts)
    bound = next(t for t in range(10_000) if vector.error.l1.union_bound(t) <= 0.05)
    yield Statement(
        "L1 error of 10 counts, 95%",
        bound,
        float(vector.error.l1.quantile(0.95)),
        "the law is known, a sum of k exponential ones: no union bound is needed",
    )


def about_losses() -> Iterator[Statement]:
    """Yield what goes wrong in single guarantees."""
    scale = 2.0
    yield Statement(
        "ratio of Laplace laws, b = 2",
        exp(1 * scale),
        exp(1 / scale),
        "at most exp(Δ / b), not exp(Δ b), and never at least",
    )
    noisy = DistanceToInstability(epsilon=0.1, delta=DELTA).with_laplace_noise()
    yield Statement(
        "distance test, threshold",
        ceil(log(1 / DELTA) / 0.1),
        noisy.test.threshold - 2,
        "the upper tail of the noise there is delta / 2: log(1 / (2 delta)) / epsilon suffices",
    )


def about_training() -> Iterator[Statement]:
    """Yield what goes wrong when the steps of a training run are added up."""
    step = 1.2  # sqrt(2 log(1.25 / delta)) / 4, rounded as it is quoted
    whole = theorems.advanced(Step(step, DELTA, STEPS), DELTA).epsilon
    yield Statement(
        "strong composition, quoted",
        360,
        step * sqrt(STEPS * log(1 / DELTA)),
        "what epsilon sqrt(T log(1 / delta)) gives; it needs T < 1 / epsilon^2, which is 0.7",
    )
    yield Statement(
        "strong composition, proven",
        360,
        whole,
        "with the term T epsilon (e^epsilon - 1), which is not small here: worse than adding up",
    )
    moments = theorems.moments_epsilon(NOISE, float(RATE), STEPS, DELTA)
    yield Statement(
        "moments accountant",
        2 * float(RATE) * step * sqrt(STEPS),
        moments,
        "2 q epsilon sqrt(T) is 2.4; the moments themselves give 1.26",
    )
    run = dp.events.PoissonSampled(dp.events.Gaussian(noise_multiplier=NOISE), rate=RATE) * STEPS
    yield Statement(
        "the same run, tight",
        moments,
        float(dp.accounting.epsilon(run, delta=DELTA)),
        "from the laws of the losses",
    )


def statements() -> list[Statement]:
    """Return all of them."""
    return [*about_sensitivity(), *about_errors(), *about_losses(), *about_training()]


def plot(said: list[Statement]) -> Axes:
    """Draw by which factor each number is written too large or too small."""
    (ax,) = panels(None, size=(8.0, 5.5))
    heights = list(range(len(said)))[::-1]
    ratios = [one.written / one.holds for one in said]
    reference(ax, [1, 1], [-0.5, len(said) - 0.5], label="as it holds", color=GRAY)
    draw_points(ax, ratios, heights, next_style(ax), spread=None, label="as written")
    ax.set_yticks(heights, [one.about for one in said])
    ax.set_xscale("log")
    return label_axes(
        ax, x="written over what holds (left: too small, right: too large)", y="", title="Often misquoted"
    )


def main(folder: str | None = None) -> None:
    """Print the table, and draw it."""
    said = statements()
    print(f"{'':<32} {'written':>12} {'holds':>12}")
    for one in said:
        print(f"{one.about:<32} {one.written:>12,.6g} {one.holds:>12,.6g}  {one.why}")
    save(lambda: plot(said), "often_misquoted", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
