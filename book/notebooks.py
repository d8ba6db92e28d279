"""The lectures as Jupyter notebooks: ``python -m book.notebooks FOLDER`` writes one for each.

Notebooks hold no output: running them computes it. Some cells use the scripts of examples/, so that they are
run in a clone.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from book.lectures import LECTURES, anchor, read_cells

__all__ = ["notebook"]

FIRST = """# Run this in a clone of the repository, after: pip install '.[tables,plot,learn,learn-torch]'
import sys

sys.path += ["examples", "../examples", "../../examples"]  # some cells use these scripts"""


def notebook(path: Path) -> str:
    """Return a lecture as a notebook (nbformat 4.5): cells of code follow their titles.

    Parameters
    ----------
    path : path
        The script, in cells.
    """
    cells = [_cell("code", FIRST, "first")]
    for number, cell in enumerate(read_cells(path)):
        name = f"{number}-{anchor(cell.title)}"[:64].rstrip("-")
        if cell.is_code:
            cells.append(_cell("markdown", f"### {cell.title}", f"title-{name}"[:64].rstrip("-")))
            cells.append(_cell("code", cell.text, name))
        else:
            cells.append(_cell("markdown", cell.text, name))
    about = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    content = {"cells": cells, "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _cell(kind: str, text: str, name: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}, "source": text}
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def main(folder: str) -> None:
    """Write the notebooks into a folder."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for path in LECTURES:
        (place / f"{path.stem}.ipynb").write_text(notebook(path), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
