"""Public rows inside a plan: what a subquery over public tables alone gives.

A plan that holds them needs nothing else to be computed again, and its identity is that of the rows.
"""

from __future__ import annotations

from discreet.data.language.expressions import Literal
from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery
from discreet.records import Record, dataclass

__all__ = ["LARGEST_PUBLIC_ROWS", "PublicColumn", "PublicRows"]

LARGEST_PUBLIC_ROWS = 5_000
"""How many rows a plan may hold: it is written to the ledger with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicColumn(Record):
    """A column of public rows."""

    name: str
    type: Type

    def __post_init__(self) -> None:
        self._amend(type=Type(self.type))
        _check(isinstance(self.name, str) and bool(self.name))


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PublicRows:
    """Rows of constants, in columns of one type each; NULL is in any.

    Attributes
    ----------
    columns : tuple of PublicColumn
        At least one, of distinct names.
    rows : tuple of tuple of Literal
        One literal for each column, in an order that does not matter.
    """

    columns: tuple[PublicColumn, ...]
    rows: tuple[tuple[Literal, ...], ...]

    def __post_init__(self) -> None:
        names = {column.name.lower() for column in self.columns}
        _check(bool(self.columns) and len(names) == len(self.columns))
        _check(len(self.rows) <= LARGEST_PUBLIC_ROWS)
        for row in self.rows:
            _check(isinstance(row, tuple) and len(row) == len(self.columns))
            _check(all(isinstance(value, Literal) for value in row))

    def __repr__(self) -> str:
        return f"PublicRows({len(self.rows)} rows; {', '.join(column.name for column in self.columns)})"


def _check(good: bool) -> None:
    if not good:
        raise UnsupportedQuery("a part of the plan has the wrong type; build it from its parts")
