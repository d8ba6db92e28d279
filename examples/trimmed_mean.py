"""The trimmed mean by smooth sensitivity: seven noises measured, on normal and on skewed data.

A comparison like that of Bun & Steinke (2019): the mean of 1,000 values over bounds far too wide.
Noise for the global sensitivity of the mean pays for the bounds; trimming a few values at either end makes
the smooth sensitivity of the mean small, and the price is a bias on skewed data. Each of the seven admissible
noises gets a budget of its own notion: epsilon = 1 (pure), rho = 1/2 (concentrated, which epsilon = 1
implies), or (1, 10^-6) (approximate); and the parameters and the decay that are best for made-up data of the
same law. Errors are medians, since Cauchy noise may have no mean: computed from the law, and measured.

Run with ``python examples/trimmed_mean.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray
from picture import save

from discreet.figures import GRAY, LIMIT, Axes, draw_curve, label_axes, next_style, panels, reference
from discreet.mechanisms import Gaussian
from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
from discreet.mechanisms.admissible import (
    ArcsinhNormal,
    Cauchy,
    GaussianNoise,
    LaplaceLogNormal,
    LaplaceNoise,
    Student,
    UniformLogNormal,
)
from discreet.mechanisms.admissible.noise import Admissible
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.stability import Profile, trimmed_mean

SIZE, STEPS = 1000, 100
LOWER, UPPER = -1000 * STEPS, 1000 * STEPS
TRIMS = tuple(Fraction(part, 100) for part in (1, 5, 10, 20, 40))
DECAYS = tuple(Fraction(part, 1000) for part in (5, 10, 20, 30, 60, 100, 200, 400))
BUDGETS = {
    "pure": {"epsilon": Fraction(1)},
    "concentrated": {"rho": Fraction(1, 2)},
    "approximate": {"epsilon": Fraction(1), "delta": Fraction(1, 10**6)},
}
NOISES: dict[str, tuple[Admissible, ...]] = {
    "Cauchy": tuple(Cauchy(power=power) for power in (2, 4, 6)),
    "Student": tuple(Student(degrees=degrees) for degrees in (3, 4, 6)),
    "Laplace-log-normal": tuple(LaplaceLogNormal(spread=Fraction(spread, 10)) for spread in (1, 2, 4)),
    "uniform-log-normal": tuple(UniformLogNormal(spread=Fraction(spread, 10)) for spread in (5, 7, 10)),
    "arcsinh-normal": tuple(ArcsinhNormal(spread=Fraction(spread, 10)) for spread in (1, 2, 4)),
    "Gaussian": (GaussianNoise(),),
    "Laplace": (LaplaceNoise(),),
}
LAWS = ("normal", "skewed")
Table = dict[str, list[tuple[float, float]]]
"""For each noise and trim, the median of the error, computed and measured."""


def made_up(law: str, random: np.random.Generator) -> NDArray[np.int64]:
    """Return values in hundredths: of a normal law, or a skewed one (log-normal), both of mean 0."""
    values = random.normal(0, 1, SIZE)
    if law == "skewed":
        values = np.exp(values) - np.exp(0.5)
    return np.rint(values * STEPS).astype(np.int64)


def profile(values: NDArray[np.int64], trim: Fraction) -> Profile:
    """Return the trimmed mean with its sensitivity, where one of the values is replaced."""
    return trimmed_mean(values, trim=trim, lower=LOWER, upper=UPPER, relation=REPLACE_ROW)


@cache
def mechanism_of(noise: Admissible, decay: Fraction) -> SmoothSensitivity | None:
    """Return the mechanism of a noise with its budget; None if the decay leaves no room for it."""
    budget = BUDGETS[noise.notion]
    try:
        return SmoothSensitivity(
            noise=noise, decay=decay, lower=LOWER, upper=UPPER, neighbors=REPLACE_ROW, **budget
        )
    except ValueError:
        return None


def best_mechanism(noises: Sequence[Admissible], at: Profile) -> tuple[float, SmoothSensitivity]:
    """Return the least median error over parameters and decays for made-up data, and its mechanism."""
    found: list[tuple[float, SmoothSensitivity]] = []
    for decay in DECAYS:
        smooth = at.smooth(decay)
        for mechanism in (mechanism_of(noise, decay) for noise in noises):
            if mechanism is not None:
                error = mechanism.error_at(smooth_sensitivity=smooth).quantile(Fraction(1, 2))
                found.append((error / STEPS, mechanism))
    return min(found, key=lambda pair: pair[0])


def compared(law: str, runs: int = 60, seed: int = 1) -> Table:
    """Return the median error of every noise at every trim, in units of the data's law."""
    values = made_up(law, np.random.default_rng(seed))
    table: Table = {name: [] for name in NOISES}
    for trim in TRIMS:
        at = profile(values, trim)
        for name, noises in NOISES.items():
            computed, mechanism = best_mechanism(noises, at)
            errors = [abs(mechanism.release(at) - float(at.value)) for _ in range(runs)]
            table[name].append((computed, float(np.median(errors)) / STEPS))
    return table


