"""How much privacy an accuracy costs.

"Which epsilon do I need, if a count may be off by more than 10 only once in 100,000 times?"
The answer is known before any data is touched, from the law of the noise alone.

Run with ``python examples/tolerated_error.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from math import log

import numpy as np
from picture import save

import discreet as dp
from discreet.figures import LIMIT, Axes, draw_curve, label_axes, next_style, panels, reference


def plot() -> list[Axes]:
    """Draw the chance of an error over its size: of one count, and of twenty together."""
    one, many = panels(None, 2, size=(8.0, 5.5))
    mechanism = dp.Laplace.for_error(10, confidence=1 - 1e-5, sensitivity=1)
    errors = np.arange(16)
    chances = [mechanism.error.tail(error) for error in errors]
    label = f"epsilon = {mechanism.epsilon:.4f}"
    draw_curve(one, errors, chances, next_style(one), label=label, steps="post")
    reference(one, [0, 15], [1e-5] * 2, label="tolerated: 10, once in 100,000", color=LIMIT)
    one.set_yscale("log")
    label_axes(one, x="error of a count", y="probability of a larger one", title="One count")
    law = dp.Laplace(sensitivity=20, epsilon=1, size=20).error.l1
    totals = np.arange(0, 4000, 20)
    draw_curve(many, totals, [law.tail(total) for total in totals], next_style(many), label="exact")
    union = [law.union_bound(total) for total in totals]
    draw_curve(many, totals, union, next_style(many), label="union bound")
    many.set(yscale="log", ylim=(1e-4, 2))
    label_axes(many, x="total error", y="probability of a larger one", title="Twenty counts, epsilon = 1")
    return [one, many]


def main(folder: str | None = None) -> None:
    """Print the question, its answer, and a measurement."""
    mechanism = dp.Laplace.for_error(10, confidence=1 - 1e-5, sensitivity=1)
    print("Error above 10 with probability at most 1e-5, sensitivity 1:")
    print(f"  continuous Laplace noise, exp(-10 epsilon) = 1e-5:  epsilon = {log(1e5) / 10:.4f}")
    print(f"  discrete noise, which suits a count better:         epsilon = {mechanism.epsilon:.4f}")
    noise = np.abs(mechanism.release(np.zeros(10_000_000, np.int64)))
    expected = len(noise) * mechanism.error.tail(10)
    seen = int((noise > 10).sum())
    print(f"  in ten million releases {expected:.0f} ± {2 * expected**0.5:.0f} should exceed 10; {seen} did")

    print("\nThe total error of 20 counts (L1), epsilon = 1, at most this with probability 0.99:")
    vector = dp.Laplace(sensitivity=20, epsilon=1, size=20)
    exact = vector.error.l1.quantile(0.99)
    union = next(t for t in range(10_000) if vector.error.l1.union_bound(t) <= 0.01)
    print(f"  by the union bound {union}; exactly {exact:.0f}")
    save(plot, "tolerated_error", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
