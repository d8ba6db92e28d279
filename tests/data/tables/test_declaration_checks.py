"""Declarations that are none, or contradict each other, are refused before a source is opened."""

from __future__ import annotations

import pytest

from discreet.data import AUTO, EACH_ROW, Bounds, Limits, Type
from discreet.data.tables.declaration_checks import checked_declarations
from discreet.errors import ParameterError

LIMITS = Limits(rows=2)


def test_columns_come_back():
    columns = {"cost": Bounds(0, 5), "day": Type.DATE}
    assert checked_declarations("who", LIMITS, columns, prepare=False) == columns
    assert checked_declarations(EACH_ROW, None, None, prepare=False) == {}


@pytest.mark.parametrize(
    ("person", "limits", "columns", "prepare", "name"),
    [
        ("", LIMITS, {}, False, "person"),
        (None, LIMITS, {}, False, "person"),
        (EACH_ROW, LIMITS, {}, False, "limits"),
        ("who", None, {}, False, "limits"),
        ("who", 3, {}, False, "limits"),
        ("who", LIMITS, [], False, "columns"),
        ("who", LIMITS, {3: Bounds(0, 5)}, False, "columns"),
        ("who", LIMITS, {"cost": 3}, False, "columns"),
        ("who", LIMITS, {"cost": Type.OTHER}, False, "columns"),
        ("who", LIMITS, {}, 1, "prepare"),
        (EACH_ROW, None, {}, True, "prepare"),
        ("who", Limits(rows=AUTO, at_most=5), {}, True, "prepare"),
    ],
)
def test_other_declarations_are_refused(person, limits, columns, prepare, name):
    with pytest.raises(ParameterError) as refusal:
        checked_declarations(person, limits, columns, prepare=prepare)
    assert refusal.value.parameter == name
