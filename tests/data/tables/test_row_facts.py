"""Facts about rows: what may be stated, in one form, and what is refused."""

import datetime
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.data.language.measures import Axis
from discreet.data.language.serialization import from_object, to_object
from discreet.data.language.types import Type
from discreet.data.tables.row_facts import Chosen, checked_facts, facts_about
from discreet.errors import ParameterError, UnsupportedQuery

DAY = datetime.date(2020, 5, 1)


def test_values_are_held_by_type_and_range():
    some = Chosen(["yes", 3, None, (10, 20), (DAY, None)])
    for value in ("yes", 3, None, 10, 19.5, Fraction(39, 2), DAY, datetime.date(2030, 1, 1)):
        assert some.holds(value), value
    for value in ("no", True, 20, 9, datetime.date(2019, 1, 1), "10", float("nan")):
        assert not some.holds(value), value
    assert Chosen((None, None)).holds("anything")
    assert not Chosen((None, None)).holds(None)
    assert Chosen(0.5).holds(Fraction(1, 2))
    assert not Chosen(1).holds(True)


def test_the_same_fact_is_equal_and_written_alike():
    one = dp.Impossible({"b": ["y"], "a": (None, 15)})
    two = dp.Impossible({"a": (None, 15.0), "b": "y"})
    assert one == two
    assert one.to_object() == two.to_object() == {"impossible": {"a": [[None, {"number": "15"}]], "b": ["y"]}}
    assert one.columns == ("a", "b")
    assert "15" in repr(one)
    assert checked_facts([one, two]) == (one,)
    assert checked_facts(one) == (one,)
    assert checked_facts(None) == ()
    mapped = dp.Determined("a", by="b", mapping={1: "x", (2, None): None})
    assert mapped.to_object()["mapping"] == [[[1], "x"], [[[{"number": "2"}, None]], None]]
    assert dp.Determined("a", by="b").to_object()["mapping"] is None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: dp.Impossible({}),
        lambda: dp.Impossible("age < 15"),
        lambda: dp.Impossible({3: "a"}),
        lambda: dp.Impossible(dict.fromkeys("abcdefg", "x")),
        lambda: dp.Impossible({"age": (15, 15)}),
        lambda: dp.Impossible({"age": (20, 15)}),
        lambda: dp.Impossible({"age": (1, 2, 3)}),
        lambda: dp.Impossible({"age": (DAY, 15)}),
        lambda: dp.Impossible({"age": []}),
        lambda: dp.Impossible({"age": float("nan")}),
        lambda: dp.Impossible({"age": datetime.datetime(2020, 1, 1, 12)}),
        lambda: dp.Impossible({"age": {"below": 15}}),
        lambda: dp.Determined("city", by="city"),
        lambda: dp.Determined("", by="city"),
        lambda: dp.Determined("city", by="zip", mapping={}),
        lambda: dp.Determined("city", by="zip", mapping=["a"]),
        lambda: dp.Determined("city", by="zip", mapping={1: ["a"]}),
        lambda: checked_facts(["age"]),
        lambda: checked_facts([dp.Determined("a", by="b"), dp.Determined("a", by="c")]),
        lambda: facts_about({"a": Type.TEXT}, dp.Impossible({"a": "x", "b": "y"})),
        lambda: facts_about({"a": Type.TEXT}, dp.Determined("c", by="b", mapping={1: 2})),
    ],
)
def test_what_is_not_a_fact_is_refused(wrong):
    with pytest.raises(ParameterError):
        wrong()


def test_a_mapped_column_need_not_be_in_the_table():
    fact = dp.Determined("c", by="a", mapping={1: 2})
    assert facts_about({"a": Type.TEXT}, fact) == (fact,)


def test_a_table_has_facts_which_are_not_what_the_ledger_declares():
    fact = dp.Impossible({"age": (0, 15), "job": "yes"})
    rows = {"age": [1.0], "job": ["yes"]}
    import pyarrow

    columns = {"age": dp.Bounds(0, 110, step=1), "job": dp.Keys(["yes", "no"])}
    table = dp.Table(pyarrow.table(rows), person=dp.EACH_ROW, columns=columns, facts=fact)
    plain = dp.Table(pyarrow.table(rows), person=dp.EACH_ROW, columns=columns)
    assert table.facts == (fact,)
    assert plain.facts == ()
    assert table.declaration == plain.declaration
    with pytest.raises(ParameterError, match="'jobs', which the table does not have"):
        dp.Table(pyarrow.table(rows), person=dp.EACH_ROW, facts=dp.Impossible({"jobs": "yes"}))


@given(st.integers(1, 30), st.sets(st.integers(1, 29)), st.integers(1, 7))
def test_cells_that_are_cut_are_counted_from_their_starts(points, wanted, width):
    cuts = tuple(sorted(cut for cut in wanted if cut <= points and cut % width))
    axis = Axis(column="x", values=dp.Bounds(0, points), width=width, cuts=cuts)
    starts = axis.starts
    assert len(starts) == axis.listed == axis.cells
    for point in range(points + 1):
        cell = point // width + sum(point >= cut for cut in cuts)
        assert cell == np.searchsorted(starts, point, side="right") - 1
    assert from_object(to_object(axis)) == axis
    assert ("cuts" in to_object(axis)) == bool(cuts)  # plans without cuts are written as before


@pytest.mark.parametrize("cuts", [(0,), (5, 3), (3, 3), (11,), (2,), ("3",), [3]])
def test_cuts_that_are_none_are_refused(cuts):
    with pytest.raises(UnsupportedQuery):
        Axis(column="x", values=dp.Bounds(0, 10), width=2, cuts=cuts)
    with pytest.raises(UnsupportedQuery):
        Axis(column="x", values=dp.Keys(["a"]), cuts=(1,))


@pytest.mark.parametrize(
    "mapping",
    [
        {(0, 10): "a", (5, 21): "b"},
        {(None, 10): "a", (None, 2): "b"},
        {(3, None): "a", (0, 4): "b"},
        {(0, 10): "a", 3: "b"},
        {(0, 10): "a", 0: "b"},
        {(0, 10): "a", (20, 30): "b", frozenset([(40, 50), 25]): "c"},
        {(None, None): "a", "x": "b"},
        {frozenset([(None, None), (0, 1)]): "a", (0, 5): "b"},
        {frozenset(["x", "y"]): "a", "y": "b"},
        {(datetime.date(2020, 1, 1), None): "a", datetime.date(2021, 1, 1): "b"},
    ],
)
def test_a_mapping_has_one_result_for_each_value(mapping):
    with pytest.raises(ParameterError, match="share a value"):
        dp.Determined("m", by="x", mapping=mapping)


@pytest.mark.parametrize(
    "mapping",
    [
        {(None, 5): "a", (5, 10): "b", 10: "c", (11, None): "d", None: "e", "x": "f"},
        {frozenset([(0, 10), (5, 7), 3]): "a", (10, 12): "b"},
        {(None, None): "a", None: "b"},
        {(0, 1): "a", (datetime.date(2020, 1, 1), None): "b", "0": "c"},
    ],
)
def test_keys_that_only_touch_are_apart(mapping):
    assert len(dp.Determined("m", by="x", mapping=mapping).mapping) == len(mapping)


@pytest.mark.parametrize("result", [float("nan"), float("inf")])
def test_a_result_is_a_finite_number(result):
    with pytest.raises(ParameterError, match="finite"):
        dp.Determined("m", by="x", mapping={"a": result})
