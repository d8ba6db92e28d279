"""Numbers through Arrow's buffers are those that Arrow itself converts."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pyarrow
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.reading.arrow_numbers import flags, integer, integers, integers_of, missing

WHOLE = st.integers(-(2**63), 2**63 - 1)
SIGNED = [pyarrow.int8(), pyarrow.int16(), pyarrow.int32(), pyarrow.int64()]


@given(WHOLE)
def test_a_number_is_what_arrow_makes_of_it(number):
    assert integer(number).equals(pyarrow.scalar(number, pyarrow.int64()))


@pytest.mark.parametrize("kind", [*SIGNED, pyarrow.string(), pyarrow.large_binary(), pyarrow.date32()])
def test_a_missing_value_has_its_type(kind):
    assert missing(kind).equals(pyarrow.scalar(None, kind))


@given(st.lists(WHOLE, max_size=20))
def test_integers_go_and_come_back(numbers):
    array = integers(np.array(numbers, np.int64))
    assert array.equals(pyarrow.array(numbers, pyarrow.int64()))
    assert integers_of(array).tolist() == numbers


@given(st.lists(st.booleans(), max_size=40))
def test_flags_are_in_order(chosen):
    assert flags(np.array(chosen, np.bool_)).equals(pyarrow.array(chosen, pyarrow.bool_()))


@pytest.mark.parametrize("kind", SIGNED, ids=str)
@given(
    st.lists(st.lists(st.integers(-128, 127), max_size=6), max_size=4), st.integers(0, 7), st.integers(0, 9)
)
def test_columns_in_parts_and_slices_are_read(kind, parts, first, size):
    column = pyarrow.chunked_array([pyarrow.array(part, kind) for part in parts], kind).slice(first, size)
    found = integers_of(column)
    assert found.dtype == np.int64
    assert found.tolist() == column.to_pylist()


def test_other_columns_are_read_as_arrow_reads_them():
    assert np.isnan(integers_of(pyarrow.chunked_array([[1, None]]))[1])
    assert integers_of(pyarrow.array([1.5])).tolist() == [1.5]
    large = pyarrow.array([2**63], pyarrow.uint64())
    assert integers_of(large).tolist() == [2**63]


def test_none_of_it_loads_pandas():
    script = (
        "import sys, numpy as np, pyarrow.compute as pc\n"
        "from discreet.data.reading.arrow_numbers import *\n"
        "column = integers(np.arange(9)).filter(flags(np.arange(9) > 2))\n"
        "kept = pc.if_else(pc.less(column, integer(5)), column, missing(column.type))\n"
        "print(integers_of(kept.drop_null()).tolist(), 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[3, 4] False\n"
    assert pc.less(integers(np.arange(9)), 5).sum().as_py() == 5
