"""What is written for PostgreSQL.

PostgreSQL does not convert booleans to 64-bit integers, and fails if a decimal is beyond the range of
doubles. Text that is made from another type compares by code point, like the columns
(`postgres.normalized`).

It reads backslashes as escapes if ``standard_conforming_strings`` is off: a text with one is written as
``E'…'``, where they are escapes always. The connection also sets it; neither protection relies on the
other.
"""

from __future__ import annotations

import ibis.expr.datatypes as dt
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.postgres import PostgresCompiler
from ibis.expr.operations import Cast
from sqlglot.dialects.dialect import Dialect

from discreet.data.engines.corrections import DIGITS, Corrected, has_long_digits

__all__ = ["COMPILER", "DIALECT"]

_LEAST_OVERFLOW = 2**1024 - 2**970
_LARGEST_UNDERFLOW = "2.5e-324"


class _PostgreSQLText(PostgresCompiler.dialect):  # type: ignore[misc]
    class Generator(PostgresCompiler.dialect.Generator):  # type: ignore[misc]
        def literal_sql(self, expression: sge.Literal) -> str:
            """Return a text with a backslash in the form in which backslashes are always escapes."""
            text = str(expression.this or "")
            if not expression.is_string or "\\" not in text:
                return str(super().literal_sql(expression))
            doubled = text.replace("\\", "\\\\").replace("'", "''")
            return f"E'{doubled}'"


class _PostgreSQL(Corrected, PostgresCompiler):  # type: ignore[misc]
    __slots__ = ()

    def _number(self, digits: sge.Expression) -> sge.Expression:
        prefixed = sge.DPipe(this=sge.convert("x"), expression=digits)
        return sge.cast(prefixed, f"bit({4 * DIGITS})", dialect="postgres")

    def visit_Cast(self, op: Cast, *, arg: sge.Expression, to: dt.DataType) -> sge.Expression:  # noqa: N802
        kind = op.arg.dtype
        if kind.is_boolean() and to.is_integer():
            arg = self.cast(arg, dt.int32)
        if to.is_floating() and has_long_digits(kind):
            return self._nearest_double(arg)
        written = super().visit_Cast(op, arg=arg, to=to)
        return (
            sge.Collate(this=written, expression=sge.to_identifier("C", quoted=True))
            if to.is_string()
            else written
        )

    def _nearest_double(self, arg: sge.Expression) -> sge.Expression:
        """Return the double next to a decimal; if there is none, PostgreSQL itself would fail."""
        size = self.f.abs(arg)
        largest, least = (
            self.cast(sge.convert(str(number)), dt.Decimal(None, None))
            for number in (_LEAST_OVERFLOW, _LARGEST_UNDERFLOW)
        )
        nan = self.cast(sge.convert("NaN"), dt.Decimal(None, None))
        infinity = self.if_(arg > self.cast(sge.convert("0"), dt.int32), self.POS_INF, self.NEG_INF)
        return sge.Case(
            ifs=[
                self.if_(arg.eq(nan), self.NAN),
                self.if_(size >= largest, infinity),
                self.if_(size < least, self.cast(sge.convert("0"), dt.float64)),
            ],
            default=self.cast(arg, dt.float64),
        )


COMPILER = _PostgreSQL()
DIALECT: type[Dialect] | str = _PostgreSQLText
