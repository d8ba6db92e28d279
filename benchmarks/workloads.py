"""Errors and times of workloads: against bounds on every strategy, and at a million cells.

Run with ``make bench``, or ``python -m benchmarks.workloads``. Errors are root mean squares per query, at
epsilon = 1 for Laplace and rho = 1/2 for Gaussian noise. Peak memory is that of the whole process so far.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from math import sqrt
from typing import TypeVar

import numpy as np
import pyarrow

from discreet.curator import Budget
from discreet.data import Bounds, Limits, Table
from discreet.front import Curator
from discreet.mechanisms import Gaussian
from discreet.queries.counts import ranges
from discreet.workloads import (
    AllRanges,
    Marginals,
    Plan,
    Prefixes,
    Product,
    SquareRoot,
    Strategy,
    Workload,
    lower_bound,
    optimize,
    p_identity,
    plan,
    weighted_tree,
)

Result = TypeVar("Result")


def timed(call: Callable[[], Result]) -> tuple[Result, float]:
    """Return what a call gives and the seconds it took."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def error(workload: Workload, strategy: Strategy, norm: int) -> float:
    """Return the error with continuous noise, as tables state it."""
    squared = 2 * strategy.column_norm1**2 if norm == 1 else strategy.squared_column_norm2
    return sqrt(strategy.trace(workload) * squared / workload.queries)


def peak() -> str:
    """Return the largest amount of memory that was ever used."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"


def million() -> None:
    """Release all ranges over a million cells."""
    size = 2**20
    workload = AllRanges(size)
    counts = np.random.default_rng(0).integers(0, 1000, size)
    strategy, built = timed(lambda: SquareRoot(workload))
    mechanism = Gaussian(sensitivity=strategy.sensitivity(), rho=0.5, size=strategy.measurements)

    def release() -> None:
        strategy.reconstruct(np.asarray(mechanism.release(strategy.measure(counts))))

    release()
    _, seconds = timed(release)
    print(f"all ranges, 2^20 cells: strategy {built:.2f} s, release {seconds:.2f} s, peak {peak()}")
    rmse, seconds = timed(lambda: error(workload, strategy, 2))
    bound = sqrt(lower_bound(workload).total / workload.queries)
    gap = 100 * (rmse / bound - 1)
    print(f"  error {rmse:.4f} (in {seconds:.2f} s), no strategy below {bound:.4f}: {gap:.3f} %")


def gaussian() -> None:
    """Compare the square root with the closed bound and the dual of the fixed point."""
    print("\nGaussian noise          n      error  closed bound   dual bound      gap")
    for family in (AllRanges, Prefixes):
        for size in (256, 1024, 4096):
            workload = family(size)
            rmse = error(workload, SquareRoot(workload), 2)
            closed = sqrt(lower_bound(workload).total / workload.queries)
            steps = 20 if size < 1024 else 3 if size < 4096 else 2
            dual = sqrt(optimize(workload, tolerance=1e-4, steps=steps).bound / workload.queries)
            gap = rmse / max(closed, dual) - 1
            bounds = f"{closed:>13.4f} {dual:>12.4f} {100 * gap:>7.3f} %"
            print(f"{family.__name__:<16} {size:>8} {rmse:>10.4f} {bounds}")


def laplace() -> None:
    """Compare weighted trees with the search for p-Identity."""
    print("\nLaplace noise           n       tree  seconds  p-Identity  seconds")
    for size in (256, 1024, 4096, 2**20):
        workload = AllRanges(size)
        tree, quick = timed(lambda workload=workload: weighted_tree(workload, 1))
        line = f"{'AllRanges':<16} {size:>8} {error(workload, tree, 1):>10.3f} {quick:>8.2f}"
        if size <= 1024:
            found, slow = timed(lambda workload=workload: p_identity(workload))
            line += f" {error(workload, found, 1):>11.3f} {slow:>8.2f}"
        print(line)


def products() -> None:
    """Plan and release a map, and plan all two-way marginals of a hundred attributes."""
    chosen, planned = timed(lambda: plan(Product(AllRanges(1024), AllRanges(1024)), rho=0.5))
    assert isinstance(chosen, Plan)
    counts = np.random.default_rng(0).integers(0, 50, (1024, 1024))
    _, released = timed(lambda: chosen.release(counts))
    print(f"\nall rectangles, 1024 x 1024: plan {planned:.2f} s, release {released:.2f} s, peak {peak()}")
    print(f"  error {chosen.expected_error.rmse:.3f}, no strategy below {chosen.lower_bound:.3f}")
    marginals, planned = timed(lambda: plan(Marginals([10] * 100, ways=2), rho=0.5))
    print(f"all {len(marginals.workload.sets)} two-way marginals of 100 attributes: plan {planned:.2f} s")  # type: ignore[union-attr]
    print(f"  error {marginals.expected_error.rmse:.3f}, no strategy below {marginals.lower_bound:.3f}")


def door() -> None:
    """Ask a curator for all ranges of a column, and for counts under conditions, of a million rows."""
    draw = np.random.default_rng(0)
    rows = {"person": draw.integers(0, 200_000, 10**6), "age": draw.integers(0, 111, 10**6)}
    table = Table(
        pyarrow.table(rows), person="person", limits=Limits(rows=10), columns={"age": Bounds(0, 110)}
    )
    parts = ", ".join(f"COUNT(*) FILTER (WHERE age < {10 * k}) AS below_{10 * k}" for k in range(1, 11))
    sql = f"SELECT {parts} FROM people"  # noqa: S608
    apart = {f"below_{10 * k}": 1 for k in range(1, 11)}
    with tempfile.TemporaryDirectory() as folder:
        curator = Curator({"people": table}, budget=Budget(epsilon=100), ledger=f"{folder}/people.ledger")
        question = ranges("people", "age")
        preview, planned = timed(lambda: curator.preview(question, epsilon=1))
        _, asked = timed(lambda: curator.ask(question, epsilon=1))
        print(f"\nall ranges of 111 ages, a million rows: preview {planned:.2f} s, answer {asked:.2f} s")
        print(f"  error {preview['n'].standard_deviation:.1f} at epsilon 1, at most 10 rows of a person")
        for name, split in (("together", None), ("one by one", apart)):
            found = curator.preview(sql, epsilon=1, split=split).expectations
            mean = sqrt(sum(one.standard_deviation**2 for one in found) / len(found))
            print(f"  ten counts of prefixes in SQL, {name}: error {mean:.1f}")
        curator.close()


def main() -> None:
    """Print all tables."""
    million()
    products()
    door()
    laplace()
    gaussian()


if __name__ == "__main__":
    main()
