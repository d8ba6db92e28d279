"""``discreet demo``: the whole walk, small."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from cli.folder import answered
from cli.program import refused
from discreet.front.opening import open_file


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_the_walk_from_data_to_plot():
    said = answered("demo --rows 20000 --directory clinic").output
    for step in range(1, 9):
        assert f"\n{step}. " in said
    assert "synthetic" in said
    assert "20,000 visits by" in said
    assert "± at 95%" in said
    assert "the same numbers (True), from the store" in said
    assert "refused: 'patient_id' is the person column" in said
    assert "refused: it costs" in said
    assert "would fit" in said
    assert "of them are intact" in said
    assert sorted(path.name for path in Path("clinic").iterdir()) == [
        "cities.png",
        "clinic.ledger",
        "clinic.toml",
        "visits.parquet",
    ]
    assert Path("clinic/cities.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_left_behind_can_be_asked_on(monkeypatch):
    answered("demo --rows 2000 --directory clinic")
    spent = open_file("clinic/clinic.toml").spent
    assert spent.requests == 3
    monkeypatch.chdir("clinic")
    assert (
        "asking again costs nothing"
        in answered(
            "preview --epsilon 0.5",
            "SELECT city, COUNT(*) AS n, AVG(cost) AS mean_cost FROM visits GROUP BY city",
        ).output
    )
    answered("ledger verify")


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    said = answered("demo --rows 1000 --directory clinic").output
    assert "pip install 'discreet[plot]'" in said
    assert not Path("clinic/cities.png").exists()


def test_a_directory_that_is_there_is_left_alone():
    Path("clinic").mkdir()
    assert "--directory already exists" in refused("demo --rows 1000 --directory clinic", code=7)
    assert list(Path("clinic").iterdir()) == []


@pytest.mark.parametrize("rows", ["0", "-1", "x", "1e12"])
def test_sizes_out_of_range(rows):
    assert "--rows" in refused(f"demo --rows {rows}")


@pytest.mark.slow
def test_the_clinic_is_served_to_whoever_holds_the_key_that_is_printed():
    typed = ["demo", "--serve", "--rows", "2000", "--port", "0", "--directory", "clinic"]
    with subprocess.Popen(
        [sys.executable, "-m", "discreet", *typed], stdout=subprocess.PIPE, text=True
    ) as process:
        said = ""
        while "Control-C" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        url = re.search(r"Open (http://127\.0\.0\.1:\d+) ", said)[1]
        key = re.search(r"^    (discreet_\S+)$", said, re.MULTILINE)[1]
        header = {"authorization": f"Bearer {key}"}
        with httpx.Client(base_url=url, trust_env=False, timeout=300) as client:
            assert "Log in" in client.get("/", follow_redirects=True).text
            assert "visits" in client.get("/v1/tables", headers=header).json()["tables"]
        process.terminate()
        said = process.stdout.read()
    assert process.returncode == 0
    assert "stopped; the clinic is in clinic" in said
    assert key not in said
