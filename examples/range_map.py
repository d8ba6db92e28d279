"""A map: the number of people in any rectangle, from one release.

All 4,326,400 rectangles of a map of 64 x 64 squares form a product of two range workloads. The product of
the two best strategies for the axes is the best for the map, and each rectangle comes with its own interval.

Run with ``python examples/range_map.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys

import numpy as np
from picture import save

from discreet.figures import Axes, label_axes, panels
from discreet.workloads import AllRanges, Plan, Product, plan

SIDE, RHO = 64, 0.5


def made_up_map(people: int = 20_000) -> np.ndarray:
    """Return counts of made-up people around three towns."""
    generator = np.random.default_rng(11)
    towns = [((16, 20), 5.0), ((40, 44), 8.0), ((50, 12), 3.0)]
    places = [generator.normal(center, spread, (people // 3, 2)) for center, spread in towns]
    squares = np.clip(np.rint(np.concatenate(places)).astype(int), 0, SIDE - 1)
    counts = np.zeros((SIDE, SIDE), np.int64)
    np.add.at(counts, (squares[:, 0], squares[:, 1]), 1)
    return counts


def planned() -> Plan:
    """Return the plan for all rectangles."""
    chosen = plan(Product(AllRanges(SIDE), AllRanges(SIDE)), rho=RHO)
    assert isinstance(chosen, Plan)
    return chosen


def plot(exact: np.ndarray, noisy: np.ndarray) -> list[Axes]:
    """Draw the exact and the released map."""
    drawn = panels(None, 2, size=(6.0, 5.5))
    for ax, table, title in zip(drawn, (exact, noisy), ("exact", "released"), strict=True):
        ax.imshow(table, vmin=0, vmax=exact.max(), cmap="viridis")
        label_axes(ax, x="east", y="south", title=title, grid=False)
    return drawn


def main(folder: str | None = None) -> None:
    """Plan, release, and answer some rectangles."""
    chosen, counts = planned(), made_up_map()
    print(f"{chosen.workload.queries:,} rectangles of a map of {SIDE} x {SIDE} squares, rho = {RHO}")
    error, bound = chosen.expected_error.rmse, chosen.lower_bound
    print(f"root mean square error {error:.2f}, no strategy below {bound:.2f}\n")
    released = chosen.release(counts)
    for name, first, last in (
        ("the west", (0, 0), (63, 31)),
        ("a town", (8, 12), (24, 28)),
        ("a block", (40, 44), (41, 45)),
    ):
        answer = released.range(first, last)
        low, high = answer.interval(0.95)
        exact = counts[first[0] : last[0] + 1, first[1] : last[1] + 1].sum()
        print(f"{name:<9} {answer.value:>8.1f} in [{low:.0f}, {high:.0f}]   (exact {exact})")
    save(lambda: plot(counts, released.cells), "range_map", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
