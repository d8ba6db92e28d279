"""Every example runs as a script, draws one picture where it is told to, and writes nothing beside itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
PARTS = {"character_model", "picture", "public_records", "twenty_questions_asked", "warfarin"}
SCRIPTS = sorted({path.stem for path in FOLDER.glob("*.py")} - PARTS)
PRINTS_ONLY = {"twenty_questions"}
QUICK = "election"


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if "__pycache__" not in path.parts}


def test_the_index_lists_every_script_and_no_other():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| \[(\w+)\]\((\w+)\.py\) \|", text, flags=re.MULTILINE)
    assert all(name == target for name, target in listed)
    assert sorted(name for name, _ in listed) == SCRIPTS
    for part in PARTS:
        assert f"[{part}]({part}.py)" in text


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_example_says_how_to_run_it_and_has_a_test(name):
    text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert f"python examples/{name}.py" in text
    assert len(text.splitlines()) < 200 or name in PRINTS_ONLY
    assert (Path(__file__).parent / f"test_{name}.py").exists()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == QUICK else [pytest.mark.slow])
        for name in SCRIPTS
        if name not in PRINTS_ONLY
    ],
)
def test_it_runs_as_a_script_and_draws_one_picture_where_it_is_told_to(name, tmp_path):
    before, elsewhere = files(FOLDER), tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = [sys.executable, str(FOLDER / f"{name}.py"), str(tmp_path / "pictures")]
    environment = os.environ | {"MPLBACKEND": "Agg", "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert [path.name for path in files(tmp_path / "pictures")] == [f"{name}.png"]
    assert (tmp_path / "pictures" / f"{name}.png").stat().st_size > 5000
    assert str(tmp_path / "pictures" / name) in ran.stdout
    assert files(FOLDER) == before
    assert not files(elsewhere)
