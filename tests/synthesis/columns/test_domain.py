import numpy as np
import pandas as pd
import pytest

from discreet.data import Bounds, Keys
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
