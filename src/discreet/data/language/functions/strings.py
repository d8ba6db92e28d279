"""Functions of text, by code points and ASCII letters, so that engines and locales agree."""

from __future__ import annotations

import string
from collections.abc import Sequence
from fractions import Fraction

from discreet.data.language.functions.record import Operand, RangedOperand, ScalarFunction
from discreet.data.language.functions.rules import MANY, TEXTS, is_text, is_whole
from discreet.data.language.grid_interval import GridInterval
from discreet.data.language.types import Type

__all__ = [
    "CONCAT",
    "CONTAINS",
    "ENDS_WITH",
    "LENGTH",
    "LIKE",
    "LOWER",
    "LPAD",
    "POSITION",
    "REPLACE",
    "RIGHT",
    "RPAD",
    "STARTS_WITH",
    "SUBSTRING",
    "TRIM",
    "UPPER",
]

LARGEST_PLACE = 1_000_000
LARGEST_PADDING = 1000
"""How long a text can be padded to: constants that every row repeats."""

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
_UPPER = str.maketrans(string.ascii_lowercase, string.ascii_uppercase)


def _range_of_length(operands: Sequence[RangedOperand]) -> GridInterval:
    most = operands[0].longest
    return GridInterval(low=Fraction(0), high=None if most is None else Fraction(most), step=Fraction(1))


def _is_substring(operands: Sequence[Operand]) -> bool:
    _, start, *length = operands
    return is_whole(start, 1, LARGEST_PLACE) and all(is_whole(one, 0, LARGEST_PLACE) for one in length)


def _substring(text: str, start: int, length: int | None = None) -> str:
    return text[start - 1 :] if length is None else text[start - 1 : start - 1 + length]


def _longest_substring(operands: Sequence[Operand]) -> int | None:
    return int(operands[2].constant) if len(operands) == 3 else None  # type: ignore[arg-type]


def _range_of_position(operands: Sequence[RangedOperand]) -> GridInterval:
    # Nothing is found behind the end, and '' at the first place even of ''.
    most = operands[0].longest
    high = None if most is None else Fraction(max(most, 1))
    return GridInterval(low=Fraction(0), high=high, step=Fraction(1))


def _is_right(operands: Sequence[Operand]) -> bool:
    return is_whole(operands[1], 0, LARGEST_PLACE)


def _is_padding(operands: Sequence[Operand]) -> bool:
    _, length, fill = operands
    return is_whole(length, 0, LARGEST_PADDING) and is_text(fill) and fill.constant != ""


def _filling(text: str, length: int, fill: str) -> str:
    missing = max(0, length - len(text))
    return (fill * missing)[:missing]


def _stated_length(operands: Sequence[Operand]) -> int | None:
    return int(operands[1].constant)  # type: ignore[arg-type]


def _is_like(operands: Sequence[Operand]) -> bool:
    return is_text(operands[1]) and "\\" not in str(operands[1].constant)


def _is_replace(operands: Sequence[Operand]) -> bool:
    _, old, new = operands
    return is_text(old) and is_text(new) and old.constant != ""


def _growth_of_replace(growths: Sequence[Fraction], operands: Sequence[Operand]) -> Fraction:
    old, new = (str(operand.constant).encode() for operand in operands[1:])
    return growths[0] * max(Fraction(1), Fraction(len(new), max(1, len(old))))


