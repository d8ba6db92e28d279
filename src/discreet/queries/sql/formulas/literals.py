"""Literals of SQL, exactly as they were typed.

=============================================  ==============================================
written as                                     means
=============================================  ==============================================
``40``, ``007``                                the integer
``0.1``, ``.5``, ``1e3``                       the exact decimal, never a binary float
``-5``, ``2 * 3``, ``1/3``                     exact too: constants are calculated in fractions
``'it''s'``                                    text; a backslash is a backslash
``TRUE``, ``FALSE``                            truth
``DATE '2026-01-31'``                          a date
``TIMESTAMP '2026-01-31 12:30:00.5'``          a date and time without a zone, to the microsecond
``TIMESTAMPTZ '2026-01-31 12:30:00+01:00'``    a point in time; the zone must be given
=============================================  ==============================================

Refusals never hold what was typed.
"""

from __future__ import annotations

import datetime
import re
from fractions import Fraction

from sqlglot import exp

from discreet.data import literal
from discreet.data.language.expressions import Literal
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.rational import rational
from discreet.queries.sql.syntax.refusals import check_parts, refused

__all__ = ["date_of", "is_literal", "literal_of", "moment_of", "number_of"]

_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,9})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?))?"
    r" ?(Z|[+-][0-9]{2}(?::?[0-9]{2})?)?"
)
_MOMENTS = {exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPNTZ, exp.DataType.Type.DATETIME}


def is_literal(node: exp.Expression) -> bool:
    """Return whether a node states a constant by itself."""
    if isinstance(node, exp.Cast):
        return type(node) is exp.Cast and _is_text(node.this) and not node.to.expressions
    return isinstance(node, exp.Literal | exp.Boolean | exp.Null)


def literal_of(node: exp.Expression) -> Literal:
    """Return the constant that a node states."""
    if isinstance(node, exp.Null):
        return literal(None)
    if isinstance(node, exp.Boolean):
        return literal(bool(node.this))
    if isinstance(node, exp.Cast):
        return _typed(node)
    if _is_text(node):
        return literal(str(node.this))
    return _number(str(node.this))


def _is_text(node: exp.Expression) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)


def number_of(text: str) -> Fraction | None:
    """Return the number that a text states, with a sign or without one."""
    sign, digits = (-1, text[1:]) if text[:1] == "-" else (1, text.removeprefix("+"))
    if _NUMBER.fullmatch(digits):
        try:
            return sign * rational(digits, "a number")
        except ParameterError:
            pass
    return None


def _number(text: str) -> Literal:
    found = number_of(text)
    if found is not None:
        return literal(found)
    raise UnsupportedQuery("a number has too many digits or no value; write it like 40, 0.5 or 1e3")


def _typed(node: exp.Cast) -> Literal:
    check_parts(node, "this", "to")
    text, kind = str(node.this.this), node.to.this
    value: datetime.date | None = None
    if kind is exp.DataType.Type.DATE:
        value = date_of(text)
        wanted = "DATE '2026-01-31'"
    elif kind in _MOMENTS:
        value = moment_of(text, zoned=False)
        wanted = "TIMESTAMP '2026-01-31 12:30:00'"
    elif kind is exp.DataType.Type.TIMESTAMPTZ:
        value = moment_of(text, zoned=True)
        wanted = "TIMESTAMPTZ '2026-01-31 12:30:00+01:00', with a zone"
    else:
        raise refused("CAST of a text to this type", "write the value itself, such as 40, TRUE or 'a'")
    if value is None:
        raise UnsupportedQuery(f"a date or time does not exist in the calendar; write it like {wanted}")
    return literal(value)


def date_of(text: str) -> datetime.date | None:
    """Return the day that a text states, if the calendar has it."""
    try:
        return datetime.date.fromisoformat(text) if _DATE.fullmatch(text) else None
    except ValueError:
        return None


def moment_of(text: str, *, zoned: bool) -> datetime.datetime | None:
    """Return the time that a text states, with a zone or without one."""
    match = _MOMENT.fullmatch(text)
    if match is None or (match[3] is not None) != zoned:
        return None
    try:
        moment = datetime.datetime.fromisoformat(f"{match[1]}T{match[2] or '00:00'}{match[3] or ''}")
        return moment.astimezone(datetime.UTC) if zoned else moment
    except (ValueError, OverflowError):
        return None
