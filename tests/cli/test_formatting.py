"""Answers: digits round to the safe side, and infinity survives JSON."""

from __future__ import annotations

import json
import math

from discreet.accounting import Interval
from discreet.cli import formatting


def test_infinity_survives_json():
    found = Interval(lower=1.0, upper=math.inf, method="", neighbors=None, certified=True)
    text = formatting.as_json({"epsilon": formatting.interval(found)})
    assert json.loads(text) == {"epsilon": {"lower": 1.0, "upper": "infinity"}}


def test_tables_leave_out_what_is_empty_and_wrap_what_is_long():
    table = formatting.as_table({"a": "1", "empty": "", "long": "word " * 60})
    lines = table.splitlines()
    assert lines[0] == "a      1"
    assert not any("empty" in line for line in lines)
    assert all(len(line) <= 100 for line in lines)
    assert all(line.startswith("       ") for line in lines[2:])
