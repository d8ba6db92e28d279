"""Aggregates as a request names them, before bounds are looked up and budgets split.

>>> Aggregate(function="count")
Aggregate(count)
>>> from discreet.data.language.expressions import Column
>>> Aggregate(function="quantile", operands=(Column(name="age"),), parameter="1/4")
Aggregate(quantile 0.25 of age)
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from fractions import Fraction

from discreet.data.language.description import describe_expression
from discreet.data.language.expressions import Expression
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.rational import Number, rational, show, whole
from discreet.records import Record, dataclass

__all__ = [
    "Aggregate",
    "AggregateFunction",
    "Aggregated",
    "correlation",
    "count",
    "count_persons",
    "covariance",
]

LARGEST_TOP = 1000
LARGEST_QUANTILE_DENOMINATOR = 10_000
"""Quantiles are ratios of integers up to this."""
LARGEST_TRIMMED_DENOMINATOR = 1000


class AggregateFunction(StrEnum):
    """The aggregates that a request may name."""

    COUNT = "count"
    """Of rows; with an operand, of rows in which the operand is present."""
    COUNT_PERSONS = "count of persons"
    COUNT_DISTINCT = "count of distinct values"
    SUM_DISTINCT = "sum of distinct values"
    SQUARES_DISTINCT = "sum of squares of distinct values"
    NUMBER_DISTINCT = "number of distinct values within bounds"
    """Of those that a sum of distinct values adds up: on the grid, and clipped."""
    SUM = "sum"
    MEAN = "mean"
    VARIANCE = "variance"
    """Of the population: the mean squared distance from the mean."""
    SAMPLE_VARIANCE = "sample variance"
    """The same times n / (n - 1)."""
    STANDARD_DEVIATION = "standard deviation"
    """The root of the variance."""
    SAMPLE_STANDARD_DEVIATION = "sample standard deviation"
    COVARIANCE = "covariance"
    SAMPLE_COVARIANCE = "sample covariance"
    CORRELATION = "correlation"
    QUANTILE = "quantile"
    """The least value that at least this share of the values do not exceed."""
    SMOOTH_QUANTILE = "smooth quantile"
    """The same, with noise to the smooth sensitivity instead of a choice."""
    TRIMMED_MEAN = "trimmed mean"
    """The mean without this share of the values at either end, with noise to the smooth sensitivity."""
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    MODE = "mode"
    """The most frequent key."""
    TOP = "top"
    """The most frequent keys, in order."""

    @property
    def operands(self) -> tuple[int, ...]:
        """How many operands it may have."""
        if self is AggregateFunction.COUNT:
            return (0, 1)
        return (_OPERANDS.get(self, 1),)


_OPERANDS = {
    AggregateFunction.COUNT_PERSONS: 0,
    AggregateFunction.COVARIANCE: 2,
    AggregateFunction.SAMPLE_COVARIANCE: 2,
    AggregateFunction.CORRELATION: 2,
}


_QUANTILES = {AggregateFunction.QUANTILE, AggregateFunction.SMOOTH_QUANTILE}
_WITH_PARAMETER = {*_QUANTILES, AggregateFunction.TRIMMED_MEAN, AggregateFunction.TOP}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, init=False)
class Aggregate(Record):
    """An aggregate of expressions.

    Parameters
    ----------
    function : AggregateFunction
        Which.
    operands : tuple of Expression
        Of what.
    operand : Expression, optional
        Instead, if there is one.
    parameter : number, optional
        The share of a quantile, from 0 to 1, or of what is trimmed, below 1/2; how many keys the top has.
    """

    function: AggregateFunction
    operands: tuple[Expression, ...]
    parameter: Fraction | None

    def __init__(
        self,
        *,
        function: AggregateFunction | str,
        operands: tuple[Expression, ...] = (),
        operand: Expression | None = None,
        parameter: Number | None = None,
    ) -> None:
        kind = AggregateFunction(function)
        listed = operands if operand is None else (operand, *operands)
        if len(listed) not in kind.operands or not all(isinstance(one, Expression) for one in listed):
            raise ParameterError("operands", "are missing or too many", "an expression, such as a column")
        if len(set(listed)) != len(listed):
            raise UnsupportedQuery(
                f"the {kind.value} of a column with itself is asked; take its variance, or another column"
            )
        self._set(function=kind, operands=listed, parameter=_parameter(kind, parameter))

    @property
    def operand(self) -> Expression | None:
        """The first operand; None where rows or persons are counted."""
        return self.operands[0] if self.operands else None

    def of(self, *operands: Expression) -> Aggregate:
        """Return the same aggregate of something else."""
        return Aggregate(function=self.function, operands=operands, parameter=self.parameter)

    def __repr__(self) -> str:
        return f"Aggregate({self.described})"

    @property
    def described(self) -> str:
        """What it is, in words, with a question mark for every literal in its operands."""
        parameter = "" if self.parameter is None else f" {show(self.parameter)}"
        of = " and ".join(describe_expression(operand) for operand in self.operands)
        return f"{self.function.value}{parameter}{f' of {of}' if of else ''}"


def _parameter(function: AggregateFunction, value: Number | None) -> Fraction | None:
    if function is AggregateFunction.TRIMMED_MEAN and value is not None:
        share = rational(value, "trim")
        if not 0 <= share < Fraction(1, 2) or share.denominator > LARGEST_TRIMMED_DENOMINATOR:
            raise ParameterError(
                "trim",
                "is out of range",
                f"from 0 to below 1/2, in parts of at most {LARGEST_TRIMMED_DENOMINATOR}",
            )
        return share
    if function in _QUANTILES and value is not None:
        share = rational(value, "q")
        if not 0 <= share <= 1 or share.denominator > LARGEST_QUANTILE_DENOMINATOR:
            raise ParameterError(
                "q", "is not a share", f"from 0 to 1, in parts of at most {LARGEST_QUANTILE_DENOMINATOR}"
            )
        return share
    if function is AggregateFunction.TOP and value is not None:
        return Fraction(whole(value, "k", least=1, most=LARGEST_TOP))
    if value is not None or function in _WITH_PARAMETER:
        raise ParameterError(
            "parameter", "is missing, or has no meaning here", "the share of a quantile, or k of the top k"
        )
    return None


class Aggregated:
    """Aggregates as methods of formulas. They take the values of all rows of a group."""

    __slots__ = ()

    expression: Expression

    def count(self) -> Aggregate:
        """Count the rows in which the value is present."""
        return self._aggregate(AggregateFunction.COUNT)

    def count_distinct(self) -> Aggregate:
        """Count the distinct values, except NULL; for the person column, the persons."""
        return self._aggregate(AggregateFunction.COUNT_DISTINCT)

    def sum(self) -> Aggregate:
        """Add up the values, clipped to their declared bounds."""
        return self._aggregate(AggregateFunction.SUM)

    def mean(self) -> Aggregate:
        """Average the values, clipped to their declared bounds."""
        return self._aggregate(AggregateFunction.MEAN)

    def variance(self, *, sample: bool = False) -> Aggregate:
        """Return the mean squared distance from the mean; with `sample`, times n / (n - 1)."""
        return self._aggregate(AggregateFunction.SAMPLE_VARIANCE if sample else AggregateFunction.VARIANCE)

    def standard_deviation(self, *, sample: bool = False) -> Aggregate:
        """Return the root of the variance."""
        return self._aggregate(
            AggregateFunction.SAMPLE_STANDARD_DEVIATION if sample else AggregateFunction.STANDARD_DEVIATION
        )

    std = standard_deviation

    def median(self) -> Aggregate:
        """Return the least value that at least half of the values do not exceed."""
        return self.quantile(Fraction(1, 2))

    def quantile(self, q: Number) -> Aggregate:
        """Return the least value that at least the share q of the values do not exceed."""
        return self._aggregate(AggregateFunction.QUANTILE, q)

    def quantiles(self, shares: Iterable[Number]) -> tuple[Aggregate, ...]:
        """Return several quantiles; their answers are in order."""
        return tuple(self.quantile(q) for q in shares)

    def smooth_median(self) -> Aggregate:
        """Return the median by smooth sensitivity: see `smooth_quantile`."""
        return self.smooth_quantile(Fraction(1, 2))

    def smooth_quantile(self, q: Number) -> Aggregate:
        """Return a quantile with less noise if many values are close together, and no interval."""
        return self._aggregate(AggregateFunction.SMOOTH_QUANTILE, q)

    def trimmed_mean(self, trim: Number) -> Aggregate:
        """Average the values without the share `trim` of them at either end.

        The noise is for the smooth sensitivity: it does not grow with the bounds if the values that
        stay are close together. There is no interval.
        """
        return self._aggregate(AggregateFunction.TRIMMED_MEAN, trim)

    def min(self) -> Aggregate:
        """Return a value near the least, and a bound that it is below with the request's confidence."""
        return self._aggregate(AggregateFunction.MINIMUM)

    def max(self) -> Aggregate:
        """Return a value near the largest, and a bound that it is above with the request's confidence."""
        return self._aggregate(AggregateFunction.MAXIMUM)

    def mode(self) -> Aggregate:
        """Return the most frequent of the declared keys, or one that is nearly as frequent."""
        return self._aggregate(AggregateFunction.MODE)

    def top(self, k: int) -> Aggregate:
        """Return the k most frequent of the declared keys in order, or some that are nearly as frequent."""
        return self._aggregate(AggregateFunction.TOP, k)

    def _aggregate(self, function: AggregateFunction, parameter: Number | None = None) -> Aggregate:
        return Aggregate(function=function, operands=(self.expression,), parameter=parameter)


def count() -> Aggregate:
    """Count rows."""
    return Aggregate(function=AggregateFunction.COUNT)


def count_persons() -> Aggregate:
    """Count persons: those who have a row in the group."""
    return Aggregate(function=AggregateFunction.COUNT_PERSONS)


def covariance(one: Aggregated, other: Aggregated, *, sample: bool = False) -> Aggregate:
    """Return the mean product of two values' distances from their means, over rows in which both are present.

    With `sample`, times n / (n - 1).
    """
    function = AggregateFunction.SAMPLE_COVARIANCE if sample else AggregateFunction.COVARIANCE
    return Aggregate(function=function, operands=_pair(one, other))


def correlation(one: Aggregated, other: Aggregated) -> Aggregate:
    """Return the covariance over the product of the standard deviations, from -1 to 1."""
    return Aggregate(function=AggregateFunction.CORRELATION, operands=_pair(one, other))


def _pair(one: Aggregated, other: Aggregated) -> tuple[Expression, ...]:
    if not isinstance(one, Aggregated) or not isinstance(other, Aggregated):
        raise ParameterError("operands", "are not formulas", "two columns, such as col('age'), col('cost')")
    return one.expression, other.expression
