"""One over a count, and a share of two counts: noise for these data instead of the worst data.

The reciprocal of a count changes by 1/2 when a table goes from one row to two, so noise for the global
sensitivity drowns every answer. On a table of a thousand rows, one person changes it by a
millionth, and tables on which it changes more are far away. Smooth sensitivity
adds noise in proportion to that.

Run with ``python examples/reciprocal.py``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

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


def main() -> None:
    """Print the median relative errors."""
    print(f"epsilon = {EPSILON}, one person more or less; median error as a part of the truth\n")
    print(f"{'':<28} {'global':>12} {'smooth':>12}")
    for count in COUNTS:
        errors = relative_errors(reciprocal(count), Fraction(1, 2))
        print(f"{f'1 / {count}':<28} {errors[0]:>12.3g} {errors[1]:>12.3g}")
    for count in COUNTS:
        errors = relative_errors(ratio(3 * count // 10, count), Fraction(1))
        print(f"{f'{3 * count // 10} / {count}':<28} {errors[0]:>12.3g} {errors[1]:>12.3g}")


if __name__ == "__main__":
    main()
