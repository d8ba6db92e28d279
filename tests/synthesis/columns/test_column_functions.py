"""Columns that follow from others are rebuilt as declared, value by value."""

import numpy as np
import pytest

from discreet.data import Bounds, Determined, Keys
from discreet.data.tables.row_facts import Chosen
from discreet.errors import ParameterError
from discreet.synthesis.columns.coded_column import coded
from discreet.synthesis.columns.column_functions import LearnedColumn, MappedColumn

MINOR = MappedColumn(fact=Determined("minor", by="age", mapping={(None, 18): "yes", (18, None): "no"}))


def test_a_mapping_is_by_values_not_by_cells():
    given = {"age": [17, 18, 17.5, None, 3]}
    assert MINOR.values(given, np.zeros((5, 1), int)) == ["yes", "no", "yes", None, "yes"]
    keyed = MappedColumn(fact=Determined("n", by="k", mapping={"a": 1, True: 2, None: 0}))
    assert keyed.values({"k": ["a", "b", None, True]}, np.zeros((4, 1), int)) == [1, None, 0, 2]


def test_what_leads_to_a_value():
    assert MINOR.leading_to(Chosen("yes")) == Chosen((None, 18))
    assert MINOR.leading_to(Chosen("perhaps")) is None
    assert MINOR.leading_to(Chosen(None)) == Chosen(None)


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
