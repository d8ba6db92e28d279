"""The operators and functions of expressions: closed lists, each with what it means.

Every function is total and means the same on every engine. NULL as input gives NULL unless a line says
otherwise. Numbers that are not integers are taken as doubles; a number is "beyond 64 bits" from
2^63 in magnitude on. Text counts code points. Dates and times lie in the years 1 to 9999, others are NULL.
Operands called a constant are literals, so that they are part of the request and not of the data.
"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["EXAMPLES", "OPERANDS", "ArithmeticOperator", "Comparison", "Function"]


class Comparison(StrEnum):
    """The six comparisons, spelled as in SQL."""

    EQUAL = "="
    UNEQUAL = "<>"
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="

    @property
    def mirrored(self) -> Comparison:
        """The comparison that holds of (b, a) when this one holds of (a, b)."""
        return _MIRRORED.get(self, self)


_MIRRORED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.AT_MOST: Comparison.AT_LEAST,
    Comparison.AT_LEAST: Comparison.AT_MOST,
}


class ArithmeticOperator(StrEnum):
    """The four operations. Division by zero gives NULL."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


class Function(StrEnum):
    """The functions of one row's values."""

    COALESCE = "coalesce"
    """The first operand that is not NULL."""
    NULLIF = "nullif"
    """NULL if the two operands are equal, else the first."""
    LEAST = "least"
    """The smallest operand. NULL is passed over; NaN is above every number."""
    GREATEST = "greatest"
    """The largest operand. NULL is passed over; NaN is above every number."""
    ABS = "abs"
    """The magnitude; NULL if an integer's is beyond 64 bits."""
    FLOOR = "floor"
    """The largest integer that is not above; NULL for NaN and beyond 64 bits."""
    CEILING = "ceiling"
    """The smallest integer that is not below; NULL for NaN and beyond 64 bits."""
    ROUND = "round"
    """The nearest multiple of 10^-d, halves away from zero; d is a constant from -15 to 15, by default 0.

    With d <= 0 an integer; NULL for NaN and beyond 64 bits. With d > 0 it is rounded(x 10^d) / 10^d in
    doubles, and an integer stays as it is.
    """
    SIGN = "sign"
    """-1, 0 or 1, an integer; NULL for NaN."""
    SQRT = "sqrt"
    """The double next to the square root; NULL below 0."""
    MODULO = "modulo"
    """The remainder of two integers, with the sign of the first; NULL if the second is 0."""
    LOWER = "lower"
    """The letters A to Z in lower case; all other characters stay, since engines disagree about them."""
    UPPER = "upper"
    """The letters a to z in upper case; all other characters stay."""
    TRIM = "trim"
    """Without the spaces at both ends; other white space stays."""
    LENGTH = "length"
    """The number of code points."""
    SUBSTRING = "substring"
    """From a constant place, counted from 1, and if a constant length is given this many code points."""
    CONCAT = "concat"
    """Texts concatenated; NULL if one is. What would be longer than 16,384 code points is cut there."""
    STARTS_WITH = "starts_with"
    """Whether the first text begins with the second."""
    ENDS_WITH = "ends_with"
    """Whether the first text ends with the second."""
    CONTAINS = "contains"
    """Whether the second text is in the first."""
    LIKE = "like"
    """Whether a text matches a constant: % stands for any text, _ for one code point; no backslash."""
    REPLACE = "replace"
    """Every occurrence of a constant that is not empty becomes another constant, from the left.

    What would be longer than 16,384 code points ends there.
    """
    YEAR = "year"
    QUARTER = "quarter"
    """1 to 4."""
    MONTH = "month"
    DAY = "day"
    """The day of the month, 1 to 31."""
    DAY_OF_WEEK = "day_of_week"
    """Monday is 1, Sunday 7."""
    DAY_OF_YEAR = "day_of_year"
    """1 to 366."""
    HOUR = "hour"
    """0 to 23. Points in time are read in UTC."""
    MINUTE = "minute"
    """0 to 59."""
    DATE_TRUNC = "date_trunc"
    """The first day of the 'year', 'quarter', 'month', 'week' (a Monday) or 'day', as a date; or the 'hour'.

    The unit is a constant, and the first operand. An hour is a time of the type it was taken from.
    """
    DATE_DIFFERENCE = "date_difference"
    """The first operand's date less the second's, in days."""
    WIDTH_BUCKET = "width_bucket"
    """Which of n equal parts of [low, high) holds x: 1 to n, 0 below, n + 1 from high on; NULL for NaN.

    low, high and n are constants. x is in part i or above exactly if x >= low + (i - 1)(high - low) / n,
    compared as with a literal. n is at most 1,000.
    """


