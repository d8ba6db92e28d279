"""What is corrected for every engine where Ibis would write something that means something else.

- Conditions within conditions get parentheses, which Ibis leaves out around IN, LIKE and NOT. Without them
  Spark reads ``s RLIKE 'a' = FALSE`` as ``s RLIKE ('a' = FALSE)``.
- The function that draws lots, and lists of public values, are written here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

import ibis.expr.datatypes as dt
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.base import NULL, SQLGlotCompiler
from ibis.expr.operations import InSubquery, InValues, IsNull, NotNull, ScalarUDF

from discreet.data.engines.listed import InListed, ListedValues

__all__ = ["DIGITS", "LOT", "Corrected", "has_long_digits"]

LOT = "lot"
"""The name of the function that draws lots; each dialect has its own way to write it."""
DIGITS = 15
"""So many hexadecimal digits of a digest make a lot."""

_EXACT_DIGITS = 15
"""Decimals of this many digits are a quotient of two integers that doubles hold."""
_CONDITIONS = frozenset(
    kind for kind in vars(sge).values() if isinstance(kind, type) and issubclass(kind, sge.Predicate)
)
"""Everything that sqlglot writes as a condition: engines do not agree on how tightly each of them binds."""


def has_long_digits(kind: dt.DataType) -> bool:
    """Return whether a type is one of decimals that a double does not hold."""
    return bool(kind.is_decimal()) and (kind.precision is None or kind.precision > _EXACT_DIGITS)


class Corrected:
    """What the compilers of all engines have in common."""

    __slots__ = ()
    SIMPLE_OPS: ClassVar[dict[type, str]] = {}
    UNSUPPORTED_OPS = ()
    SQLGLOT_NEEDS_PARENS = (
        frozenset(SQLGlotCompiler.SQLGLOT_NEEDS_PARENS)
        | _CONDITIONS
        | {sge.Collate, sge.DPipe, sge.IntDiv, sge.Not, sge.RegexpLike}
    )

    def visit_ScalarUDF(self, op: ScalarUDF, **operands: sge.Expression) -> sge.Expression:  # noqa: N802
        """Write the function that draws lots, and every other one as Ibis does."""
        if self.__sql_name__(op) != LOT:  # type: ignore[attr-defined]
            return super().visit_ScalarUDF(op, **operands)  # type: ignore[misc, no-any-return]
        [text] = operands.values()
        digits = self.f.substr(self.f.md5(text), 1, DIGITS)  # type: ignore[attr-defined]
        return sge.cast(self._number(digits), "bigint", dialect="duckdb")

    @abstractmethod
    def _number(self, digits: sge.Expression) -> sge.Expression:
        """Return hexadecimal digits as something that becomes an integer."""

    def visit_IsNull(self, op: IsNull, *, arg: sge.Expression) -> sge.Expression:  # noqa: N802
        """Write IS NULL after a whole condition."""
        return self._add_parens(arg).is_(NULL)  # type: ignore[attr-defined, no-any-return]

    def visit_InValues(  # noqa: N802
        self, op: InValues, *, value: sge.Expression, options: Sequence[sge.Expression]
    ) -> sge.Expression:
        """Write IN after a whole condition."""
        return self._add_parens(value).isin(*options)  # type: ignore[attr-defined, no-any-return]

    def visit_InListed(  # noqa: N802
        self, op: InListed, *, value: sge.Expression, listed: ListedValues
    ) -> sge.Expression:
        """Write IN with public values, each as Ibis writes a literal."""
        kind = op.value.dtype
        written = [self.visit_Literal(op, value=one, dtype=kind) for one in listed.values]  # type: ignore[attr-defined]
        return self._add_parens(value).isin(*written)  # type: ignore[attr-defined, no-any-return]

    def visit_InSubquery(  # noqa: N802
        self, op: InSubquery, *, rel: sge.Expression, needle: sge.Expression
    ) -> sge.Expression:
        """Write IN with a subquery after a whole condition."""
        inside = self._add_parens(needle)  # type: ignore[attr-defined]
        return super().visit_InSubquery(op, rel=rel, needle=inside)  # type: ignore[misc, no-any-return]

    def visit_NotNull(self, op: NotNull, *, arg: sge.Expression) -> sge.Expression:  # noqa: N802
        """Write IS NOT NULL after a whole condition."""
        return self._add_parens(arg).is_(sge.Not(this=NULL))  # type: ignore[attr-defined, no-any-return]
