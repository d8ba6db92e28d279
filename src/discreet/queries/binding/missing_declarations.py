"""The refusals of an aggregate or a key that needs a missing declaration."""

from __future__ import annotations

from collections.abc import Collection

from discreet.data import Bounds, Dates, Keys
from discreet.data.language.column_facts import Columns
from discreet.data.language.types import Type
from discreet.errors import UndeclaredColumn

__all__ = ["NotDeclared", "missing_bounds", "missing_keys"]

_MOMENTS = {Type.DATE, Type.TIMESTAMP, Type.INSTANT}


class NotDeclared(UndeclaredColumn):
    """A column needs keys or bounds that its owner never declared.

    Parameters
    ----------
    problem : str
        What is wrong, up to the words before what has to be declared.
    table, column : str
        Where it is needed.
    needs : Keys or Bounds
        The kind of declaration. The message spells it in Python; a shell spells it in TOML.
    """

    def __init__(self, problem: str, table: str, column: str, needs: type[Keys] | type[Bounds]) -> None:
        super().__init__(problem, table, column, needs)
        self.problem = problem
        self.table = table
        self.column = column
        self.needs = needs

    def __str__(self) -> str:
        inside = "[...]" if self.needs is Keys else "lower, upper, step=..."
        return f"{self.problem} columns={{{self.column!r}: {self.needs.__name__}({inside})}}"


def missing_keys(
    name: str, columns: Columns, persons: Collection[str], table: str | None, *, aggregate: str = ""
) -> UndeclaredColumn:
    """Return the refusal of a column without keys that is grouped by, or that an aggregate chooses from.

    Parameters
    ----------
    name : str
        The column.
    columns : Columns
        All that there are.
    persons : collection of str
        The person columns.
    table : str or None
        The private table that the column is one of; None if it is calculated.
    aggregate : str
        The aggregate that needs the keys, if it is not GROUP BY.
    """
    others = _known("keys", columns)
    if name in persons and not aggregate:
        return UndeclaredColumn(
            f"{name!r} is the person column: each group would be one person, and groups of one person cannot "
            f"be private; {f'group by {others}, or ' if others else ''}ask without GROUP BY {name}"
        )
    if aggregate:
        problem = f"the {aggregate} of {name!r} needs keys, which were never declared; "
        problem += f"take that of {others}, or " if others else ""
    else:
        problem = f"{name!r} is grouped by, but its keys were never declared; "
        problem += f"group by {others}, " if others else ""
        problem += (
            "offer epsilon or rho, with delta, to have them chosen privately, list them (in SQL with WHERE "
            f"{name} IN (...), else with_keys(...)), "
        )
        problem += "use it in a condition only, or " if table else "or "
    if table is None and columns[name].type is Type.INTEGER and columns[name].least is not None:
        return UndeclaredColumn(f"{problem}bound it, as in LEAST({name}, 20)")
    if table is None:
        return UndeclaredColumn(f"{problem}calculate it so that its values follow, as with CASE")
    return NotDeclared(f"{problem}have its owner declare", table, name, Keys)


def missing_bounds(
    name: str, function: str, columns: Columns, persons: Collection[str], table: str | None
) -> UndeclaredColumn:
    """Return the refusal of an aggregate of a column without bounds. Parameters as above."""
    others = _known("bounds", columns)
    if name in persons:
        return UndeclaredColumn(
            f"the {function} of {name!r} needs bounds, which the person column cannot "
            f"have; {f'take that of {others}' if others else 'ask for COUNT(*)'}"
        )
    if columns[name].type is Type.TEXT:
        quoted = name.replace('"', '""')
        problem = f"the {function} of {name!r} needs bounds, and it is text, which has none; "
        problem += f"take that of {others}, {'or ' if table is None else ''}" if others else ""
        problem += f'read it as numbers, as in CLIP(CAST("{quoted}" AS FLOAT), 0, 100)'
        if table is None:
            return UndeclaredColumn(problem)
        return NotDeclared(f"{problem}, or have its owner declare", table, name, Bounds)
    if columns[name].type in _MOMENTS:
        return _of_days(name, function, columns[name].dates, table)
    problem = f"the {function} of {name!r} needs bounds, which were never declared; "
    problem += f"take that of {others}, {'or ' if table is None else ''}" if others else ""
    if table is None:
        known = columns[name]
        if known.least is not None:
            return UndeclaredColumn(f"{problem}bound it, as in CLIP(x, 0, 100)")
        if known.most is not None:
            return UndeclaredColumn(f"{problem}bound it from below, too, as in CLIP(x, 0, 100)")
        return UndeclaredColumn(f"{problem}bound it, as in CLIP(x, 0, 100)")
    return NotDeclared(f"{problem}buy them with bounds=AUTO, or have its owner declare", table, name, Bounds)


def _of_days(name: str, function: str, days: Dates | None, table: str | None) -> UndeclaredColumn:
    """Return the refusal of an aggregate of days, which is taken of their number since the first one."""
    quoted = name if name.isidentifier() else '"' + name.replace('"', '""') + '"'
    problem = f"the {function} of {name!r} is not answered as a date; "
    first = "1970-01-01" if days is None else days.first.isoformat()
    problem += f"take that of DATEDIFF('day', DATE '{first}', {quoted})"
    if days is not None:
        return UndeclaredColumn(f"{problem}, the days since the first that is declared")
    if table is None:
        return UndeclaredColumn(f"{problem}, bounded as in CLIP(x, 0, 100)")
    return UndeclaredColumn(f"{problem}, and have its owner declare columns={{{name!r}: Dates(first, last)}}")


def _known(kind: str, columns: Columns) -> str:
    """Name the columns for which something is known; empty if there are none."""
    names = [repr(name) for name, facts in columns.items() if getattr(facts, kind) is not None]
    return " or ".join(names[:10])
