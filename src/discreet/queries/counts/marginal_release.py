"""What was released for marginals: any count within one of them is answered, at no further cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from discreet.curator.release.release import Release
from discreet.curator.release.said import bought, notes, what_was_counted
from discreet.data import Axis, Bounds
from discreet.errors import ParameterError
from discreet.queries.counts.cells import key_cell, labels, range_cells, range_words
from discreet.queries.counts.range_release import grids
from discreet.records import dataclass
from discreet.visible import visible
from discreet.workloads import LinearAnswer, MarginalPlan, ReleasedMarginals
from discreet.workloads.error.intervals import half_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.figures import Axes, Panels

__all__ = ["MarginalRelease"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MarginalRelease(Release):
    """Noisy tables of counts that agree with each other on what they share.

    As a `Release` it is a list of all cells of all tables, with None in the columns that a table does not
    have.

    Attributes
    ----------
    axes : tuple of Axis
        The columns and their cells.
    design : MarginalPlan
        What was measured, with which error, and the error that no strategy is below.
    released : ReleasedMarginals
        The estimates, by the places of the columns.
    """

    axes: tuple[Axis, ...]
    design: MarginalPlan
    released: ReleasedMarginals = field(repr=False)

    def count(self, **conditions: object) -> LinearAnswer:
        """Return how many rows meet conditions on columns that were asked for together.

        Parameters
        ----------
        **conditions
            Of a column of keys a key, or a list of keys; of one of numbers a pair (low, high), for
            low <= x < high.
        """
        for name in conditions:
            self.axis(name)
        chosen = self._holder({place for place, axis in enumerate(self.axes) if axis.column in conditions})
        query, words = np.ones(()), list[str]()
        for place in chosen:
            axis = self.axes[place]
            row, said = _row(axis, conditions)
            query, words = np.multiply.outer(query, row), [*words, said]
        factor = self.released.basis.variance(chosen, query)
        return LinearAnswer(
            value=float((query * self.released.tables[chosen]).sum()),
            variance=factor * self.released.mechanism.error.variance,
            mechanism=self.released.mechanism,
            factor=factor,
            about=" and ".join(word for word in words if word) or "all",
            confidence=self.request.confidence,
        )

    def cells(self, *columns: str) -> tuple[NDArray[np.float64], float]:
        """Return the table of some columns, in their order, and the margin of each of its cells."""
        places = [self.axes.index(self.axis(column)) for column in columns]
        if not places or len(set(places)) != len(places):
            raise ParameterError("columns", "are empty, or repeat a column", f"columns of {self._sets()}")
        holder = self._holder(set(places))
        others = tuple(axis for axis, place in enumerate(holder) if place not in places)
        table = self.released.tables[holder].sum(axis=others)
        first = np.zeros([self.axes[place].cells for place in holder])
        first[tuple(slice(None) if axis in others else 0 for axis in range(len(holder)))] = 1.0
        factor = self.released.basis.variance(holder, first)
        margin = half_width(self.released.mechanism, factor, self.request.confidence)
        kept = [place for place in holder if place in places]
        return np.transpose(table, [kept.index(place) for place in places]), margin

    def table(self, *columns: str) -> Release:
        """Return the table of some columns as an answer by itself: columns, counts and intervals."""
        cells, margin = self.cells(*columns)
        groups = list(product(*(labels(self.axis(column)) for column in columns)))
        values = cells.reshape(-1)
        return Release(
            request=self.request,
            keys={column: [group[place] for group in groups] for place, column in enumerate(columns)},
            outputs=(replace(self.outputs[0], values=values, lower=values - margin, upper=values + margin),),
            label=self.label,
            stored=self.stored,
        )

    def axis(self, column: str) -> Axis:
        """Return a column's cells."""
        for axis in self.axes:
            if axis.column == column:
                return axis
        names = ", ".join(axis.column for axis in self.axes)
        raise ParameterError(column, "is not a column of this answer", f"one of {names}")

    def plot(self, output: str | None = None, ax: Panels | None = None, label: str | None = None) -> Axes:
        """Draw the marginal of a column, or of two, named as "city" or "city, age"; by default the first."""
        from discreet.queries.counts.plot import plot_marginal

        first = [self.axes[place].column for place in self.design.workload.sets[0]]
        columns = first if output is None else [name.strip() for name in output.split(",")]
        return plot_marginal(self, tuple(columns), ax, label)

    def __str__(self) -> str:
        described = [visible(line) for line in self._described()]
        return "\n".join([*described, *what_was_counted(self), *bought(self.label), *notes(self)])

    __repr__ = __str__

    def _described(self) -> Iterator[str]:
        error = self.design.expected_error
        many = len(self.design.workload.sets)
        tables = "1 table" if many == 1 else f"{many:,} tables"
        yield f"{tables} of counts: {self._sets()}; count(…) answers within any, at no further cost"
        yield f"{replace(self.count(), about='total')}{grids(self.axes)}"
        yield (
            f"root mean square error over all {error.queries:,} cells {error.rmse:.6g}, by "
            f"{self.design.name}; with this noise none is below {self.design.lower_bound:.6g}"
        )

    def _holder(self, places: set[int]) -> tuple[int, ...]:
        """Return the smallest table that holds some columns."""
        sets = [chosen for chosen in self.released.tables if places <= set(chosen)]
        if not sets:
            raise ParameterError(
                "columns", "were not asked for together in one table", f"columns of {self._sets()}"
            )
        return min(sets, key=self.design.workload.cells)

    def _sets(self) -> str:
        sets = self.design.workload.sets
        shown = ["(" + ", ".join(self.axes[place].column for place in one) + ")" for one in sets[:6]]
        return ", ".join(shown) + (f" and {len(sets) - 6:,} more" if len(sets) > 6 else "")


def _row(axis: Axis, conditions: dict[str, object]) -> tuple[NDArray[np.float64], str]:
    """Return which cells of an axis meet a condition, and the condition in words."""
    row = np.ones(axis.cells)
    if axis.column not in conditions:
        return row, ""
    wanted, row = conditions[axis.column], np.zeros(axis.cells)
    if isinstance(axis.values, Bounds):
        if not isinstance(wanted, tuple | list) or len(wanted) != 2:
            raise ParameterError(axis.column, "is not a range", "a pair (low, high): low <= x < high")
        first, after = range_cells(axis, *wanted)
        row[first:after] = 1.0
        return row, range_words(axis, *wanted)
    listed = list(wanted) if isinstance(wanted, list | tuple | set | frozenset) else [wanted]
    row[[key_cell(axis, value) for value in listed]] = 1.0
    return row, f"{axis.column} = {' or '.join(map(str, listed))}"
