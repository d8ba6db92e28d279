"""A private decision tree: an output that is no number, chosen node by node.

Made-up applicants with income, debt and age; a loan was repaid or not. The splits are chosen from public cut
points by permute-and-flip, and the classes of the leaves by noisy counts. The script prints one tree, and how
often trees are right on new data, for several epsilon and depths.

Run with ``python examples/private_tree.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys

import numpy as np
from picture import save

from discreet.figures import GRAY, Axes, draw_curve, label_axes, next_style, panels, reference
from discreet.learning import DecisionTree

FEATURES = ("income", "debt", "age")
CUTS = (range(10, 100, 5), range(5, 60, 5), range(20, 80, 5))
EPSILONS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
DEPTHS = (1, 2, 4)


def applicants(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return features and whether the loan was repaid, with one answer in ten at random."""
    source = np.random.default_rng(seed)
    income, debt, age = source.gamma(4, 10, count), source.gamma(2, 10, count), source.uniform(18, 80, count)
    repaid = np.where(income > 40, debt < 35, (debt < 15) & (age > 35))
    noise = source.random(count) < 0.1
    return np.column_stack([income, debt, age]), np.where(noise, ~repaid, repaid).astype(np.int64)


def accuracies(rows: int = 2000, runs: int = 5) -> dict[int, list[float]]:
    """Return how often trees of each depth are right on new data, for every epsilon."""
    design, labels = applicants(rows, 1)
    new, truth = applicants(4000, 2)
    found: dict[int, list[float]] = {}
    for depth in DEPTHS:
        found[depth] = []
        for epsilon in EPSILONS:
            tree = DecisionTree(cuts=CUTS, classes=2, depth=depth, epsilon=epsilon)
            fits = [tree.release(design, labels) for _ in range(runs)]
            found[depth].append(float(np.mean([(fit.predict(new) == truth).mean() for fit in fits])))
    return found


def plot(found: dict[int, list[float]]) -> Axes:
    """Draw the accuracy of each depth over epsilon."""
    (ax,) = panels(None)
    for depth, row in found.items():
        draw_curve(ax, EPSILONS, row, next_style(ax), label=f"depth {depth}", marked=True)
    reference(ax, EPSILONS, [0.9] * len(EPSILONS), label="best possible", color=GRAY)
    ax.set(xscale="log", ylim=(0.45, 0.95))
    return label_axes(ax, x="epsilon", y="right on new data", title="A private decision tree")


def main(folder: str | None = None) -> None:
    """Print one tree and the accuracies."""
    tree = DecisionTree(cuts=CUTS, classes=2, depth=2, epsilon=1)
    print(f"one tree, {tree.guarantee}:\n{tree.release(*applicants(2000, 1)).text(FEATURES)}\n")
    found = accuracies()
    print("right on new data" + "".join(f"{f'eps {epsilon:g}':>10}" for epsilon in EPSILONS))
    for depth, row in found.items():
        print(f"depth {depth:<11}" + "".join(f"{share:>10.2f}" for share in row))
    save(lambda: plot(found), "private_tree", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
