"""Keys through Arrow's buffers are those that Arrow itself converts, and need no pandas."""

from __future__ import annotations

import datetime
import subprocess
import sys

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data import Type
from discreet.data.reading.arrow_keys import key_array
from discreet.data.reading.arrow_types import ARROW_TYPES

VALUES = {
    Type.TEXT: st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    Type.INTEGER: st.integers(-(2**63), 2**63 - 1),
    Type.BOOLEAN: st.booleans(),
    Type.DATE: st.dates(),
}


@pytest.mark.parametrize("kind", VALUES, ids=str)
@given(data=st.data())
def test_keys_are_what_arrow_makes_of_them(kind, data):
    values = data.draw(st.lists(st.none() | VALUES[kind], max_size=20))
    found = key_array(values, kind)
    found.validate(full=True)
    assert found.equals(pyarrow.array(values, ARROW_TYPES[kind]))
    assert found.to_pylist() == values


def test_ends_of_the_calendar_and_empty_texts():
    days = [datetime.date.min, datetime.date(1969, 12, 31), datetime.date(1970, 1, 1), datetime.date.max]
    assert key_array(days, Type.DATE).to_pylist() == days
    assert key_array(["", None, "é\0", ""], Type.TEXT).to_pylist() == ["", None, "é\0", ""]


def test_they_load_no_pandas():
    script = (
        "import sys, datetime\n"
        "from discreet.data import Type\n"
        "from discreet.data.reading.arrow_keys import key_array\n"
        "key_array(['a', None], Type.TEXT), key_array([1], Type.INTEGER), key_array([True], Type.BOOLEAN)\n"
        "key_array([datetime.date(2026, 1, 1)], Type.DATE)\n"
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
