import datetime

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from discreet.data import Bounds, Dates, Keys
from discreet.errors import ParameterError
from discreet.synthesis.columns.domain import CodedColumns

COLUMNS = {"age": Bounds(0, 3), "city": Keys(["a", "b"])}


def test_frames_mappings_and_arrays_are_read_alike():
    frame = pd.DataFrame({"city": ["a", "b", "c"], "age": [1, 9, None], "other": 0})
    domain = CodedColumns.declared(COLUMNS)
    assert domain.names == ("age", "city")
    assert domain.shape == (5, 3)
    wanted = [[1, 0], [3, 1], [4, 2]]
    assert domain.codes(frame).tolist() == wanted
    assert domain.codes({name: frame[name].to_numpy() for name in frame}).tolist() == wanted
    numbers = CodedColumns.declared({"x": Bounds(0, 3), "y": Keys([0, 1])}, missing=False)
    assert numbers.codes(np.array([[1, 0], [2, 5], [3, 1]])).tolist() == [[1, 0], [3, 1]]  # 5 is no key


def test_places_are_sorted_and_unknown_names_refused():
    domain = CodedColumns.declared(COLUMNS)
    assert domain.places(["city", "age"]) == (0, 1)
    assert domain.places("city") == (1,)
    for wrong in (["city", "city"], [], ["x"]):
        with pytest.raises(ParameterError):
            domain.places(wrong)


@pytest.mark.parametrize(
    "columns", [{}, None, [("age", Bounds(0, 3))], {str(i): Keys([1]) for i in range(501)}]
)
def test_columns_must_be_declared(columns):
    with pytest.raises(ParameterError):
        CodedColumns.declared(columns)


@pytest.mark.parametrize("rows", [{"age": [1]}, np.zeros((3, 3)), 5, None, {"age": [1], "city": ["a", "b"]}])
def test_rows_of_another_form_are_refused(rows):
    with pytest.raises(ParameterError):
        CodedColumns.declared(COLUMNS).codes(rows)


LARGE = 2**53 + 1  # the next double is another number


@pytest.mark.parametrize(
    ("declared", "value", "other"),
    [
        (Keys([1, 2]), 1, "x"),
        (Keys(["1"]), 1, "x"),
        (Keys([LARGE]), LARGE, 2.5),
        (Keys([LARGE]), LARGE, None),
        (Bounds(0, 3), 1, "x"),
        (Bounds(0, 3), True, "x"),
        (Keys(["u"]), "u", ["q"]),
        (Keys(["u"]), "u", b"u"),
        (Dates("2020-01-01", "2020-01-05"), datetime.date(2020, 1, 2), pd.NaT),
        (Dates("2020-01-01", "2020-01-05"), datetime.datetime(2020, 1, 2, 9), pd.NA),
    ],
)
@pytest.mark.parametrize("form", [list, tuple])
def test_no_row_of_a_list_decides_how_others_are_read(declared, value, other, form):
    domain = CodedColumns.declared({"x": declared})
    without = domain.codes({"x": form([value] * 5)})
    assert domain.codes({"x": form([value] * 5 + [other])})[:5].tolist() == without.tolist()


@pytest.mark.parametrize(
    "frame",
    [
        lambda values: pyarrow.table({"x": pyarrow.array(values, pyarrow.int64())}),
        lambda values: polars.DataFrame({"x": polars.Series(values, dtype=polars.Int64)}),
        lambda values: pd.DataFrame({"x": pd.Series(values, dtype="Int64")}),
        lambda values: pd.DataFrame({"x": pd.Series(values, dtype="int64[pyarrow]")}),
        lambda values: pd.DataFrame({"x": pd.Categorical(values, categories=[LARGE, LARGE + 2])}),
        lambda values: pd.DataFrame({"x": pd.Series(values, dtype=object)}),
    ],
)
def test_a_null_does_not_turn_integers_into_floats(frame):
    domain = CodedColumns.declared({"x": Keys([LARGE, LARGE + 2])})
    assert domain.codes(frame([LARGE, LARGE + 2])).tolist() == [[0], [1]]
    assert domain.codes(frame([LARGE, LARGE + 2, None])).tolist() == [[0], [1], [2]]
