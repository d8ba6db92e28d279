"""What is public about a relation is found once a question, and never kept for the next."""

from __future__ import annotations

import gc
from collections import Counter
from unittest import mock

import pandas as pd
import pytest

from discreet.curator import Budget
from discreet.data import Bounds, Keys, Limits, PublicTable, Table
from discreet.data.facts import relation_facts
from discreet.data.facts.question_tables import QuestionTables, found_once
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.relations import Source
from discreet.errors import UndeclaredColumn
from discreet.front import Curator


def visits(upper=100):
    frame = pd.DataFrame({"person": [1, 2, 2], "cost": [1, 2, 3], "city": ["a", "b", "a"]})
    columns = {"cost": Bounds(0, upper), "city": Keys(["a", "b"])}
    return Table(frame, person="person", limits=Limits(rows=2), columns=columns)


def cities():
    return PublicTable(pd.DataFrame({"city": ["a", "b"], "region": ["x", "y"]}))


class Named:
    def __init__(self, name):
        self.name = name


@found_once
def found(one, tables):
    CALLS[one.name] += 1
    if one.name == "refused":
        raise UndeclaredColumn("no such table")
    return one.name, tuple(tables)


CALLS: Counter[str] = Counter()


def test_found_once_for_one_question_and_each_time_without():
    CALLS.clear()
    one, seen = Named("one"), QuestionTables({"visits": 1})
    assert found(one, seen) == found(one, seen) == ("one", ("visits",))
    assert CALLS["one"] == 1
    assert found(one, QuestionTables({})) == ("one", ())
    assert found(one, {"visits": 1}) == found(one, {"visits": 1})
    assert CALLS["one"] == 4


def test_refusals_are_raised_each_time():
    CALLS.clear()
    one, seen = Named("refused"), QuestionTables({})
    for _ in range(2):
        with pytest.raises(UndeclaredColumn):
            found(one, seen)
    assert CALLS["refused"] == 2


def test_no_object_is_taken_for_one_that_is_gone():
    """An identity is used again once its object is gone: unless kept, the next would get what it had."""
    seen = QuestionTables({})
    for place in range(1000):
        assert found(Named(str(place)), seen) == (str(place), ())
        gc.collect(0)


def test_a_view_does_not_see_later_tables_and_a_new_one_does():
    tables = {"visits": visits()}
    seen, source = QuestionTables(tables), Source(table="visits")
    before = columns_of_relation(source, seen)
    tables["visits"] = visits(upper=50)
    assert dict(seen) != tables
    assert columns_of_relation(source, seen) is before
    assert columns_of_relation(source, QuestionTables(tables))["cost"].bounds == Bounds(0, 50)


JOIN = (
    "SELECT c.region, COUNT(*) AS n, AVG(v.cost) AS mean FROM visits v JOIN cities c ON v.city = c.city "
    "WHERE v.cost > 1 GROUP BY c.region"
)


def test_a_question_finds_the_columns_of_a_table_once_and_the_door_once_more(tmp_path):
    tables = {"visits": visits(), "cities": cities()}
    curator = Curator(tables, budget=Budget(epsilon=9), ledger=tmp_path / "visits.ledger")
    with mock.patch.object(relation_facts, "_declared", wraps=relation_facts._declared) as declared:
        curator.preview(JOIN, epsilon=1)
        assert declared.call_count == 2
        declared.reset_mock()
        curator.ask(JOIN, epsilon=1)
        assert declared.call_count == 2
