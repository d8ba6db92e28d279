"""What is written for Spark.

On Spark, Ibis calls NaN NULL and nothing infinite, and 64-bit sums overflow. LIKE with several %-signs
would take hours on some texts (`patterns`).

Spark replaces ``${env:X}``, ``${system:X}`` and ``${spark.x}`` in the text of a statement before it is
parsed, within literals too, and reads backslashes as escapes. What is not a plain character is written by
its number: a literal holds no quote, no dollar, no brace, and no backslash but before a number. The session
also switches off what it can; neither protection relies on the other.
"""

from __future__ import annotations

import re

import ibis.expr.datatypes as dt
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.base import SQLGlotCompiler
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.expr.operations import Field, IsInf, StringSQLLike, Sum
from sqlglot.dialects.dialect import Dialect

from discreet.data.engines.corrections import Corrected
from discreet.data.engines.patterns import atomic_pattern

__all__ = ["COMPILER", "DIALECT"]

_WIDEST = dt.Decimal(38, 0)
_SPECIAL = re.compile(r"[^A-Za-z0-9 _.,:|%+-]")


def _numbered(character: re.Match[str]) -> str:
    code = ord(character[0])
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


class _SparkText(PySparkCompiler.dialect):  # type: ignore[misc]
    class Generator(PySparkCompiler.dialect.Generator):  # type: ignore[misc]
        def literal_sql(self, expression: sge.Literal) -> str:
            """Return a number as it is, and a text with the numbers of its special characters."""
            text = str(expression.this or "")
            return f"'{_SPECIAL.sub(_numbered, text)}'" if expression.is_string else text


class _Spark(Corrected, PySparkCompiler):  # type: ignore[misc]
    __slots__ = ()

    def _number(self, digits: sge.Expression) -> sge.Expression:
        return self.f.anon.conv(digits, 16, 10)  # type: ignore[no-any-return]

    def visit_Field(self, op: Field, *, rel: sge.Expression, name: str) -> sge.Expression:  # noqa: N802
        # An option of Ibis would make NaN NULL here.
        return SQLGlotCompiler.visit_Field(self, op, rel=rel, name=name)  # type: ignore[no-any-return]

    def visit_IsInf(self, op: IsInf, *, arg: sge.Expression) -> sge.Expression:  # noqa: N802
        return arg.isin(self.POS_INF, self.NEG_INF)

    def visit_StringSQLLike(  # noqa: N802
        self,
        op: StringSQLLike,
        *,
        arg: sge.Expression,
        pattern: sge.Expression,
        escape: sge.Expression | None,
    ) -> sge.Expression:
        return sge.RegexpLike(this=arg, expression=sge.convert(atomic_pattern(op.pattern.value)))

    def visit_Sum(self, op: Sum, *, arg: sge.Expression, where: sge.Expression | None) -> sge.Expression:  # noqa: N802
        if op.arg.dtype.is_integer():
            arg = self.cast(arg, _WIDEST)
        return super().visit_Sum(op, arg=arg, where=where)  # type: ignore[no-any-return]


COMPILER = _Spark()
DIALECT: type[Dialect] | str = _SparkText
