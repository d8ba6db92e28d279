"""Facts about rows as they are typed in a shell."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from discreet.data.language.declarations import Declared
from discreet.data.tables.row_facts import Determined, Impossible, RowFact
from discreet.errors import ParameterError
from discreet.front.declaring.typed_values import mapping_in_file, typed_value

__all__ = ["stated_facts"]

_PART = re.compile(r"\s*(?P<column>[^<>=,|]+?)\s*(?P<sign><|>=|=)\s*(?P<value>[^,<>=]*?)\s*")
_SAY = "as in 'age<15, married=yes|widowed'; a comma is for and, a bar for or"


def stated_facts(
    impossible: Sequence[str], determined: Sequence[str], columns: Mapping[str, Declared]
) -> tuple[RowFact, ...]:
    """Return the facts that were typed, with values of the types that columns are declared to have."""
    return (
        *(_impossible(text, columns) for text in impossible),
        *(_determined(text, columns) for text in determined),
    )


def _impossible(text: str, columns: Mapping[str, Declared]) -> Impossible:
    """Return what is impossible: parts between commas, each a column with values or one end of a range."""
    values: dict[str, object] = {}
    for typed in text.split(","):
        part = _PART.fullmatch(typed)
        if part is None:
            raise ParameterError("impossible", "is not understood", _SAY)
        column, sign, stated = part["column"], part["sign"], part["value"]
        known = [typed_value(one.strip(), columns.get(column)) for one in stated.split("|")]
        low, high = _ends(values.pop(column)) if column in values else (None, None)
        if sign == "=":
            if (low, high) != (None, None):
                raise ParameterError("impossible", "states a column twice", _SAY)
            values[column] = known
            continue
        if len(known) != 1 or known[0] is None or (high if sign == "<" else low) is not None:
            raise ParameterError("impossible", "has a range with no end, or with two", _SAY)
        values[column] = (low, known[0]) if sign == "<" else (known[0], high)
    return Impossible(values)


def _ends(before: object) -> tuple[object, object]:
    if not isinstance(before, tuple):
        raise ParameterError("impossible", "states a column twice", _SAY)
    return before


def _determined(text: str, columns: Mapping[str, Declared]) -> Determined:
    """Return a column that follows from another: ``city=zip``, or ``city=zip:cities.csv``."""
    column, equals, rest = text.partition("=")
    by, colon, file = rest.partition(":")
    if not equals or not column or not by or (colon and not file):
        raise ParameterError("determined", "is not understood", "as in city=zip, or city=zip:cities.csv")
    mapping = {**mapping_in_file(Path(file), column, by, columns)} if colon else None
    return Determined(column, by=by, mapping=mapping)