def biases(law: str, runs: int = 200) -> list[float]:
    """Return, for each trim, the median distance of the trimmed mean from the law's mean, 0."""
    random = np.random.default_rng(2)
    samples = [np.sort(made_up(law, random)) for _ in range(runs)]
    cuts = [int(trim * SIZE) for trim in TRIMS]
    return [float(np.median([abs(one[cut : SIZE - cut].mean()) for one in samples])) / STEPS for cut in cuts]


def global_error() -> float:
    """Return the median error with noise for the global sensitivity of the mean, at rho = 1/2."""
    noise = Gaussian(sensitivity=UPPER - LOWER, rho=Fraction(1, 2))
    return float(noise.error.quantile(Fraction(1, 2))) / SIZE / STEPS


def plot(tables: dict[str, Table], without: dict[str, list[float]]) -> list[Axes]:
    """Draw the median error of every noise over the trim: lines computed, points measured."""
    drawn = panels(None, len(tables), size=(8.0, 7.0))
    places = [float(trim) for trim in TRIMS]
    for ax, (law, table) in zip(drawn, tables.items(), strict=True):
        for name, row in table.items():
            style = next_style(ax)
            draw_curve(ax, places, [computed for computed, _ in row], style, label=name)
            ax.plot(places, [one for _, one in row], color=style.color, marker=style.marker, ls="", ms=4)
        reference(ax, places, without[law], label="no noise: error of the sample", color=GRAY)
        reference(ax, places, [global_error()] * len(places), label="global sensitivity", color=LIMIT)
        ax.set(yscale="log", ylim=(1e-3, 5))
        label_axes(
            ax,
            x="trimmed at either end",
            y="median error",
            title=f"{law} data: lines computed, points measured",
        )
    return drawn


def main(folder: str | None = None, runs: int = 60) -> None:
    """Print the table, and draw it."""
    tables = {law: compared(law, runs) for law in LAWS}
    without = {law: biases(law) for law in LAWS}
    print(f"{SIZE} values within +-1000: median error, computed / measured, in units of the data's law")
    print(f"noise for the global sensitivity of the mean: {global_error():.3g}\n")
    for law, table in tables.items():
        print(f"{law:<22}" + "".join(f"{f'trim {float(trim):g}':>18}" for trim in TRIMS))
        for name, row in table.items():
            cells = "".join(f"{f'{computed:.3g} / {measured:.3g}':>18}" for computed, measured in row)
            print(f"  {name:<20}{cells}")
        print(f"  {'without any noise':<20}" + "".join(f"{value:>18.3g}" for value in without[law]) + "\n")
    save(lambda: plot(tables, without), "trimmed_mean", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
