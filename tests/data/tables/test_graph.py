"""A declared graph: what is public about it, and which declarations are refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow
import pytest

from discreet.data import Graph, Keys
from discreet.data.tables.broken_rows import BrokenRows
from discreet.errors import ParameterError
from discreet.privacy.neighbors import ADD_REMOVE_ROW

NAMED = pyarrow.table({"one": ["Ann", "Bob", None], "other": ["Bob", "Cem", "Ann"]})
NUMBERED = pyarrow.table({"one": [0, 1, 2], "other": [1, 2, 0]})
ENDS = ("one", "other")


def test_what_is_declared_is_recorded_with_its_relation():
    graph = Graph(NAMED, ends=ENDS, nodes=["Ann", "Bob", "Cem"], version="2")
    assert graph.relation == ADD_REMOVE_ROW
    assert (graph.nodes, graph.ends, graph.version) == (3, ENDS, "2")
    assert graph.declaration["neighbors"] == "add-remove row"
    assert graph.declaration["graph"] == {"ends": ["one", "other"], "nodes": 3}
    assert graph.columns["one"] == graph.columns["other"] == Keys(["Ann", "Bob", "Cem"])
    numbered = Graph(NUMBERED, ends=ENDS, nodes=np.int64(4))
    assert numbered.declaration != Graph(NUMBERED, ends=ENDS, nodes=5).declaration
    assert numbered.declaration != Graph(NUMBERED, ends=ENDS, nodes=[0, 1, 2, 3]).declaration
    assert repr(graph) == "Graph(ends=('one', 'other'), nodes=3, version='2')"


@pytest.mark.parametrize(
    "ends", ["one", ("one",), ("one", "one"), ("one", 2), ("one", "other", "third"), None]
)
def test_ends_are_two_columns(ends):
    with pytest.raises(ParameterError, match="ends"):
        Graph(NUMBERED, ends=ends, nodes=3)


@pytest.mark.parametrize(
    ("source", "nodes"),
    [
        (NUMBERED, ["Ann"]),
        (NAMED, 3),
        (NAMED, [1, 2]),
        (pd.DataFrame({"one": [0.0, 1.5], "other": [1.0, 2.0]}), 3),
        (NUMBERED, 0),
        (NUMBERED, -1),
        (NUMBERED, 2**31),
        (NUMBERED, 1.5),
        (NUMBERED, True),
        (NAMED, "Ann"),
        (NAMED, []),
        (NAMED, ["Ann", "Ann"]),
        (NAMED, ["Ann", None]),
        (NUMBERED, [True, False]),
        (NUMBERED, None),
    ],
)
def test_nodes_and_columns_that_do_not_go_together_are_refused_by_their_types(source, nodes):
    with pytest.raises(ParameterError):
        Graph(source, ends=ENDS, nodes=nodes)


def test_a_column_that_is_missing_is_refused():
    with pytest.raises(ParameterError, match="third"):
        Graph(NUMBERED, ends=("one", "third"), nodes=3)


def test_the_owner_learns_which_rows_do_not_count():
    rows = [(0, 1), (1, 0), (0, 1), (2, 2), (None, 1), (7, 1), (1, 2)]
    graph = Graph(pd.DataFrame(rows, columns=list(ENDS)).astype("Int64"), ends=ENDS, nodes=3)
    found = graph.broken()
    assert found.rows == 7
    assert list(found.reasons.values()) == [2, 1, 2]
    assert not found.is_clean
    assert Graph(NUMBERED, ends=ENDS, nodes=3).broken().is_clean
    assert repr(found) == "BrokenRows()"  # exact counts are not shown by accident
    assert str(found).startswith("EXACT COUNTS")
    assert str(BrokenRows(rows=1, reasons={"are wrong": 2})).endswith("2 are wrong")
    with pytest.raises(ParameterError, match="broken"):
        graph.check()


def test_a_graph_cannot_be_copied():
    with pytest.raises(TypeError):
        Graph(NUMBERED, ends=ENDS, nodes=3).__reduce__()
