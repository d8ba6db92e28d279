"""Data-adaptive posterior sampling: a regression whose sample sharpens as the data grow richer.

A posterior sample is private by itself, at a temperature that the worst row dictates. Around a first sample
the worst row matters less, so a second one may be drawn colder; how much narrower its grid may be depends on
the smallest eigenvalue of X^T X, which is released, too. On data that are rich in all directions three
rounds beat one; on nearly singular data nothing would be narrowed, and one sample gets the whole budget.

Run with ``python examples/posterior_sampling.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys

import numpy as np
from picture import save

from discreet.figures import Axes, draw_curve, label_axes, next_style, panels
from discreet.learning import PosteriorRegression

TRUE = np.array([1.0, -0.7])
SIZES = (1_000, 10_000, 50_000, 200_000)
ROUNDS = (1, 3)


def data(rows: int, *, narrow: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return a design of two features, the second `narrow` as wide as the first, and noisy responses."""
    source = np.random.default_rng(rows)
    design = source.uniform(-1, 1, (rows, 2)) * [1.0, narrow]
    return design, design @ TRUE + source.normal(0, 0.3, rows)


def median_error(rows: int, rounds: int, *, narrow: float = 1.0, runs: int = 21, points: int = 49) -> float:
    """Return the median over runs of the largest error of a coefficient, at epsilon = 1."""
    design, response = data(rows, narrow=narrow)
    regression = PosteriorRegression(
        columns=2, largest=1.5, response=3, radius=2, epsilon=1, rounds=rounds, points=points
    )
    fits = [regression.release(design, response) for _ in range(runs)]
    return float(np.median([np.abs(fit.coefficients - TRUE).max() for fit in fits]))


def plot(found: dict[str, dict[int, list[float]]]) -> list[Axes]:
    """Draw the error over the number of rows, for both kinds of data."""
    drawn = panels(None, len(found), size=(8.0, 5.5))
    for ax, (name, lines) in zip(drawn, found.items(), strict=True):
        for rounds, errors in lines.items():
            label = f"{rounds} round{'s' * (rounds > 1)}"
            draw_curve(ax, SIZES, errors, next_style(ax), label=label, marked=True)
        ax.set(xscale="log", yscale="log")
        label_axes(ax, x="rows", y="median error of a coefficient", title=name)
    return drawn


def main(folder: str | None = None) -> None:
    """Print the errors and draw them."""
    found = {
        name: {rounds: [median_error(rows, rounds, narrow=narrow) for rows in SIZES] for rounds in ROUNDS}
        for name, narrow in (("rich data", 1.0), ("one narrow feature", 0.03))
    }
    for name, lines in found.items():
        print(f"{name:<22}" + "".join(f"{f'n = {rows}':>14}" for rows in SIZES))
        for rounds, errors in lines.items():
            print(
                f"  {rounds} round{'s' * (rounds > 1):<13}" + "".join(f"{error:>14.4f}" for error in errors)
            )
    save(lambda: plot(found), "posterior_sampling", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
