from __future__ import annotations

import io
import json
from dataclasses import dataclass, field

import numpy as np
import pyarrow.parquet
import pytest

from discreet.cli.synthetic_rows import render_rows
from discreet.data import Bounds, Dates, Keys
from discreet.noise import replay
from discreet.synthesis import Independent, SyntheticData

COLUMNS = {"day": Dates("2024-01-01", "2024-01-31"), "code": Keys(["a\x1b[2J", "b"]), "cost": Bounds(0, 9)}


@dataclass
class Released:
    """What is rendered of a release, without a curator."""

    data: SyntheticData
    rows: int | None
    label: dict[str, object] = field(default_factory=lambda: {"private": True})

    def to_arrow(self, *, seed: int) -> pyarrow.Table:
        return self.data.to_arrow(self.rows, seed=seed)


@pytest.fixture(scope="module")
def released() -> Released:
    day = np.array(["2024-01-05"] * 20, "datetime64[D]")
    held = {"day": day, "code": np.array(["a\x1b[2J", None] * 10, object), "cost": np.arange(20) % 10}
    with replay(0):
        return Released(Independent(columns=COLUMNS, rho=1000).release(held), 30)


def test_people_see_ten_rows_and_no_control_characters(released):
    shown = render_rows(released, "table", seed=0, bill={}).decode()
    header, *lines = shown.splitlines()
    assert header.split() == ["day", "code", "cost"]
    assert "synthetic rows: 30, of which 10 are shown" in lines[10]
    assert "\x1b" not in shown
    few = render_rows(Released(released.data, 3), "table", seed=0, bill={}).decode()
    assert "synthetic rows: 3\n" in few


def test_all_forms_hold_the_same_rows(released):
    header, *lines = render_rows(released, "csv", seed=4, bill={}).decode().splitlines()
    assert header == "day,code,cost"
    content = json.loads(render_rows(released, "json", seed=4, bill={"paid": "rho 1"}))
    assert content["paid"] == "rho 1"
    assert content["seed"] == 4
    rows = content["synthetic"]
    assert [",".join("" if value is None else str(value) for value in row.values()) for row in rows] == lines
    stream = io.BytesIO(render_rows(released, "parquet", seed=4, bill={}))
    table = pyarrow.parquet.read_table(stream)
    assert json.loads(table.schema.metadata[b"discreet.label"]) == {"private": True}
    assert [str(day) for day in table["day"].to_pylist()] == [row["day"] for row in rows]
    other = render_rows(released, "csv", seed=5, bill={}).decode().splitlines()
    assert other[1:] != lines
