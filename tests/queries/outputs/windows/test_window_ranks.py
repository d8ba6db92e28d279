"""Ranks: whatever the exact numbers are within their ends, their rank is among the possible ones."""

from __future__ import annotations

import random

import duckdb
import numpy as np
import pytest

from discreet.queries.outputs.windows.window_frames import SortedBy, partitioned
from discreet.queries.outputs.windows.window_ranks import RankedBy, ranks
from discreet.queries.question.answer_windows import AnswerFunction

NAMES = {
    AnswerFunction.ROW_NUMBER: "ROW_NUMBER()",
    AnswerFunction.RANK: "RANK()",
    AnswerFunction.DENSE_RANK: "DENSE_RANK()",
    AnswerFunction.PERCENT_RANK: "PERCENT_RANK()",
    AnswerFunction.CUME_DIST: "CUME_DIST()",
    AnswerFunction.NTILE: "NTILE(3)",
}


def exact_ranks(values, classes, *, descending):
    """What DuckDB gives: a row of ranks for every function; ties by the number of the row."""
    rows = ", ".join(
        f"({place}, {one}, {kind})" for place, (one, kind) in enumerate(zip(values, classes, strict=True))
    )
    order = "c, v DESC" if descending else "c, v"
    names = ", ".join(
        f"{call} OVER (ORDER BY {order}{', k' if kind is AnswerFunction.ROW_NUMBER else ''})"
        for kind, call in NAMES.items()
    )
    found = duckdb.sql(f"SELECT {names} FROM (VALUES {rows}) AS t(k, v, c) ORDER BY k").fetchall()  # noqa: S608
    return dict(zip(NAMES, zip(*found, strict=True), strict=True))


def world(seed):
    draw = random.Random(seed)
    size = draw.randint(1, 8)
    low = [draw.randint(0, 12) for _ in range(size)]
    high = [one + draw.choice([0, 0, 1, 3, 6]) for one in low]
    classes = sorted(draw.randint(0, 1) if seed % 3 == 0 else 0 for _ in range(size))
    return draw, low, high, classes


def bounds(function, low, high, classes, *, descending):
    """Possible ranks of groups in the order of their numbers."""
    places = np.arange(len(low))
    (partition,) = partitioned(
        places.tolist(), [], [SortedBy(values=low, descending=descending, missing_first=False)]
    )
    ends = np.array([low, high], float)[:, partition.rows]
    ends = -ends[::-1] if descending else ends
    by = RankedBy(classes=np.array(classes)[partition.rows], low=ends[0], high=ends[1], ties=False)
    least, _, most = ranks(function, 3, partition, by)
    back = np.argsort(partition.rows)
    return least[back], most[back]


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_ranks_of_possible_numbers_are_possible_ranks(seed, descending):
    draw, low, high, classes = world(seed)
    for _ in range(5):
        values = [draw.randint(one, other) for one, other in zip(low, high, strict=True)]
        for function, exact in exact_ranks(values, classes, descending=descending).items():
            least, most = bounds(function, low, high, classes, descending=descending)
            assert (least <= np.array(exact) + 1e-12).all(), function
            assert (np.array(exact) <= most + 1e-12).all(), function


@pytest.mark.parametrize("function", [AnswerFunction.RANK, AnswerFunction.DENSE_RANK])
def test_numbers_that_are_known_have_one_rank(function):
    least, most = bounds(function, [3, 1, 7], [3, 1, 7], [0, 0, 0], descending=True)
    assert least.tolist() == most.tolist() == [2, 3, 1]


def test_ranks_of_apart_intervals_are_narrow_and_of_touching_ones_are_not():
    least, most = bounds(AnswerFunction.RANK, [0, 10, 11], [2, 12, 13], [0, 0, 0], descending=False)
    assert least.tolist() == [1, 2, 2]
    assert most.tolist() == [1, 3, 3]


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("parts", [1, 2, 3, 5, 11])
def test_released_parts_are_those_of_an_engine(size, parts):
    (partition,) = partitioned(
        list(range(size)), [], [SortedBy(values=list(range(size)), descending=False, missing_first=False)]
    )
    _, value, _ = ranks(AnswerFunction.NTILE, parts, partition, None)
    exact = duckdb.sql(f"SELECT NTILE({parts}) OVER (ORDER BY k) FROM range({size}) AS t(k) ORDER BY k")  # noqa: S608
    assert value.tolist() == [one for (one,) in exact.fetchall()]
