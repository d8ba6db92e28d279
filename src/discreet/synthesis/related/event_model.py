"""A model of events given the person who has them: a forest whose roots are columns of persons. Public.

A person is a row of a model of persons, one column of which is how many events they have. Each of these
events is drawn by itself, column by column, given another column of it or one of its person.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.synthesis.models.folding import JoinedCells
from discreet.synthesis.models.row_model import RowModel
from discreet.synthesis.models.tree_model import drawn_given

__all__ = ["EventModel", "Given", "event_weights"]

_TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Given:
    """How a column of events is drawn.

    Attributes
    ----------
    column : int
        The column.
    parent : int or None
        Given which column, of the person or of the same event; None if given nothing.
    weights : array of floats
        One line for each joined cell of the parent, one entry for each joined cell of the column.
    """

    column: int
    parent: int | None
    weights: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EventModel:
    """Events given persons. Columns of persons are numbered first, those of events after them.

    Attributes
    ----------
    persons : RowModel
        The model of persons.
    number : int
        Which column of a person says how many events they have.
    values : array of floats
        How many events each of its codes stands for, on average.
    folds : tuple of JoinedCells
        How cells of each column are joined, of persons and then of events.
    order : tuple of Given
        How columns of events are drawn, parents before children; each column once.
    """

    persons: RowModel
    number: int
    values: Floats
    folds: tuple[JoinedCells, ...]
    order: tuple[Given, ...] = field(repr=False)

    @property
    def columns(self) -> int:
        """How many columns events have."""
        return len(self.order)

    @property
    def total(self) -> float:
        """How many events all persons have, on average."""
        return float(event_weights(self.persons, (), self.number, self.values))

    def sample(self, persons: Integers, random: np.random.Generator) -> Integers:
        """Return codes of events, one for each line of codes of the person who has it."""
        first = persons.shape[1]
        joined: dict[int, Integers] = {}
        found = np.zeros((len(persons), self.columns), np.int64)
        for one in self.order:
            if one.parent is None:
                given = np.zeros(len(persons), np.int64)
            elif one.parent < first:
                given = self.folds[one.parent].places[persons[:, one.parent]]
            else:
                given = joined[one.parent]
            joined[one.column] = drawn_given(one.weights, given, random)
        for column, codes in joined.items():
            fold = self.folds[column]
            line = np.zeros((fold.cells, len(fold.places)))
            line[fold.places, np.arange(len(fold.places))] = fold.shares
            found[:, column - first] = drawn_given(line, codes, random)
        return found

    def table(self, columns: Sequence[int]) -> Floats:
        """Return the expected number of events in each cell of one column or two, in their order."""
        if len(columns) == 1:
            return self._one(columns[0])
        one, other = columns
        if one > other:
            return self._two(other, one).T
        return self._two(one, other)

    def _one(self, column: int) -> Floats:
        root, down = self._down(column)
        return np.asarray(self._weights(root) @ down)

    def _two(self, one: int, other: int) -> Floats:
        """Return the table of two columns, the first before the second.

        Events are drawn down the forest: given the lowest column that is above both, or is one of them, the
        two are independent. Columns of different trees are independent given those of the person.
        """
        above, beside = self._path(one), self._path(other)
        common = [column for column in above if column in beside]
        if common:
            middle = common[0]
            weights = self._one(middle)
            left, right = self._between(middle, above), self._between(middle, beside)
            return np.asarray((left * weights[:, None]).T @ right)
        roots = (self._down(one), self._down(other))
        wanted = tuple(root for root, _ in roots if root is not None)
        weights = event_weights(self.persons, wanted, self.number, self.values)
        shape = [1 if root is None else len(self.folds[root].places) for root, _ in roots]
        if len(wanted) == 2 and wanted[0] > wanted[1]:
            ordered = event_weights(self.persons, wanted[::-1], self.number, self.values)
            weights = ordered.T
        return np.asarray(roots[0][1].T @ np.reshape(weights, shape) @ roots[1][1])

    def _weights(self, root: int | None) -> Floats:
        wanted = () if root is None else (root,)
        return np.atleast_1d(event_weights(self.persons, wanted, self.number, self.values))

    def _path(self, column: int) -> list[int]:
        """Return a column and all above it, up to one of the person if there is one."""
        parents = self._parents
        found = [column]
        while found[-1] in parents and parents[found[-1]].parent is not None:
            above = parents[found[-1]].parent
            assert above is not None  # noqa: S101
            found.append(above)
        return found

    def _down(self, column: int) -> tuple[int | None, Floats]:
        """Return the column of the person above another, if any, and the law of the latter given it."""
        path = self._path(column)
        top = path[-1]
        below = self._between(top, path)
        if top in self._parents:  # a column of events that is given nothing
            first = self._parents[top].weights
            return None, self._unfolded(top, first / max(first.sum(), _TINY)) @ below
        return top, below

    def _between(self, top: int, path: Sequence[int]) -> Floats:
        """Return the law of the first column of a path given one above it: cells by cells."""
        found = np.eye(len(self.folds[top].places))
        for column in reversed(path[: path.index(top)]):
            one = self._parents[column]
            assert one.parent is not None  # noqa: S101
            sums = one.weights.sum(axis=1, keepdims=True)
            alike = np.full_like(one.weights, 1.0 / one.weights.shape[1])
            shares = np.divide(one.weights, sums, out=alike, where=sums > _TINY)
            found = found @ self._unfolded(column, shares[self.folds[one.parent].places])
        return found

    def _unfolded(self, column: int, lines: Floats) -> Floats:
        fold = self.folds[column]
        return np.asarray(lines[..., fold.places] * fold.shares)

    @property
    def _parents(self) -> Mapping[int, Given]:
        return {one.column: one for one in self.order}


def event_weights(persons: RowModel, columns: Sequence[int], number: int, values: Floats) -> Floats:
    """Return how many events persons with each combination of some columns have, on average, all together.

    Columns increase. It is the sum of n P(x, n) over numbers n of events.
    """
    if number in columns:
        axis = list(columns).index(number)
        shape = [1] * len(columns)
        shape[axis] = len(values)
        return np.asarray(persons.table(columns) * values.reshape(shape))
    return np.asarray(persons.table((*columns, number)) @ values)
