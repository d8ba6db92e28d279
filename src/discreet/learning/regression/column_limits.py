"""Where most values of a column lie: limits that leave few beyond them, by a noisy search in halves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.array_types import Integers
from discreet.learning.design.coordinates import numbers_of
from discreet.learning.design.features import NumberColumn
from discreet.learning.design.row_blocks import row_parts
from discreet.learning.training.budgets import TrainingBudget
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise import current
from discreet.privacy.events import Event
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record

__all__ = ["CELLS", "ROUNDS", "ColumnLimits", "counts_of_cells"]

ROUNDS = 8
CELLS = 1 << ROUNDS
"""How many cells there are between the bounds of a column: bounds may be far too wide."""
_INSIDE = 9  # for each value beyond a limit: one in ten


def counts_of_cells(columns: Sequence[NumberColumn], values: Sequence[NDArray[Any]]) -> Integers:
    """Return how many values of each column are in each of its cells; what is not a number is in none.

    What is beyond the bounds is in the first or last cell. A value adds 1 to one cell at most.
    """
    every = numbers_of(values)
    if every is not None:
        return _counted(columns, every)
    pairs = zip(columns, values, strict=True)
    return np.concatenate([_counted([column], column.numbers(held)[:, None]) for column, held in pairs])


def _counted(columns: Sequence[NumberColumn], numbers: NDArray[Any]) -> Integers:
    """Return the counts of columns of numbers; those of what is not a number are dropped at the end."""
    lows = np.array([float(column.lower) for column in columns])
    widths = np.array([float(column.upper - column.lower) for column in columns])
    firsts = np.arange(len(columns)) * (CELLS + 1.0)
    found = np.zeros(len(columns) * (CELLS + 1), dtype=np.int64)
    for part in row_parts(*numbers.shape):
        with np.errstate(all="ignore"):
            cells = np.subtract(numbers[part], lows, dtype=np.float64)
            np.multiply(np.divide(cells, widths, out=cells), CELLS, out=cells)
        np.clip(np.floor(cells, out=cells), 0, CELLS - 1, out=cells)
        np.copyto(cells, CELLS, where=np.isnan(cells))
        cells += firsts
        found += np.bincount(cells.astype(np.int64).ravel(), minlength=len(found))
    return found.reshape(len(columns), CELLS + 1)[:, :CELLS]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class ColumnLimits(Record):
    """Find two cells of each column, beyond each of which one value in ten lies, about, or fewer.

    The cells from which on, and up to which, values are kept are found by halving: in each of eight rounds
    the count of values beyond the middle is compared with that of the others, with noise. A limit moves
    inward only if that is clear beyond the noise, so with few rows the limits are the bounds.

    Parameters
    ----------
    columns : int
        How many columns there are.
    budget : TrainingBudget
        What all rounds cost, and with which noise.
    rows : int
        How many rows a person has at most.

    Guarantee
    ---------
    That of the budget, under add/remove of a person. In each round a row moves 2 numbers of each column by
    at most 9, whatever the earlier answers were (proof: docs/proofs/whitened_regression.md, lemma 1).

    Finite precision
    ----------------
    Counts are integers. In which cell a value is depends on this value alone, floats included.

    Error
    -----
    A limit is off by as many values as the noise of a round is worth; see `noise`.
    """

    columns: int
    rows: int
    noise: Laplace | Gaussian
    """The noise of a round."""

    def __init__(self, *, columns: int, budget: TrainingBudget, rows: int = 1) -> None:
        count, held = whole(columns, "columns", least=1), whole(rows, "rows", least=1, most=2**20)
        size, most = 2 * count, held * _INSIDE
        sensitivity = Sensitivity(
            l0=size, l1=size * most, squared_l2=size * most**2, linf=most, neighbors=ADD_REMOVE_PERSON
        )
        noise = budget.share(Fraction(1, ROUNDS)).noise(sensitivity, size)
        self._set(columns=count, rows=held, noise=noise)

    @property
    def event(self) -> Event:
        """The releases of all rounds, composed."""
        return self.noise.event * ROUNDS

    def release(self, counts: Integers) -> Integers:
        """Return the first and the last cell that are kept of each column, the last one exclusive."""
        below = np.concatenate(
            [np.zeros((self.columns, 1), dtype=np.int64), np.cumsum(counts, axis=1)], axis=1
        )
        # From either side: where the limit is at least, and at most, in cells from that side.
        sides = np.stack([below, below[:, -1:] - below[:, ::-1]], axis=1).reshape(2 * self.columns, -1)
        near = np.zeros(len(sides), dtype=np.int64)
        far = np.full(len(sides), CELLS, dtype=np.int64)
        clear, every = sqrt(self.noise.error.variance), np.arange(len(sides))
        for _ in range(ROUNDS):
            middle = (near + far) // 2
            beyond = sides[every, middle]
            noisy = np.asarray(
                self.noise.release(_INSIDE * beyond - (sides[:, -1] - beyond)), dtype=np.float64
            )
            few = noisy < -clear
            near, far = np.where(few, middle, near), np.where(few, far, middle)
        low, high = near.reshape(-1, 2)[:, 0], CELLS - near.reshape(-1, 2)[:, 1]
        first = np.minimum(low, high)
        limits: Integers = current().mark(
            np.stack([first, np.maximum(np.maximum(low, high), first + 1)], axis=1)
        )
        return limits
