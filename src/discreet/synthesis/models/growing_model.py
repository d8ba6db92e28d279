"""A model that grows: a measured table joins its columns, and the model is fitted again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from discreet.array_types import Floats
from discreet.synthesis.models.junction_tree import ColumnSet, JunctionTree
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.mirror_descent import Potentials, fitted, started
from discreet.synthesis.models.possible_rows import PossibleRows
from discreet.synthesis.models.tree_model import TreeModel

__all__ = ["GrowingModel"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GrowingModel:
    """A fitted model and the measurements that it was fitted to."""

    measured: tuple[MeasuredTable, ...]
    model: TreeModel
    potentials: Potentials
    possible: PossibleRows
    """What declared facts leave: all of the model's rows are among them."""

    @classmethod
    def begun(
        cls, possible: PossibleRows, columns: Sequence[MeasuredTable], total: float, steps: int
    ) -> GrowingModel:
        """Return the model of measured columns: they are independent, but for what is not possible."""
        tree = JunctionTree.spanning(possible.shape, possible.sets)
        model, potentials = fitted(tree, columns, total, started(tree, None, (), possible), steps)
        return cls(measured=tuple(columns), model=model, potentials=potentials, possible=possible)

    def with_measured(self, one: MeasuredTable, steps: int) -> GrowingModel:
        """Return the model of one more table."""
        return self.with_all([one], steps)

    def with_all(self, several: Sequence[MeasuredTable], steps: int) -> GrowingModel:
        """Return the model of several more tables, fitted at once."""
        every = (*self.measured, *several)
        before = self.model.tree
        tree = before
        if not all(self.holds(one.columns) for one in several):
            joined = [*self.possible.sets, *(one.columns for one in every)]
            tree = JunctionTree.spanning(before.shape, joined)
        same = tree is before
        begun = self.potentials if same else started(tree, before, self.potentials, self.possible)
        model, potentials = fitted(tree, every, self.model.total, begun, steps)
        return replace(self, measured=every, model=model, potentials=potentials)

    def holds(self, columns: ColumnSet) -> bool:
        """Return whether some columns are in one clique already."""
        return self.model.tree.clique_of(columns) is not None

    def cells_with(self, columns: ColumnSet) -> int:
        """Return how many numbers a model would hold that some columns are joined in, too."""
        joined = [one.columns for one in self.measured if len(one.columns) > 1]
        return self.possible.cells_with([*joined, columns])

    def tables(self, sets: Iterable[ColumnSet]) -> dict[ColumnSet, Floats]:
        """Return the expected counts of sets of columns, and write out those of no others."""
        asked = list(sets)
        pairs = self.model.pairs(chosen for chosen in asked if len(chosen) == 2)
        return {chosen: pairs[chosen] if chosen in pairs else self.model.table(chosen) for chosen in asked}
