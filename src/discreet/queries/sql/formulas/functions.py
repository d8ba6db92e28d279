"""Functions of SQL as functions of the plan: a closed list; all others are refused with a rewrite.

The records of `data.language.functions` name what there is. sqlglot gives several spellings one node, and
some nodes parts that only certain dialects have: a node is read by the parts that hold the operands of a
plain call, or by the special forms below, and one that has others is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from sqlglot import exp

from discreet.data import Formula, literal
from discreet.data.language.expressions import Call, Expression, Literal
from discreet.data.language.functions import FUNCTIONS, ScalarFunction
from discreet.data.language.functions.exponential import LOG
from discreet.data.language.functions.numeric import MODULO
from discreet.data.language.functions.strings import CONCAT, LIKE, LOWER, LPAD, RPAD, SUBSTRING, TRIM
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.rational import rational
from discreet.queries.sql.formulas.date_functions import DATE_FORMS, DAYS, NAMED_DATE_FORMS, WEEKDAY, Read
from discreet.queries.sql.formulas.patterns import REGULAR, matches
from discreet.queries.sql.syntax.parser import read_select
from discreet.queries.sql.syntax.refusals import check_parts, refused, refused_node

__all__ = ["call_of", "refused_function"]

_NOTES = ("ignore_nulls", "is_nvl", "is_null")
"""What sqlglot notes about its own dialects."""

_MOST_FACTORS = 6
"""Arithmetic of more factors could overflow."""
_TERMS = (exp.Add, exp.Sub, exp.DPipe)
_FACTORS = (exp.Mul, exp.Div, exp.IntDiv)

_LISTED = [
    *("CASE", "CAST", "CLIP", "EXTRACT"),
    *(function.sql[0] for function in FUNCTIONS.values() if not function.extract),
]
_KNOWN = f"the functions are {', '.join(_LISTED[:-1])} and {_LISTED[-1]}"
_MOMENT = (
    "it is not a function of the row; write the date or time itself, such as DATE '2026-01-31', or have the "
    "owner declare a day, as in Curator(..., today='2026-01-31')"
)
_RANDOM = "leave it out: answers are noisy already"
_POWER = "write POWER(x, 2), with a whole number from -6 to 6 or 0.5, or EXP(x * LN(y))"
_SPELLED = "write YEAR(day), MONTH(day) or DATE_TRUNC('month', day)"
_CODED = "use the column itself, or UPPER, LOWER, TRIM and SUBSTRING of it"

_SPLIT = (
    "write CASE WHEN name LIKE 'Anna %' THEN 'Anna' ELSE 'others' END, a line for each text that is meant"
)

_REFUSED: dict[str, tuple[str, str]] = {
    "Rand": ("RANDOM()", _RANDOM),
    "Randn": ("RANDN()", _RANDOM),
    "Uuid": ("UUID()", _RANDOM),
    "CurrentDate": ("CURRENT_DATE", _MOMENT),
    "CurrentTime": ("CURRENT_TIME", _MOMENT),
    "CurrentTimestamp": ("CURRENT_TIMESTAMP", _MOMENT),
    "CurrentDatetime": ("CURRENT_DATETIME", _MOMENT),
    "Localtime": ("LOCALTIME", _MOMENT),
    "Localtimestamp": ("LOCALTIMESTAMP", _MOMENT),
    "CurrentUser": ("CURRENT_USER", "it is not a function of the row; leave it out"),
    "Escape": ("ESCAPE", "write LIKE without it; % and _ themselves are found by CONTAINS"),
    "RegexpFullMatch": ("a regular expression", "write REGEXP_LIKE(name, '^(a|b)$')"),
    "RegexpReplace": ("a regular expression", "write REPLACE(name, '-', '')"),
    "RegexpExtract": ("a regular expression", "write SUBSTRING(name, 1, 3)"),
    "SimilarTo": ("SIMILAR TO", REGULAR),
    "Glob": ("GLOB", REGULAR),
    "Log": ("LOG() of one number", "engines take it to base 10 or e; write LOG10(x) or LN(x)"),
    "BitwiseXor": ("^", "write POWER(x, 2)"),
    "Trunc": ("TRUNC()", "write FLOOR(x), ROUND(x) or DATE_TRUNC('month', day)"),
    "IntDiv": ("whole-number division", "engines round it down or towards 0; write FLOOR(x / y)"),
    "Right": ("RIGHT() with this length", "write RIGHT(name, 3)"),
    "Left": ("LEFT() with this length", "write SUBSTRING(name, 1, 3)"),
    "Repeat": ("REPEAT()", _CODED),
    "Reverse": ("REVERSE()", _CODED),
    "Initcap": ("INITCAP()", "write UPPER(name) or LOWER(name)"),
    "SplitPart": ("SPLIT_PART()", _SPLIT),
    "Split": ("SPLIT()", _SPLIT),
    "ConcatWs": ("CONCAT_WS()", "write a || ',' || b"),
    "Translate": ("TRANSLATE()", "write REPLACE(name, '-', '')"),
    "Ascii": ("ASCII()", _CODED),
    "Chr": ("CHR()", "write the character itself"),
    "MD5": ("MD5()", _CODED),
    "SHA": ("SHA()", _CODED),
    "SHA2": ("SHA2()", _CODED),
    "DayOfWeek": ("DAYOFWEEK()", WEEKDAY),
    "TimestampDiff": ("TIMESTAMP_DIFF()", DAYS),
    "DatetimeDiff": ("DATETIME_DIFF()", DAYS),
    "Interval": ("INTERVAL here", "add it to a date, as in day + INTERVAL '3' MONTH"),
    "ToChar": ("TO_CHAR()", _SPELLED),
    "TimeToStr": ("a date in another spelling", _SPELLED),
    "StrToDate": ("CAST with a format", "write CAST(x AS DATE) of text like 2026-01-31"),
    "StrToTime": ("a time of text", "write CAST(x AS DATE) of text like 2026-01-31"),
    "Nvl2": ("NVL2()", "write CASE WHEN x IS NULL THEN a ELSE b END"),
    "DecodeCase": ("DECODE()", "write CASE x WHEN 1 THEN 'a' ELSE 'b' END"),
    "IsNan": ("ISNAN()", "NaN equals itself and is above every number; write x > 1e400"),
    "SafeDivide": ("SAFE_DIVIDE()", "write x / y, which is NULL where y is 0"),
    "Concat": ("strings side by side", "write one string, '' for a quote in it, or a || b"),
}


def call_of(node: exp.Expression, read: Read) -> Expression | None:
    """Return what a node means if it is a function of the language, else None.

    Parameters
    ----------
    node : sqlglot expression
        Any node.
    read : callable
        Reads an operand.
    """
    kind = type(node)
    if kind in _SPECIAL:
        return _SPECIAL[kind](node, read)
    name = str(node.this).upper() if kind is exp.Anonymous else ""
    if name in NAMED_DATE_FORMS:
        return NAMED_DATE_FORMS[name](node, read)
    if (kind, name) not in _spellings():
        return _anonymous(node, read) if kind is exp.Anonymous else None
    function, parts = _spellings()[kind, name]
    check_parts(node, *parts, *(("this",) if name else _NOTES))
    return Call(
        function=function,
        operands=tuple(read(part) for place in parts for part in _listed(node.args.get(place))),
    )


@cache
def _spellings() -> dict[tuple[type[exp.Expression], str], tuple[ScalarFunction, tuple[str, ...]]]:
    """Return the node that the parser makes of every function, and the parts that hold its operands in order.

    A name that the parser has no node for is told by the name itself.
    """
    named = [(function, name) for function in FUNCTIONS.values() for name in function.sql]
    text = ", ".join(f"{name}({_placeholders(function)})" for function, name in named)
    found = {}
    for (function, name), node in zip(named, read_select(f"SELECT {text}").expressions, strict=True):
        parts = tuple(
            place
            for place, part in node.args.items()
            if any(isinstance(one, exp.Column) for one in _listed(part))
        )
        found[type(node), name if isinstance(node, exp.Anonymous) else ""] = function, parts
    return found


def _placeholders(function: ScalarFunction) -> str:
    least, most = function.operands
    return ", ".join(f"operand{place}" for place in range(min(most, least + 1)))


def refused_function(node: exp.Expression) -> UnsupportedQuery:
    """Return the refusal of a node that is not part of any expression."""
    name = type(node).__name__
    if name in _REFUSED:
        return refused(*_REFUSED[name])
    if isinstance(node, exp.Anonymous):
        return refused(*_ANONYMOUS.get(str(node.this).upper(), ("a function of this name", _KNOWN)))
    return refused_node(node, _KNOWN) if isinstance(node, exp.Func) else refused_node(node)


_ANONYMOUS: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("NOW", "TODAY", "GETDATE", "SYSDATE"), ("the time of the question", _MOMENT)),
    **dict.fromkeys(("HASH", "SHA256"), ("a digest", _CODED)),
    **dict.fromkeys(("STRFTIME", "FORMAT_DATE"), ("a date in another spelling", _SPELLED)),
    **dict.fromkeys(("AGE",), ("a span of time", DAYS)),
    **dict.fromkeys(("BTRIM",), ("BTRIM()", "write TRIM(name)")),
    **dict.fromkeys(("WEEKDAY",), ("this part of a date", WEEKDAY)),
    **dict.fromkeys(
        ("TO_DATE", "STRPTIME"), ("a date of text", "write CAST(x AS DATE) of text like 2026-01-31")
    ),
    "ISNULL": ("ISNULL()", "write x IS NULL, or COALESCE(x, 0)"),
    "PREFIX": ("PREFIX()", "write STARTS_WITH(name, 'A')"),
}


def _listed(part: object) -> list[exp.Expression]:
    return [] if part is None else list(part) if isinstance(part, list) else [part]  # type: ignore[list-item]


def _modulo(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this", "expression")
    # The parser gives % the precedence of +, so what it read without parentheses may not be what was meant.
    if isinstance(node.this, _TERMS) or isinstance(node.expression, _FACTORS):
        raise refused(
            "% next to other operators", "put it in parentheses, as in a + (b % c), or write MOD(b, c)"
        )
    return Call(function=MODULO, operands=(read(node.this), read(node.expression)))


def _concat(node: exp.Expression, read: Read) -> Expression:
    """Read CONCAT and ||, which mean the same: NULL if one operand is."""
    if isinstance(node, exp.DPipe):
        chain, first = [], node
        while isinstance(first, exp.DPipe):
            check_parts(first, "this", "expression", "safe")
            chain.append(first.expression)
            first = first.this
        return Call(function=CONCAT, operands=tuple(read(part) for part in (first, *reversed(chain))))
    if not node.args.get("safe"):
        raise refused_function(node)
    check_parts(node, "expressions", "safe", "coalesce")
    return Call(function=CONCAT, operands=tuple(read(part) for part in node.expressions))


def _like(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this", "expression")
    if isinstance(node.expression, exp.Any | exp.All):
        raise refused("LIKE with several patterns", "write name LIKE 'a%' OR name LIKE 'b%'")
    return Call(function=LIKE, operands=(read(node.this), read(node.expression)))


def _ilike(node: exp.Expression, read: Read) -> Expression:
    """Read ILIKE, which is LIKE of both sides in lower case: A to Z only, as LOWER is."""
    found = _like(node, read)
    assert isinstance(found, Call)  # noqa: S101
    text, pattern = found.operands
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        return found
    lowered = LOWER.value(pattern.value) if LOWER.value is not None else pattern.value
    return Call(function=LIKE, operands=(Call(function=LOWER, operands=(text,)), literal(lowered)))


def _regular(node: exp.Expression, read: Read) -> Expression:
    """Read REGEXP_LIKE(s, 'a|b'), s RLIKE 'a', s ~ 'a' and s ~* 'a'."""
    anonymous = isinstance(node, exp.Anonymous)
    check_parts(node, "this", "expressions" if anonymous else "expression")
    operands = node.expressions if anonymous else [node.this, node.expression]
    pattern = read(operands[1]) if len(operands) == 2 else None
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise refused("a regular expression that is not a constant", REGULAR)
    return matches(read(operands[0]), pattern.value, fold=isinstance(node, exp.RegexpILike))


def _pad(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this", "expression", "fill_pattern", "is_left")
    fill = node.args.get("fill_pattern")
    operands = read(node.this), read(node.expression), literal(" ") if fill is None else read(fill)
    return Call(function=LPAD if node.args.get("is_left") else RPAD, operands=operands)


def _logarithm(node: exp.Expression, read: Read) -> Expression:
    """Read LOG(2, x); dialects disagree about the order, but only the base is a constant."""
    check_parts(node, "this", "expression")
    if node.args.get("expression") is None:
        raise refused_function(node)
    base, number = read(node.this), read(node.expression)
    if isinstance(number, Literal):
        base, number = number, base
    return Call(function=LOG, operands=(base, number))


def _power(node: exp.Expression, read: Read) -> Expression:
    """Read POWER(x, 2) as x * x: a product is the same double on every engine, and a power is not."""
    check_parts(node, "this", "expression")
    base, exponent = read(node.this), read(node.expression)
    power = exponent.value if isinstance(exponent, Literal) else None
    if power == Fraction(1, 2):
        return Formula(base).sqrt().expression
    if type(power) is not int or not 1 <= abs(power) <= _MOST_FACTORS:
        raise refused("a power with this exponent", _POWER)
    if isinstance(base, Literal) and base.type.is_number:
        return _constant_power(Fraction(base.value), power)  # type: ignore[arg-type]
    product = Formula(base)
    for _ in range(abs(power) - 1):
        product = product * Formula(base)
    return product.expression if power > 0 else (1 / product).expression


def _constant_power(base: Fraction, power: int) -> Expression:
    try:
        return literal(rational(base**power, "a constant"))
    except (ParameterError, ZeroDivisionError):
        pass
    raise UnsupportedQuery("a power of constants has too many digits or no value; write it like 40 or 1e3")


def _trim(node: exp.Expression, read: Read) -> Expression:
    characters, position = node.args.get("expression"), node.args.get("position")
    spaces = characters is None or (isinstance(characters, exp.Literal) and str(characters.this) == " ")
    if not spaces or str(position or "BOTH").upper() != "BOTH":
        raise refused("TRIM of one end or of other characters", "write TRIM(name), or REPLACE(name, '-', '')")
    check_parts(node, "this", "expression", "position")
    return Call(function=TRIM, operands=(read(node.this),))


def _left(node: exp.Expression, read: Read) -> Expression:
    check_parts(node, "this", "expression")
    return Call(function=SUBSTRING, operands=(read(node.this), literal(1), read(node.expression)))


def _anonymous(node: exp.Expression, read: Read) -> Expression:
    name, operands = str(node.this).upper(), node.expressions
    check_parts(node, "this", "expressions")
    if name in {"REGEXP_MATCHES", "REGEXP_CONTAINS", "RLIKE"}:
        return _regular(node, read)
    if name == "CLIP" and len(operands) == 3:
        value, lower, upper = (read(operand) for operand in operands)
        return Formula(value).clip(Formula(lower), Formula(upper)).expression
    if name == "IFF" and len(operands) in {2, 3}:
        return read(exp.If(**dict(zip(("this", "true", "false"), operands, strict=False))))
    raise refused_function(node)


_SPECIAL: dict[type[exp.Expression], Callable[[exp.Expression, Read], Expression]] = {
    exp.Mod: _modulo,
    exp.DPipe: _concat,
    exp.Concat: _concat,
    exp.Like: _like,
    exp.ILike: _ilike,
    exp.Pad: _pad,
    exp.RegexpLike: _regular,
    exp.RegexpILike: _regular,
    exp.Log: _logarithm,
    exp.Pow: _power,
    exp.Trim: _trim,
    exp.Left: _left,
    **DATE_FORMS,
}
