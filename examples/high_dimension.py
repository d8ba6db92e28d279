"""Laplace or Gaussian? It depends on how many answers one person can change.

A person who changes all of d counts by one has L1 sensitivity d but L2 sensitivity sqrt(d).
Laplace noise grows with the first and is pure; Gaussian noise grows with the second and needs a
delta. For few answers Laplace wins, for many Gaussian does. A mechanism knows its error before
it runs, so the crossing is computed, not guessed.

Run with ``python examples/high_dimension.py``; it writes examples/output/high_dimension.png if
matplotlib is installed.
"""

from __future__ import annotations

from pathlib import Path

import discreet as dp
from discreet.privacy.sensitivity import overlapping_counts

EPSILON, DELTA = 1.0, 1e-6
DIMENSIONS = [1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000]


def expected_errors(dimension: int) -> tuple[float, float]:
    """Return the expected absolute error of each answer, under Laplace and under Gaussian noise."""
    sensitivity = overlapping_counts(dimension)
    laplace = dp.Laplace(sensitivity=sensitivity, epsilon=EPSILON)
    gaussian = dp.Gaussian(sensitivity=sensitivity, epsilon=EPSILON, delta=DELTA)
    return laplace.error.mean_absolute, gaussian.error.mean_absolute


def crossing() -> int:
    """Return the smallest number of answers for which Gaussian noise is smaller."""
    return next(d for d in range(1, 10_000) if expected_errors(d)[1] < expected_errors(d)[0])


def plot(errors: dict[int, tuple[float, float]], path: Path) -> None:
    """Draw both curves."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4))
    axes.loglog(list(errors), [laplace for laplace, _ in errors.values()], "o-", label="Laplace, pure")
    axes.loglog(
        list(errors),
        [gaussian for _, gaussian in errors.values()],
        "s-",
        label=f"Gaussian, delta = {DELTA:g}",
    )
    axes.axvline(crossing(), color="gray", linestyle=":", label=f"crossing at {crossing()} answers")
    axes.set(
        xlabel="answers that one person can change",
        ylabel="expected error of each",
        title=f"epsilon = {EPSILON:g}",
    )
    axes.legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main() -> None:
    """Print the table and draw the plot."""
    errors = {dimension: expected_errors(dimension) for dimension in DIMENSIONS}
    print(f"Expected absolute error of each of d counts, epsilon = {EPSILON:g}, delta = {DELTA:g}\n")
    print(f"{'d':>6} {'Laplace':>10} {'Gaussian':>10}")
    for dimension, (laplace, gaussian) in errors.items():
        smaller = "Laplace" if laplace <= gaussian else "Gaussian"
        print(f"{dimension:>6} {laplace:>10.2f} {gaussian:>10.2f}   {smaller}")
    print(f"\nGaussian noise is smaller from {crossing()} answers on.")
    path = Path(__file__).parent / "output" / "high_dimension.png"
    try:
        plot(errors, path)
    except ImportError:
        print("(pip install matplotlib to draw the curves)")
    else:
        print(f"Curves: examples/output/{path.name}")


if __name__ == "__main__":
    main()
