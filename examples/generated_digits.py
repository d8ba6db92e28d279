"""Digits made by generators behind teachers, and by a measured tree: what a classifier learns from them.

Scanned digits (those of scikit-learn) as 4 x 4 blocks, dark or light, and their class: a table of 17 columns.
Two thirds of the people are private. PATE-GAN and G-PATE train a generator on noisy votes; a spanning tree
measures pairs of columns. A classifier learns from synthetic digits and is tested on real ones of other
people: that is the usefulness of the data. Marginals win at every epsilon; ``python -m benchmarks.generators
FOLDER --images`` says so of MNIST and Fashion-MNIST.

Run with ``python examples/generated_digits.py``, and a folder for the picture if you like. Needs PyTorch.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from picture import save
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import discreet as dp
from discreet.figures import Axes, draw_curve, label_axes, next_style, panels, reference
from discreet.synthesis import GPATE, CodedColumns, PateGAN, SpanningTree

PRIVATE = 1200
DARK = 6
METHODS: dict[str, Any] = {"tree of pairs": SpanningTree, "PATE-GAN": PateGAN, "G-PATE": GPATE}


def images() -> tuple[CodedColumns, np.ndarray, np.ndarray]:
    """Return the columns, private rows and rows of the test; the class is the last column."""
    pixels, classes = load_digits(return_X_y=True)
    blocks = pixels.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
    rows = np.column_stack([blocks > DARK, classes]).astype(np.int64)
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    declared = {f"block {place}": dp.Keys([0, 1]) for place in range(16)} | {"class": dp.Keys(range(10))}
    columns = CodedColumns.declared(declared, missing=False)
    return columns, rows[:PRIVATE], rows[PRIVATE:]


def usefulness(learned: np.ndarray, tested: np.ndarray) -> float:
    """Return how often a classifier that learned from some digits is right about others."""
    if len(set(learned[:, -1])) < 2:
        return float((tested[:, -1] == learned[0, -1]).mean())
    model = LogisticRegression(max_iter=500).fit(learned[:, :-1], learned[:, -1])
    return float(model.score(tested[:, :-1], tested[:, -1]))


def compared(epsilons: tuple[float, ...] = (1.0, 10.0), **options: int) -> dict[str, list[float]]:
    """Return the usefulness of each method's digits, at each epsilon, with delta 1e-5."""
    columns, private, tested = images()
    found: dict[str, list[float]] = {}
    for name, method in METHODS.items():
        stated = {} if method is SpanningTree else {"teachers": 60, "rounds": 10, **options}
        for epsilon in epsilons:
            made = method(columns=columns, epsilon=epsilon, delta="1e-5", **stated).release(private)
            found.setdefault(name, []).append(usefulness(made.codes(2000), tested))
    return found


def draw(found: dict[str, list[float]], epsilons: tuple[float, ...], real: float) -> Axes:
    """Draw the usefulness of each method over epsilon."""
    (ax,) = panels(None, 1)
    for name, values in found.items():
        draw_curve(ax, np.array(epsilons), np.array(values), next_style(ax), label=name)
    reference(ax, [min(epsilons), max(epsilons)], [real, real], label="real digits")
    reference(ax, [min(epsilons), max(epsilons)], [0.1, 0.1], label="guessing")
    ax.set_xscale("log")
    ax.set_ylim(0, 1)
    return label_axes(
        ax,
        x="epsilon, at delta 1e-5",
        y="right about real digits of other people",
        title="What is learned from synthetic digits",
        about="one run; 1,200 private digits of 4 x 4 blocks",
    )


def main(folder: str | None = None, epsilons: tuple[float, ...] = (1.0, 10.0), **options: int) -> None:
    """Print what is learned from each method's digits, and draw it."""
    _, private, tested = images()
    real = usefulness(private, tested)
    print(f"learned from real digits: {real:.1%}; guessing: 10%")
    found = compared(epsilons, **options)
    print(f"{'':<14}" + "".join(f"epsilon {epsilon:<8g}" for epsilon in epsilons))
    for name, values in found.items():
        print(f"{name:<14}" + "".join(f"{value:<16.1%}" for value in values))
    save(lambda: draw(found, epsilons, real), "generated_digits", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