_MANY = 1000
OPERANDS: dict[Function, tuple[int, int]] = {
    **dict.fromkeys(Function, (1, 1)),
    **dict.fromkeys((Function.COALESCE, Function.LEAST, Function.GREATEST, Function.CONCAT), (2, _MANY)),
    **dict.fromkeys((Function.NULLIF, Function.MODULO, Function.STARTS_WITH, Function.ENDS_WITH), (2, 2)),
    **dict.fromkeys((Function.CONTAINS, Function.LIKE), (2, 2)),
    **dict.fromkeys((Function.DATE_TRUNC, Function.DATE_DIFFERENCE), (2, 2)),
    Function.ROUND: (1, 2),
    Function.SUBSTRING: (2, 3),
    Function.REPLACE: (3, 3),
    Function.WIDTH_BUCKET: (4, 4),
}
"""The least and the largest number of operands."""

EXAMPLES: dict[Function, str] = {
    Function.COALESCE: "COALESCE(x, 0)",
    Function.NULLIF: "NULLIF(x, 0)",
    Function.LEAST: "LEAST(x, 100)",
    Function.GREATEST: "GREATEST(x, 0)",
    Function.ABS: "ABS(x)",
    Function.FLOOR: "FLOOR(x)",
    Function.CEILING: "CEILING(x)",
    Function.ROUND: "ROUND(x), or ROUND(x, 2) with 2 from -15 to 15",
    Function.SIGN: "SIGN(x)",
    Function.SQRT: "SQRT(x)",
    Function.MODULO: "MOD(n, 10) of integers, or CAST(x AS INTEGER) in it",
    Function.LOWER: "LOWER(name)",
    Function.UPPER: "UPPER(name)",
    Function.TRIM: "TRIM(name)",
    Function.LENGTH: "LENGTH(name)",
    Function.SUBSTRING: "SUBSTRING(name, 1, 3), with whole numbers from 1 to 1000000",
    Function.CONCAT: "name || ', ' || city, with CAST(x AS TEXT) for what is not text",
    Function.STARTS_WITH: "STARTS_WITH(name, 'A')",
    Function.ENDS_WITH: "ENDS_WITH(name, 'a')",
    Function.CONTAINS: "CONTAINS(name, 'a')",
    Function.LIKE: "name LIKE 'A%', a text in quotes without a backslash",
    Function.REPLACE: "REPLACE(name, '-', ''), with texts in quotes, the first of them not empty",
    Function.YEAR: "YEAR(day)",
    Function.QUARTER: "QUARTER(day)",
    Function.MONTH: "MONTH(day)",
    Function.DAY: "DAY(day)",
    Function.DAY_OF_WEEK: "ISODOW(day)",
    Function.DAY_OF_YEAR: "DAYOFYEAR(day)",
    Function.HOUR: "HOUR(seen) of a timestamp",
    Function.MINUTE: "MINUTE(seen) of a timestamp",
    Function.DATE_TRUNC: (
        "DATE_TRUNC('month', day), with year, quarter, month, week or day, or hour of a timestamp"
    ),
    Function.DATE_DIFFERENCE: "DATEDIFF('day', first, last)",
    Function.WIDTH_BUCKET: (
        "WIDTH_BUCKET(x, 0, 100, 10), with constants, the lower bound first, and 1 to 1000 parts"
    ),
}
"""How each function is written in SQL: what a refusal shows."""
