"""A ledger as a released version wrote it; ``python -m tests.curator.ledger.released_ledger`` adds one.

What a version wrote is kept in released/ and never written again; test_released_ledgers.py reads all of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

import discreet as dp
from discreet.version import __version__

FOLDER = Path(__file__).parent / "released"


def clinic(ledger: Path) -> dp.Curator:
    """The curator that wrote the ledgers: its declarations never change."""
    rows = pd.DataFrame(
        {
            "patient": [*range(300)] * 2,
            "city": ["Taipei", "Hamilton", "Lyon"] * 200,
            "cost": [90.5, 40, 310, 12] * 150,
        }
    )
    visits = dp.Table(
        rows,
        person="patient",
        limits=dp.Limits(rows=2),
        columns={"city": dp.Keys(["Taipei", "Hamilton", "Lyon"]), "cost": dp.Bounds(0, 500, step=0.5)},
    )
    return dp.Curator({"visits": visits}, budget=dp.Budget(epsilon=4, delta=1e-6), ledger=str(ledger))


def _values(answer: Any) -> Any:
    """The values of an answer by column; intervals may become shorter in later versions."""
    held = answer.to_pandas().to_dict("list")
    kept = {name: values for name, values in held.items() if not name.endswith(("_lower", "_upper"))}
    return json.loads(json.dumps(kept, default=str))


QUESTIONS: dict[str, Callable[[dp.Curator], Any]] = {
    "groups": lambda held: _values(
        held.ask(
            "SELECT city, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY city",
            epsilon=0.5,
            analyst="ana",
        )
    ),
    "median": lambda held: _values(held.ask("SELECT MEDIAN(cost) AS middle FROM visits", epsilon=0.5)),
    "normal noise": lambda held: _values(
        held.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", rho=0.01)
    ),
    "ranges": lambda held: [
        float(held.ask(dp.ranges("visits", "cost", width=50), rho=0.01).count(low, low + 100).value)
        for low in (0, 100, 250)
    ],
}
"""What was asked, in this order. Questions are only ever added, for versions to come."""


def write(folder: Path, version: str) -> None:
    """Write a ledger with the answers to all questions, and beside it what they were and what was spent."""
    ledger = folder / f"{version}.sqlite"
    held = clinic(ledger)
    answers = {name: ask(held) for name, ask in QUESTIONS.items()}
    known = {
        "answers": answers,
        "entries": held.ledger.verify().entries,
        "requests": held.spent.requests,
        "epsilon": held.spent.epsilon,
    }
    (folder / f"{version}.json").write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if (FOLDER / f"{__version__}.sqlite").exists():
        raise SystemExit(f"{__version__} has written its ledger already")
    write(FOLDER, __version__)
