"""What print calls unknown is missing in every export: no number that says nothing, beside its interval."""

from __future__ import annotations

import csv
import io
import json
import math

import duckdb
import pyarrow
import pytest

import discreet as dp
from discreet.cli.rendering import render
from discreet.curator.release.json_form import release_object

PEOPLE = pyarrow.table(
    {
        "who": range(400),
        "city": ["Taipei", "Lyon"] * 200,
        "age": [20 + place % 50 for place in range(400)],
    }
)
TEXT = (
    "SELECT city, AVG(age) AS mean, MEDIAN(age) AS middle, MAX(age) AS most, COUNT(*) AS n "
    "FROM people GROUP BY city"
)
OUTPUTS = ("mean", "middle", "most", "n")


@pytest.fixture
def answer(tmp_path):
    table = dp.Table(
        PEOPLE,
        person="who",
        limits=dp.Limits(rows=1),
        columns={"city": dp.Keys(["Taipei", "Lyon", "Rome"]), "age": dp.Bounds(0, 1000)},
    )
    curator = dp.Curator({"people": table}, budget=dp.Budget(epsilon=10**6), ledger=tmp_path / "l.ledger")
    return curator.ask(TEXT, epsilon=1000)


def exact() -> dict[str, tuple[object, ...]]:
    connection = duckdb.connect()
    connection.register("people", PEOPLE)
    return {row[0]: row[1:] for row in connection.sql(TEXT).fetchall()}


def test_the_empty_group_is_printed_as_unknown(answer):
    (rome,) = (line for line in str(answer).splitlines() if line.split()[0] == "Rome")
    assert rome.count("unknown (0 to 1,000)") >= 2  # of the median, noise may say something


def rows_of(answer, form: str) -> list[dict[str, object]]:
    if form == "pandas":
        return answer.to_pandas().to_dict("records")
    if form == "arrow":
        return answer.to_arrow().to_pylist()
    if form == "polars":
        return answer.to_polars().to_dicts()
    if form == "csv":
        return [
            {name: value if name == "city" else float(value or "nan") for name, value in row.items()}
            for row in csv.DictReader(io.StringIO(render(answer, "csv").decode()))
        ]
    assert form == "json"
    return json.loads(json.dumps(release_object(answer), allow_nan=False))["rows"]


@pytest.mark.parametrize("form", ["pandas", "arrow", "polars", "csv", "json"])
def test_every_export_has_numbers_only_where_print_has_them(answer, form):
    known, missing = exact(), (math.nan if form in {"pandas", "csv"} else None)
    _, printed = answer.texts()
    for row, (_, *cells) in zip(rows_of(answer, form), printed, strict=True):
        truths = known.get(row["city"], (None, None, None, 0))
        for name, cell, truth in zip(OUTPUTS, cells, truths, strict=True):
            if cell.startswith("unknown"):
                assert row[name] is None if missing is None else math.isnan(row[name])
                assert (row[f"{name}_lower"], row[f"{name}_upper"]) == (0, 1000)
                assert truth is None
            else:
                assert math.isfinite(row[name])
                assert truth is None or row[f"{name}_lower"] <= truth <= row[f"{name}_upper"]


def test_columns_stay_columns_of_numbers_where_all_are_unknown(tmp_path, answer):
    empty = answer.at([2])
    assert empty.to_arrow().schema.field("mean").type == pyarrow.float64()
    assert empty.to_arrow()["mean"].null_count == 1
    assert empty.to_pandas()["mean"].dtype == "float64"
    assert answer["mean"][2] == empty["mean"][0]  # what was calculated stays where it is
