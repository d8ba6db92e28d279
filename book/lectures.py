"""Lectures: Python scripts in cells, as notebooks and as pages of the site.

A line ``# %% [markdown]`` begins a cell of text, each line behind ``#``. A line ``# %% Title`` begins a cell
of code, which is known by its title. Editors run such cells one by one, and `python` runs the whole file,
with examples/ on its path. docs/lectures/rows.toml says which cells show which row of a course
(tests/mission.toml).
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from book.cells import Output, in_a_folder, run_cell

__all__ = ["LECTURES", "Cell", "anchor", "read_cells", "read_rows", "run_lecture"]

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "lectures"
LECTURES = [
    FOLDER / name
    for name in re.findall(
        r"^\d\. \[.*?\]\((\w+\.py)\)", (FOLDER / "README.md").read_text("utf-8"), flags=re.MULTILINE
    )
]
"""In the order of the course."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A cell of a lecture: text, or code with a title."""

    title: str
    text: str
    is_code: bool


def read_cells(path: Path) -> list[Cell]:
    """Return the cells of a script; what stands before the first one is left out."""
    cells = []
    for part in re.split(r"^# %% ?", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        if title.strip() == "[markdown]":
            lines = [re.sub(r"^# ?", "", line) for line in body.rstrip().split("\n")]
            cells.append(Cell(title="", text="\n".join(lines), is_code=False))
        else:
            cells.append(Cell(title=title.strip(), text=body.strip("\n"), is_code=True))
    return cells


def run_lecture(path: Path) -> Iterator[tuple[Cell, Output | None]]:
    """Run the cells of a lecture in order, in one namespace; yield each with what it printed and drew.

    Lectures may use the scripts of examples/.
    """
    if str(ROOT / "examples") not in sys.path:
        sys.path.append(str(ROOT / "examples"))
    namespace: dict[str, Any] = {"__name__": path.stem}
    with in_a_folder():
        for cell in read_cells(path):
            where = f"{path.name}: {cell.title}"
            yield cell, run_cell(cell.text, namespace, where) if cell.is_code else None


def read_rows() -> dict[str, list[str]]:
    """Return, for each row of a course, the cells that show it: ``foundations::The loss of one release``."""
    table: dict[str, list[str]] = tomllib.loads(
        (ROOT / "docs" / "lectures" / "rows.toml").read_text(encoding="utf-8")
    )
    return table


def anchor(title: str) -> str:
    """Return the address of a cell within its page."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
