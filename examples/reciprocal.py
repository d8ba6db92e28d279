"""One over a count, and a share of two counts: noise for these data instead of the worst data.

The reciprocal of a count changes by 1/2 when a table goes from one row to two, so noise for the global
sensitivity drowns every answer. On a table of a thousand rows, one person changes it by a
millionth, and tables on which it changes more are far away. Smooth sensitivity
adds noise in proportion to that.

Run with ``python examples/reciprocal.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
from picture import save

from discreet.figures import Axes, draw_curve, label_axes, next_style, panels
from discreet.mechanisms import Laplace
from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
from discreet.stability.profile import Profile
from discreet.stability.ratio import ratio
from discreet.stability.reciprocal import reciprocal

EPSILON = 1
COUNTS = (20, 100, 1000, 10_000)


def mechanisms(sensitivity: Fraction) -> tuple[Laplace, SmoothSensitivity]:
    """Return noise for the global sensitivity, and for the smooth one, both with epsilon = 1 in all."""
    smooth = SmoothSensitivity.best(epsilon=EPSILON, decay=Fraction(1, 10), lower=0, upper=1)
    return Laplace(sensitivity=sensitivity, epsilon=EPSILON, size=1), smooth


def relative_errors(profile: Profile, sensitivity: Fraction, runs: int = 200) -> tuple[float, float]:
    """Return the median error, as a part of the truth, with global and with smooth sensitivity."""
    worst, smooth = mechanisms(sensitivity)
    truth = float(profile.value)
    errors = [
        [abs(float(worst.release(truth)) - truth), abs(float(smooth.release(profile)) - truth)]
        for _ in range(runs)
    ]
    global_error, smooth_error = np.median(errors, axis=0) / truth
    return float(global_error), float(smooth_error)


def plot(table: dict[str, list[tuple[float, float]]]) -> Axes:
    """Draw the errors over the count."""
    (ax,) = panels(None)
    for name, rows in table.items():
        for place, words in enumerate(("global", "smooth")):
            line = [row[place] for row in rows]
            draw_curve(ax, COUNTS, line, next_style(ax), label=f"{name}, {words} sensitivity", marked=True)
    ax.set(xscale="log", yscale="log")
    title = f"Noise for these data instead of the worst, epsilon = {EPSILON}"
    return label_axes(ax, x="count", y="median error as a part of the truth", title=title)


def main(folder: str | None = None) -> None:
    """Print the median relative errors."""
    print(f"epsilon = {EPSILON}, one person more or less; median error as a part of the truth\n")
    print(f"{'':<28} {'global':>12} {'smooth':>12}")
    table: dict[str, list[tuple[float, float]]] = {"1 / count": [], "share of 0.3": []}
    for count in COUNTS:
        errors = relative_errors(reciprocal(count), Fraction(1, 2))
        table["1 / count"].append(errors)
        print(f"{f'1 / {count}':<28} {errors[0]:>12.3g} {errors[1]:>12.3g}")
    for count in COUNTS:
        errors = relative_errors(ratio(3 * count // 10, count), Fraction(1))
        table["share of 0.3"].append(errors)
        print(f"{f'{3 * count // 10} / {count}':<28} {errors[0]:>12.3g} {errors[1]:>12.3g}")
    save(lambda: plot(table), "reciprocal", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
