"""Constants in the type of what they are compared with, as SQL's users expect.

Only constants that the request states are converted, while it is read: a value of a row never is. So the
question is the one that states the constant in that type, with the same plan and identity.

=================  ===============================  =========================================
compared with      written                          means
=================  ===============================  =========================================
a date             ``'2026-01-31'``                 ``DATE '2026-01-31'``
a timestamp        ``'2026-01-31 12:30:00'``        ``TIMESTAMP '2026-01-31 12:30:00'``
a point in time    the same, or a DATE, TIMESTAMP   that moment in UTC, unless it has a zone
a number           ``'40'``, ``'0.5'``              the number in the quotes
a number           ``TRUE``, ``FALSE``              1, 0
a truth            ``1``, ``0``, ``'true'``         ``TRUE``, ``FALSE``
=================  ===============================  =========================================

Everything else stays as it is, and the type checker refuses it. A number is not turned into text: what is
compared with a text column would be its digits, which differ in ``'7'`` and ``'07'``.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from discreet.data import Formula, literal
from discreet.data.language.expressions import Cast, Expression, Literal
from discreet.data.language.types import Type
from discreet.queries.sql.formulas.literals import date_of, moment_of, number_of
from discreet.queries.sql.syntax.refusals import refused

__all__ = ["CAST_TYPES", "conversion_to", "converted"]

CAST_TYPES = "INTEGER, DOUBLE, TEXT, VARCHAR(n), DECIMAL(p, s), DATE or TIMESTAMP"

_TRUTHS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def converted(constant: Literal, kind: Type) -> Literal:
    """Return a constant in the type of what it is compared with; as it is if it has no such meaning."""
    value = constant.value
    found: object = None
    if kind.is_number and isinstance(value, bool):
        found = int(value)
    elif kind is Type.BOOLEAN and not isinstance(value, bool) and value in (0, 1):
        found = bool(value)
    elif kind is Type.INSTANT and isinstance(value, datetime.date):
        found = _instant(value)
    elif isinstance(value, str):
        found = _of_text(value.strip(" "), kind)
    return constant if found is None else literal(found)


def conversion_to(operand: Expression, kind: Type, lengths: Sequence[int | None]) -> Expression:
    """Return a conversion to a type with or without lengths in parentheses.

    VARCHAR(n) keeps the first n code points, as SQL says. DECIMAL(p, s) rounds to s digits after the point,
    halves away from zero, and is a double; p is not checked: on an engine, a longer number would fail.
    """
    if not lengths:
        return Cast(operand=operand, type=kind)
    if kind is Type.TEXT and len(lengths) == 1 and lengths[0]:
        return Formula(Cast(operand=operand, type=kind)).slice(0, lengths[0]).expression
    if kind is Type.DECIMAL and len(lengths) <= 2:
        digits = lengths[1] if len(lengths) == 2 else 0
        if digits is not None:
            return Formula(Cast(operand=operand, type=Type.FLOAT)).round(digits).expression
    raise refused("CAST to a type with these lengths", f"convert to {CAST_TYPES}")


def _of_text(text: str, kind: Type) -> object:
    if kind is Type.DATE:
        # Some tools write a day as its midnight; a date counts as its midnight.
        return date_of(text) or moment_of(text, zoned=False)
    if kind is Type.TIMESTAMP:
        return moment_of(text, zoned=False)
    if kind is Type.INSTANT:
        plain = moment_of(text, zoned=False)
        return moment_of(text, zoned=True) if plain is None else _instant(plain)
    if kind.is_number:
        return number_of(text)
    return _TRUTHS.get(text.lower()) if kind is Type.BOOLEAN else None


def _instant(value: datetime.date) -> datetime.datetime:
    """Return a date, or a time that has no zone, as a point in time: that of UTC."""
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time())
    return value.replace(tzinfo=datetime.UTC) if value.tzinfo is None else value
