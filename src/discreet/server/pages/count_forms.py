"""What a browser sends for many counts at once: columns, widths of cells, and which count is read."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any

from discreet.records import dataclass
from discreet.server.catalogue import ServiceRefusal
from discreet.server.pages.declared_tables import typed_name
from discreet.server.pages.forms import stated_numbers

__all__ = [
    "MOST_AXES",
    "CountAxis",
    "axes_of",
    "chosen_condition",
    "count_body",
    "count_fields",
    "edge_of",
    "listed_names",
]

MOST_AXES = 8
"""Of how many columns a count can be read."""

_TERMS = ("epsilon", "delta", "confidence")
_MOST_CHOICES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class CountAxis:
    """A column of an answer to many counts, and its cells.

    Attributes
    ----------
    column : str
        Its name.
    is_number : bool
        Whether its cells are ranges of numbers, each named by its lowest; else they are keys.
    cells : tuple
        The names of the cells, as the answer has them, in its order.
    """

    column: str
    is_number: bool
    cells: tuple[Any, ...]

    @property
    def choices(self) -> list[tuple[int, str]]:
        """The cells that a form offers, by their places: not all, if they are many numbers."""
        step = -(-len(self.cells) // _MOST_CHOICES) if self.is_number else 1
        places = range(step if self.is_number else 0, len(self.cells), step)[:_MOST_CHOICES]
        return [(place, "no value" if (one := self.cells[place]) is None else str(one)) for place in places]

    def name_of(self, cell: Any) -> str:
        """Return a cell in words: a key, or from where to where its numbers go."""
        if not self.is_number:
            return "no value" if cell is None else str(cell)
        after = self.cells.index(cell) + 1
        return f"{cell} up to {self.cells[after]}" if after < len(self.cells) else f"{cell} and up"


def count_body(fields: Mapping[str, str]) -> dict[str, Any]:
    """Return what is sent to ``/v1/preview`` and ``/v1/ask`` for the fields of the form."""
    question: dict[str, Any] = {
        "kind": fields["kind"],
        "table": fields["table"].strip(),
        "columns": listed_names(fields["columns"]),
    }
    if "=" in (width := fields["width"].strip()):
        question["width"] = stated_numbers(width, "widths are written as: 10, or age=10, cost=500")
    elif width:
        question["width"] = width
    if by := listed_names(fields["by"]):
        question["by"] = by
    return {"question": question, **{one: fields[one].strip() for one in _TERMS if fields[one].strip()}}


def count_fields(body: Mapping[str, Any]) -> dict[str, str]:
    """Return the fields of the form that send a body."""
    question, stated = body["question"], {name: str(body.get(name, "")) for name in _TERMS}
    width = question.get("width", "")
    if isinstance(width, Mapping):
        width = ", ".join(f"{name}={one}" for name, one in width.items())
    lists = {name: ", ".join(map(typed_name, question.get(name, []))) for name in ("columns", "by")}
    return {**stated, **lists, "kind": question["kind"], "table": question["table"], "width": str(width)}


def listed_names(text: str) -> list[str]:
    """Return the names of a list; one that holds a comma stands in quotation marks.

    Examples
    --------
    >>> listed_names('age, "cost, in dollars"')
    ['age', 'cost, in dollars']
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True))
    except csv.Error:
        raise ServiceRefusal("malformed", "columns are written as: age, city") from None
    return [name.strip() for row in rows for name in row if name.strip()]


def axes_of(question: Mapping[str, Any], content: Mapping[str, Any]) -> list[CountAxis]:
    """Return the columns of an answer to many counts: what they are is declared, their cells are answered."""
    declared = content["label"]["tables"][question["table"]].get("columns", {})  # or a hash, if it is long
    ranged = () if question["kind"] == "marginals" else question["columns"]
    return [
        CountAxis(
            column=name,
            is_number=name in ranged or declared.get(name, {}).get("node") == "bounds",
            cells=_cells([row[name] for row in content["rows"]], is_gap=question["kind"] == "marginals"),
        )
        for name in (*question["columns"], *question.get("by", ()))
    ]


def chosen_condition(axes: Sequence[CountAxis], fields: Mapping[str, str]) -> dict[str, object]:
    """Return which count is read: cells are chosen by their places."""
    found: dict[str, object] = {}
    for place, axis in enumerate(axes[:MOST_AXES]):
        low, high = (_chosen(axis, fields[f"{end}{place}"]) for end in ("from", "to"))
        if axis.is_number and (low or high):
            found[axis.column] = [edge_of(*low), edge_of(*high)]
        elif low:
            found[axis.column] = low[0]
    return found


def edge_of(cell: Any = None) -> object:
    """Return where a cell begins as it is sent: digits as they are shown, not the nearest binary number."""
    return str(cell) if isinstance(cell, float) else cell


def _cells(values: Sequence[Any], *, is_gap: bool) -> tuple[Any, ...]:
    """Return all values once; a table of marginals has gaps for the columns of other tables."""
    return tuple(dict.fromkeys(one for one in values if not (is_gap and one is None)))


def _chosen(axis: CountAxis, text: str) -> tuple[Any, ...]:
    if not text:
        return ()
    if not (text.isascii() and text.isdigit() and len(text) < 9 and int(text) < len(axis.cells)):
        raise ServiceRefusal("malformed")
    return (axis.cells[int(text)],)
