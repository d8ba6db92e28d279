"""Arrays of a record are read-only, however deep they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from discreet.workloads.algebra.sealing import make_read_only


@dataclass(frozen=True)
class Record:
    matrix: np.ndarray
    inside: object = None


def test_arrays_at_every_depth_cannot_be_written():
    deep = Record(np.ones(2))
    record = Record(np.ones((2, 2)), inside=(deep, [np.ones(3)], "a word", 7))
    make_read_only(record)
    for array in (record.matrix, deep.matrix, record.inside[1][0]):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
