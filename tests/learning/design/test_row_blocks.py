"""Parts of rows: all of them in order, none too long; and columns that are one array."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from discreet.learning.design.row_blocks import MOST_ROWS, blocks_of, one_array, row_parts


@pytest.mark.parametrize("columns", [0, 1, 7, 100, 2**18])
@pytest.mark.parametrize("count", [0, 1, 40_000])
def test_parts_are_all_rows_in_order(count, columns):
    parts = list(row_parts(min(count, 2**22 // max(columns, 1)), columns))
    assert [place for part in parts for place in range(part.start, part.stop)] == list(
        range(min(count, 2**22 // max(columns, 1)))
    )
    assert all(part.stop - part.start <= MOST_ROWS for part in parts)


def test_sums_of_a_part_are_exact():
    """Proofs say 2^14 rows of 2^12, times slopes of 2^25, are below 2^53."""
    assert MOST_ROWS * 2**12 * 2**25 < 2**53


def test_blocks_are_all_rows_in_order():
    rows = np.arange(100_000, dtype=np.int16).reshape(-1, 2)
    parts = [part for _, part in blocks_of(rows)]
    assert len(parts) > 1
    assert (np.concatenate(parts) == rows).all()


DESIGN = np.arange(60.0).reshape(20, 3)
FRAME = pandas.DataFrame(DESIGN)


@pytest.mark.parametrize(
    "columns",
    [
        list(DESIGN.T),
        list(np.asfortranarray(DESIGN).T),
        list(DESIGN[::2, ::-1].T),
        list(DESIGN[3:9].astype(np.float32).T),
        [FRAME[name].to_numpy() for name in range(3)],
        list(DESIGN[:0].T),
    ],
    ids=["rows", "columns", "part", "short", "frame", "none"],
)
def test_columns_of_one_array_are_joined(columns):
    found = one_array(columns)
    assert found is not None
    assert (found == np.stack(columns, axis=1)).all()


@pytest.mark.parametrize(
    "columns",
    [
        [],
        [DESIGN[:, 0]],
        [DESIGN[:, 0], DESIGN[:, 1].copy(), DESIGN[:, 2]],
        [DESIGN[:, 0], DESIGN[:, 1], DESIGN[:, 1]],
        [DESIGN[:, 0], DESIGN[:, 0]],
        [DESIGN[:, 0], DESIGN[1:, 1]],
        [DESIGN[:, 0], DESIGN[:, 2], DESIGN[:, 1]],
        [DESIGN[:10, 0], DESIGN[::2, 1]],
        [DESIGN[:, 0], DESIGN.view(np.int64)[:, 1]],
    ],
    ids=["none", "one", "copied", "twice", "same", "shorter", "swapped", "strides", "types"],
)
def test_other_columns_are_not(columns):
    assert one_array(columns) is None
