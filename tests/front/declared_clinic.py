"""A small clinic on disk: visits in a CSV file, and the file that declares them."""

from __future__ import annotations

from pathlib import Path

from canary import ASKED_TEXT, DATA_NUMBER, DATA_TEXT, private

VALUE = DATA_TEXT
"""Stands in the data, and must stand nowhere else."""

LITERAL = ASKED_TEXT
"""Stands in a question, and must stand nowhere else."""

DECLARATION = """\
[ledger]
location = "clinic.ledger"

[budget]
epsilon = 20
delta = 1e-6

[tables.visits]
source = "visits.csv"
person = "patient_id"
limits = { rows = 2 }

[tables.visits.columns]
cost = { lower = 0, upper = 5000, step = 0.01 }
age = { lower = 0, upper = 110 }
city = { keys = ["Taipei", "Hamilton"] }
"""


def visits(rows: int = 400) -> str:
    """Half of the visits in each city, each patient twice, and two rows full of canaries."""
    lines = ["patient_id,city,age,cost,note"]
    lines += [
        f"{row // 2},{('Taipei', 'Hamilton')[row % 2]},{row % 90},{100 + row % 7}.25,x" for row in range(rows)
    ]
    lines.append(f"{DATA_NUMBER},Taipei,{DATA_NUMBER},{DATA_NUMBER}.25,{DATA_NUMBER}")
    return "\n".join([*lines, f"{VALUE},{VALUE},{VALUE},{VALUE},{VALUE}", ""])


def write_clinic(directory: Path, declaration: str = DECLARATION) -> Path:
    """Write both files; return that of the declaration."""
    private(directory / "visits.csv").write_text(visits(), encoding="utf-8")
    file = directory / "clinic.toml"
    file.write_text(declaration, encoding="utf-8")
    return file
