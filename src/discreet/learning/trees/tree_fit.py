"""A private tree as it was released: splits, and noisy class counts of its leaves. All of it is public."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.records import dataclass
from discreet.stability.entries import reals

__all__ = ["Split", "TreeFit"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Rows whose feature is at most the cut go left, all others right."""

    feature: int
    cut: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TreeFit:
    """What a `DecisionTree` released. All of it is public.

    Attributes
    ----------
    splits : tuple of Split
        Of the nodes level by level, from left to right: node i has the children 2 i + 1 and 2 i + 2.
    counts : array
        For each leaf from left to right, the noisy number of rows of each class.
    """

    splits: tuple[Split, ...]
    counts: NDArray[np.integer[Any]]

    @property
    def classes(self) -> NDArray[np.int64]:
        """The class of each leaf: that with the largest count, of equal ones the first."""
        return np.asarray(np.asarray(self.counts).argmax(axis=1), np.int64)

    def predict(self, design: ArrayLike) -> NDArray[np.int64]:
        """Return the class of each row."""
        rows = reals(design, "design")
        if rows.ndim != 2 or rows.shape[1] <= max(split.feature for split in self.splits):
            raise ParameterError("design", "has too few features", "rows as the tree was grown from")
        features = np.array([split.feature for split in self.splits])
        cuts = np.array([split.cut for split in self.splits])
        node = np.zeros(len(rows), np.int64)
        every = np.arange(len(rows))
        while len(rows) and node[0] < len(self.splits):
            right = ~(rows[every, features[node]] <= cuts[node])
            node = 2 * node + 1 + right
        return self.classes[node - len(self.splits)]

    def text(self, features: tuple[str, ...] | None = None) -> str:
        """Return the tree as indented lines."""

        def lines(node: int, indent: str) -> list[str]:
            if node >= len(self.splits):
                leaf = node - len(self.splits)
                return [f"{indent}class {self.classes[leaf]}  (counts {self.counts[leaf].tolist()})"]
            split = self.splits[node]
            name = f"x{split.feature}" if features is None else features[split.feature]
            return [
                f"{indent}{name} <= {split.cut:g}",
                *lines(2 * node + 1, indent + "  "),
                f"{indent}{name} > {split.cut:g}",
                *lines(2 * node + 2, indent + "  "),
            ]

        return "\n".join(lines(0, ""))
