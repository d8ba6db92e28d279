"""Lectures as notebooks hold the same code in the same order."""

from __future__ import annotations

import json
import re

import pytest
from book.lectures import LECTURES, read_cells
from book.notebooks import FIRST, main, notebook


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_a_notebook_has_the_cells_of_its_lecture(path):
    content = json.loads(notebook(path))
    cells = read_cells(path)
    assert content["nbformat"] == 4
    code = [one["source"] for one in content["cells"] if one["cell_type"] == "code"]
    assert code == [FIRST, *(one.text for one in cells if one.is_code)]
    titles = [one["source"] for one in content["cells"] if one["source"].startswith("### ")]
    assert [f"### {one.title}" for one in cells if one.is_code] == [one for one in titles if "\n" not in one]
    names = [one["id"] for one in content["cells"]]
    assert len({*names}) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)


def test_all_are_written(tmp_path):
    main(str(tmp_path / "notebooks"))
    assert {one.stem for one in (tmp_path / "notebooks").iterdir()} == {one.stem for one in LECTURES}
