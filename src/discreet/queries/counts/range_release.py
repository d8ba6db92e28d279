"""What was released for ranges: any of them is answered from it, with its error, and at no further cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from discreet.curator.release.release import Release
from discreet.curator.release.said import bought, notes, what_was_counted
from discreet.data import Axis, Bounds, GroupKey
from discreet.errors import ParameterError
from discreet.privacy.rational import Number, show
from discreet.queries.counts.cells import edge_words, range_cells, range_words
from discreet.queries.counts.shares import Share, share_of
from discreet.records import dataclass
from discreet.visible import visible
from discreet.workloads import LinearAnswer, Plan, ReleasedCells
from discreet.workloads.inference import Estimate, NonNegative, fit_cells, project

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.figures import Axes, Panels

__all__ = ["RangeRelease", "grids"]

_MOST_FITTED = 1024


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RangeRelease(Release):
    """Noisy counts of all cells of a table, made so that ranges of them have as little error as possible.

    As a `Release` it is a table of its cells, each by its group and its lowest numbers.

    Attributes
    ----------
    axes : tuple of Axis
        The columns and their cells.
    groups : tuple of GroupKey
        What the groups are made of, each of which has its own table.
    design : Plan
        Which strategy was measured, with which error for all ranges, and the error that none is below.
    released : tuple of ReleasedCells
        The estimates of each group, by the numbers of their cells.
    """

    axes: tuple[Axis, ...]
    groups: tuple[GroupKey, ...]
    design: Plan
    released: tuple[ReleasedCells, ...] = field(repr=False)

    def count(
        self, low: Number | None = None, high: Number | None = None, /, **conditions: object
    ) -> LinearAnswer:
        """Return how many rows lie in a range, low <= x < high.

        Parameters
        ----------
        low, high : number, optional
            The ends, if there is one column: a number that is the first of a cell. Without one, the range
            has no end there.
        **conditions
            By name: of a column the ends of its range, as a pair; of a column of groups a key, or a list of
            keys. What is not named is not restricted.

        Examples
        --------
        ``ages.count(20, 40)``, ``ages.count(20, 40, city="Taipei")``, ``map.count(x=(0, 5), y=(2, 3))``.
        """
        row, words = self._row(low, high, conditions)
        chosen = self._groups_of(conditions)
        factor = len(chosen) * max(0.0, self.design.strategy.variance(row))
        mechanism = self.design.mechanism
        return LinearAnswer(
            value=sum(float(row @ group.cells.reshape(-1)) for group in chosen),
            variance=factor * mechanism.error.variance,
            mechanism=mechanism,
            factor=factor,
            about=" and ".join(words) or "all",
            confidence=self.request.confidence,
        )

    def counts(self, edges: Sequence[Number | None], /, **conditions: object) -> list[LinearAnswer]:
        """Return the counts between neighboring edges, such as ``counts([0, 18, 40, 65, None])``."""
        return [self.count(low, high, **conditions) for low, high in pairwise(edges)]

    def share(self, low: Number | None = None, high: Number | None = None, /, **conditions: object) -> Share:
        """Return which share of the rows lies in a range. Parameters as for `count`.

        It is the share of all rows of the groups that are named, or of all groups.
        """
        row, words = self._row(low, high, conditions)
        chosen = self._groups_of(conditions)
        cells = np.sum([group.cells.reshape(-1) for group in chosen], axis=0)
        return share_of(
            row,
            cells,
            self.design,
            len(chosen),
            about=" and ".join(words) or "all",
            confidence=self.request.confidence,
        )

    def nonnegative_cells(self) -> tuple[Estimate, ...]:
        """Return, for each group, the cells that fit the measurements best among those without negative ones.

        Such cells are possible as data and never farther from the truth in the norm of the fit, but they are
        biased upward where counts are small. Public arithmetic: it costs nothing.
        """
        strategy = self.design.strategy
        if strategy.size > _MOST_FITTED:
            return tuple(project(group.cells.reshape(-1), NonNegative()) for group in self.released)
        matrix = strategy.matrix().astype(np.float64)
        return tuple(fit_cells(matrix, group.measured, NonNegative()) for group in self.released)

    def plot(self, output: str | None = None, ax: Panels | None = None, label: str | None = None) -> Axes:
        """Draw the cells of every group with their intervals: of one column as a line, of two as a map."""
        from discreet.queries.counts.plot import plot_cells

        del output
        return plot_cells(self, ax, label)

    def __str__(self) -> str:
        described = [visible(line) for line in self._described()]
        return "\n".join([*described, *what_was_counted(self), *bought(self.label), *notes(self)])

    __repr__ = __str__

    def _described(self) -> Iterator[str]:
        names = " by ".join(f"{axis.column} ({axis.cells:,} cells)" for axis in self.axes)
        error = self.design.expected_error
        yield f"ranges of {names}{self._in_groups}: count(…) answers any, at no further cost"
        yield f"{replace(self.count(), about='total')}{grids(self.axes)}"
        yield (
            f"root mean square error over all {error.queries:,} {error.rmse:.6g}, by {self.design.name}; "
            f"with this noise none is below {self.design.lower_bound:.6g}"
        )

    def _row(
        self, low: Number | None, high: Number | None, conditions: dict[str, object]
    ) -> tuple[NDArray[np.float64], list[str]]:
        """Return the coefficients of a query over the cells, and what it asks in words."""
        ends = self._ends(low, high, conditions)
        row = np.zeros([axis.cells for axis in self.axes])
        places = [range_cells(axis, *ends.get(axis.column, (None, None))) for axis in self.axes]
        row[tuple(slice(first, after) for first, after in places)] = 1.0
        words = [range_words(axis, *ends[axis.column]) for axis in self.axes if axis.column in ends]
        return row.reshape(-1), [word for word in (*words, *self._named(conditions)) if word]

    def _named(self, conditions: dict[str, object]) -> list[str]:
        """Say which groups are meant."""
        names = [key.column for key in self.groups if key.column in conditions]
        return [f"{name} = {conditions[name]}" for name in names]

    @property
    def _in_groups(self) -> str:
        return f", in each of {len(self.released):,} groups" if self.groups else ""

    def _ends(
        self, low: Number | None, high: Number | None, conditions: dict[str, object]
    ) -> dict[str, tuple[Number | None, Number | None]]:
        columns = {axis.column for axis in self.axes}
        ends: dict[str, tuple[Number | None, Number | None]] = {}
        if low is not None or high is not None:
            if len(self.axes) != 1 or self.axes[0].column in conditions:
                raise ParameterError(
                    "range", "does not say which column it is for", "ranges by name, such as age=(20, 40)"
                )
            ends[self.axes[0].column] = (low, high)
        for name in columns & set(conditions):
            pair = conditions[name]
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ParameterError(name, "is not a range", "a pair (low, high): low <= x < high")
            ends[name] = (pair[0], pair[1])
        return ends

    def _groups_of(self, conditions: dict[str, object]) -> list[ReleasedCells]:
        """Return the tables of the groups that conditions name."""
        names = [*(axis.column for axis in self.axes), *(key.column for key in self.groups)]
        for name in conditions:
            if name not in names:
                raise ParameterError(name, "is not a column of this answer", ", ".join(names))
        wanted = []
        for key in self.groups:
            given = conditions.get(key.column, key.values.values)
            listed = tuple(given) if isinstance(given, list | tuple | set | frozenset) else (given,)
            if not listed or not set(listed) <= set(key.values.values):
                allowed = f"one of {list(key.values.values[:10])!r}, or several of them"
                raise ParameterError(key.column, "does not name a group of this answer", allowed)
            wanted.append(set(listed))
        groups = product(*(key.values.values for key in self.groups))
        return [
            released
            for group, released in zip(groups, self.released, strict=True)
            if all(value in chosen for value, chosen in zip(group, wanted, strict=True))
        ]


def grids(axes: Sequence[Axis]) -> str:
    """Say to which numbers values were rounded, and where cells of several begin."""
    said = []
    for axis in axes:
        if isinstance(axis.values, Bounds):
            edges = edge_words(axis)
            said.append(f"{axis.column} rounded to {show(axis.values.step)}{edges and f' in {edges}'}")
    return "".join(f", {words}" for words in said)
