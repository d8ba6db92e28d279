"""Noisy counts, sums, sums of squares and of products of rows in a box."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt, sqrt

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.learning.design.row_blocks import blocks_of
from discreet.learning.design.row_grid import GridRows
from discreet.learning.moments.box_grid import STEPS
from discreet.learning.moments.moments import Moments
from discreet.learning.training.budgets import TrainingBudget
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise import current
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record

__all__ = ["NoisyMoments"]

MOST_MIXED = 1000
"""How many columns may have products: half a million values."""


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class NoisyMoments(Record):
    """Release the moments of rows u in a box, |u_j| <= B, of each of several groups of rows.

    Of a group: its number of rows, times w B^2; the sums of B u_j; the sums of 2 u_j^2 - B^2; and, if
    `products` are wanted, the sums of u_i u_j, i < j. All of these but the first lie between -B^2 and B^2 for
    a row, and reach it at a corner of the box: no room is left unused. (A sum of u_j^2 alone would only use
    the half from 0 to B^2, and its noise would be twice as large.)

    Parameters
    ----------
    columns : int
        How many columns a row has; at most 1,000 with products, else 10,000.
    budget : TrainingBudget
        What it costs, and with which noise.
    groups : int
        How many groups there are; a row is in one of them.
    products : bool
        Whether sums of products of two columns are released, too.
    rows : int
        How many rows a person has at most. That the data keep to it is the caller's promise.
    steps : int
        B, an even number of steps from the middle of a column to its bounds.

    Guarantee
    ---------
    That of the budget, under add/remove of a person. With m = 2 columns, and columns (columns - 1) / 2 more
    with products, r rows move the released vector by at most r B^2 (w + m) in L1 and r B^2 sqrt(w^2 + m) in
    L2 (proof: docs/proofs/moment_models.md). The weight w of the count is a function of m.

    Finite precision
    ----------------
    Rows are integers; products of them and their sums over blocks are below 2^53, exact in any order, and
    blocks are added as integers. The noise is that of `Gaussian` or `Laplace`.

    Error
    -----
    With s the deviation of the noise over B^2: s / w for a count, s for a sum in half widths, and
    s sqrt(1 + 1 / w^2) / 2 for a sum of squares.
    """

    columns: int
    groups: int
    products: bool
    rows: int
    steps: int
    weight: int
    """w, how large a row's count is, as a multiple of B^2."""
    noise: Laplace | Gaussian
    guarantee: Guarantee

    def __init__(
        self,
        *,
        columns: int,
        budget: TrainingBudget,
        groups: int = 1,
        products: bool = False,
        rows: int = 1,
        steps: int = STEPS,
    ) -> None:
        width = whole(columns, "columns", least=1, most=MOST_MIXED if products else 10 * MOST_MIXED)
        parts = whole(groups, "groups", least=1, most=10_000)
        held = whole(rows, "rows", least=1, most=2**20)
        unit = whole(steps, "steps", least=1, most=STEPS) ** 2
        moving = 2 * width + (width * (width - 1) // 2 if products else 0)
        # Noise in the count moves all means of a group at once: as many of them, as large a share for it.
        weight = max(1, isqrt(isqrt(moving)))
        size = parts * (moving + 1)
        sensitivity = Sensitivity(
            l0=min(size, held * (moving + 1)),
            l1=held * unit * (weight + moving),
            squared_l2=(held * unit) ** 2 * (weight**2 + moving),
            linf=held * unit * weight,
            neighbors=ADD_REMOVE_PERSON,
        )
        self._set(
            columns=width,
            groups=parts,
            products=bool(products),
            rows=held,
            steps=int(steps),
            weight=weight,
            noise=budget.noise(sensitivity, size),
            guarantee=budget.guarantee,
        )

    @property
    def event(self) -> Event:
        """One release of all values."""
        return self.noise.event

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise in a sum of coordinates between -1 and 1."""
        return sqrt(self.noise.error.variance) / self.steps**2

    def measured(self, rows: GridRows, groups: Integers) -> Integers:
        """Return the exact values, in steps: private."""
        counts = np.zeros(self.groups, dtype=np.int64)
        first, second = (np.zeros((self.groups, self.columns), dtype=np.int64) for _ in range(2))
        mixed = np.zeros((self.groups, self.columns, self.columns), dtype=np.int64) if self.products else None
        for place, part in blocks_of(rows):
            for group in range(self.groups):
                own = part if self.groups == 1 else part[groups[place] == group]
                counts[group] += len(own)
                first[group] += (np.ones(len(own)) @ own).astype(np.int64)
                if mixed is None:
                    second[group] += np.einsum("ij,ij->j", own, own).astype(np.int64)
                else:
                    mixed[group] += (own.T @ own).astype(np.int64)
        if mixed is not None:
            second = np.ascontiguousarray(np.diagonal(mixed, axis1=1, axis2=2))
        held = self.steps**2 * counts[:, None]
        found = [self.weight * held, self.steps * first, 2 * second - held]
        if mixed is not None:
            found.append(mixed[:, *np.triu_indices(self.columns, 1)])
        return np.concatenate(found, axis=1).ravel()

    def release(self, rows: GridRows, groups: Integers | None = None) -> Moments:
        """Return noisy moments of rows on the grid; each is in the group of its number, from 0.

        Never fails on rows: there may be none.
        """
        numbers = np.zeros(len(rows), dtype=np.int64) if groups is None else np.asarray(groups)
        if rows.shape[1:] != (self.columns,) or numbers.shape != rows.shape[:1]:
            raise ParameterError("rows", "have another shape", f"rows of {self.columns}, one group for each")
        noisy = np.asarray(self.noise.release(self.measured(rows, numbers)), dtype=np.float64)
        return self._moments(current().mark(noisy))

    def _moments(self, noisy: Floats) -> Moments:
        """Return what released values say, in half widths."""
        parts = noisy.reshape(self.groups, -1) / self.steps**2
        counts, width = parts[:, 0] / self.weight, self.columns
        mixed = np.zeros((self.groups, width, width)) if self.products else None
        second = (parts[:, 1 + width : 1 + 2 * width] + counts[:, None]) / 2
        if mixed is not None:
            mixed[:, *np.triu_indices(width, 1)] = parts[:, 1 + 2 * width :]
            mixed = mixed + mixed.transpose(0, 2, 1)
            mixed[:, range(width), range(width)] = second
        return Moments(
            counts=counts,
            first=parts[:, 1 : 1 + width],
            second=second,
            mixed=mixed,
            deviation=self.deviation,
            count_deviation=self.deviation / self.weight,
            least_variance=1 / self.steps**2,
        )
