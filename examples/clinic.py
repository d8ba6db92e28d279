"""A clinic, from its table to an answer: declare, preview, amend, ask.

The visits are invented (`discreet.cli.clinic`, those of ``discreet demo``). How many visits of one patient
should count? A low limit leaves out visits of people who come often; a high one needs more noise for
everybody. The noise is known before asking, and looking at it costs nothing. What a limit leaves out is
private: it is decided by what the owner knows about patients, not by trying.

Run with ``python examples/clinic.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from picture import save

import discreet as dp
from discreet.cli.clinic import CITIES, visits, write_visits
from discreet.figures import Axes, draw_curve, label_axes, next_style, panels

QUESTION = "SELECT city, COUNT(*) AS n, AVG(cost) AS mean_cost FROM visits GROUP BY city"


def declared(directory: Path, most: int) -> dict[str, dp.Table]:
    """Declare the visits, of which a limited number count for each patient."""
    table = dp.Table(
        directory / "visits.parquet",
        person="patient_id",
        limits=dp.Limits(rows=most),
        columns={"city": dp.Keys(CITIES), "cost": dp.Bounds(0, 5000, step=0.01)},
    )
    return {"visits": table}


def opened(directory: Path, most: int) -> dp.Curator:
    """Open the clinic: one ledger, for good."""
    budget = dp.Budget(epsilon=3, delta=1e-6)
    return dp.Curator(declared(directory, most), budget=budget, ledger=directory / "clinic.ledger")


def margin(clinic: dp.Curator) -> float:
    """Return how wrong a count of visits may be at 95%: from public facts alone."""
    return clinic.preview(QUESTION, epsilon=0.5)["n"].margin


def plot(margins: dict[int, float]) -> Axes:
    """Draw how wrong a count may be, over the limit."""
    (ax,) = panels(None)
    limits = sorted(margins)
    draw_curve(ax, limits, [margins[most] for most in limits], next_style(ax), label=None, marked=True)
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(limits, [str(most) for most in limits])
    ax.minorticks_off()
    title = "What a limit costs, before asking: epsilon = 0.5"
    return label_axes(ax, x="visits of a patient that count", y="± of a count at 95%", title=title)


def main(folder: str | None = None, rows: int = 100_000) -> None:
    """Compare limits, settle on one, and ask."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        write_visits(visits(rows), directory / "visits.parquet")
        clinic = opened(directory, 100)
        print("visits of a patient that count   how wrong a count may be")
        margins = {}
        for most in (100, 5, 1, 25):
            clinic.amend(tables=declared(directory, most), reason=f"at most {most} visits of a patient")
            margins[most] = margin(clinic)
            print(f"{most:>30}   {margins[most]:>24,.0f}")
        answer = clinic.ask(QUESTION, epsilon=0.5, analyst="ana")
        print(f"\nSettled on the last. {QUESTION}\n\n{answer}\n")
        print(f"spent: epsilon {clinic.spent.epsilon:g}; {clinic.ledger.verify()}")
    save(lambda: plot(margins), "clinic", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
