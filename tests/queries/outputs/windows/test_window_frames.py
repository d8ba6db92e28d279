"""Frames of windows: against an engine's, by counting what is in each."""

from __future__ import annotations

import duckdb
import pytest

from discreet.queries.outputs.windows.window_frames import SortedBy, framed, partitioned
from discreet.queries.question.answer_windows import Frame

VALUES = [3, 1, None, 2, 2, None, 3, 5]
KINDS = ["a", "b", "a", "a", "b", "b", "a", "a"]
FRAMES = {
    "ROWS UNBOUNDED PRECEDING": Frame(end=0),
    "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW": Frame(start=-2, end=0),
    "ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING": Frame(start=-3, end=-2),
    "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING": Frame(start=1),
    "RANGE UNBOUNDED PRECEDING": Frame(end=0, peers=True),
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING": Frame(start=0, peers=True),
    "RANGE BETWEEN CURRENT ROW AND CURRENT ROW": Frame(start=0, end=0, peers=True),
}


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("missing_first", [True, False])
@pytest.mark.parametrize("written", FRAMES)
def test_frames_are_those_of_an_engine(written, missing_first, descending):
    order = [
        SortedBy(values=VALUES, descending=descending, missing_first=missing_first),
        SortedBy(values=list(range(len(VALUES))), descending=False, missing_first=False),
    ]
    if written.startswith("RANGE"):
        order = order[:1]
    found = {}
    frames = framed(partitioned(list(range(len(VALUES))), [KINDS], order), FRAMES[written])
    for row, start, end in zip(frames.rows, frames.start, frames.end, strict=True):
        found[int(row)] = sum(int(other) for other in frames.rows[start:end])
    rows = ", ".join(
        f"({place}, '{kind}', {'NULL' if value is None else value})"
        for place, (kind, value) in enumerate(zip(KINDS, VALUES, strict=True))
    )
    by = f"v {'DESC' if descending else 'ASC'} NULLS {'FIRST' if missing_first else 'LAST'}"
    by += "" if written.startswith("RANGE") else ", k"
    exact = duckdb.sql(
        f"SELECT COALESCE(SUM(k) OVER (PARTITION BY p ORDER BY {by} {written}), 0) FROM (VALUES {rows}) AS t(k, p, v) ORDER BY k"  # noqa: S608, E501
    ).fetchall()
    assert [found[place] for place in range(len(VALUES))] == [one for (one,) in exact]
