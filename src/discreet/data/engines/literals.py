"""How texts are written into a statement, so that nothing in them means anything to an engine.

Literals come from requests and from keys that were chosen from the data, so they can contain anything. An
engine may read more than quotes in a statement, and settings change what it reads:

- Spark replaces ``${env:X}``, ``${system:X}`` and ``${spark.x}`` in the text of a statement before it is
  parsed, within literals too, and reads backslashes as escapes. What is not a plain character is written by
  its number: a literal holds no quote, no dollar, no brace, and no backslash but before a number.
- PostgreSQL reads backslashes as escapes if ``standard_conforming_strings`` is off. A literal with one is
  written as ``E'…'``, where they are escapes always.
- DuckDB knows no escape but the doubled quote.

The engines' own files also switch off what they can: neither protection relies on the other.
"""

from __future__ import annotations

import re

import sqlglot.expressions as sge
from ibis.backends.sql.compilers.postgres import PostgresCompiler
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from sqlglot.dialects.dialect import Dialect

__all__ = ["DIALECTS"]

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


class _PostgreSQLText(PostgresCompiler.dialect):  # type: ignore[misc]
    class Generator(PostgresCompiler.dialect.Generator):  # type: ignore[misc]
        def literal_sql(self, expression: sge.Literal) -> str:
            """Return a text with a backslash in the form in which backslashes are always escapes."""
            text = str(expression.this or "")
            if not expression.is_string or "\\" not in text:
                return str(super().literal_sql(expression))
            doubled = text.replace("\\", "\\\\").replace("'", "''")
            return f"E'{doubled}'"


DIALECTS: dict[str, type[Dialect] | str] = {
    "duckdb": "duckdb",
    "postgres": _PostgreSQLText,
    "pyspark": _SparkText,
}
"""By the name of an engine: how its statements are written."""
