"""Laplace or Gaussian? It depends on how many answers one person can change.

A person who changes all of d counts by one has L1 sensitivity d but L2 sensitivity sqrt(d).
Laplace noise grows with the first and is pure; Gaussian noise grows with the second and needs a
delta. The expected errors of an answer are

    d / epsilon    and    sqrt(2 / pi) sqrt(d) sigma,

where sigma is the least that a sensitivity of 1 needs for (epsilon, delta). So Gaussian noise is smaller from
d = (2 / pi) (epsilon sigma)^2 on: for few answers Laplace wins, for many Gaussian does. With the classical
sigma, sqrt(2 log(2 / delta)) / epsilon, the crossing is at (4 / pi) log(2 / delta), which is later.

Run with ``python examples/high_dimension.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from math import ceil, log, pi

import numpy as np
from picture import save

import discreet as dp
from discreet.figures import GRAY, Axes, draw_curve, label_axes, next_style, panels, reference
from discreet.privacy.sensitivity import overlapping_counts

EPSILON, DELTA = 1.0, 1e-6
DIMENSIONS = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000)
DELTAS = tuple(10.0**-power for power in range(2, 16))


def mechanisms(dimension: int) -> tuple[dp.Laplace, dp.Gaussian]:
    """Return noise for d counts that one person can all change."""
    sensitivity = overlapping_counts(dimension)
    laplace = dp.Laplace(sensitivity=sensitivity, epsilon=EPSILON)
    return laplace, dp.Gaussian(sensitivity=sensitivity, epsilon=EPSILON, delta=DELTA)


def expected_errors(dimension: int) -> tuple[float, float]:
    """Return the expected absolute error of each answer, under Laplace and under Gaussian noise."""
    laplace, gaussian = mechanisms(dimension)
    return laplace.error.mean_absolute, gaussian.error.mean_absolute


def measured_errors(dimension: int, releases: int = 20_000) -> tuple[float, float]:
    """Return the mean absolute error of an answer in repeated releases."""
    vectors = np.zeros((max(1, releases // dimension), dimension), np.int64)
    laplace, gaussian = (np.abs(mechanism.release(vectors)).mean() for mechanism in mechanisms(dimension))
    return float(laplace), float(gaussian)


def crossing(epsilon: float = EPSILON, delta: float = DELTA) -> float:
    """Return (2 / pi) (epsilon sigma)^2, with the analytic sigma of real values."""
    sigma = dp.Gaussian(sensitivity=1.0, epsilon=epsilon, delta=delta).sigma
    return 2 / pi * (epsilon * sigma) ** 2


def classical_crossing(delta: float = DELTA) -> float:
    """Return where Gaussian noise wins with the classical sigma: at (4 / pi) log(2 / delta)."""
    return 4 / pi * log(2 / delta)


def first_smaller() -> int:
    """Return the smallest number of answers for which Gaussian noise is smaller, by trying."""
    return next(d for d in range(1, 10_000) if expected_errors(d)[1] < expected_errors(d)[0])


def plot(errors: dict[int, tuple[float, float]], seen: dict[int, tuple[float, float]]) -> list[Axes]:
    """Draw both errors over the number of answers, and the crossing over delta."""
    left, right = panels(None, 2, size=(8.0, 6.0))
    for place, name in enumerate(("Laplace, pure", f"Gaussian, delta = {DELTA:g}")):
        style = next_style(left)
        draw_curve(left, list(errors), [pair[place] for pair in errors.values()], style, label=name)
        marks = [pair[place] for pair in seen.values()]
        left.plot(list(seen), marks, color=style.color, marker=style.marker, ls="", ms=4)
    reference(left, [crossing()] * 2, [0.5, 1000], label=f"crossing at {crossing():.1f} answers", color=GRAY)
    left.set(xscale="log", yscale="log")
    title = f"epsilon = {EPSILON:g}: lines computed, points measured"
    label_axes(left, x="answers that one person can change", y="expected error of each", title=title)
    for epsilon in (0.1, 1.0, 4.0):
        cut = [crossing(epsilon, delta) for delta in DELTAS]
        draw_curve(right, DELTAS, cut, next_style(right), label=f"epsilon = {epsilon:g}")
    classical = [classical_crossing(delta) for delta in DELTAS]
    reference(right, DELTAS, classical, label="classical sigma, any epsilon ≤ 1", color=GRAY)
    right.set(xscale="log")
    label_axes(right, x="delta", y="answers", title="from how many answers on Gaussian noise is smaller")
    return [left, right]


def main(folder: str | None = None) -> None:
    """Print the table and draw the curves."""
    errors = {dimension: expected_errors(dimension) for dimension in DIMENSIONS}
    seen = {dimension: measured_errors(dimension) for dimension in DIMENSIONS}
    print(f"Expected (measured) error of each of d counts, epsilon = {EPSILON:g}, delta = {DELTA:g}\n")
    print(f"{'d':>6} {'Laplace':>20} {'Gaussian':>20}")
    for dimension, (laplace, gaussian) in errors.items():
        smaller = "Laplace" if laplace <= gaussian else "Gaussian"
        first, second = (f"({error:.2f})" for error in seen[dimension])
        print(f"{dimension:>6} {laplace:>9.2f} {first:>10} {gaussian:>9.2f} {second:>10}   {smaller}")
    cross, classical = crossing(), ceil(classical_crossing())
    print(f"\nThe curves cross at {cross:.2f} answers: Gaussian noise is smaller from {ceil(cross)} on")
    print(f"(by trying: from {first_smaller()} on; with the classical sigma from {classical} on).")
    save(lambda: plot(errors, seen), "high_dimension", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
