"""Expressions of public values: those that a private row with these values would have."""

from __future__ import annotations

import datetime

import pytest

from discreet.data.compile.public_values import public_values
from discreet.data.language.formulas.formula import col
from discreet.data.language.types import Type

DAY = datetime.date(2024, 2, 29)


@pytest.mark.parametrize(
    ("formula", "kind", "values", "expected"),
    [
        (col("x").upper(), Type.TEXT, ["Å", "b'c", None, ""], ["Å", "B'C", None, ""]),
        (col("x").length(), Type.TEXT, ["", "é€", "'; DROP"], [0, 2, 7]),
        (col("x").year(), Type.DATE, [DAY, None], [2024, None]),
        (col("x") * 2, Type.INTEGER, [3, -1, None], [6, -2, None]),
        (col("x") / 0, Type.INTEGER, [3], [None]),
    ],
)
def test_public_values_are_those_of_rows(formula, kind, values, expected):
    assert public_values(formula.expression, {"x": (kind, values)}) == expected


def test_rows_keep_their_places():
    values = list(range(5000))
    assert public_values((col('an odd "name') + 1).expression, {'an odd "name': (Type.INTEGER, values)}) == [
        value + 1 for value in values
    ]


def test_nothing_of_nothing():
    assert public_values(col("x").upper().expression, {"x": (Type.TEXT, [])}) == []
