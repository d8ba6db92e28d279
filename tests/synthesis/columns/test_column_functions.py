"""Columns that follow from others are rebuilt as declared, value by value."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.data import Bounds, Determined, Keys
from discreet.data.language.measures import WholeAxis
from discreet.data.tables.row_facts import Chosen
from discreet.errors import ParameterError
from discreet.synthesis.columns.coded_column import CodedColumn, coded
from discreet.synthesis.columns.column_functions import LeadingCells, LearnedColumn, MappedColumn

MINOR = MappedColumn(fact=Determined("minor", by="age", mapping={(None, 18): "yes", (18, None): "no"}))


def test_a_mapping_is_by_values_not_by_cells():
    given = {"age": [17, 18, 17.5, None, 3]}
    assert MINOR.values(given, np.zeros((5, 1), int)) == ["yes", "no", "yes", None, "yes"]
    keyed = MappedColumn(fact=Determined("n", by="k", mapping={"a": 1, True: 2, None: 0}))
    assert keyed.values({"k": ["a", "b", None, True]}, np.zeros((4, 1), int)) == [1, None, 0, 2]


def leading(path, wanted, column):
    """The cells that lead to a value, after the column was cut for it."""
    found = LeadingCells(path=path, wanted=Chosen(wanted))
    cut = column.cut(found.edges(column))
    return [cut.labels[cell] for cell in found.cells(cut)]


def test_what_leads_to_a_value():
    ages = coded("age", Bounds(0, 39), missing=True, width=10)
    minor = replace(MINOR, by=ages)
    assert leading((minor,), "yes", ages) == [0, 10]
    assert leading((minor,), "no", ages) == [18, 20, 30]
    assert leading((minor,), "perhaps", ages) == []
    assert leading((minor,), None, ages) == [None]


def test_what_a_mapping_does_not_list_leads_to_none_on_every_path():
    keys = coded("k", Keys(["a", "b"]), missing=True)
    first = MappedColumn(fact=Determined("m", by="k", mapping={"a": "p", "b": "q"}), by=keys)
    second = MappedColumn(fact=Determined("n", by="m", mapping={"p": "u"}))
    assert leading((first, second), None, keys) == ["b", None]
    assert leading((first, second), "u", keys) == ["a"]
    unknown = CodedColumn(axis=WholeAxis(column="k", values=Keys(["a", "c", None])), chosen=True)
    assert leading((replace(first, by=unknown),), None, unknown) == ["c", None, "(other)"]


def test_a_number_is_the_grid_point_that_it_was_written_from():
    thirds = coded("x", Bounds(0, 1, step=Fraction(1, 3)), missing=True)
    mapping = {(None, Fraction(1, 3)): "low", (Fraction(1, 3), None): "high"}
    one = MappedColumn(fact=Determined("m", by="x", mapping=mapping), by=thirds)
    assert one.values({"x": [0, 1 / 3, 2 / 3, 1, None]}, np.zeros((5, 1), int)) == [
        "low",
        "high",
        "high",
        "high",
        None,
    ]
    assert leading((one,), "low", thirds) == [0]


def test_a_result_that_is_a_float_is_the_number_of_a_fact():
    keys = coded("k", Keys(["a", "b", "c"]), missing=True)
    one = MappedColumn(fact=Determined("m", by="k", mapping={"a": 1.0, "b": 2, "c": True}), by=keys)
    assert leading((one,), 1, keys) == ["a"]
    assert leading((one,), 2.0, keys) == ["b"]
    assert leading((one,), True, keys) == ["c"]
    then = MappedColumn(fact=Determined("n", by="m", mapping={1: "number"}))
    assert then.values({"m": [1, True, 1.0]}, np.zeros((3, 1), int)) == ["number", None, "number"]


def test_mappings_must_say_something_about_every_declared_value():
    MINOR.check(coded("age", Bounds(0, 110), missing=True))
    gap = MappedColumn(fact=Determined("m", by="age", mapping={(0, 50): 1, (60, 111): 2}))
    with pytest.raises(ParameterError, match="about 50 of 'age'"):
        gap.check(coded("age", Bounds(0, 110), missing=True))
    keyed = MappedColumn(fact=Determined("n", by="k", mapping={"a": 1}))
    with pytest.raises(ParameterError, match="1 of 2 keys"):
        keyed.check(coded("k", Keys(["a", "b", None]), missing=True))


def test_a_learned_column_has_a_value_for_each_cell():
    learned = LearnedColumn(name="city", by=1, results=("x", "y"))
    assert learned.values({}, np.array([[5, 0], [5, 1], [0, 1]])) == ["x", "y", "y"]
