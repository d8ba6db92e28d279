"""Marginals at the least total error: every interaction is measured once, on its own.

For a set S of attributes let C_n = n I - J (J all ones) and measure weight_S · (⊗ over i in S of
C_(n_i)) m_S, where m_S is the marginal of S: integers again. The measurements of different sets see
orthogonal parts of the data, and all columns have the same norm, so the best weights have a closed
form and the result is optimal among *all* strategies with Gaussian noise (Xiao, He, Zhang & Kifer
2023, in another basis; proof: docs/proofs/strategies.md, theorem 7). The domain itself is never
built: 100 attributes are no problem.
"""

from __future__ import annotations

from dataclasses import field
from itertools import chain, combinations
from math import prod, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record, dataclass
from discreet.workloads.algebra.modular import LARGEST_SUM, clamped_counts
from discreet.workloads.queries.base import about
from discreet.workloads.strategies.residual_part import (
    ResidualPart,
    Set,
    contrast_norm1,
    squared_contrast_norm2,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from discreet.workloads.queries.base import Vector
    from discreet.workloads.queries.marginals import Marginals

__all__ = ["ResidualBasis", "Set", "marginal_bound"]

MOST_MEASUREMENTS = 1 << 27
MOST_SUBSETS = 1 << 21
_FINEST = 1 << 12


@dataclass(frozen=True, slots=True, init=False, eq=False)
class ResidualBasis(Record):
    """The residual basis for a workload of marginals.

    Parameters
    ----------
    workload : Marginals
        Which marginals are asked for.
    norm : int
        1 for the best weights for Laplace, 2 (the default) for Gaussian noise.

    Examples
    --------
    >>> from discreet.workloads import Marginals
    >>> basis = ResidualBasis(Marginals((2, 3, 4), ways=2))
    >>> len(basis.weights)
    7
    """

    workload: Marginals
    weights: dict[Set, int] = field(repr=False)

    def __init__(self, workload: Marginals, norm: int = 2) -> None:
        norm = whole(norm, "norm", least=1, most=2)
        _check_size(workload)
        shares = _shares(workload)
        ideal = {}
        for chosen, share in shares.items():
            cost = float(_column_norm1(workload, chosen) if norm == 1 else _squared_norm(workload, chosen))
            ideal[chosen] = (share / cost) ** (1 / (2 + norm)) if norm == 1 else (share / cost) ** 0.25
        largest = max(ideal.values())
        smallest = min(value for value in ideal.values())
        scale = max(_FINEST / largest, 64 / smallest)
        weights = {chosen: max(1, round(value * scale)) for chosen, value in ideal.items()}
        self._set(workload=workload, weights=weights)

    @property
    def measurements(self) -> int:
        """The number of cells of all measured tables."""
        return sum(self.workload.cells(chosen) for chosen in self.weights)

    @property
    def column_norm1(self) -> int:
        """The sum over sets of weight · product of 2 (n_i - 1): the same for all cells."""
        return sum(weight * _column_norm1(self.workload, chosen) for chosen, weight in self.weights.items())

    @property
    def squared_column_norm2(self) -> int:
        """The sum over sets of weight^2 · product of n_i (n_i - 1): the same for all cells."""
        return sum(
            weight**2 * _squared_norm(self.workload, chosen) for chosen, weight in self.weights.items()
        )

    @property
    def largest_entry(self) -> int:
        """The largest of weight · product of (n_i - 1)."""
        shape = self.workload.shape
        return max(
            weight * prod(max(1, shape[place] - 1) for place in chosen)
            for chosen, weight in self.weights.items()
        )

    @property
    def largest_total(self) -> int:
        """How many rows a table may hold, at least, so that no measurement of it is reflected."""
        return LARGEST_SUM // self.largest_entry

    def sensitivity(self, rows: int = 1, *, groups: int = 1) -> Sensitivity:
        """Return the sensitivity of all measurements together, of a person as for `Strategy.sensitivity`."""
        rows, groups = whole(rows, "rows", least=1), whole(groups, "groups", least=1)
        return Sensitivity(
            l0=groups * self.measurements,
            l1=groups * rows * self.column_norm1,
            squared_l2=groups * rows**2 * self.squared_column_norm2,
            linf=rows * self.largest_entry,
            integers=True,
        )

    def measure(self, marginals: Mapping[Set, NDArray[Any]]) -> NDArray[np.int64]:
        """Measure exact marginals: one table of counts for each set of the workload, by its places.

        Tables are those of the same rows. Returns all measurements, one set after the other.
        """
        parts = {part.chosen: part for part in self.parts()}
        tables = {chosen: self._table(marginals, chosen) for chosen in self.workload.sets}
        measured = {chosen: part.measure(tables[chosen]) for chosen, part in parts.items()}
        return self.gathered(measured)

    def parts(self) -> tuple[ResidualPart, ...]:
        """Return what is measured of each marginal: every interaction once, of the first that holds it."""
        holders: dict[Set, Set] = {}
        for holder in self.workload.sets:
            for chosen in _subsets([holder]):
                holders.setdefault(chosen, holder)
        held: dict[Set, dict[Set, int]] = {}
        for chosen, weight in self.weights.items():
            held.setdefault(holders[chosen], {})[chosen] = weight
        return tuple(
            ResidualPart(
                chosen=holder,
                shape=tuple(self.workload.shape[place] for place in holder),
                weights=held[holder],
            )
            for holder in self.workload.sets
            if holder in held
        )

    def gathered(self, measured: Mapping[Set, NDArray[Any]]) -> NDArray[Any]:
        """Return the measurements of all parts, by their marginals, in the order that `reconstruct` takes."""
        found: dict[Set, NDArray[Any]] = {}
        for part in self.parts():
            found |= part.split(measured[part.chosen])
        return np.concatenate([found[chosen] for chosen in self.weights])

    def reconstruct(self, measured: NDArray[Any]) -> dict[Set, Vector]:
        """Return the least-squares estimate of each marginal; they agree on what they share."""
        residuals = {}
        start = 0
        for chosen, weight in self.weights.items():
            count = self.workload.cells(chosen)
            sizes = [self.workload.shape[place] for place in chosen]
            table = np.asarray(measured[start : start + count], np.float64).reshape(sizes)
            for axis in range(len(sizes)):
                table = table - table.mean(axis=axis, keepdims=True)
            residuals[chosen] = table / (float(weight) * prod(sizes))
            start += count
        return {chosen: self._assembled(residuals, chosen) for chosen in self.workload.sets}

    def cell_variance(self, chosen: Set) -> float:
        """Return the variance of each cell of one marginal, for noise of variance 1."""
        shape, total = self.workload.shape, 0.0
        for part in self._measured(chosen):
            total += prod((shape[place] - 1) / shape[place] ** 3 for place in part) / (
                float(self.weights[part]) ** 2
                * prod(float(shape[place]) ** 2 for place in chosen if place not in part)
            )
        return total

    def variance(self, chosen: Set, query: Vector) -> float:
        """Return the variance of a linear query of one marginal, for noise of variance 1.

        With q_S the query summed over the attributes outside S, and P q_S its part that sums to zero along
        every attribute of S, it is the sum over S of ||P q_S||^2 / (weight_S n)^2, n the number of cells.
        """
        table, total = np.asarray(query, np.float64), 0.0
        for part in self._measured(chosen):
            rest = table.sum(axis=tuple(axis for axis, place in enumerate(chosen) if place not in part))
            for axis in range(len(part)):
                rest = rest - rest.mean(axis=axis, keepdims=True)
            total += float(np.square(rest).sum()) / (float(self.weights[part]) * table.size) ** 2
        return total

    def trace(self) -> float:
        """Return the total variance over all cells of all marginals, for noise of variance 1."""
        return sum(
            share / float(self.weights[chosen]) ** 2 for chosen, share in _shares(self.workload).items()
        )

    def _measured(self, chosen: Set) -> list[Set]:
        """Return the subsets of a set that are measured: not those with an attribute of a single value."""
        return [part for part in _subsets([chosen]) if part in self.weights]

    def _table(self, marginals: Mapping[Set, NDArray[Any]], chosen: Set) -> NDArray[np.int64]:
        sizes = tuple(self.workload.shape[place] for place in chosen)
        if chosen in marginals:
            table = clamped_counts(marginals[chosen], self.workload.cells(chosen), "marginals")
            if table.shape == sizes:
                return table
        raise ParameterError(
            "marginals", "lacks a table of counts for one of the sets", "one integer array for each"
        )

    def _assembled(self, residuals: Mapping[Set, Vector], chosen: Set) -> Vector:
        shape = self.workload.shape
        result = np.zeros([shape[place] for place in chosen])
        for part in self._measured(chosen):
            kept = [shape[place] if place in part else 1 for place in chosen]
            share = prod(shape[place] for place in chosen if place not in part)
            result = result + residuals[part].reshape(kept) / share
        return result


def marginal_bound(workload: Marginals) -> float:
    """Return the singular-value bound, (sum of dim_S sqrt(g_S))^2 / n, which the best real weights attain."""
    total = sum(
        sqrt(share * float(_squared_norm(workload, chosen))) for chosen, share in _shares(workload).items()
    )
    return total**2


def _subsets(sets: Iterable[Set]) -> list[Set]:
    """Return all subsets of the sets, the small ones first."""
    found = {
        part for chosen in sets for size in range(len(chosen) + 1) for part in combinations(chosen, size)
    }
    return sorted(found, key=lambda part: (len(part), part))


def _shares(workload: Marginals) -> dict[Set, float]:
    """Return for each set S what it adds to the total variance at weight 1: dim_S g_S / eigenvalue_S.

    dim_S is the product of n_i - 1 over S, g_S the sum over the workload's sets T that hold S of
    the product of n_i outside T, and the eigenvalue the product of n_i^2 over S times that of n_i
    outside: together, the sum over T of the product of (n_i - 1) / n_i^2 over S divided by that of
    n_i over T without S.
    """
    shape = workload.shape
    shares: dict[Set, float] = dict.fromkeys(_subsets(workload.sets), 0.0)
    for holder in workload.sets:
        for part in chain.from_iterable(combinations(holder, size) for size in range(len(holder) + 1)):
            shares[part] += prod((shape[place] - 1) / shape[place] ** 2 for place in part) / prod(
                shape[place] for place in holder if place not in part
            )
    return {part: share for part, share in shares.items() if share > 0 or not part}


def _check_size(workload: Marginals) -> None:
    """Refuse more subsets than can be listed, and more measurements than can be held."""
    subsets = sum(1 << len(chosen) for chosen in workload.sets)
    if subsets > MOST_SUBSETS:
        raise ParameterError(
            "workload",
            f"has sets with {about(subsets)} subsets, each to be measured",
            f"at most {MOST_SUBSETS} subsets: marginals of fewer attributes, or fewer of them",
        )
    measurements = sum(workload.cells(chosen) for chosen in _subsets(workload.sets))
    if measurements > MOST_MEASUREMENTS:
        raise ParameterError(
            "workload",
            f"takes {about(measurements)} measurements",
            f"at most {MOST_MEASUREMENTS}: marginals of fewer attributes, or attributes of fewer values",
        )


def _column_norm1(workload: Marginals, chosen: Set) -> int:
    return contrast_norm1([workload.shape[place] for place in chosen])


def _squared_norm(workload: Marginals, chosen: Set) -> int:
    return squared_contrast_norm2([workload.shape[place] for place in chosen])
