"""Ownership through a foreign key: whose rows are those of a table that names no person itself.

The rows of ``lineitem`` name an order, and the orders name a customer. `through` says so once, and from there
on a row of ``lineitem`` is a row of that customer.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.errors import ParameterError
from discreet.records import Record, dataclass

__all__ = ["Through", "through"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Through(Record):
    """That rows belong to the person of the rows of another table that have the same key.

    Attributes
    ----------
    table : str
        The other table, by the name that the curator knows it by.
    on : tuple of str
        The columns of the key here.
    to : tuple of str
        The columns of the key there, in the same order.
    name : str or None
        What the person column is called here; None for the usual name.
    """

    table: str
    on: tuple[str, ...]
    to: tuple[str, ...]
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.table, str) or not self.table:
            raise ParameterError("table", "is not the name of a table", "text such as 'orders'")
        for name in ("on", "to"):
            _check_columns(getattr(self, name), name)
        if len(self.on) != len(self.to):
            raise ParameterError("to", "has another number of columns than on", "one column for each of on")
        if self.name is not None and (not isinstance(self.name, str) or not self.name):
            raise ParameterError("name", "is not the name of a column", "text such as 'customer'")

    def to_object(self) -> dict[str, object]:
        """Return it as plain JSON values, for ledgers and labels."""
        return {"table": self.table, "on": list(self.on), "to": list(self.to)}

    def __repr__(self) -> str:
        on, to = (names[0] if len(names) == 1 else list(names) for names in (self.on, self.to))
        there = "" if on == to else f", to={to!r}"
        called = "" if self.name is None else f", name={self.name!r}"
        return f"through({self.table!r}, on={on!r}{there}{called})"


def through(
    table: str,
    on: str | Sequence[str],
    to: str | Sequence[str] | None = None,
    *,
    name: str | None = None,
) -> Through:
    """Declare that rows belong to the person of a parent row: ``person=through("orders", on="order_id")``.

    Parameters
    ----------
    table : str
        The private table of the parent rows, by its name in the curator. Its own person may be a column, or
        come through a third table.
    on : name or names
        The column here that holds the key of the parent row; several if the key has several.
    to : name or names, optional
        The same in the other table, where it is called otherwise.
    name : str, optional
        What the person column is called here. By default `on`, if it holds the person itself; else the name
        that the person column has in the other table, after the name of that table where it is taken here.

    Returns
    -------
    Through
        For the `person` of a `Table`.

    Notes
    -----
    Let the persons of a row be those of all parent rows with the same key: none without such a row or with
    NULL in the key, several if the key is that of several persons. A row belongs to a person if that is the
    only one; all other rows belong to nobody and enter no answer. Whether a parent row exists, or two of them
    disagree, is never an error.

    A neighboring database lacks one person: all rows with that person among theirs, in all tables. Keys that
    are unique make these exactly the person's own rows. (Proof: ownership.)

    Examples
    --------
    >>> through("orders", on="l_orderkey", to="o_orderkey")
    through('orders', on='l_orderkey', to='o_orderkey')
    """
    here = _listed(on, "on")
    return Through(table=table, on=here, to=here if to is None else _listed(to, "to"), name=name)


def _listed(names: str | Sequence[str], parameter: str) -> tuple[str, ...]:
    if isinstance(names, str):
        return (names,)
    if not isinstance(names, Sequence):
        raise ParameterError(parameter, "is not a column", "a name, or a list of names")
    return tuple(names)


def _check_columns(names: object, parameter: str) -> None:
    if not isinstance(names, tuple) or not names or not all(isinstance(one, str) and one for one in names):
        raise ParameterError(parameter, "is not a column", "a name, or a list of names")
    if len(set(names)) != len(names):
        raise ParameterError(parameter, "names a column twice", "every column once")
