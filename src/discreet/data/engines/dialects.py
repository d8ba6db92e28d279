"""What Ibis writes for each engine, corrected where the same expression would mean something else.

Every file above builds one Ibis expression for all engines; the compilers here make it mean the same:

- DuckDB divides the digits of a long decimal in two steps when it converts it to a double; through text
  it is the nearest one, as elsewhere.
- PostgreSQL does not convert booleans to 64-bit integers, and fails if a decimal is beyond the range of
  doubles. Text that is made from another type compares by code point, like the columns (`normalized`).
- On Spark, Ibis calls NaN NULL and nothing infinite, and 64-bit sums overflow. LIKE with several %-signs
  would take hours on some texts (`patterns`).
- Conditions within conditions get parentheses, which Ibis leaves out around IN, LIKE and NOT. Without them
  Spark reads ``s RLIKE 'a' = FALSE`` as ``s RLIKE ('a' = FALSE)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import ibis.expr.datatypes as dt
import sqlglot
import sqlglot.expressions as sge
from ibis import BaseBackend
from ibis.backends.sql.compilers.base import NULL, SQLGlotCompiler
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from ibis.backends.sql.compilers.postgres import PostgresCompiler
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.expr.operations import (
    Cast,
    Field,
    InSubquery,
    InValues,
    IsInf,
    IsNull,
    NotNull,
    ScalarUDF,
    StringSQLLike,
    Sum,
)
from ibis.expr.types import Table

from discreet.data.engines.listed import InListed, ListedValues
from discreet.data.engines.literals import DIALECTS
from discreet.data.engines.patterns import atomic_pattern

__all__ = ["LOT", "statement"]

LOT = "lot"
"""The name of the function that draws lots; each dialect has its own way to write it."""

_EXACT_DIGITS = 15
"""Decimals of this many digits are a quotient of two integers that doubles hold."""
_DIGITS = 15
"""So many hexadecimal digits of a digest make a lot."""
_WIDEST = dt.Decimal(38, 0)
_LEAST_OVERFLOW = 2**1024 - 2**970
_LARGEST_UNDERFLOW = "2.5e-324"
_CONDITIONS = frozenset(
    kind for kind in vars(sge).values() if isinstance(kind, type) and issubclass(kind, sge.Predicate)
)
"""Everything that sqlglot writes as a condition: engines do not agree on how tightly each of them binds."""


def statement(table: Table, backend: BaseBackend) -> str:
    """Return the statement that computes a table."""
    written = _COMPILERS[backend.name].to_sqlglot(table)
    if backend.name == "duckdb":
        _compute_once(written)
    dialect = DIALECTS[backend.name]
    return str(written.sql(dialect=dialect, copy=False, unsupported_level=sqlglot.ErrorLevel.RAISE))


def _compute_once(written: sge.Expression) -> None:
    """Have DuckDB keep what is used twice, if it is more than a scan, instead of computing it twice."""
    for part in written.find_all(sge.CTE):
        if part.this.find(sge.Group, sge.Join, sge.SetOperation, sge.Window) is not None:
            part.set("materialized", True)


def _is_long(kind: dt.DataType) -> bool:
    return bool(kind.is_decimal()) and (kind.precision is None or kind.precision > _EXACT_DIGITS)


class _Corrected:
    """What is the same in all three."""

    __slots__ = ()
    SIMPLE_OPS: ClassVar[dict[type, str]] = {}
    UNSUPPORTED_OPS = ()
    SQLGLOT_NEEDS_PARENS = (
        frozenset(SQLGlotCompiler.SQLGLOT_NEEDS_PARENS)
        | _CONDITIONS
        | {sge.Collate, sge.DPipe, sge.IntDiv, sge.Not, sge.RegexpLike}
    )

    def visit_ScalarUDF(self, op: ScalarUDF, **operands: sge.Expression) -> sge.Expression:  # noqa: N802
        if self.__sql_name__(op) != LOT:  # type: ignore[attr-defined]
            return super().visit_ScalarUDF(op, **operands)  # type: ignore[misc, no-any-return]
        [text] = operands.values()
        digits = self.f.substr(self.f.md5(text), 1, _DIGITS)  # type: ignore[attr-defined]
        return sge.cast(self._number(digits), "bigint", dialect="duckdb")

    def _number(self, digits: sge.Expression) -> sge.Expression:
        """Return hexadecimal digits as something that becomes an integer."""
        raise NotImplementedError

    def visit_IsNull(self, op: IsNull, *, arg: sge.Expression) -> sge.Expression:  # noqa: N802
        return self._add_parens(arg).is_(NULL)  # type: ignore[attr-defined, no-any-return]

    def visit_InValues(  # noqa: N802
        self, op: InValues, *, value: sge.Expression, options: Sequence[sge.Expression]
    ) -> sge.Expression:
        return self._add_parens(value).isin(*options)  # type: ignore[attr-defined, no-any-return]

    def visit_InListed(  # noqa: N802
        self, op: InListed, *, value: sge.Expression, listed: ListedValues
    ) -> sge.Expression:
        kind = op.value.dtype
        written = [self.visit_Literal(op, value=one, dtype=kind) for one in listed.values]  # type: ignore[attr-defined]
        return self._add_parens(value).isin(*written)  # type: ignore[attr-defined, no-any-return]

    def visit_InSubquery(  # noqa: N802
        self, op: InSubquery, *, rel: sge.Expression, needle: sge.Expression
    ) -> sge.Expression:
        inside = self._add_parens(needle)  # type: ignore[attr-defined]
        return super().visit_InSubquery(op, rel=rel, needle=inside)  # type: ignore[misc, no-any-return]

    def visit_NotNull(self, op: NotNull, *, arg: sge.Expression) -> sge.Expression:  # noqa: N802
        return self._add_parens(arg).is_(sge.Not(this=NULL))  # type: ignore[attr-defined, no-any-return]


class _DuckDB(_Corrected, DuckDBCompiler):  # type: ignore[misc]
    __slots__ = ()

    def _number(self, digits: sge.Expression) -> sge.Expression:
        return sge.DPipe(this=sge.convert("0x"), expression=digits)

    def visit_Cast(self, op: Cast, *, arg: sge.Expression, to: dt.DataType) -> sge.Expression:  # noqa: N802
        if to.is_float64() and _is_long(op.arg.dtype):
            arg = self.cast(arg, dt.string)
        return super().visit_Cast(op, arg=arg, to=to)  # type: ignore[no-any-return]


class _PostgreSQL(_Corrected, PostgresCompiler):  # type: ignore[misc]
    __slots__ = ()

    def _number(self, digits: sge.Expression) -> sge.Expression:
        prefixed = sge.DPipe(this=sge.convert("x"), expression=digits)
        return sge.cast(prefixed, f"bit({4 * _DIGITS})", dialect="postgres")

    def visit_Cast(self, op: Cast, *, arg: sge.Expression, to: dt.DataType) -> sge.Expression:  # noqa: N802
        kind = op.arg.dtype
        if kind.is_boolean() and to.is_integer():
            arg = self.cast(arg, dt.int32)
        if to.is_floating() and _is_long(kind):
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


class _Spark(_Corrected, PySparkCompiler):  # type: ignore[misc]
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


_COMPILERS: dict[str, SQLGlotCompiler] = {"duckdb": _DuckDB(), "postgres": _PostgreSQL(), "pyspark": _Spark()}
