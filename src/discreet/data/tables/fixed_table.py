"""Tables of a public number of rows, of which one may have other values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from discreet.data.language.declarations import EACH_ROW, Bounds, Declared, Keys
from discreet.data.language.serialization import JSON
from discreet.data.tables.broken_rows import BrokenRows, broken_fixed
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.neighbors import REPLACE_ROW, Neighbors
from discreet.privacy.rational import whole

__all__ = ["LARGEST_ROWS", "FixedTable"]

LARGEST_ROWS = 10**8
"""The most rows: all of them are held in memory."""


class FixedTable(RelatedTable):
    """A table of which everybody may know how many rows it has; what is in them is private.

    Guarantee
    ---------
    What is protected are the values of one row: it is replaced. Before anything is computed the table is
    brought to the declared number of rows: what is missing is filled up with rows of which nothing is known,
    and of too many rows those are kept that come first in the order of their values. A wrong number
    therefore spoils answers, not the guarantee, which then holds for adding or removing a row, too (proof:
    docs/proofs/other_relations.md, lemma 2).

    Parameters
    ----------
    source : path, frame, address or Ibis table
        As for `Table`.
    rows : int
        The public number of rows. It must not be computed from the rows, unless everybody may know it.
    columns : mapping of names to Bounds or Keys
        What may be asked about: numbers and keys. A number of which nothing is known (NULL, NaN, unless
        `Bounds` has a rule for it) counts as the lower bound; a key that was not declared is in no cell.
    version : str
        The version of the data, as for `Table`.

    Examples
    --------
    >>> import pandas as pd
    >>> from discreet.data import Bounds, FixedTable
    >>> FixedTable(pd.DataFrame({"age": [31, 45, 62]}), rows=3, columns={"age": Bounds(0, 110)})
    FixedTable(rows=3, columns={'age': Bounds(0, 110, step=1)}, version='1')
    """

    __slots__ = ("rows",)

    relation: ClassVar[Neighbors] = REPLACE_ROW
    named: ClassVar[str] = "replace-one"
    unit: ClassVar[str] = "the values of one row"

    rows: int

    def __init__(
        self, source: object, *, rows: int, columns: Mapping[str, Declared], version: str = "1"
    ) -> None:
        self.rows = whole(rows, "rows", least=1, most=LARGEST_ROWS)
        super().__init__(source, person=EACH_ROW, columns=columns, version=version)
        if not self.columns or not all(isinstance(one, Bounds | Keys) for one in self.columns.values()):
            raise ParameterError(
                "columns", "are missing, or declare something else", "Bounds(…) or Keys([…]) for each column"
            )

    @property
    def shape(self) -> dict[str, JSON]:
        """The number of rows."""
        return {"rows": self.rows}

    def broken(self) -> BrokenRows:
        """Return how many rows are too many or missing. For the owner alone, and not protected."""
        return broken_fixed(self)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name!r}: {declared!r}" for name, declared in self.columns.items())
        return f"FixedTable(rows={self.rows}, columns={{{columns}}}, version={self.version!r})"
