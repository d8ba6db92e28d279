"""Whether declarations of a table make sense, before its source is opened."""

from __future__ import annotations

from collections.abc import Mapping

from discreet.data.language.declarations import EACH_ROW, Bounds, Dates, Declared, Keys, Limits
from discreet.data.language.ownership import Through
from discreet.data.language.types import Type
from discreet.errors import ParameterError

__all__ = ["checked_declarations"]


def checked_declarations(
    person: object, limits: Limits | None, columns: Mapping[str, Declared] | None, *, prepare: bool
) -> dict[str, Declared]:
    """Return what is declared about columns; refuse declarations that are none, or contradict each other."""
    declared = _checked_columns(columns)
    _check_person(person, limits)
    _check_prepare(prepare, limits)
    return declared


def _checked_columns(columns: Mapping[str, Declared] | None) -> dict[str, Declared]:
    if columns is None:
        return {}
    if not isinstance(columns, Mapping):
        raise ParameterError(
            "columns", "is not a mapping", "a dict from names to Bounds, Keys, Dates or Type"
        )
    for name, declared in columns.items():
        if not isinstance(name, str):
            raise ParameterError("columns", "has a name that is not text", "names of columns")
        if not isinstance(declared, Bounds | Keys | Dates | Type) or declared in {
            Type.NULL,
            Type.OTHER,
            Type.DECIMAL,
        }:
            raise ParameterError(
                "columns", f"declares something else of {name!r}", "Bounds(…), Keys([…]), Dates(…) or a Type"
            )
    return dict(columns)


def _check_person(person: object, limits: Limits | None) -> None:
    if person is not EACH_ROW and (not isinstance(person, str | Through) or not person):
        raise ParameterError(
            "person", "is not a column name", "a name, EACH_ROW if a row is a person, or through(…)"
        )
    if person is EACH_ROW and limits is not None:
        raise ParameterError("limits", "are given, but each row is a person", "none with EACH_ROW")
    if person is not EACH_ROW and not isinstance(limits, Limits):
        problem = "are required with a person" if limits is None else "are of another type"
        raise ParameterError("limits", problem, "Limits(rows=…) or Limits(groups=…, rows_per_group=…)")


def _check_prepare(prepare: bool, limits: Limits | None) -> None:
    if not isinstance(prepare, bool):
        raise ParameterError("prepare", "is neither True nor False", "True or False")
    if prepare and not isinstance(limits, Limits):
        raise ParameterError(
            "prepare", "needs a limit on what a person contributes", "a person and limits=Limits(rows=…)"
        )
    if prepare and isinstance(limits, Limits) and limits.is_bought:
        raise ParameterError(
            "prepare", "draws rows before a question could buy their number", "a number, as Limits(rows=10)"
        )
