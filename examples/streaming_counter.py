"""A counter that is read every day of a year, for one charge.

Adding fresh noise to each day's total would cost 365 times the budget, or need noise that grows with the
number of days. The Toeplitz square root correlates the noise of the days so that each total is off by a few
people all year long; its error is known in advance and compared with what nothing can beat.

Run with ``python examples/streaming_counter.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from math import sqrt

import numpy as np
from picture import save

from discreet.figures import Axes, band, draw_curve, label_axes, next_style, panels
from discreet.workloads import ContinualCounter, Prefixes, lower_bound

DAYS, RHO = 365, 0.5


def visits() -> np.ndarray:
    """Return made-up numbers of new patients for each day."""
    return np.random.default_rng(3).poisson(20 + 10 * np.sin(np.arange(DAYS) / 58), DAYS)


def read_all_year() -> list[tuple[float, float, int]]:
    """Return for each day the noisy total, the half-width of its interval, and the exact total."""
    counter = ContinualCounter(DAYS, rho=RHO)
    readings, exact = [], 0
    for increment in visits():
        exact += int(increment)
        answer = counter.add(int(increment))
        readings.append((answer.value, answer.interval(0.95)[1] - answer.value, exact))
    return readings


def errors() -> dict[str, float]:
    """Return the root mean square error of a day's total for this counter and for two simple ones."""
    best = lower_bound(Prefixes(DAYS)).total
    return {
        "noise on every total": sqrt(DAYS),
        "noise on every day, summed": sqrt((DAYS + 1) / 2),
        "this counter": ContinualCounter(DAYS, rho=RHO).expected_error.rmse,
        "no strategy is below": sqrt(best / DAYS),
    }


def plot(readings: list[tuple[float, float, int]]) -> Axes:
    """Draw how far each day's reading is from the exact total, and its interval."""
    (ax,) = panels(None)
    days = np.arange(1, len(readings) + 1)
    widths = [width for _, width, _ in readings]
    style = next_style(ax)
    draw_curve(ax, days, [value - exact for value, _, exact in readings], style, label="reading less exact")
    band(ax, days, np.negative(widths), widths, style, label="95% of the readings of a day")
    title = f"One counter, read on {DAYS} days, rho = {RHO} for the year"
    return label_axes(ax, x="day", y="people", title=title)


def main(folder: str | None = None) -> None:
    """Print some readings and the errors."""
    print(f"New patients so far, read on each of {DAYS} days; rho = {RHO} for the whole year\n")
    readings = read_all_year()
    for day in (0, 6, 29, 89, 179, 364):
        value, width, exact = readings[day]
        print(f"day {day + 1:>3}: {value:>8.1f} ± {width:.1f}   (exact {exact})")
    print("\nRoot mean square error of a reading:")
    for name, error in errors().items():
        print(f"  {name:<28} {error:>7.2f}")
    save(lambda: plot(readings), "streaming_counter", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
