"""Texts as integers, as SQL reads them: the same on every engine, by exact digits or by the nearest."""

from __future__ import annotations

import pyarrow

from discreet.data import col
from discreet.data.compile.expressions import compile_expression
from discreet.queries.sql.formulas.conversions import integer_of_text

READ = {
    "73": 73,
    "73.0": 73,
    " 73.00 ": 73,
    "-73.5": -74,
    "73.5": 74,
    "73.4": 73,
    "+5.": 5,
    ".5": 1,
    "123456789012345678": 123456789012345678,
    "9007199254740993": 9007199254740993,
    "": None,
    ".": None,
    "73,0": None,
    "1e3": None,
    "7 3": None,
    "x": None,
    "1" * 30 + ".0": None,
    "99999999999999999999": None,
}


def test_whole_numbers_with_a_point_are_integers(engine):
    texts = [*READ, None]
    table = engine.table(pyarrow.table({"row": list(range(len(texts))), "t": texts}))
    expression = integer_of_text(col("t").expression)
    found = engine.values(table, n=lambda rows: compile_expression(expression, rows))
    assert found["n"] == [*READ.values(), None]
