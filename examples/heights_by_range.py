"""Heights by range: five strategies with Laplace noise, computed against measured, and how errors grow.

How many people are between 160 and 175 cm? Between any two heights? Over k cells there are k (k + 1) / 2 such
ranges. Each strategy measures something else, and all ranges follow from that. With pure epsilon, the total
squared error of all ranges grows as

- *all ranges themselves*: one person is in up to (k + 1)^2 / 4 of them, so each of the k^2 / 2 gets noise of
  variance 2 (k^2 / 4)^2 / epsilon^2. That is k^4 / 8 for each query and k^6 / 16 in total;
- *identity*, every cell: a range sums up to k of them, k^3 / 3 in total;
- *hierarchy* and *wavelet*: a few nodes of each of log k levels, k^2 log^3 k in total;
- *Fourier*: its best kernel has the least L2 norm, for Gaussian noise; with Laplace noise, a bit over k^3.

Errors are computed before any data is touched, and then measured.

Run with ``python examples/heights_by_range.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import log, sqrt

import numpy as np
from picture import save

from discreet.figures import Axes, draw_curve, draw_points, label_axes, next_style, panels
from discreet.mechanisms import Laplace
from discreet.workloads import (
    AllRanges,
    Fourier,
    Hierarchy,
    MeasureCells,
    Strategy,
    Wavelet,
    direct_error,
    expected_error,
    plan,
)

LOWEST, SIZE, EPSILON = 120, 100, 1
SIZES = (8, 16, 32, 64, 128)
DIRECTLY = "all ranges themselves"
STRATEGIES: dict[str, Callable[[int], Strategy]] = {
    "identity: every cell": MeasureCells,
    "hierarchy: a binary tree": lambda size: Hierarchy(size, 2),
    "wavelet": Wavelet,
    "Fourier": lambda size: Fourier(AllRanges(size)),
}


def made_up_heights(size: int = SIZE, people: int = 5000) -> np.ndarray:
    """Return counts of made-up heights in cells from 120 to 219 cm, as many as asked for."""
    source = np.random.default_rng(7)  # made-up data: no privacy rests on it
    heights = np.concatenate([source.normal(163, 7, people // 2), source.normal(176, 7, people // 2)])
    places = np.clip((heights - LOWEST + 0.5) * size / SIZE, 0, size - 1).astype(int)
    return np.bincount(places, minlength=size)


def noise_for_all(size: int) -> Laplace:
    """Return the noise of every range, if all of them are measured."""
    most = int(AllRanges(size).gram_diagonal().max())
    return Laplace(sensitivity=most, epsilon=EPSILON)


def computed(name: str, size: int) -> float:
    """Return the total squared error of all ranges, before anything is measured."""
    workload = AllRanges(size)
    if name == DIRECTLY:
        return direct_error(workload, noise_for_all(size)).total
    strategy = STRATEGIES[name](size)
    return expected_error(workload, strategy, Laplace(sensitivity=strategy.sensitivity(), epsilon=1)).total


def measured(name: str, size: int, releases: int = 100) -> float:
    """Return the total squared error of all ranges, averaged over repeated releases."""
    workload, counts = AllRanges(size), made_up_heights(size)
    truth, squares = workload.answer(counts), 0.0
    strategy = None if name == DIRECTLY else STRATEGIES[name](size)
    for _ in range(releases):
        if strategy is None:
            answers = np.asarray(noise_for_all(size).release(truth.astype(np.int64)))
        else:
            mechanism = Laplace(sensitivity=strategy.sensitivity(), epsilon=EPSILON)
            answers = workload.answer(strategy.reconstruct(mechanism.release(strategy.measure(counts))))
        squares += float(np.square(answers - truth).sum())
    return squares / releases


def growth(totals: dict[int, float]) -> float:
    """Return the power of k with which the total error grows, from the two largest domains."""
    (small, before), (large, after) = sorted(totals.items())[-2:]
    return log(after / before) / log(large / small)


def planned_total(size: int) -> float:
    """Return the total squared error of the best strategy that the planner finds for all ranges."""
    return plan(AllRanges(size), epsilon=EPSILON).expected_error.total


def plot(
    totals: dict[str, dict[int, float]], seen: dict[str, dict[int, float]], best: dict[int, float]
) -> Axes:
    """Draw the total squared error over the number of cells: lines computed, points measured."""
    (ax,) = panels(None, size=(7.0, 6.5))
    for name, line in totals.items():
        style = next_style(ax)
        label = f"{name}: k to the {growth(line):.1f}"
        draw_curve(ax, list(line), list(line.values()), style, label=label)
        ax.plot(list(seen[name]), list(seen[name].values()), color=style.color, marker=style.marker, ls="")
    draw_points(ax, list(best), list(best.values()), next_style(ax), spread=None, label="as planned")
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(SIZES, [str(size) for size in SIZES])
    ax.minorticks_off()
    title = "All ranges, Laplace noise, epsilon = 1: lines computed, points measured"
    return label_axes(ax, x="cells, k", y="total squared error of all ranges", title=title)


def main(folder: str | None = None, releases: int = 100) -> None:
    """Print the table and one answer, and draw the growth."""
    names = [DIRECTLY, *STRATEGIES]
    totals = {name: {size: computed(name, size) for size in SIZES} for name in names}
    seen = {name: {size: measured(name, size, releases) for size in SIZES} for name in names}
    best = {size: planned_total(size) for size in SIZES}
    print(f"all ranges of k cells, Laplace noise, epsilon = {EPSILON}: total squared error\n")
    print(f"{'':<26} {'':<9}" + "".join(f"{f'k = {size}':>11}" for size in SIZES) + "   grows as k to the")
    for name in names:
        for words, figures in (("computed", totals[name]), ("measured", seen[name])):
            shown = "".join(f"{figure:>11.4g}" for figure in figures.values())
            label = name if words == "computed" else ""
            print(f"{label:<26} {words:<9}{shown}   {growth(figures):.2f}")
    print(f"{'as planned':<26} {'computed':<9}" + "".join(f"{figure:>11.4g}" for figure in best.values()))
    queries = AllRanges(SIZES[-1]).queries
    per_query = {name: sqrt(totals[name][SIZES[-1]] / queries) for name in names}
    print(f"\nroot mean square error of one of {queries} ranges, k = {SIZES[-1]}:")
    print("  " + ", ".join(f"{name} {error:.1f}" for name, error in per_query.items()))
    released = plan(AllRanges(SIZE), epsilon=EPSILON).release(made_up_heights())
    answer = released.range(160 - LOWEST, 175 - LOWEST)
    low, high = answer.interval(0.95)
    print(f"\nBetween 160 and 175 cm: {answer.value:.0f} people, in [{low:.0f}, {high:.0f}] with 95 percent.")
    save(lambda: plot(totals, seen, best), "heights_by_range", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
