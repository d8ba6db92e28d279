"""Names of other libraries are refused with what to write here, and that exists."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from discreet.data import col, count
from discreet.data.language.formulas.other_libraries import ANSWER, FORMULA, GROUPS, ROWS
from discreet.errors import UnsupportedQuery
from discreet.queries import TableRequest

VISITS = TableRequest(table="visits")
GROUPED = VISITS.group_by("city")
ASKED = GROUPED.agg(n=count())
THINGS = [(VISITS, ROWS), (GROUPED, GROUPS), (ASKED, ANSWER), (col("x"), FORMULA)]


@pytest.mark.parametrize(
    ("thing", "name", "write"),
    [
        (VISITS, "groupby", "write group_by('city')"),
        (VISITS, "with_columns", "write derive("),
        (VISITS, "limit", "write head(10) after agg"),
        (VISITS, "count", "write agg(n=count())"),
        (VISITS, "cost", "write col('cost') for a column"),
        (GROUPED, "count", "write agg(n=count())"),
        (ASKED, "filter", "write having(col('n') > 10)"),
        (ASKED, "limit", "head(10)"),
        (ASKED, "to_pandas", "write clinic.ask("),
        (col("ward"), "is_in", "write isin(['a', 'b'])"),
        (col("ward"), "nothing", "dir(col('x')) lists them"),
    ],
)
def test_a_name_of_another_library_says_what_to_write(thing, name, write):
    with pytest.raises(AttributeError, match=re.escape(write)):
        getattr(thing, name)
    assert not hasattr(thing, name)


@pytest.mark.parametrize(("thing", "vocabulary"), THINGS)
def test_no_word_hides_one_that_exists_and_what_is_to_be_written_exists(thing, vocabulary):
    known = {name for one, _ in THINGS for name in dir(one)} | {"col", "count", "ask", "dir", "after"}
    for name, write in vocabulary.words.items():
        assert not hasattr(type(thing), name), name
        assert set(re.findall(r"(\w+)\(", write)) <= known, write


@pytest.mark.parametrize("name", ["_repr_html_", "__array__", "_ipython_display_"])
@pytest.mark.parametrize("thing", [one for one, _ in THINGS])
def test_what_programs_look_for_is_only_missing(thing, name):
    assert getattr(thing, name, None) is None


@pytest.mark.parametrize("thing", [VISITS, GROUPED, ASKED])
def test_requests_are_copied_and_stored(thing):
    assert copy.copy(thing) == copy.deepcopy(thing) == pickle.loads(pickle.dumps(thing)) == thing


def test_rows_are_not_read_by_brackets_nor_one_by_one():
    for read in (lambda: VISITS["cost"], lambda: VISITS[col("cost") > 1], lambda: list(VISITS)):
        with pytest.raises(UnsupportedQuery, match=r"filter.*col\('cost'\) for a column"):
            read()


def test_in_a_list_says_isin():
    with pytest.raises(TypeError, match=r"isin\(\) instead of in"):
        col("ward") in ["A"]  # noqa: B015
