import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import Axis, Bounds, Dates, Keys
from discreet.data.language.measures import WholeAxis
from discreet.errors import ParameterError
from discreet.synthesis.columns.coded_column import CodedColumn, coded

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.dates(),
    st.binary(),
    st.lists(st.integers()),
)


def held(values):
    found = np.empty(len(values), object)
    found[:] = values
    return found


@pytest.mark.parametrize(
    "declared", [Bounds(0, 10), Bounds(-1, 1, step=0.25), Keys(["a", "b"]), Dates("2026-01-01", "2026-12-31")]
)
@given(values=st.lists(ANYTHING, max_size=6))
def test_any_value_has_a_code_by_itself(declared, values):
    column = coded("x", declared, missing=True)
    codes = column.codes(held(values))
    assert ((codes >= 0) & (codes < column.cells)).all()
    for value, code in zip(values, codes.tolist(), strict=True):
        assert column.codes(held([value])).tolist() == [code]  # no row decides how another is read
    column.decoded(codes, np.random.default_rng(0))


def test_numbers_are_rounded_and_clipped_to_their_cells():
    column = coded("x", Bounds(0, 100), missing=True, most=12)
    assert column.axis.width == 10
    assert column.labels[:3] == [0, 10, 20]
    assert column.labels[-1] is None
    values = np.array([-5, 0, 9.4, 9.5, 10, 100, 1e300, np.inf, -np.inf, np.nan])
    assert column.codes(values).tolist() == [0, 0, 0, 1, 1, 10, 10, 10, 0, 11]


def test_rules_for_what_is_missing_are_kept():
    replaced = coded("x", Bounds(0, 3, nan=1, null=1), missing=True)
    assert type(replaced.axis) is Axis  # every value has a cell, so that there is no other
    assert replaced.codes(np.array([np.nan, 2.0])).tolist() == [1, 2]
    dropped = coded("x", Bounds(0, 3), missing=False)
    assert dropped.codes(np.array([np.nan, 2.0])).tolist() == [-1, 2]
    listed = coded("x", Keys(["a", None]), missing=True)
    assert listed.codes(held([None, "a", "b"])).tolist() == [1, 0, 2]


def test_integer_keys_in_any_order_are_found_in_both_ways():
    keys = Keys([7, 3, 5])
    column = coded("x", keys, missing=True)
    values = [3, 5, 7, 4, -1]
    assert column.codes(np.array(values)).tolist() == column.codes(held(values)).tolist() == [1, 2, 0, 3, 3]


@given(st.integers(0, 2**32))
def test_values_of_codes_fall_in_their_cells_again(seed):
    random = np.random.default_rng(seed)
    for declared in (Bounds(-3, 200), Keys(["a", "b", None]), Dates("2025-03-01", "2026-12-31")):
        column = coded("x", declared, missing=True)
        codes = random.integers(0, column.cells, 50)
        again = column.codes(held(column.decoded(codes, random)))
        same = again == codes
        if isinstance(declared, Keys):  # None is a key here, and what is not declared is shown as None, too
            same |= codes == column.cells - 1
        assert same.all()


def test_days_are_days():
    column = coded("d", Dates("2026-01-01", "2026-01-10"), missing=True)
    assert column.labels[0] == datetime.date(2026, 1, 1)
    days = np.array(["2026-01-01", "2026-01-10", "2030-01-01", "NaT"], "datetime64[s]")
    assert column.codes(days).tolist() == [0, 9, 9, 10]
    assert coded("d", Dates("2026-01-01", "2026-01-01"), missing=False).cells == 2


def test_bins_do_not_look_at_the_data():
    # Planted: cells between the least and the largest value that occur. Neighbors are then cut differently.
    def planted(values):
        return Bounds(int(values.min()), int(values.max()))

    data = np.array([0, 5, 9])
    assert coded("x", planted(data), missing=False) != coded("x", planted(data[:-1]), missing=False)
    column = coded("x", Bounds(0, 9), missing=False)
    assert column.codes(data)[:-1].tolist() == column.codes(data[:-1]).tolist()


def test_what_is_not_declared_is_refused():
    with pytest.raises(ParameterError, match="says nothing"):
        coded("x", (0, 1), missing=True)
    assert CodedColumn(axis=WholeAxis(column="x", values=Keys(["a"]))).cells == 2
