"""Answers: digits round to the safe side, and infinity survives JSON."""

from __future__ import annotations

import json
import math

from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import Interval
from discreet.cli import answer


@given(st.floats(1e-300, 1e300))
def test_six_digits_enclose_the_number(value):
    above, below = (float(write(value).replace(",", "")) for write in (answer.above, answer.below))
    assert below <= value <= above
    assert above - below <= 1.1e-5 * value


def test_numbers_read_well():
    assert answer.above(0.9468668) == "0.946867"
    assert answer.below(12112.0139) == "12,112"
    assert answer.above(0) == "0"
    assert answer.above(math.inf) == "infinity"


def test_infinity_survives_json():
    found = Interval(lower=1.0, upper=math.inf, method="", neighbors=None, certified=True)
    text = answer.as_json({"epsilon": answer.interval(found)})
    assert json.loads(text) == {"epsilon": {"lower": 1.0, "upper": "infinity"}}


def test_tables_leave_out_what_is_empty_and_wrap_what_is_long():
    table = answer.as_table({"a": "1", "empty": "", "long": "word " * 60})
    lines = table.splitlines()
    assert lines[0] == "a      1"
    assert not any("empty" in line for line in lines)
    assert all(len(line) <= 100 for line in lines)
    assert all(line.startswith("       ") for line in lines[2:])
