"""Fidelity: how far synthetic rows are from real ones, exactly. It is for the owner, and not private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.privacy.rational import whole
from discreet.synthesis.release.synthetic_data import SyntheticData

if TYPE_CHECKING:
    from discreet.figures import Panels

__all__ = ["Fidelity", "fidelity", "fidelity_of_codes", "variation"]

_MOST_TABLE = 20_000_000
_MOST_SETS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fidelity:
    """How far synthetic rows are from real ones. Not private: it was computed from the real rows as they are.

    Attributes
    ----------
    names : tuple of str
        The columns.
    distances : mapping of ways to mappings of sets of columns to floats
        The total variation of every table of one, two and three columns: half the sum of the absolute
        differences of shares, 0 for the same table and 1 for tables that have nothing in common.
    real_correlations, synthetic_correlations : arrays
        Of codes, column by column; 0 where a column is constant.
    private : bool
        False, always: who may not see the data may not see this.
    """

    names: tuple[str, ...]
    distances: Mapping[int, Mapping[tuple[str, ...], float]] = field(repr=False)
    real_correlations: Floats = field(repr=False)
    synthetic_correlations: Floats = field(repr=False)

    @property
    def private(self) -> bool:
        """Whether it may be shown to those who may not see the data: it may not."""
        return False

    def mean(self, ways: int) -> float:
        """Return the mean total variation of the tables of so many columns."""
        held = self.distances[ways]
        return float(np.mean(list(held.values()))) if held else 0.0

    def worst(self, ways: int) -> tuple[tuple[str, ...], float]:
        """Return the table of so many columns that is farthest, and how far it is."""
        return max(self.distances[ways].items(), key=lambda one: one[1])

    def __str__(self) -> str:
        lines = ["NOT PRIVATE: computed from the real rows, for their owner alone"]
        for ways, held in self.distances.items():
            if held:
                columns, most = self.worst(ways)
                lines.append(
                    f"{ways}-way total variation: mean {self.mean(ways):.4f}, largest {most:.4f} "
                    f"({', '.join(columns)}), {len(held):,} tables"
                )
        apart = np.abs(self.real_correlations - self.synthetic_correlations)
        lines.append(f"correlations differ by at most {apart.max():.3f}")
        return "\n".join(lines)

    __repr__ = __str__

    def plot(self) -> Panels:
        """Draw total variations and both correlation matrices side by side; the title says what it is."""
        from discreet.synthesis.release.plot import plot_fidelity

        return plot_fidelity(self)


def fidelity(
    real: object, data: SyntheticData, *, rows: int | None = None, seed: int = 0, ways: int = 3
) -> Fidelity:
    """Compare synthetic rows with real ones, exactly. The result is not private.

    Parameters
    ----------
    real : frame, mapping of columns or two-dimensional array
        The real rows; or those of a sandbox.
    data : SyntheticData
        What was released.
    rows, seed
        As for `SyntheticData.to_pandas`: which synthetic rows.
    ways : int
        Tables of up to so many columns are compared, 1 to 3; of larger numbers of tables, the first 2,000.
    """
    held, made = data.domain.codes(real), data.codes(rows, seed=seed)
    return fidelity_of_codes(
        data.domain.names, data.domain.shape, held, made, whole(ways, "ways", least=1, most=3)
    )


def fidelity_of_codes(
    names: Sequence[str], shape: Sequence[int], held: Integers, made: Integers, ways: int
) -> Fidelity:
    """Compare rows of codes with others: tables of up to so many columns, and correlations."""
    distances: dict[int, dict[tuple[str, ...], float]] = {}
    for many in range(1, min(ways, len(shape)) + 1):
        sets = islice(combinations(range(len(shape)), many), _MOST_SETS)
        distances[many] = {
            tuple(names[column] for column in chosen): variation(held, made, chosen, shape)
            for chosen in sets
            if prod(shape[column] for column in chosen) <= _MOST_TABLE
        }
    return Fidelity(
        names=tuple(names),
        distances=distances,
        real_correlations=_correlations(held),
        synthetic_correlations=_correlations(made),
    )


def variation(one: Integers, other: Integers, columns: Sequence[int], shape: Sequence[int]) -> float:
    """Return the total variation between the tables of some columns, of rows of codes and of others."""
    shares = [_shares(rows, columns, shape) for rows in (one, other)]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def _shares(rows: Integers, columns: Sequence[int], shape: Sequence[int]) -> Floats:
    cell = np.zeros(len(rows), np.int64)
    for column in columns:
        cell = cell * shape[column] + rows[:, column]
    counts = np.bincount(cell, minlength=prod(shape[column] for column in columns))
    return counts / max(len(rows), 1)


def _correlations(rows: Integers) -> Floats:
    centered = rows - rows.mean(axis=0) if len(rows) else rows.astype(np.float64)
    lengths = np.sqrt((centered**2).sum(axis=0))
    product = centered.T @ centered
    scale = np.outer(lengths, lengths)
    return np.divide(product, scale, out=np.zeros(scale.shape), where=scale > 0)
