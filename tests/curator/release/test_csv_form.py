"""Answers as CSV and JSON: the same numbers, with the confidence of their intervals."""

from __future__ import annotations

import csv
import io
import json

import pandas as pd

import discreet as dp

FRAME = pd.DataFrame({"who": range(40), "city": ["a", "b"] * 20, "confidence": ["x", "y"] * 20})


def clinic(place):
    keys = {"city": dp.Keys(["a", "b"]), "confidence": dp.Keys(["x", "y"])}
    table = dp.Table(FRAME, person="who", limits=dp.Limits(rows=1), columns=keys)
    return dp.Curator({"visits": table}, budget=dp.Budget(epsilon=9), ledger=place / "l")


def test_csv_and_json_say_how_sure_intervals_are(tmp_path):
    asked = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    answer = clinic(tmp_path).ask(asked, epsilon=1, confidence=0.9)
    rows = list(csv.DictReader(io.StringIO(answer.to_csv())))
    assert list(rows[0]) == ["city", "n", "n_lower", "n_upper", "confidence"]
    assert {row["confidence"] for row in rows} == {"0.9"}
    content = json.loads(answer.to_json())
    assert content["confidence"] == 0.9
    assert content["label"] == json.loads(json.dumps(answer.label))
    for row, written in zip(rows, content["rows"], strict=True):
        assert {name: str(value) for name, value in written.items()} == {
            name: value for name, value in row.items() if name != "confidence"
        }


def test_answers_without_intervals_and_columns_of_that_name_have_no_more(tmp_path):
    curator = clinic(tmp_path)
    modes = curator.ask("SELECT MODE(city) AS m FROM visits", epsilon=1)
    assert modes.to_csv().splitlines()[0] == "m"
    named = curator.ask("SELECT confidence, COUNT(*) AS n FROM visits GROUP BY confidence", epsilon=1)
    assert named.to_csv().splitlines()[0] == "confidence,n,n_lower,n_upper"
