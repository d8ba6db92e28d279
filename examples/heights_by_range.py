"""Heights by range: the five strategies of the lecture, and the best one, computed against measured.

How many people are between 160 and 175 cm? Between any two heights? There are 5,050 such questions over 100
centimeters, and one person is in up to 2,500 of them. Each strategy measures something else instead, and all
ranges follow from that. Errors are computed before any data is touched, and then measured.

Run with ``python examples/heights_by_range.py``.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from discreet.mechanisms import Gaussian
from discreet.workloads import (
    AllRanges,
    Fourier,
    Hierarchy,
    MeasureCells,
    SquareRoot,
    Strategy,
    Wavelet,
    direct_error,
    expected_error,
    lower_bound,
    plan,
)

LOWEST, SIZE = 120, 100
RHO = 0.5


def made_up_heights(people: int = 5000) -> np.ndarray:
    """Return counts of made-up heights, one cell for each centimeter from 120 to 219."""
    generator = np.random.default_rng(7)  # made-up data: no privacy rests on it
    heights = np.concatenate([generator.normal(163, 7, people // 2), generator.normal(176, 7, people // 2)])
    cells = np.clip(np.rint(heights).astype(int) - LOWEST, 0, SIZE - 1)
    return np.bincount(cells, minlength=SIZE)


def strategies() -> dict[str, Strategy]:
    """Return what is measured instead of the ranges."""
    workload = AllRanges(SIZE)
    return {
        "identity: every centimeter": MeasureCells(SIZE),
        "hierarchy: a binary tree": Hierarchy(SIZE, 2),
        "hierarchy: a tree of tens": Hierarchy(SIZE, 10),
        "wavelet": Wavelet(SIZE),
        "Fourier": Fourier(workload),
        "square root: the best": SquareRoot(workload),
    }


def computed_and_measured(strategy: Strategy, releases: int = 200) -> tuple[float, float]:
    """Return the root mean square error of a range, computed before and measured over repeated releases."""
    workload, counts = AllRanges(SIZE), made_up_heights()
    mechanism = Gaussian(sensitivity=strategy.sensitivity(), rho=RHO, size=strategy.measurements)
    truth = workload.answer(counts)
    squares = 0.0
    for _ in range(releases):
        estimate = strategy.reconstruct(np.asarray(mechanism.release(strategy.measure(counts))))
        squares += float(np.square(workload.answer(estimate) - truth).mean())
    return expected_error(workload, strategy, mechanism).rmse, sqrt(squares / releases)


def all_ranges_directly() -> float:
    """Return the error when every range is measured itself: a person is in 2,550 of them at most."""
    workload = AllRanges(SIZE)
    most = int(workload.gram_diagonal().max())
    return direct_error(workload, Gaussian(sensitivity=1, rho=RHO)).rmse * sqrt(most)


def main() -> None:
    """Print the table, and one answer."""
    workload = AllRanges(SIZE)
    print(f"{workload.queries} ranges of heights, rho = {RHO}: root mean square error of a range\n")
    print(f"{'what is measured':<28} {'computed':>9} {'measured':>9}")
    print(f"{'all ranges themselves':<28} {all_ranges_directly():>9.2f} {'':>9}")
    for name, strategy in strategies().items():
        computed, measured = computed_and_measured(strategy)
        print(f"{name:<28} {computed:>9.3f} {measured:>9.3f}")
    print(f"{'no strategy is below':<28} {sqrt(lower_bound(workload).total / workload.queries):>9.3f}")
    released = plan(workload, rho=RHO).release(made_up_heights())
    answer = released.range(160 - LOWEST, 175 - LOWEST)
    low, high = answer.interval(0.95)
    print(f"\nBetween 160 and 175 cm: {answer.value:.0f} people, in [{low:.0f}, {high:.0f}] with 95 percent.")


if __name__ == "__main__":
    main()
