"""A synthetic table as it was released: what was measured, the model of it, and rows. All of it is public."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.privacy.rational import Number, confidence_level, whole
from discreet.synthesis.columns.column_functions import ColumnFunction
from discreet.synthesis.columns.domain import CodedColumns
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.row_model import RowModel

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = ["SyntheticData", "count_margin", "rows_to_draw"]

_MOST_ROWS = 100_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticData:
    """A synthetic table.

    Attributes
    ----------
    domain : CodedColumns
        Its columns.
    measured : tuple of MeasuredTable
        The noisy tables that were released.
    model : RowModel
        The distribution that was made of them. Rows are drawn from it, and from nothing else.
    method : str
        Which synthesizer measured.
    private : bool
        Whether the noise came from the operating system, not from a replay for tests.
    functions : tuple of ColumnFunction
        Columns that follow from those of the model, in an order in which they can be rebuilt.
    order : tuple of str
        All columns, as they were asked for; empty for those of the model.
    """

    domain: CodedColumns
    measured: tuple[MeasuredTable, ...] = field(repr=False)
    model: RowModel = field(repr=False)
    method: str
    private: bool = True
    functions: tuple[ColumnFunction, ...] = ()
    order: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many rows the measurements say there are."""
        return max(round(self.model.total), 1)

    def codes(self, rows: int | None = None, *, seed: int = 0) -> Integers:
        """Return synthetic rows as codes; the same seed gives the same rows."""
        many = self.total if rows is None else whole(rows, "rows", least=0, most=_MOST_ROWS)
        return self.model.sample(many, np.random.default_rng([seed, 0]))

    def columns(self, rows: int | None = None, *, seed: int = 0) -> dict[str, list[object]]:
        """Return synthetic rows, column by column, in the units of the data."""
        codes = self.codes(rows, seed=seed)
        found = self.domain.decoded(codes, np.random.default_rng([seed, 1]))
        for function in self.functions:
            found[function.name] = function.values(found, codes)
        return {name: found[name] for name in self.order or found}

    def to_pandas(self, rows: int | None = None, *, seed: int = 0) -> pandas.DataFrame:
        """Return synthetic rows as a pandas frame.

        Parameters
        ----------
        rows : int, optional
            How many; by default as many as the measurements say there are.
        seed : int
            The same seed gives the same rows. Rows are drawn from released values, so that any number of them
            costs nothing.
        """
        import pandas

        return pandas.DataFrame(self.columns(rows, seed=seed))

    def to_arrow(self, rows: int | None = None, *, seed: int = 0) -> pyarrow.Table:
        """Return synthetic rows as an Arrow table."""
        import pyarrow

        return pyarrow.table(self.columns(rows, seed=seed))

    def table(self, columns: Sequence[str]) -> Floats:
        """Return the expected counts of some columns under the model, in the order of the table's columns."""
        return self.model.table(self.domain.places(columns))

    def __repr__(self) -> str:
        many = sum(len(one.columns) > 1 for one in self.measured)
        return (
            f"SyntheticData({self.method}: {len(self.domain.columns)} columns, {many} tables of several "
            f"columns measured, about {self.total:,} rows)"
        )


def rows_to_draw(rows: int | None) -> int | None:
    """Return how many rows are wanted, None for as many as were measured; refuse what cannot be drawn."""
    return None if rows is None else whole(rows, "rows", least=1, most=_MOST_ROWS)


def count_margin(one: MeasuredTable | float, confidence: Number) -> int:
    """Return half the width of the interval around each count of a measured table, or of a variance.

    Discrete Gaussian noise of variance v is beyond t with a probability of at most 2 exp(-t^2 / (2 v)).
    """
    variance = float(np.max(one.variance)) if isinstance(one, MeasuredTable) else one
    return ceil(sqrt(2 * variance * log(2 / float(1 - confidence_level(confidence)))))
