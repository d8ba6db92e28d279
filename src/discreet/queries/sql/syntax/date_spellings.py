"""Other spellings of dates: the day of the question, dates as text, and ages in years.

- CURRENT_DATE, TODAY() are the day that the owner declared, NOW(), CURRENT_TIMESTAMP, GETDATE() its midnight:
  constants of the question, which is the one that states them. Without such a day they are refused.
- TO_CHAR(d, 'YYYY-MM'), STRFTIME(d, '%Y-%m'), DATE_FORMAT and FORMAT_DATE put parts of a date together:
  years, months, days and hours, with - / : . and spaces between.
- EXTRACT(YEAR FROM AGE(a, b)) is the number of whole years from b to a.
"""

from __future__ import annotations

import datetime
import re

from sqlglot import exp

from discreet.queries.sql.syntax.aggregate_spellings import Rewrite

__all__ = ["DATE_SPELLINGS", "NAMED_DATE_SPELLINGS", "with_day"]

_DAYS = (exp.CurrentDate,)
_MOMENTS = (exp.CurrentTimestamp, exp.CurrentDatetime, exp.Localtimestamp)
_NAMED_DAYS = {"TODAY"}
_NAMED_MOMENTS = {"NOW", "GETDATE", "SYSDATE", "SYSDATETIME"}

_TOKENS = re.compile(r"%[A-Za-z]|YYYY|yyyy|HH24|MM|DD|dd|[-/:. ]|.", re.DOTALL)
_PARTS = {
    **dict.fromkeys(("%Y", "YYYY", "yyyy"), ("YEAR", 4)),
    **dict.fromkeys(("%m", "MM"), ("MONTH", 2)),
    **dict.fromkeys(("%d", "DD", "dd"), ("DAY", 2)),
    **dict.fromkeys(("%H", "HH24"), ("HOUR", 2)),
}
_BETWEEN = set("-/:. ")


def with_day(statement: exp.Expression, day: datetime.date | None) -> None:
    """Write the declared day where a statement names the present."""
    if day is None:
        return
    for node in list(statement.walk()):
        name = str(node.this).upper() if isinstance(node, exp.Anonymous) and not node.expressions else ""
        if isinstance(node, _DAYS) or name in _NAMED_DAYS:
            node.replace(_constant(day.isoformat(), "DATE"))
        elif isinstance(node, _MOMENTS) or name in _NAMED_MOMENTS:
            node.replace(_constant(f"{day.isoformat()} 00:00:00", "TIMESTAMP"))


def _constant(text: str, kind: str) -> exp.Expression:
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType.build(kind))


def _extract(part: str, moment: exp.Expression) -> exp.Expression:
    return exp.Extract(this=exp.var(part), expression=moment.copy())


def _spelled(moment: exp.Expression, pattern: exp.Expression | None) -> exp.Expression | None:
    """Return a date in the spelling of a pattern; None if it says more than parts and what is between."""
    if not isinstance(pattern, exp.Literal) or not pattern.is_string or not pattern.this:
        return None
    found: exp.Expression | None = None
    for token in _TOKENS.findall(str(pattern.this)):
        if token in _PARTS:
            part, digits = _PARTS[token]
            text = exp.Cast(this=_extract(part, moment), to=exp.DataType.build("TEXT"))
            piece: exp.Expression = exp.Pad(
                this=text,
                expression=exp.Literal.number(digits),
                fill_pattern=exp.Literal.string("0"),
                is_left=True,
            )
        elif token in _BETWEEN:
            piece = exp.Literal.string(token)
        else:
            return None
        found = piece if found is None else exp.DPipe(this=found, expression=piece)
    return found if found is None or isinstance(found, exp.Pad) else exp.Paren(this=found)


def _to_char(node: exp.Expression) -> exp.Expression | None:
    return _spelled(node.this, node.args.get("format"))


def _format(node: exp.Expression) -> exp.Expression | None:
    """Read STRFTIME(d, '%Y') and STRFTIME('%Y', d): only the pattern is a text."""
    if len(node.expressions) != 2:
        return None
    moment, pattern = node.expressions
    if isinstance(moment, exp.Literal):
        moment, pattern = pattern, moment
    return _spelled(moment, pattern)


def _age(node: exp.Expression) -> list[exp.Expression] | None:
    """Return the dates of AGE(last, first)."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.Anonymous) or str(node.this).upper() != "AGE":
        return None
    if len(node.expressions) == 1:
        return [exp.CurrentDate(), node.expressions[0]]
    return list(node.expressions) if len(node.expressions) == 2 else None


def _years(last: exp.Expression, first: exp.Expression) -> exp.Expression:
    ends = [
        exp.Add(
            this=exp.Mul(this=_extract("MONTH", one), expression=exp.Literal.number(100)),
            expression=_extract("DAY", one),
        )
        for one in (last, first)
    ]
    before = exp.Case(
        ifs=[exp.If(this=exp.LT(this=ends[0], expression=ends[1]), true=exp.Literal.number(1))],
        default=exp.Literal.number(0),
    )
    years = exp.Sub(this=_extract("YEAR", last), expression=_extract("YEAR", first))
    return exp.Paren(this=exp.Sub(this=years, expression=before))


def _extracted(node: exp.Expression) -> exp.Expression | None:
    ages = _age(node.expression)
    is_year = ages is not None and str(node.this.name).upper() == "YEAR"
    return _years(*ages) if ages is not None and is_year else None


def _date_part(node: exp.Expression) -> exp.Expression | None:
    if len(node.expressions) != 2:
        return None
    part, moment = node.expressions
    ages = _age(moment)
    is_year = ages is not None and str(part.name).upper() in {"YEAR", "YEARS"}
    return _years(*ages) if ages is not None and is_year else None


DATE_SPELLINGS: dict[type[exp.Expression], Rewrite] = {exp.ToChar: _to_char, exp.Extract: _extracted}
"""What to write instead of a node; None where it stays."""
NAMED_DATE_SPELLINGS: dict[str, Rewrite] = {
    **dict.fromkeys(("STRFTIME", "DATE_FORMAT", "FORMAT_DATE"), _format),
    **dict.fromkeys(("DATE_PART", "DATEPART"), _date_part),
}
"""What to write instead of a function that the parser has no node for."""
