"""Fresh noise on the same question averages out; a stored answer and a budget do not let it.

A system that adds fresh Laplace noise to a question each time it is asked gives the truth away: the mean of t
answers is off by about sqrt(2 / t) / epsilon, and t answers cost t epsilon whether anybody counts or not. Two
things stop this here. The same question gets the answer that is stored, for nothing: asking again
teaches nothing. And an answer with fresh noise is a new charge, so that the budget ends the attack. Nor
does averaging pay: one answer for the price of t has an error of about 1 / (t epsilon), below the mean's.

Run with ``python examples/averaged_noise.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
import tempfile
from math import pi, sqrt
from pathlib import Path

import numpy as np
import pandas as pd
from picture import save

import discreet as dp
from discreet.errors import BudgetExceeded
from discreet.figures import Axes, draw_curve, label_axes, next_style, panels

EPSILON, TIMES = 0.05, (1, 4, 16, 64, 256, 1024)
QUESTION = "SELECT COUNT(*) AS n FROM patients WHERE positive"


def errors_of_means(runs: int = 500) -> dict[int, float]:
    """Return, for each number of repetitions, the mean distance of the averaged answers from the truth."""
    mechanism = dp.Laplace(sensitivity=1, epsilon=EPSILON)
    return {
        times: float(np.abs(np.mean(mechanism.release(np.zeros((runs, times), np.int64)), axis=1)).mean())
        for times in TIMES
    }


def expected(times: int) -> float:
    """Return what the central limit theorem says: sqrt(2 / pi) times the deviation of the mean."""
    return sqrt(2 / pi) * sqrt(dp.Laplace(sensitivity=1, epsilon=EPSILON).error.variance / times)


def error_of_one(times: int) -> float:
    """Return the mean error of one answer that costs as much as all of them."""
    return dp.Laplace(sensitivity=1, epsilon=EPSILON * times).error.mean_absolute


def attack(folder: Path, attempts: int = 20) -> tuple[set[float], int, float]:
    """Ask a curator again and again: return the answers of one question, how many fresh ones, and their mean.

    The budget is epsilon = 0.5. Ten fresh measurements of the question exhaust it.
    """
    source = np.random.default_rng(5)  # made-up data: no privacy rests on it
    people = {"patient": np.arange(1000), "positive": source.random(1000) < 0.1}
    patients = pd.DataFrame(people | {"age": source.integers(0, 90, 1000)})
    columns = {"age": dp.Bounds(0, 120)}
    table = dp.Table(patients, person="patient", limits=dp.Limits(rows=1), columns=columns)
    curator = dp.Curator({"patients": table}, budget=dp.Budget(epsilon=0.5), ledger=folder / "tests.ledger")
    same = {float(curator.ask(QUESTION, epsilon=EPSILON)["n"][0]) for _ in range(attempts)}
    fresh = list(same)
    for attempt in range(1, attempts):
        try:  # the same rows, under a condition that is true of everybody: another question
            asked = f"{QUESTION} AND age > -{attempt}"
            fresh.append(float(curator.ask(asked, epsilon=EPSILON)["n"][0]))
        except BudgetExceeded:
            break
    return same, len(fresh), float(np.mean(fresh))


def plot(means: dict[int, float]) -> Axes:
    """Draw the error of the mean over the number of answers, and of one answer for the same cost."""
    (ax,) = panels(None)
    style = next_style(ax)
    draw_curve(ax, TIMES, [expected(times) for times in TIMES], style, label="mean of t fresh answers")
    ax.plot(list(means), list(means.values()), color=style.color, marker=style.marker, ls="")
    one = [error_of_one(times) for times in TIMES if times <= 64]
    draw_curve(ax, TIMES[: len(one)], one, next_style(ax), label="one answer for the same cost", marked=True)
    ax.set(xscale="log", yscale="log")
    ax.secondary_xaxis("top", functions=(lambda t: t * EPSILON, lambda e: e / EPSILON)).set_xlabel(
        "what was paid: t epsilon"
    )
    title = "Fresh noise averages out (line computed, points measured)"
    return label_axes(ax, x="answers, t", y="mean error of a count", title=title)


def main(folder: str | None = None) -> None:
    """Average noise, then try it on a curator."""
    means = errors_of_means()
    print(f"A count with fresh Laplace noise, epsilon = {EPSILON} each time: mean error\n")
    print(f"{'answers':>8} {'paid':>8} {'of their mean':>14} {'expected':>9} {'of one at that price':>21}")
    for times, error in means.items():
        line = f"{times:>8} {times * EPSILON:>8.4g} {error:>14.3f} {expected(times):>9.3f}"
        print(f"{line} {error_of_one(times):>21.3g}")
    with tempfile.TemporaryDirectory() as place:
        same, fresh, mean = attack(Path(place))
    print(f"\nA curator with a budget of 0.5, asked the same 20 times: {len(same)} different answer.")
    print(f"In other words each time: {fresh} answers, then the budget is spent. Their mean: {mean:.1f}.")
    save(lambda: plot(means), "averaged_noise", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
