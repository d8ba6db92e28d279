"""A private decision tree: splits chosen from public candidates, classes of leaves by noisy counts."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import ParameterError
from discreet.learning.trees.tree_fit import Split, TreeFit
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.error.selection import PermuteAndFlipError
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.noise import current
from discreet.privacy.events import Event, Pure
from discreet.privacy.guarantees import PureDP
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import Number, float_above, probability, rational, show, whole
from discreet.records import Record, dataclass
from discreet.stability.entries import clamped_integers, reals

__all__ = ["DecisionTree"]


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class DecisionTree(Record):
    """Grow a complete binary tree whose splits are chosen privately: an output that is no number.

    Parameters
    ----------
    cuts : sequence of sequences of numbers
        For each feature, where it may be cut: public, increasing. A row goes left where its value is at most
        the cut; what is not a number goes right.
    classes : int
        The number of classes, 2 to 64. Labels are the integers from 0 on; others count as the nearest class.
    depth : int
        How many splits there are from the root to a leaf, 1 to 10.
    epsilon : number
        The privacy loss of the whole tree.
    share : number
        Which part of epsilon pays for the splits, in equal parts for each level; the rest is for the leaves.
    rows : int
        How many rows a person has at most. That the data keep to it is the caller's promise.

    Guarantee
    ---------
    epsilon-DP under add/remove of a person. A split of a node is chosen by `PermuteAndFlip` with the number
    of rows that the majorities of both sides get right, which a row raises by at most 1 and never lowers; the
    nodes of a level hold different rows, so a level costs as much as one node. The leaves' class counts are
    one histogram with discrete Laplace noise (proof: docs/proofs/decision_tree.md).

    Finite precision
    ----------------
    Scores and counts are integers, and choices and noise are exact. A row is compared with public floats, by
    itself.

    Error
    -----
    `error` is the law of how many more rows of its node the best split would get right, with ``candidates``
    the number of cuts; `noise.error` is that of a class count.

    Examples
    --------
    >>> from discreet.learning import DecisionTree
    >>> tree = DecisionTree(cuts=[range(20, 80, 10), [0.5]], classes=2, depth=2, epsilon=1)
    >>> tree.guarantee
    PureDP(epsilon=1)
    >>> tree.event
    Pure(epsilon=0.25) * 2 + DiscreteLaplace(sensitivity=1, scale=2, size=8)
    """

    cuts: tuple[tuple[float, ...], ...]
    classes: int
    depth: int
    choice: PermuteAndFlip
    """How each split is chosen."""
    noise: Laplace
    """What is added to the class counts of the leaves."""

    def __init__(
        self,
        *,
        cuts: Sequence[Sequence[Number]],
        classes: int,
        depth: int,
        epsilon: Number,
        share: Number = Fraction(1, 2),
        rows: int = 1,
    ) -> None:
        held = tuple(tuple(float(rational(cut, "cuts")) for cut in places) for places in cuts)
        if not sum(map(len, held)):
            raise ParameterError("cuts", "leave nothing to choose from", "at least one place to cut")
        if any(not isfinite(cut) for places in held for cut in places) or any(
            list(places) != sorted(set(places)) for places in held
        ):
            raise ParameterError("cuts", "do not increase", "increasing numbers for each feature")
        levels = whole(depth, "depth", least=1, most=10)
        kinds = whole(classes, "classes", least=2, most=64)
        many = whole(rows, "rows", least=1, most=2**20)
        loss = rational(epsilon, "epsilon", positive=True)
        part = probability(share, "share", zero=False, one=False)
        self._set(
            cuts=held,
            classes=kinds,
            depth=levels,
            choice=PermuteAndFlip(sensitivity=many, epsilon=part * loss / levels, monotone=True),
            noise=Laplace(sensitivity=many, epsilon=(1 - part) * loss, size=kinds * 2**levels),
        )

    def __repr__(self) -> str:
        places = sum(map(len, self.cuts))
        return f"DecisionTree({places} cuts, depth={self.depth}, epsilon={show(self.guarantee.epsilon)})"

    @property
    def event(self) -> Event:
        """The levels, and the counts of the leaves."""
        level = Pure(epsilon=self.choice.guarantee.epsilon, neighbors=ADD_REMOVE_PERSON)
        return level * self.depth + self.noise.event

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy."""
        loss = self.depth * self.choice.guarantee.epsilon + self.noise.guarantee.epsilon
        return PureDP(epsilon=loss, neighbors=ADD_REMOVE_PERSON)

    @property
    def epsilon(self) -> float:
        """The privacy loss of the whole tree, rounded up to a float."""
        return float_above(self.guarantee.epsilon)

    @property
    def error(self) -> PermuteAndFlipError:
        """How many more rows of its node the best split would get right than the one that is chosen."""
        return self.choice.error

    @property
    def candidates(self) -> tuple[Split, ...]:
        """Every split that may be chosen: features in order, and their cuts."""
        return tuple(
            Split(feature=feature, cut=cut) for feature, places in enumerate(self.cuts) for cut in places
        )

    def release(self, design: ArrayLike, labels: ArrayLike) -> TreeFit:
        """Return a tree for rows of features and their labels.

        What is out of range is brought into it: no number is refused for its size, and no row is dropped.
        """
        sides, target = self._entered(design, labels)
        candidates = self.candidates
        node = np.zeros(len(target), np.int64)
        splits: list[Split] = []
        for level in range(self.depth):
            chosen = np.array(
                [
                    int(self.choice.release(self.scores(sides[node == place], target[node == place])))
                    for place in range(2**level)
                ]
            )
            splits += [candidates[index] for index in chosen]
            node = 2 * node + ~sides[np.arange(len(node)), chosen[node]]
        counts = np.zeros((2**self.depth, self.classes), np.int64)
        np.add.at(counts, (node, target), 1)
        noisy = np.asarray(self.noise.release(counts.ravel())).reshape(counts.shape)
        return TreeFit(splits=tuple(splits), counts=current().mark(noisy))

    def scores(self, sides: NDArray[np.bool_], target: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return, for each split, how many rows of a node the majorities of both sides get right. Private."""
        kinds = np.eye(self.classes, dtype=np.int64)[target]
        left = sides.astype(np.int64).T @ kinds
        return np.asarray(left.max(axis=1) + (kinds.sum(axis=0) - left).max(axis=1))

    def _entered(self, design: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return for each row which splits it is left of, and its class."""
        rows, target = reals(design, "design"), clamped_integers(labels, "labels")
        if rows.ndim != 2 or rows.shape[1] != len(self.cuts):
            raise ParameterError(
                "design", "has another number of features", f"rows of {len(self.cuts)} numbers"
            )
        if target.shape != rows.shape[:1]:
            raise ParameterError("labels", "have another length than the design", "one integer for each row")
        columns = [rows[:, [split.feature]] <= split.cut for split in self.candidates]
        return np.concatenate(columns, axis=1), target.clip(0, self.classes - 1)
