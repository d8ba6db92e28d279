"""A tour of the mechanisms on a small table of hospital visits.

The visits are made up here. Every number that is printed after "released" is private; what is
printed before it follows from public facts alone.

Run with ``python examples/tour.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys

import numpy as np
from picture import save

import discreet as dp

DEPARTMENTS = ["emergency", "surgery", "pediatrics", "oncology"]
LARGEST_COST = 5000.0


def visits() -> tuple[np.ndarray, np.ndarray]:
    """Return the department and the cost of 2,000 visits, one for each patient."""
    maker = np.random.default_rng(1)
    departments = maker.choice(len(DEPARTMENTS), size=2000, p=[0.45, 0.2, 0.3, 0.05])
    costs = np.clip(maker.lognormal(5.5, 1.0, size=2000), 0, LARGEST_COST)
    return departments, costs


def main(folder: str | None = None) -> None:
    """Walk through counting, a histogram, a sum, a choice, a local survey and an audit."""
    departments, costs = visits()

    print("1. How many visits? A patient changes a count by one.")
    count = dp.Laplace(sensitivity=1, epsilon=0.5)
    print(f"   {count.guarantee.statement}")
    print(f"   error at most {count.error.quantile(0.95):.0f} with probability 0.95, known before it runs")
    print(f"   released: {count.release(len(departments))}   (the truth, for once: {len(departments)})")
    cheaper = dp.Laplace.for_error(25, confidence=0.95)
    print(f"   an error of 25 would do? then epsilon = {cheaper.epsilon:.3f} is enough")

    print("\n2. Visits by department: a patient is in one cell, so all four counts cost as much as one.")
    cells = np.bincount(departments, minlength=len(DEPARTMENTS))
    released = count.release(cells)
    for name, noisy in zip(DEPARTMENTS, released, strict=True):
        print(f"   {name:<11} {noisy:>5}")
    four = dp.Laplace(sensitivity=1, epsilon=0.5, size=len(DEPARTMENTS))
    print(f"   each ± {count.error.quantile(0.95):.0f}, all four ± {four.error.maximum.quantile(0.95):.0f},")
    print("   with probability 0.95")

    print(f"\n3. The total cost, clipped to [0, {LARGEST_COST:.0f}]: real numbers, on a public grid.")
    total = dp.Gaussian(sensitivity=LARGEST_COST, epsilon=1, delta=1e-6)
    print(f"   {total.guarantee.statement}")
    print(f"   sigma = {total.sigma:,.0f}, every result is a multiple of {float(total.grid):g}")
    half = total.error.quantile(0.95)
    print(f"   released: {total.release(float(costs.sum())):,.0f} ± {half:,.0f} (95%)")

    print("\n4. Which department is the busiest? Only the name leaves.")
    busiest = dp.mechanisms.PermuteAndFlip(sensitivity=1, epsilon=0.1, monotone=True)
    print(f"   released: {DEPARTMENTS[busiest.release(cells)]}")

    print("\n5. A question too sensitive to ask: every patient flips two coins before answering.")
    survey = dp.mechanisms.RandomizedResponse.two_coins()
    truths = (costs > 1000).astype(np.int64)
    reports = survey.release(truths)
    interval = survey.estimate(reports).interval(0.95)
    low, high = interval.lower[1], interval.upper[1]
    print(f"   {survey.guarantee.statement}")
    print(f"   from noisy answers only: between {low:.1%} and {high:.1%} (truth: {truths.mean():.1%}).")
    print("   No server had to be trusted; that is why the interval is wide.")

    print("\n6. Trust is good: the battery takes the first mechanism apart.")
    print(dp.audit.check_mechanism(count))
    save(lambda: count.plot(0, 1), "tour", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
