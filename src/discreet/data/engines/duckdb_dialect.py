"""What is written for DuckDB.

DuckDB divides the digits of a long decimal in two steps when it converts it to a double; through text it is
the nearest one, as elsewhere. It knows no escape in a text but the doubled quote.
"""

from __future__ import annotations

import ibis.expr.datatypes as dt
import sqlglot.expressions as sge
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from ibis.expr.operations import Cast
from sqlglot.dialects.dialect import Dialect

from discreet.data.engines.corrections import Corrected, has_long_digits

__all__ = ["COMPILER", "DIALECT"]


class _DuckDB(Corrected, DuckDBCompiler):  # type: ignore[misc]
    __slots__ = ()

    def _number(self, digits: sge.Expression) -> sge.Expression:
        return sge.DPipe(this=sge.convert("0x"), expression=digits)

    def visit_Cast(self, op: Cast, *, arg: sge.Expression, to: dt.DataType) -> sge.Expression:  # noqa: N802
        if to.is_float64() and has_long_digits(op.arg.dtype):
            arg = self.cast(arg, dt.string)
        return super().visit_Cast(op, arg=arg, to=to)  # type: ignore[no-any-return]


COMPILER = _DuckDB()
DIALECT: type[Dialect] | str = "duckdb"
