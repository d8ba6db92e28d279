"""One noisy tree of counts, made consistent in three ways that cost nothing.

How many of a town's people are of each age from 0 to 127? Counts are asked at every node of a tree
over the ages, so that any range is a sum of few nodes. One person is in one node of each level: with
8 levels the noise has scale 8 / epsilon. The answers contradict each other: children do not add up to
their parents, and some counts are below zero. What is true of the real counts is known without looking:

- every node is the sum of its children (a consistent tree: still unbiased);
- no count is below zero (no longer unbiased, but closer to the truth);
- the number of inhabitants is published elsewhere (a known root).

The closest point that has these properties is never farther from the truth, whatever the noise.

Run with ``python examples/consistent_histogram.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys

import numpy as np
from picture import save

import discreet as dp
from discreet.figures import GRAY, Axes, draw_curve, label_axes, next_style, panels, reference
from discreet.workloads.inference import Tree, consistent_tree, non_negative_tree

AGES = 128
TREE = Tree.over(AGES, branching=2)
LEVELS = len(TREE.widths)


def town() -> np.ndarray:
    """Return a made-up number of people of each age: few above 90, none above 104."""
    age = np.arange(AGES)
    people = 60 * np.exp(-(((age - 38) / 24) ** 2)) + 12 * np.exp(-(((age - 8) / 5) ** 2))
    return np.where(age > 104, 0, np.rint(people)).astype(np.int64)


def estimates(answers: np.ndarray, total: int) -> dict[str, np.ndarray]:
    """Return four estimates of all nodes from one release."""
    known = answers.astype(float)
    known[0] = total
    with_total = [0.0, *[1.0] * (LEVELS - 1)]
    consistent = consistent_tree(TREE, answers)
    positive = non_negative_tree(TREE, answers)
    bounded = non_negative_tree(TREE, known, with_total)
    assert max(consistent.residual, positive.residual, bounded.residual) < 1e-8
    return {
        "as released": answers.astype(float),
        "consistent": consistent.constrained,
        "consistent, non-negative": positive.constrained,
        "and of the public total": bounded.constrained,
    }


def errors(epsilon: float, runs: int = 200) -> dict[str, tuple[float, float, float]]:
    """Return, for each estimate, the root mean squared error of nodes, and two biases: all ages, old ages."""
    truth = TREE.sums(town().astype(float))
    mechanism = dp.Laplace(sensitivity=LEVELS, epsilon=epsilon, size=TREE.nodes)
    collected: dict[str, list[np.ndarray]] = {}
    for _ in range(runs):
        answers = np.asarray(mechanism.release(truth.astype(np.int64)))
        for words, estimate in estimates(answers, int(truth[0])).items():
            collected.setdefault(words, []).append(estimate - truth)
    oldest = slice(TREE.nodes - 20, TREE.nodes)
    return {
        words: (
            float(np.sqrt(np.mean(np.square(misses)))),
            float(np.mean(np.array(misses)[:, -AGES:])),
            float(np.mean(np.array(misses)[:, oldest])),
        )
        for words, misses in collected.items()
    }


def plot(epsilon: float) -> Axes:
    """Draw one release, and what its noisy counts are once they are consistent and of the public total."""
    truth = TREE.sums(town().astype(float))
    answers = np.asarray(dp.Laplace(sensitivity=LEVELS, epsilon=epsilon).release(truth.astype(np.int64)))
    found = estimates(answers, int(truth[0]))
    (ax,) = panels(None, size=(8.0, 4.5))
    for words in ("as released", "consistent", "and of the public total"):
        label = words if words != "and of the public total" else "non-negative, of the public total"
        draw_curve(ax, np.arange(AGES), found[words][-AGES:], next_style(ax), label=label)
    reference(ax, np.arange(AGES), town(), label="exact", color=GRAY)
    return label_axes(ax, x="age", y="people", title=f"One noisy tree of counts, epsilon = {epsilon:g}")


def main(folder: str | None = None) -> None:
    """Print the comparison."""
    epsilon = 1.0
    print(f"{int(town().sum())} people, {AGES} ages, {TREE.nodes} noisy counts, epsilon = {epsilon:g}\n")
    print(f"{'':<28} {'error of a node':>16} {'bias, all ages':>16} {'bias, over 107':>16}")
    for words, (error, bias, oldest) in errors(epsilon).items():
        print(f"{words:<28} {error:>16.2f} {bias:>16.2f} {oldest:>16.2f}")
    print("\nAll from the same releases. Sums of unbiased estimates average out; those of the others drift.")
    save(lambda: plot(epsilon), "consistent_histogram", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
