"""Linear regression under differential privacy, with as much ridge as the data need.

Noise in X^T X can make it singular, so private regression adds a ridge. A ridge for the worst
data biases the fit on all data. Here the smallest eigenvalue is released first, and the ridge is only what
these data need: none where they are rich. On made-up data with strong and with weak
columns, the error of predictions on fresh data is compared with least squares and with the fixed ridge.

Run with ``python examples/private_regression.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
from picture import save

from discreet.figures import Axes, draw_points, group_places, label_axes, next_style, panels
from discreet.learning import AdaptiveRidge

RHO = Fraction(1, 2)
BETA = np.array([0.5, 1.0, -0.7, 0.4])


def made_up(rows: int, weak: float, source: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a design with a constant, two strong columns and a weak one, and a response with errors."""
    columns = source.uniform(-1, 1, (rows, 3)) * [1, 1, weak]
    design = np.column_stack([np.ones(rows), columns])
    return design, design @ BETA + source.normal(0, 0.3, rows)


def prediction_errors(rows: int, weak: float, runs: int = 20) -> dict[str, float]:
    """Return the mean squared error of predictions, above that of the errors themselves."""
    source = np.random.default_rng(17)
    adaptive = AdaptiveRidge(columns=4, largest=2, response=4, rho=RHO)
    # Without the eigenvalue, two releases share the budget of three.
    fixed = AdaptiveRidge(columns=4, largest=2, response=4, rho=RHO * Fraction(3, 2))
    totals = dict.fromkeys(("least squares", "adaptive ridge", "fixed ridge"), 0.0)
    for _ in range(runs):
        design, response = made_up(rows, weak, source)
        fresh, _ = made_up(5000, weak, source)
        fits = {
            "least squares": np.linalg.lstsq(design, response, rcond=None)[0],
            "adaptive ridge": adaptive.release(design, response).coefficients,
            "fixed ridge": replace(fixed.release(design, response), eigenvalue=-inf).coefficients,
        }
        for words, coefficients in fits.items():
            totals[words] += float(((fresh @ (coefficients - BETA)) ** 2).mean()) / runs
    return totals


def plot(table: dict[str, dict[str, float]]) -> Axes:
    """Draw the error of each fit on each kind of data."""
    (ax,) = panels(None)
    for fit in next(iter(table.values())):
        places = group_places(ax, list(table))
        errors = [errors[fit] for errors in table.values()]
        draw_points(ax, places, errors, next_style(ax), spread=None, label=fit)
    ax.set_yscale("log")
    title = f"Private linear regression, rho = {RHO}"
    return label_axes(ax, x="", y="mean squared error of predictions", title=title)


def main(folder: str | None = None) -> None:
    """Print the errors, and one fit with its intervals."""
    print(f"rho = {RHO}: mean squared error of predictions, noise of the responses left out\n")
    print(f"{'rows':>8} {'weak column':>12} {'least squares':>15} {'adaptive ridge':>15} {'fixed ridge':>15}")
    table = {}
    for rows, weak in ((2000, 1.0), (20_000, 1.0), (20_000, 0.05)):
        errors = table[f"{rows} rows, weak {weak:g}"] = prediction_errors(rows, weak)
        print(f"{rows:>8} {weak:>12} " + " ".join(f"{error:>15.2g}" for error in errors.values()))
    design, response = made_up(20_000, 1.0, np.random.default_rng(3))
    fit = AdaptiveRidge(columns=4, largest=2, response=4, rho=RHO).release(design, response)
    print("\n20,000 rows: the true coefficient, the private one, and its 95% interval")
    for true, found, (low, high) in zip(BETA, fit.coefficients, fit.intervals(), strict=True):
        print(f"{true:>8.2f} {found:>8.3f}   [{low:.3f}, {high:.3f}]")
    save(lambda: plot(table), "private_regression", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
