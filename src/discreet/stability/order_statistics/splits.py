"""How many values may have been added and removed on the way to data of another size.

For a size N of y only the most moves that lead to it matter, a values added and b removed with a - b = N - n:
what is added and removed again is no hindrance (proof: docs/proofs/profiles.md).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.records import dataclass

__all__ = ["Splits", "splits"]


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """For each size that can be reached, the most additions and removals."""

    sizes: NDArray[np.int64]
    added: NDArray[np.int64]
    removed: NDArray[np.int64]

    def at(self, places: NDArray[np.bool_] | NDArray[np.intp]) -> Splits:
        """Return some of them."""
        return Splits(self.sizes[places], self.added[places], self.removed[places])

    def listed(self) -> list[tuple[int, int, int]]:
        """Return size, additions and removals, one by one."""
        return list(zip(self.sizes.tolist(), self.added.tolist(), self.removed.tolist(), strict=True))


def splits(size: int, rows: int, distance: int) -> Splits:
    """Return the splits of data of some size after so many persons, of up to `rows` values each.

    With u persons who bring values, b is at most rows (k - u) and at most rows u - (N - n): the least of the
    two is largest where they cross.
    """
    most = distance * rows
    change = np.arange(-min(most, size), most + 1, dtype=np.int64)
    crossing = (most + change) // (2 * rows)
    removed = np.maximum(
        *(_removed(change, np.minimum(u, distance), rows, distance) for u in (crossing, crossing + 1))
    )
    removed = np.minimum(removed, size)
    return Splits(size + change, removed + change, removed)


def _removed(
    change: NDArray[np.int64], adding: NDArray[np.int64], rows: int, distance: int
) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.minimum((distance - adding) * rows, adding * rows - change)
    return found