LOWER = ScalarFunction(
    name="lower",
    meaning="The letters A to Z in lower case; all other characters stay, since engines disagree about them.",
    example="LOWER(name)",
    takes=TEXTS,
    gives=Type.TEXT,
    value=lambda text: text.translate(_LOWER),
    sql=("LOWER", "LCASE"),
)
UPPER = ScalarFunction(
    name="upper",
    meaning="The letters a to z in upper case; all other characters stay.",
    example="UPPER(name)",
    takes=TEXTS,
    gives=Type.TEXT,
    value=lambda text: text.translate(_UPPER),
    sql=("UPPER", "UCASE"),
)
TRIM = ScalarFunction(
    name="trim",
    meaning="Without the spaces at both ends; other white space stays.",
    example="TRIM(name)",
    takes=TEXTS,
    gives=Type.TEXT,
    value=lambda text: text.strip(" "),
    sql=("TRIM",),
)
LENGTH = ScalarFunction(
    name="length",
    meaning="The number of code points.",
    example="LENGTH(name)",
    takes=TEXTS,
    value=len,
    range=_range_of_length,
    sql=("LENGTH", "LEN", "CHAR_LENGTH", "CHARACTER_LENGTH"),
)
SUBSTRING = ScalarFunction(
    name="substring",
    meaning="From a constant place, counted from 1, and if a constant length is given this many code points.",
    example="SUBSTRING(name, 1, 3), with whole numbers from 1 to 1000000",
    operands=(2, 3),
    takes=TEXTS,
    gives=Type.TEXT,
    constants=_is_substring,
    value=_substring,
    longest=_longest_substring,
    sql=("SUBSTRING", "SUBSTR"),
)
RIGHT = ScalarFunction(
    name="right",
    meaning="The last code points, a constant number of them; all if there are fewer.",
    example="RIGHT(name, 3), with a whole number from 0 to 1000000",
    operands=(2, 2),
    takes=TEXTS,
    gives=Type.TEXT,
    constants=_is_right,
    value=lambda text, length: text[max(0, len(text) - length) :],
    longest=_stated_length,
    sql=("RIGHT",),
)
LPAD = ScalarFunction(
    name="lpad",
    meaning="The text with a constant, repeated, before it, up to a constant length of code points; what is "
    "longer is cut at the end.",
    example="LPAD(name, 5, '0'), with a whole number from 0 to 1000 and a text that is not empty",
    operands=(3, 3),
    takes=TEXTS,
    gives=Type.TEXT,
    constants=_is_padding,
    value=lambda text, length, fill: _filling(text, length, fill) + text[:length],
    longest=_stated_length,
    sql=("LPAD",),
)
RPAD = ScalarFunction(
    name="rpad",
    meaning="The text with a constant, repeated, behind it, up to a constant length of code points; what is "
    "longer is cut at the end.",
    example="RPAD(name, 5, ' '), with a whole number from 0 to 1000 and a text that is not empty",
    operands=(3, 3),
    takes=TEXTS,
    gives=Type.TEXT,
    constants=_is_padding,
    value=lambda text, length, fill: text[:length] + _filling(text, length, fill),
    longest=_stated_length,
    sql=("RPAD",),
)
POSITION = ScalarFunction(
    name="position",
    meaning="The place of the first occurrence of the second text in the first, in code points from 1; 0 if "
    "there is none.",
    example="STRPOS(name, 'a')",
    operands=(2, 2),
    takes=TEXTS,
    value=lambda text, part: text.find(part) + 1,
    range=_range_of_position,
    sql=("STRPOS", "INSTR"),
)
CONCAT = ScalarFunction(
    name="concat",
    meaning="Texts concatenated; NULL if one is. What would be longer than 16,384 code points is cut there.",
    example="name || ', ' || city, with CAST(x AS TEXT) for what is not text",
    operands=(2, MANY),
    takes=TEXTS,
    gives=Type.TEXT,
    growth=lambda growths, _: sum(growths, Fraction(0)),
    value=lambda *texts: "".join(texts),
    sql=("CONCAT",),
)
STARTS_WITH = ScalarFunction(
    name="starts_with",
    meaning="Whether the first text begins with the second.",
    example="STARTS_WITH(name, 'A')",
    operands=(2, 2),
    takes=TEXTS,
    gives=Type.BOOLEAN,
    sql=("STARTS_WITH", "STARTSWITH"),
)
ENDS_WITH = ScalarFunction(
    name="ends_with",
    meaning="Whether the first text ends with the second.",
    example="ENDS_WITH(name, 'a')",
    operands=(2, 2),
    takes=TEXTS,
    gives=Type.BOOLEAN,
    reads=2,
    sql=("ENDS_WITH", "ENDSWITH"),
)
CONTAINS = ScalarFunction(
    name="contains",
    meaning="Whether the second text is in the first.",
    example="CONTAINS(name, 'a')",
    operands=(2, 2),
    takes=TEXTS,
    gives=Type.BOOLEAN,
    sql=("CONTAINS",),
)
LIKE = ScalarFunction(
    name="like",
    meaning="Whether a text matches a constant: % stands for any text, _ for one code point; no backslash.",
    example="name LIKE 'A%', a text in quotes without a backslash",
    operands=(2, 2),
    takes=TEXTS,
    gives=Type.BOOLEAN,
    constants=_is_like,
    sql=("LIKE",),
)
REPLACE = ScalarFunction(
    name="replace",
    meaning="Every occurrence of a constant that is not empty becomes another constant, from the left. "
    "What would be longer than 16,384 code points is cut there.",
    example="REPLACE(name, '-', ''), with texts in quotes, the first of them not empty",
    operands=(3, 3),
    takes=TEXTS,
    gives=Type.TEXT,
    constants=_is_replace,
    growth=_growth_of_replace,
    value=lambda text, old, new: text.replace(old, new),
    sql=("REPLACE",),
)
