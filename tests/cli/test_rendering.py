"""Answers in every form: all rows, nothing for what is unknown."""

from __future__ import annotations

import csv
import datetime
import io
import json
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from discreet.cli.rendering import grid, render
from discreet.curator import Release
from discreet.curator.request.request import AnswerColumn
from discreet.privacy import events


def release(keys, *columns):
    """An answer with a stand-in for its request."""
    outputs = tuple(
        AnswerColumn(name=name, values=np.array(v), lower=np.array(low), upper=np.array(high))
        for name, v, low, high in columns
    )
    request = SimpleNamespace(confidence=Fraction(9, 10), event=events.Laplace(epsilon=1))
    label = {"format": "x", "private": True, "counted": "at most 1 row per person counted"}
    return Release(request=request, keys=keys, outputs=outputs, label=label)


ODD = release(
    {"day": [datetime.date(2026, 1, 1), None], 'a,"b': ["x\ny", "Tromsø"]},
    ("n", [12345, -3], [12000, -5], [13000, 4]),
    ("m", [1234.5678, float("nan")], [-0.0, float("-inf")], [2000.0, float("inf")]),
    ("lag", [float("nan"), 1234567.8], [float("nan"), 1234000.0], [float("nan"), 1236000.0]),
)


def test_a_table_shows_every_group():
    many = release({"k": list(range(50))}, ("n", list(range(50)), [0] * 50, [99] * 50))
    lines = render(many, "table").decode().splitlines()
    assert len(lines) == 53
    assert lines[0].split() == ["k", "n"]
    assert "49  49 (0 to 99)" in lines[50]
    assert lines[52] == "at most 1 row per person counted; intervals at 90%"


def test_years_are_printed_as_they_are_and_values_to_their_error():
    years = release({"year": [2023, 2024]}, ("m", [1234.5678, 1300.0], [1230.0, 1296.0], [1239.0, 1304.0]))
    assert render(years, "table").decode().splitlines()[1:3] == [
        "2023  1,234.6 (1,230.0 to 1,239.0)",
        "2024                     1,300 ± 4",
    ]


def test_odd_values_in_a_table():
    text = render(ODD, "table").decode()
    assert "12,340 (12,000 to 13,000)" in text
    assert "1,200 (0 to 2,000)" in text
    lines = text.splitlines()
    assert lines[1].endswith("  NULL")  # the first LAG
    assert "x\\ny" in lines[1]  # a line break in a key makes no line of its own
    assert lines[2].startswith("NULL  ")
    assert "unknown" in text
    assert "nan" not in text


def test_odd_values_in_csv_and_json():
    rows = list(csv.DictReader(io.StringIO(render(ODD, "csv").decode())))
    assert rows[0] == {
        **{"day": "2026-01-01", 'a,"b': "x\ny", "n": "12345", "n_lower": "12000", "n_upper": "13000"},
        **{"m": "1234.5678", "m_lower": "0.0", "m_upper": "2000.0"},
        **{"lag": "", "lag_lower": "", "lag_upper": "", "confidence": "0.9"},
    }
    assert [rows[1][name] for name in ("day", "m", "m_lower", "m_upper")] == ["", "", "", ""]
    content = json.loads(render(ODD, "json"))
    assert content["rows"][1]["m"] is None
    assert content["rows"][1]["day"] is None
    assert content["rows"][0]['a,"b'] == "x\ny"
    assert "Tromsø" in render(ODD, "json").decode()


@pytest.mark.parametrize("form", ["table", "csv", "json"])
def test_text_ends_with_one_line_break(form):
    assert render(ODD, form).endswith(b"\n")
    assert not render(ODD, form).endswith(b"\n\n")


def test_the_bill_is_first_in_json_and_nowhere_else():
    bill = {"stored": True, "paid": "nothing"}
    assert list(json.loads(render(ODD, "json", bill=bill)))[:3] == ["stored", "paid", "rows"]
    for form in ("csv", "table"):
        assert render(ODD, form, bill=bill) == render(ODD, form)


def test_a_grid():
    assert grid([["a", "b"], ["long", "1"]], left=1) == "a     b\nlong  1"
