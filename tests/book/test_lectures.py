"""Every row of a course is shown by cells that exist, or is open; and the lectures run."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from book.lectures import LECTURES, anchor, read_cells, read_rows, run_lecture

ROOT = Path(__file__).parents[2]
COURSE = tomllib.loads((ROOT / "tests" / "mission.toml").read_text(encoding="utf-8"))
TITLES = {f"{path.stem}::{cell.title}" for path in LECTURES for cell in read_cells(path) if cell.is_code}


def faults(rows: dict[str, list[str]]) -> list[str]:
    """What is wrong with a table of rows and cells."""
    found = [f"{row} has no entry" for row in COURSE if row not in rows]
    found += [f"{row} is no row" for row in rows if row not in COURSE]
    for row, names in rows.items():
        found += [f"{row}: no cell {name}" for name in names if name not in TITLES]
        if not names and "open" not in COURSE.get(row, {"open": ""}):
            found.append(f"{row} is not open, and no cell shows it")
    return found


def test_every_row_is_shown_or_open():
    assert faults(read_rows()) == []


def test_faults_are_found():
    rows = read_rows()
    assert faults({**rows, "A1": []})
    assert faults({**rows, "A1": ["foundations::A cell that nobody wrote"]})
    assert faults({**rows, "Z1": []})
    assert faults({row: names for row, names in rows.items() if row != "B2"})


def test_there_are_five_lectures_and_the_page_lists_them():
    assert len(LECTURES) == 5
    assert {*LECTURES} == {*(ROOT / "docs" / "lectures").glob("*.py")}


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_cells_have_titles_of_their_own_and_begin_with_a_heading(path):
    cells = read_cells(path)
    titles = [anchor(cell.title) for cell in cells if cell.is_code]
    assert "" not in titles
    assert len(set(titles)) == len(titles)
    assert not cells[0].is_code
    assert cells[0].text.startswith("# ")


@pytest.mark.slow
@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_runs_and_shows_something(path):
    """Cells check what they claim, so that running one is a test."""
    outputs = [output for _, output in run_lecture(path) if output is not None]
    assert all(output.text or output.pictures for output in outputs)
    assert sum(len(output.pictures) for output in outputs) >= 1
