"""Four counts about one group of people, asked in three ways and in SQL.

A table holds sex, height and weight. Asked are the numbers of

    men with a body mass index below 25, men, women with a body mass index below 25, women.

- *One by one*: each costs a quarter of epsilon, so each gets Laplace noise of scale 4 / epsilon. The total
  squared error is 4 * 2 * (4 / epsilon)^2 = 128 / epsilon^2.
- *Together*: nobody is in more than two of the four, so where a person is added or removed, the vector has
  sensitivity 2 and noise of scale 2 / epsilon suffices: 32 / epsilon^2. (Where a person is replaced, all four
  counts may move, the sensitivity is 4, and nothing is gained.)
- *From disjoint cells*: everybody is in one of four cells (sex x index), so noise of scale 1 / epsilon is
  enough (2 / epsilon where a person is replaced). The number of men is a sum of two cells, which costs
  nothing more: (2 + 4 + 2 + 4) / epsilon^2 = 12 / epsilon^2 (48 / epsilon^2).

Who asks the four counts in SQL gets the last one: the planner finds the cells.

Run with ``python examples/four_counts.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from picture import save

import discreet as dp
from discreet.curator.release.release import Release
from discreet.figures import Axes, draw_points, group_places, label_axes, next_style, panels
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_PERSON
from discreet.privacy.sensitivity import disjoint_counts

COUNTS = ("men, index < 25", "men", "women, index < 25", "women")
# Columns are the cells: men below 25, men from 25, women below 25, women from 25.
WORKLOAD = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]])
QUESTION = """
SELECT COUNT(*) FILTER (WHERE sex = 'man' AND weight / (height * height) < 25) AS light_men,
       COUNT(*) FILTER (WHERE sex = 'man') AS men,
       COUNT(*) FILTER (WHERE sex = 'woman' AND weight / (height * height) < 25) AS light_women,
       COUNT(*) FILTER (WHERE sex = 'woman') AS women
FROM people
"""


def made_up_people(size: int = 1000) -> pd.DataFrame:
    """Return made-up people: sex, height in meters, weight in kilograms."""
    source = np.random.default_rng(3)  # made-up data: no privacy rests on it
    man = source.random(size) < 0.5
    height = np.round(np.where(man, source.normal(1.76, 0.07, size), source.normal(1.63, 0.07, size)), 2)
    weight = np.rint(source.normal(25, 4, size) * height**2).astype(int)
    return pd.DataFrame(
        {"person": np.arange(size), "sex": np.where(man, "man", "woman"), "height": height, "weight": weight}
    )


def cells(people: pd.DataFrame) -> np.ndarray:
    """Return how many people are in each of the four cells."""
    woman = (people["sex"] == "woman").to_numpy(np.int64)
    heavy = (people["weight"] / people["height"] ** 2 >= 25).to_numpy(np.int64)
    return np.bincount(2 * woman + heavy, minlength=4)


def sensitivities() -> tuple[int, int]:
    """Return how far one person moves all four counts in L1: added or removed, and replaced. By search."""
    persons = [WORKLOAD[:, cell] for cell in range(4)]
    added = max(int(np.abs(one).sum()) for one in persons)
    replaced = max(int(np.abs(one - other).sum()) for one in persons for other in persons)
    return added, replaced


def squared_errors(epsilon: float, runs: int = 20_000) -> dict[str, tuple[float, float]]:
    """Return, for each way of asking, the total squared error computed and measured."""
    table = cells(made_up_people())
    truth = WORKLOAD @ table
    ways: dict[str, tuple[dp.Laplace, np.ndarray]] = {}
    one_by_one = dp.Laplace(sensitivity=1, epsilon=epsilon / 4)
    ways["one by one"] = one_by_one, np.eye(4, dtype=int)
    added, replaced = sensitivities()
    for words, sensitivity in (("together", added), ("together, replace-one", replaced)):
        ways[words] = dp.Laplace(sensitivity=sensitivity, epsilon=epsilon), np.eye(4, dtype=int)
    for words, neighbors in (("from cells", ADD_REMOVE_PERSON), ("from cells, replace-one", REPLACE_PERSON)):
        sensitivity = disjoint_counts(4, neighbors=neighbors)
        ways[words] = dp.Laplace(sensitivity=sensitivity, epsilon=epsilon), WORKLOAD
    results = {}
    for words, (mechanism, sums) in ways.items():
        measured = table if sums is WORKLOAD else truth
        answers = mechanism.release(np.tile(measured, (runs, 1))) @ sums.T
        error = float(((answers - truth) ** 2).sum(axis=1).mean())
        results[words] = int(sums.sum()) * mechanism.error.variance, error
    return results


def in_sql(epsilon: float, folder: Path) -> tuple[float, Release]:
    """Ask the curator: return the total squared error that the preview states, and the answer."""
    people = dp.Table(
        made_up_people(),
        person="person",
        limits=dp.Limits(rows=1),
        columns={
            "sex": dp.Keys(["man", "woman"]),
            "height": dp.Bounds(1, 2.5, step=0.01),
            "weight": dp.Bounds(20, 250),
        },
    )
    curator = dp.Curator({"people": people}, budget=dp.Budget(epsilon=1), ledger=folder / "people.ledger")
    preview = curator.preview(QUESTION, epsilon=epsilon)
    total = sum(
        preview[name].standard_deviation ** 2 for name in ("light_men", "men", "light_women", "women")
    )
    return total, curator.ask(QUESTION, epsilon=epsilon)


def plot(results: dict[str, tuple[float, float]], sql: float, epsilon: float) -> Axes:
    """Draw the total squared error of each way, computed and measured."""
    (ax,) = panels(None, size=(8.0, 4.5))
    names = [*results, "in SQL"]
    computed = [one for one, _ in results.values()]
    places = group_places(ax, names)
    style = next_style(ax)
    draw_points(ax, places, np.array([*computed, sql]) * epsilon**2, style, spread=None, label="computed")
    places = group_places(ax, names[:-1])
    measured = np.array([one for _, one in results.values()]) * epsilon**2
    draw_points(ax, places, measured, next_style(ax), spread=None, label="measured")
    ax.set_ylim(bottom=0)
    return label_axes(
        ax, x="", y="total squared error × epsilon²", title="Four counts about sex and body mass index"
    )


def main(folder: str | None = None) -> None:
    """Print the comparison, ask in SQL, and draw."""
    epsilon = 0.1
    results = squared_errors(epsilon)
    print(f"{', '.join(COUNTS)}: total squared error at epsilon = {epsilon}\n")
    print(f"{'':<28} {'computed':>10} {'measured':>10}  in units of 1 / epsilon^2")
    for words, (computed, measured) in results.items():
        print(f"{words:<28} {computed:>10.0f} {measured:>10.0f}  {computed * epsilon**2:.1f}")
    with tempfile.TemporaryDirectory() as place:
        total, answer = in_sql(epsilon, Path(place))
        print(f"{'in SQL, as the preview says':<28} {total:>10.0f} {'':>10}  {total * epsilon**2:.1f}")
        print(f"{QUESTION}\n{answer}")
    print(f"exact: {dict(zip(COUNTS, (WORKLOAD @ cells(made_up_people())).tolist(), strict=True))}")
    save(lambda: plot(results, total, epsilon), "four_counts", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
