"""Draws the picture of README: ``python -m book.front_picture`` writes docs/front.png."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["draw_front_picture"]

TARGET = Path(__file__).parents[1] / "docs" / "front.png"


def draw_front_picture(target: Path) -> None:
    """Draw the laws of a count on two neighbors beside an answer with its intervals, which is drawn anew."""
    import matplotlib as mpl

    mpl.use("Agg")
    import pandas as pd
    from matplotlib import pyplot

    import discreet as dp

    rows = pd.DataFrame({"patient": [*range(2000)], "city": ["Taipei", "Hamilton", "Lyon", "Taipei"] * 500})
    cities = {"city": dp.Keys(["Taipei", "Hamilton", "Lyon"])}
    table = dp.Table(rows, person="patient", limits=dp.Limits(rows=1), columns=cities)
    with TemporaryDirectory() as folder:
        ledger = Path(folder) / "clinic.ledger"
        clinic = dp.Curator({"visits": table}, budget=dp.Budget(epsilon=1), ledger=str(ledger))
        answer = clinic.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=0.02)
    _, (laws, answered) = pyplot.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
    dp.Laplace(sensitivity=1, epsilon=0.5).plot(ax=laws)
    answer.plot(ax=answered)
    laws.figure.savefig(target, dpi=110)
    pyplot.close("all")


if __name__ == "__main__":
    draw_front_picture(TARGET)
    print(TARGET)
