"""Coordinates of declared columns: within their bounds whatever is in the data, and of each row alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import ParameterError
from discreet.learning.design.features import BinnedColumn, Features, NumberColumn
from discreet.learning.design.targets import Classes
from discreet.learning.regression.column_limits import counts_of_cells

DECLARED = {
    "age": dp.Bounds(0, 110),
    "city": dp.Keys(["Taipei", "Hamilton", None]),
    "share": (0, Fraction(1, 2)),
}
FEATURES = Features.of(DECLARED, list(DECLARED), by_name=True)
anything = st.one_of(
    st.none(), st.floats(), st.integers(-(10**400), 10**400), st.sampled_from(["Taipei", "x", ""])
)


def arrays(*columns):
    return [np.array(column, dtype=object) for column in columns]


def test_numbers_lie_between_minus_one_and_one_and_keys_have_their_own_coordinate():
    found = FEATURES.encoded(
        arrays([0, 55, 500, None], ["Hamilton", None, "Paris", "Taipei"], [0.5, 0, 0.25, np.nan])
    )
    assert FEATURES.names == ("age", "city=Taipei", "city=Hamilton", "city=None", "share")
    assert found.tolist() == [
        [-1, 0, 1, 0, 1, 1],
        [0, 0, 0, 1, -1, 1],
        [1, 0, 0, 0, 0, 1],
        [0, 1, 0, 0, 0, 1],
    ]


@given(st.lists(st.floats(), min_size=1, max_size=5), st.lists(anything, min_size=5, max_size=5))
def test_no_row_is_longer_than_its_grid(numbers, keys):
    held = arrays(numbers, keys[: len(numbers)], numbers)
    rows = FEATURES.rows(held).astype(object)
    assert ((rows**2).sum(axis=1) <= FEATURES.grid.steps**2).all()
    assert (FEATURES.rows([one[:1] for one in held]) == rows[:1]).all()


def test_keys_that_are_integers_may_come_as_floats():
    features = Features.of([dp.Keys([1, 2])], ["k"], by_name=False)
    assert features.encoded([np.array([1.0, 2.0, 2.5, np.nan])])[:, :2].tolist() == [
        [1, 0],
        [0, 1],
        [0, 0],
        [0, 0],
    ]


def test_bins_have_a_coordinate_each():
    column = NumberColumn(name="age", lower=Fraction(0), upper=Fraction(10))
    binned = BinnedColumn(column=column, edges=np.array([2.0, 5.0]))
    assert binned.names == ("age from 0 to 2", "age from 2 to 5", "age from 5 to 10")
    found = binned.coordinates(np.array([-3.0, 2.0, 4.9, 5.0, 99.0, np.nan]))
    assert found.tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize(
    ("declared", "by_name", "words"),
    [
        (None, True, "never read from data"),
        ({"age": (0, 1)}, True, "names other columns"),
        (DECLARED, False, "names other columns"),
        ([(0, 1)], False, "every column"),
        ([(0, 1), (0, 1), (1, 0)], False, "no room between the bounds of 'share'"),
        ([(0, 1), (0, 1), "wide"], False, "nothing that is known of 'share'"),
    ],
)
def test_what_is_not_declared_is_refused(declared, by_name, words):
    with pytest.raises(ParameterError, match=words):
        Features.of(declared, list(DECLARED), by_name=by_name)


def test_what_is_not_a_number_is_missing():
    found = FEATURES.encoded(arrays(["secret", 10**400, -(10**400), 1j, True], [None] * 5, [0] * 5))
    assert found[:, 0].tolist() == [0, 1, -1, 0, 1 / 55 - 1]


class Hostile:
    """A value that fails however it is read."""

    def __init__(self, error):
        self.error = error

    def __float__(self):
        raise self.error

    def __gt__(self, other):
        raise self.error

    def __eq__(self, other):
        raise self.error

    def __hash__(self):
        raise self.error


@pytest.mark.parametrize("error", [KeyError("41"), OverflowError("41"), ArithmeticError("41"), TypeError()])
def test_no_value_fails(error):
    values = np.array([Hostile(error), 10], dtype=object)
    features = Features.of([(0, 10), dp.Keys(["a"])], ["n", "k"], by_name=False)
    assert features.encoded([values, values]).tolist() == [[0, 0, 1], [1, 0, 1]]
    assert Classes.of("y", [10, 11]).numbers(values).tolist() == [-1, 0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "values",
    [np.array([np.finfo(np.longdouble).max, 1]), np.array([1e308, 0.0]), np.array([[1.0], 1], dtype=object)],
    ids=["long", "large", "array"],
)
@pytest.mark.parametrize("width", [Fraction(1, 10**400), Fraction(1)])
def test_no_value_makes_a_warning(values, width):
    column = NumberColumn(name="n", lower=Fraction(0), upper=width)
    assert np.isfinite(column.coordinates(values)).all()
    assert counts_of_cells([column], [values]).sum() <= 2
    values = np.fromiter([np.ones(1), 1], object, 2)  # arrays of one number become one, with a warning
    assert np.isfinite(column.coordinates(values)).all()


@pytest.mark.parametrize("bounds", [(0, 2**201), (-(10**300), 0), (0, Fraction(1, 2**201)), (1e-300, 2e-300)])
def test_bounds_beyond_what_floats_can_square_are_refused(bounds):
    Features.of((0, 2**200), ["a"], by_name=False).refuse_extremes()
    with pytest.raises(ParameterError, match="'b' that are too near or too far"):
        Features.of([(0, 1), bounds], ["a", "b"], by_name=False).refuse_extremes()
