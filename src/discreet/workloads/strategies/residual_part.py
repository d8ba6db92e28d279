"""The interactions that are measured of one marginal: a part of the residual basis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from discreet.errors import ParameterError
from discreet.privacy.rational import whole
from discreet.records import Record, dataclass
from discreet.workloads.algebra.modular import clamped_counts, fold_wrapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ResidualPart", "Set", "contrast_norm1", "squared_contrast_norm2"]

LARGEST_RESIDUAL_WEIGHT = 1 << 40

Set: TypeAlias = tuple[int, ...]
"""Attributes, by their places, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualPart(Record):
    """For some subsets S of a marginal's attributes, weight_S times the contrasts of S's own marginal.

    Contrasts along an attribute of n values are n I - J, with J all ones. All columns have the same norm.

    Attributes
    ----------
    chosen : tuple of int
        The attributes of the marginal.
    shape : tuple of int
        How many values each has.
    weights : mapping
        The subsets, and their weights: positive integers.
    """

    chosen: Set
    shape: tuple[int, ...]
    weights: Mapping[Set, int]

    def __post_init__(self) -> None:
        weights = {
            subset: whole(weight, "weights", least=1, most=LARGEST_RESIDUAL_WEIGHT)
            for subset, weight in self.weights.items()
        }
        if not weights or not all(set(subset) <= set(self.chosen) for subset in weights):
            raise ParameterError("weights", "are empty, or of other attributes", "one for each subset")
        self._amend(weights=MappingProxyType(weights))

    @property
    def size(self) -> int:
        """The number of cells of the marginal."""
        return prod(self.shape)

    @property
    def measurements(self) -> int:
        """The number of cells of all measured tables."""
        return sum(prod(self._sizes(subset)) for subset in self.weights)

    @property
    def column_norm1(self) -> int:
        """The sum of magnitudes in each column."""
        return sum(weight * contrast_norm1(self._sizes(subset)) for subset, weight in self.weights.items())

    @property
    def squared_column_norm2(self) -> int:
        """The sum of squares in each column."""
        return sum(
            weight**2 * squared_contrast_norm2(self._sizes(subset)) for subset, weight in self.weights.items()
        )

    @property
    def largest_entry(self) -> int:
        """The largest magnitude of an entry."""
        return max(
            weight * prod(max(1, size - 1) for size in self._sizes(subset))
            for subset, weight in self.weights.items()
        )

    def measure(self, x: NDArray[Any], /) -> NDArray[np.int64]:
        """Return the weighted contrasts of each subset, one after the other.

        Cells are clamped and sums are folded, as by `Strategy.measure`.
        """
        table = clamped_counts(x, self.size).reshape(self.shape)
        return np.concatenate([self._contrasts(table, subset) for subset in self.weights])

    def split(self, measured: NDArray[Any]) -> dict[Set, NDArray[Any]]:
        """Return the measurements of each subset."""
        ends = np.cumsum([prod(self._sizes(subset)) for subset in self.weights])
        return dict(zip(self.weights, np.split(np.asarray(measured), ends[:-1]), strict=True))

    def _contrasts(self, table: NDArray[np.int64], subset: Set) -> NDArray[np.int64]:
        others = tuple(axis for axis, place in enumerate(self.chosen) if place not in subset)
        summed = table.sum(axis=others)
        for axis, size in enumerate(self._sizes(subset)):
            summed = summed * np.int64(size) - summed.sum(axis=axis, keepdims=True)
        return fold_wrapped((summed * np.int64(self.weights[subset])).reshape(-1))

    def _sizes(self, subset: Set) -> list[int]:
        return [self.shape[self.chosen.index(place)] for place in subset]


def contrast_norm1(sizes: Sequence[int]) -> int:
    """Return the sum of magnitudes in a column of the product of the contrasts: that of 2 (n - 1)."""
    return prod(2 * (size - 1) for size in sizes)


def squared_contrast_norm2(sizes: Sequence[int]) -> int:
    """Return the sum of squares in a column of the product of the contrasts: that of n (n - 1)."""
    return prod(size * (size - 1) for size in sizes)
