"""The trimmed mean by smooth sensitivity: which noise, how much trimming, on normal and on skewed data.

A comparison like that of Bun & Steinke (2019): the mean of 1,000 values over bounds far too wide.
Noise for the global sensitivity of the mean pays for the bounds; trimming a few values at either end makes
the smooth sensitivity of the mean small, and the price is a bias on skewed data. Every noise gets
rho = 1/2 (a pure epsilon of 1 is within that), and the decay that is best for made-up data of the same law.

Run with ``python examples/trimmed_mean.py``; it draws the curves to examples/output where matplotlib is
installed.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms import Gaussian
from discreet.mechanisms.adaptive.smooth_sensitivity import SmoothSensitivity
from discreet.mechanisms.admissible import (
    ArcsinhNormal,
    LaplaceLogNormal,
    Student,
    UniformLogNormal,
)
from discreet.mechanisms.admissible.noise import Admissible
from discreet.privacy.neighbors import REPLACE_ROW
from discreet.stability import Profile, trimmed_mean

OUTPUT = Path(__file__).parent / "output"
SIZE, STEPS, RHO = 1000, 100, Fraction(1, 2)
LOWER, UPPER = -1000 * STEPS, 1000 * STEPS
TRIMS = tuple(Fraction(part, 100) for part in (1, 2, 5, 10, 20, 30, 40))
DECAYS = (Fraction(1, 100), Fraction(3, 100), Fraction(1, 10), Fraction(1, 5), Fraction(2, 5))
NOISES: dict[str, tuple[Admissible, ...]] = {
    "Student, pure": tuple(Student(degrees=degrees) for degrees in (3, 4, 6)),
    "Laplace-log-normal": tuple(LaplaceLogNormal(spread=Fraction(spread, 10)) for spread in (1, 2, 4)),
    "uniform-log-normal": tuple(UniformLogNormal(spread=Fraction(spread, 10)) for spread in (5, 7, 10)),
    "arcsinh-normal": tuple(ArcsinhNormal(spread=Fraction(spread, 10)) for spread in (1, 2, 4)),
}


def made_up(law: str, random: np.random.Generator) -> NDArray[np.int64]:
    """Return values in hundredths: of a normal law, or a skewed one (log-normal), both of mean 0."""
    values = random.normal(0, 1, SIZE)
    if law == "skewed":
        values = np.exp(values) - np.exp(0.5)
    return np.rint(values * STEPS).astype(np.int64)


def profile(values: NDArray[np.int64], trim: Fraction) -> Profile:
    """Return the trimmed mean with its sensitivity, where one of the values is replaced."""
    return trimmed_mean(values, trim=trim, lower=LOWER, upper=UPPER, relation=REPLACE_ROW)


def mechanism(noise: Admissible, decay: Fraction) -> SmoothSensitivity | None:
    """Return the mechanism of rho 1/2 with one noise, if the decay leaves room for it."""
    budget = {"epsilon": Fraction(1)} if noise.notion == "pure" else {"rho": RHO}
    try:
        return SmoothSensitivity(
            noise=noise, decay=decay, lower=LOWER, upper=UPPER, neighbors=REPLACE_ROW, **budget
        )
    except ValueError:
        return None


def deviations(law: str, seed: int = 1) -> dict[str, list[float]]:
    """Return, for each noise and trim, the deviation of the noise in units of the data's own law."""
    values = made_up(law, np.random.default_rng(seed))
    found: dict[str, list[float]] = {name: [] for name in NOISES}
    for trim in TRIMS:
        sizes = {decay: profile(values, trim).smooth(decay) for decay in DECAYS}
        for name, noises in NOISES.items():
            made = [(mechanism(noise, decay), sizes[decay]) for noise in noises for decay in DECAYS]
            errors = [
                one.error_at(smooth_sensitivity=size).deviation for one, size in made if one is not None
            ]
            found[name].append(min(errors) / STEPS)
    return found


def biases(law: str, runs: int = 200) -> list[float]:
    """Return, for each trim, the root mean squared distance of the trimmed mean from the law's mean, 0."""
    random = np.random.default_rng(2)
    samples = [np.sort(made_up(law, random)) for _ in range(runs)]
    cuts = [int(trim * SIZE) for trim in TRIMS]
    return [
        sqrt(float(np.mean([np.mean(one[cut : SIZE - cut]) ** 2 for one in samples]))) / STEPS for cut in cuts
    ]


def global_deviation() -> float:
    """Return the deviation with noise for the global sensitivity of the mean."""
    return sqrt(Gaussian(sensitivity=UPPER - LOWER, rho=RHO).error.variance) / SIZE / STEPS


def main() -> None:
    """Print the table, and draw it where that is possible."""
    figures = {law: (deviations(law), biases(law)) for law in ("normal", "skewed")}
    print(f"{SIZE} values within +-1000, rho = 1/2; deviation of the noise, in units of the data's law")
    print(f"noise for the global sensitivity of the mean: {global_deviation():.3g}\n")
    for law, (noises, bias) in figures.items():
        print(f"{law:<22}" + "".join(f"{f'trim {float(trim):g}':>11}" for trim in TRIMS))
        for name, row in noises.items():
            print(f"  {name:<20}" + "".join(f"{value:>11.3g}" for value in row))
        print(f"  {'without any noise':<20}" + "".join(f"{value:>11.3g}" for value in bias) + "\n")
    try:
        print(f"drawn to {draw(figures)}")
    except ImportError:
        print("(pip install matplotlib to draw the curves)")


def draw(figures: dict[str, tuple[dict[str, list[float]], list[float]]]) -> Path:
    """Draw the error of every noise over the trim, for both laws."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True)
    for panel, (law, (noises, bias)) in zip(panels, figures.items(), strict=True):
        for name, row in noises.items():
            total = [sqrt(noise**2 + error**2) for noise, error in zip(row, bias, strict=True)]
            panel.plot([float(trim) for trim in TRIMS], total, marker="o", label=name)
        panel.plot([float(trim) for trim in TRIMS], bias, color="black", linestyle=":", label="no noise")
        panel.axhline(global_deviation(), color="gray", linestyle="--", label="global sensitivity")
        panel.set(title=f"{law} data", xlabel="trimmed at either end", yscale="log")
    panels[0].set_ylabel("root mean squared error")
    panels[1].legend(fontsize="small")
    OUTPUT.mkdir(exist_ok=True)
    place = OUTPUT / "trimmed_mean.png"
    figure.savefig(place, dpi=120, bbox_inches="tight")
    pyplot.close(figure)
    return place


if __name__ == "__main__":
    main()
