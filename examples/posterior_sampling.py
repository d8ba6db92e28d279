"""Data-adaptive posterior sampling: a regression whose sample sharpens as the data grow richer.

A posterior sample is private by itself, at a temperature that the worst row dictates. Around a first sample
the worst row matters less, so a second one may be drawn colder; how much narrower its grid may be depends on
the smallest eigenvalue of X^T X, which is released, too. On data that are rich in all directions three
rounds beat one; on nearly singular data nothing would be narrowed, and one sample gets the whole budget.

Run with ``python examples/posterior_sampling.py``; draws a figure if matplotlib is installed.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import gettempdir

import numpy as np

from discreet.learning import PosteriorRegression

TRUE = np.array([1.0, -0.7])
SIZES = (1_000, 10_000, 100_000, 400_000)
ROUNDS = (1, 3)


def data(rows: int, *, narrow: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return a design of two features, the second `narrow` as wide as the first, and noisy responses."""
    source = np.random.default_rng(rows)
    design = source.uniform(-1, 1, (rows, 2)) * [1.0, narrow]
    return design, design @ TRUE + source.normal(0, 0.3, rows)


def median_error(rows: int, rounds: int, *, narrow: float = 1.0, runs: int = 9, points: int = 49) -> float:
    """Return the median over runs of the largest error of a coefficient, at epsilon = 1."""
    design, response = data(rows, narrow=narrow)
    regression = PosteriorRegression(
        columns=2, largest=1.5, response=3, radius=2, epsilon=1, rounds=rounds, points=points
    )
    fits = [regression.release(design, response) for _ in range(runs)]
    return float(np.median([np.abs(fit.coefficients - TRUE).max() for fit in fits]))


def main() -> None:
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
    try:
        print(f"drawn to {draw(found)}")
    except ImportError:
        print("(pip install matplotlib to draw the curves)")


def draw(found: dict[str, dict[int, list[float]]]) -> Path:
    """Draw the error over the number of rows, for both kinds of data."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(9, 4), sharey=True)
    for panel, (name, lines) in zip(panels, found.items(), strict=True):
        for (rounds, errors), marker in zip(lines.items(), "os", strict=True):
            panel.plot(SIZES, errors, marker=marker, label=f"{rounds} round{'s' * (rounds > 1)}")
        panel.set(xscale="log", yscale="log", title=name, xlabel="rows")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("median error of a coefficient")
    panels[0].legend()
    place = Path(gettempdir()) / "posterior_sampling.png"
    figure.savefig(place, dpi=120, bbox_inches="tight")
    pyplot.close(figure)
    return place


if __name__ == "__main__":
    main()
