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

from discreet.cli.rendering import grid, render, write


def release(keys, *columns):
    """A stand-in with what is read of a release."""
    outputs = [
        SimpleNamespace(name=name, values=np.array(v), lower=np.array(low), upper=np.array(high))
        for name, v, low, high in columns
    ]
    table = dict(keys)
    for one in outputs:
        table |= {one.name: one.values.tolist()}
        table |= {f"{one.name}_lower": one.lower.tolist(), f"{one.name}_upper": one.upper.tolist()}
    request = SimpleNamespace(confidence=Fraction(9, 10))
    return SimpleNamespace(
        keys=keys, outputs=outputs, request=request, columns=lambda: table, label={"format": "x"}
    )


ODD = release(
    {"day": [datetime.date(2026, 1, 1), None], 'a,"b': ["x\ny", "Tromsø"]},
    ("n", [12345, -3], [12000, -5], [13000, 4]),
    ("m", [1234.5678, float("nan")], [-0.0, float("-inf")], [2000.0, float("inf")]),
)


def test_a_table_shows_every_group():
    many = release({"k": list(range(50))}, ("n", list(range(50)), [0] * 50, [99] * 50))
    lines = render(many, "table").decode().splitlines()
    assert len(lines) == 51
    assert lines[0].split() == ["k", "n", "90%", "interval"]


def test_odd_values_in_a_table():
    text = render(ODD, "table").decode()
    assert "12,345  12,000 to 13,000" in text
    assert "NULL" in text
    assert "unknown" in text
    assert "nan" not in text
    assert " 0 to 2,000" in text


def test_odd_values_in_csv_and_json():
    rows = list(csv.DictReader(io.StringIO(render(ODD, "csv").decode())))
    assert rows[0] == {
        **{"day": "2026-01-01", 'a,"b': "x\ny", "n": "12345", "n_lower": "12000", "n_upper": "13000"},
        **{"m": "1234.5678", "m_lower": "0.0", "m_upper": "2000.0"},
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


def test_a_grid():
    assert grid([["a", "b"], ["long", "1"]], left=1) == "a     b\nlong  1"


def test_a_file_that_appeared_meanwhile_stays(tmp_path):
    place = tmp_path / "answer.csv"
    write(str(place), b"first")
    with pytest.raises(FileExistsError):
        write(str(place), b"second")
    assert place.read_bytes() == b"first"
