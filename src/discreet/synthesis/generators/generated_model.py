"""A trained generator as a model of rows: given normal numbers, columns are independent. All is public."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.array_types import Floats, Integers

__all__ = ["GeneratedModel", "Layer"]

_AT_ONCE = 4096
_DRAWS = 8192
"""Of how many normal numbers the tables of the model are the mean."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layer:
    """Weights and bias of a layer."""

    weights: Floats
    bias: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneratedModel:
    """A mixture of products, one for every value of the normal numbers.

    Attributes
    ----------
    shape : tuple of int
        How many cells each column has.
    layers : tuple of Layer
        The network: rectified but for the last, which holds the logits of all cells.
    total : float
        How many rows there are, as far as is public.
    """

    shape: tuple[int, ...]
    layers: tuple[Layer, ...] = field(repr=False)
    total: float

    def sample(self, rows: int, random: np.random.Generator) -> Integers:
        """Return rows of codes."""
        found = np.empty((rows, len(self.shape)), np.int64)
        for first in range(0, rows, _AT_ONCE):
            many = min(_AT_ONCE, rows - first)
            for column, shares in enumerate(self._columns(many, random)):
                level = random.random((many, 1))
                drawn = (np.cumsum(shares, axis=1) < level).sum(axis=1)
                found[first : first + many, column] = np.minimum(drawn, self.shape[column] - 1)
        return found

    def table(self, columns: Sequence[int]) -> Floats:
        """Return the expected counts of some columns, as a mean over many normal numbers."""
        random = np.random.default_rng(0)
        found = np.zeros([self.shape[column] for column in columns])
        for _ in range(_DRAWS // _AT_ONCE):
            held = list(self._columns(_AT_ONCE, random))
            joined = np.ones((_AT_ONCE, 1))
            for column in columns[:-1]:
                joined = (joined[:, :, None] * held[column][:, None, :]).reshape(_AT_ONCE, -1)
            found += (joined.T @ held[columns[-1]]).reshape(found.shape)
        return found * (self.total / _DRAWS)

    def _columns(self, rows: int, random: np.random.Generator) -> Iterator[Floats]:
        """Yield the probabilities of each column's cells, for rows of normal numbers."""
        held = random.standard_normal((rows, len(self.layers[0].weights)))
        for layer in self.layers[:-1]:
            held = np.maximum(held @ layer.weights + layer.bias, 0.0)
        logits = held @ self.layers[-1].weights + self.layers[-1].bias
        for part in np.split(logits, np.cumsum(self.shape)[:-1], axis=1):
            grown = np.exp(part - part.max(axis=1, keepdims=True))
            yield grown / grown.sum(axis=1, keepdims=True)
