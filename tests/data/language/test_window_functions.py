"""Windows of a plan: which parts they need, and how they are written."""

from __future__ import annotations

import pytest

from discreet.data import from_json, to_json
from discreet.data.language.relations import Source, Window
from discreet.data.language.window_functions import NUMBERED, PLACED, Order, WindowFunction
from discreet.errors import UnsupportedQuery

VISITS, DAY = Source(table="visits"), (Order(column="day"),)


@pytest.mark.parametrize("function", list(WindowFunction))
def test_parts_of_a_window(function):
    column = None if function in NUMBERED else "x"
    order = DAY if function in PLACED else ()
    good = {"source": VISITS, "name": "k", "function": function}
    window = Window(**good, column=column, order=order)
    assert from_json(to_json(window)) == window
    assert b"offset" not in to_json(window)
    with pytest.raises(UnsupportedQuery):
        Window(**good, column="x" if column is None else None if function != "count" else 5, order=order)
    if function in PLACED:
        with pytest.raises(UnsupportedQuery):
            Window(**good, column=column)
    if function in {"lag", "lead"}:
        assert b'"offset":2' in to_json(Window(**good, column=column, order=order, offset=2))
    else:
        with pytest.raises(UnsupportedQuery):
            Window(**good, column=column, order=order, offset=2)


@pytest.mark.parametrize("offset", [0, -1, 1001, True, 1.0])
def test_offsets_are_small_whole_numbers(offset):
    with pytest.raises(UnsupportedQuery):
        Window(source=VISITS, name="k", function="lag", column="x", order=DAY, offset=offset)
