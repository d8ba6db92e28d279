"""Rows as integers: what no value can break, and what one row changes."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pandas as pd
import pyarrow
import pytest

from discreet.data import Bounds, FixedTable, Graph, Keys
from discreet.data.bounding.coded_rows import NO_KEY, brought_to, edge_codes, row_codes

ENDS = ("one", "other")


def coded(rows, many):
    found = brought_to(np.array(rows, np.int64).reshape(len(rows), 2), many, [0, NO_KEY])
    assert found.shape == (many, 2)
    return Counter(map(tuple, found.tolist()))


@pytest.mark.parametrize("many", [1, 2, 3, 4])
def test_one_row_more_less_or_other_is_at_most_one_row_replaced(many):
    """All lists of up to four rows that share all but one row."""
    values = list(product((0, 1), (NO_KEY, 1)))
    for size in range(4):
        for common in combinations_with_replacement(values, size):
            found = [coded(common, many), *(coded([*common, row], many) for row in values)]
            assert all(sum((one - other).values()) <= 1 for one in found for other in found)


def test_rows_that_fit_are_all_there_and_others_are_filled_up():
    assert coded([(1, 1), (0, 1)], 2) == Counter({(1, 1): 1, (0, 1): 1})
    assert coded([(1, 1)], 3) == Counter({(1, 1): 1, (0, NO_KEY): 2})
    assert coded([(1, 1), (0, 1), (0, 0)], 2) == Counter({(0, 0): 1, (0, 1): 1})  # the first in order


def test_numbers_and_keys_of_every_kind_have_a_code():
    table = FixedTable(
        pd.DataFrame(
            {
                "x": [0.26, None, float("nan"), float("inf"), -float("inf"), 1e300],
                "city": ["Oslo", None, "", "Taipei", "oslo", "Oslo"],
            }
        ),
        rows=6,
        columns={"x": Bounds(-1, 1, step=Fraction(1, 2)), "city": Keys(["Taipei", "Oslo"])},
    )
    assert row_codes(table, ["x"])[:, 0].tolist() == [1, -2, -2, 2, -2, 2]
    assert row_codes(table, ["city"])[:, 0].tolist() == [1, -1, -1, 0, -1, 1]
    both = row_codes(table, ["city", "x"])
    assert both[0].tolist() == [1, 1]


def test_files_are_read_as_frames_are(tmp_path):
    frame = pd.DataFrame({"x": [0.2, 0.6, None], "city": ["Oslo", None, "Bern"]})
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    columns = {"x": Bounds(0, 1, step=Fraction(1, 5)), "city": Keys(["Oslo"])}
    for source in (frame, tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        table = FixedTable(source, rows=3, columns=columns)
        assert sorted(row_codes(table, ["x", "city"]).tolist()) == [[0, -1], [1, 0], [3, -1]]


def test_a_rule_for_missing_numbers_is_kept():
    columns = {"x": Bounds(0, 9, null=4)}
    table = FixedTable(
        pyarrow.table({"x": pyarrow.array([None, 7], pyarrow.int64())}), rows=2, columns=columns
    )
    assert row_codes(table, ["x"])[:, 0].tolist() == [4, 7]


@pytest.mark.parametrize("rows", [1, 4, 7])
def test_a_wrong_number_of_rows_raises_nothing(rows):
    table = FixedTable(pd.DataFrame({"x": [3, 1, 2, 9]}), rows=rows, columns={"x": Bounds(0, 9)})
    expected = {1: [1], 4: [1, 2, 3, 9], 7: [0, 0, 0, 1, 2, 3, 9]}[rows]
    assert sorted(row_codes(table, ["x"])[:, 0].tolist()) == expected


def test_ends_that_are_no_declared_node_are_left_out():
    frame = pd.DataFrame({"one": ["a", "b", None, "x", "c"], "other": ["b", "b", "a", "a", None]})
    first, second = edge_codes(Graph(frame, ends=ENDS, nodes=["a", "b", "c"]))
    assert (first.tolist(), second.tolist()) == ([0, 1], [1, 1])
    numbers = pyarrow.table(
        {"one": pyarrow.array([0, 2, None, -1, 3, 2**63 - 1], pyarrow.int64()), "other": [1, 2, 0, 0, 0, 0]}
    )
    first, second = edge_codes(Graph(numbers, ends=ENDS, nodes=3))
    assert (first.tolist(), second.tolist()) == ([0, 2], [1, 2])


@pytest.mark.parametrize(
    "kind", [pyarrow.int8(), pyarrow.uint32(), pyarrow.uint64(), pyarrow.decimal128(20, 0)]
)
def test_integers_of_every_width_are_nodes(kind):
    large = 2**63 if kind == pyarrow.uint64() else 100
    columns = {"one": [0, 1, large], "other": [1, 2, 0]}
    numbers = pyarrow.table(
        {name: pyarrow.array(values, pyarrow.uint64()).cast(kind) for name, values in columns.items()}
    )
    first, second = edge_codes(Graph(numbers, ends=ENDS, nodes=3))
    assert (first.tolist(), second.tolist()) == ([0, 1], [1, 2])


def test_no_rows_at_all():
    empty = pyarrow.table(
        {"one": pyarrow.array([], pyarrow.int64()), "other": pyarrow.array([], pyarrow.int64())}
    )
    assert [ends.tolist() for ends in edge_codes(Graph(empty, ends=ENDS, nodes=3))] == [[], []]
    table = FixedTable(empty, rows=2, columns={"one": Bounds(1, 3), "other": Keys([1])})
    assert row_codes(table, ["one", "other"]).tolist() == [[1, NO_KEY]] * 2
