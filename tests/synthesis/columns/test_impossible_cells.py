"""Declared values in cells: every range begins and ends where cells do."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import Bounds, Dates, Keys
from discreet.data.tables.row_facts import Chosen
from discreet.errors import ParameterError
from discreet.synthesis.columns.coded_column import CodedColumn, coded
from discreet.synthesis.columns.impossible_cells import chosen_cells, edges_of, impossible_cells


@given(st.integers(-20, 20), st.integers(1, 60), st.integers(1, 9), st.data())
def test_a_value_is_in_the_cells_exactly_if_it_is_chosen(lower, length, width, data):
    low, more = data.draw(st.integers(-30, 90)), data.draw(st.integers(1, 40))
    plain = coded("x", Bounds(lower, lower + length), missing=True, width=width)
    chosen = Chosen([(low, low + more), None] if data.draw(st.booleans()) else (low, None))
    try:
        column = plain.cut(edges_of(plain, chosen))
    except ParameterError:
        assert not any(chosen.holds(value) for value in range(lower, lower + length + 1))
        return
    cells = set(chosen_cells(column, chosen))
    import numpy as np

    values = np.arange(lower, lower + length + 1, dtype=float)
    codes = column.codes(values).tolist()
    assert [code in cells for code in codes] == [chosen.holds(int(value)) for value in values]
    assert (column.cells - 1 in cells) == (None in chosen.values)
    for code in range(column.cells - 1):
        drawn = column.decoded(np.full(20, code), np.random.default_rng(0))
        assert {chosen.holds(value) for value in drawn} == {code in cells}
        assert column.codes(np.array(drawn, float)).tolist() == [code] * 20
    assert column.labels[:-1] == sorted(column.labels[:-1])


def test_days_and_keys():
    day = datetime.date
    column = coded("day", Dates(day(2020, 1, 1), day(2020, 12, 31)), missing=True, width=7)
    early = Chosen((None, day(2020, 1, 10)))
    cut = column.cut(edges_of(column, early))
    assert cut.axis.cuts == (9,)
    assert chosen_cells(cut, early) == (0, 1)
    assert edges_of(cut, Chosen(day(2020, 1, 3))) == (2, 3)
    keys = coded("k", Keys([1, 5, 9]), missing=True)
    assert chosen_cells(keys, Chosen([(2, None), None])) == (1, 2, 3)
    assert edges_of(keys, Chosen(5)) == ()
    assert keys.cut([1]) is keys
    null = coded("k", Keys(["a", None]), missing=True)
    assert chosen_cells(null, Chosen(None)) == (1,)
    assert chosen_cells(null, Chosen((None, None))) == (0, 2)
    chosen = CodedColumn(axis=null.axis, chosen=True)
    assert chosen_cells(chosen, Chosen(["b", "a"])) == (0,)
    assert chosen_cells(chosen, Chosen("b")) == ()
    assert chosen.labels == ["a", None, "(other)"]
    named = coded("k", Keys(["(other)", None]), missing=True)
    assert CodedColumn(axis=named.axis, chosen=True).remaining == "((other))"


def test_several_choices_of_a_column_all_hold():
    columns = [coded("k", Keys(["a", "b", "c"]), missing=False)]
    both = impossible_cells(columns, [(0, Chosen(["a", "b"])), (0, Chosen(["b", "c"]))])
    assert both is not None
    assert both.cells == ((1,),)
    assert impossible_cells(columns, [(0, Chosen("a")), (0, Chosen("b"))]) is None
    assert impossible_cells(columns, [(0, Chosen(None))]) is None  # rows without a value are left out


def test_too_many_cuts_are_refused():
    column = coded("x", Bounds(0, 100_000), missing=True)
    with pytest.raises(ParameterError, match="at most 1,024"):
        column.cut(range(1, 100_000, 2))
