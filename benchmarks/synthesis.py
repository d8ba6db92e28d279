"""Synthetic Adult: how far its tables are from the real ones, how long it takes, and what is learned from it.

    python -m benchmarks.synthesis FOLDER [--runs 10] [--epsilons 0.1 1 10] [--methods …] [--coarse]

FOLDER holds `adult-coded.csv.gz`, 48,842 rows of 14 columns of codes, and `adult-coded-domain.json`, how many
codes each column has. Numbers are declared as bounds, all other columns as keys. With `--coarse` the weight
of a row is left out, and age, hours and capital are put in cells of 5, 5 and 10 codes: 13 columns, as
published figures have them. Delta is 1e-9. Total variation is the mean over all tables of so many columns,
of as many synthetic rows as were counted; seconds are of one process, all of `release` and of drawing rows.
Accuracy is that of gradient-boosted trees that learn from synthetic rows and are tested on a fifth of
the real ones, which the synthesizer did not see.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import discreet as dp
from discreet.synthesis import Adaptive, CodedColumns, Independent, SpanningTree
from discreet.synthesis.columns.coded_column import coded

NUMBERS = {
    "age": 5,
    "fnlwgt": 1,
    "education-num": 1,
    "capital-gain": 10,
    "capital-loss": 10,
    "hours-per-week": 5,
}
"""Columns of numbers, and how many codes a coarse cell has."""
METHODS = {"independent": Independent, "spanning tree": SpanningTree, "adaptive": Adaptive}
TARGET = "income>50K"


def load(folder: Path, *, coarse: bool) -> tuple[CodedColumns, np.ndarray]:
    """Return the columns, and all rows as codes."""
    import pandas

    sizes = json.loads((folder / "adult-coded-domain.json").read_text())
    frame = pandas.read_csv(folder / "adult-coded.csv.gz")
    if coarse:
        del sizes["fnlwgt"]
        for name, width in NUMBERS.items():
            if name in sizes:
                frame[name] //= width
                sizes[name] = -(-sizes[name] // width)
    facts = {
        name: dp.Bounds(0, size - 1) if name in NUMBERS else dp.Keys(range(size))
        for name, size in sizes.items()
    }
    columns = tuple(coded(name, fact, missing=False, most=128) for name, fact in facts.items())
    return CodedColumns(columns=columns), frame[list(sizes)].to_numpy()


def variation(real: np.ndarray, made: np.ndarray, shape: tuple[int, ...], ways: int) -> float:
    """Return the mean total variation of all tables of so many columns."""
    found = []
    for columns in combinations(range(len(shape)), ways):
        sizes = [shape[column] for column in columns]
        shares = []
        for rows in (real, made):
            cells = np.ravel_multi_index([rows[:, column] for column in columns], sizes)
            shares.append(np.bincount(cells, minlength=int(np.prod(sizes))) / len(rows))
        found.append(np.abs(shares[0] - shares[1]).sum() / 2)
    return float(np.mean(found))


def accuracy(learned: np.ndarray, tested: np.ndarray, target: int) -> float:
    """Return how often trees that learn from some rows are right about others."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    def halves(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.delete(rows, target, axis=1), rows[:, target]

    model: Any = HistGradientBoostingClassifier(random_state=0).fit(*halves(learned))
    return float(model.score(*halves(tested)))


def main() -> None:
    """Print a line for every method and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[0.1, 1.0, 10.0])
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    parser.add_argument("--coarse", action="store_true")
    parser.add_argument("--accuracy", action="store_true", help="learn from synthetic rows, too")
    given = parser.parse_args()
    domain, rows = load(given.folder, coarse=given.coarse)
    rows = np.random.default_rng(0).permutation(rows)
    train, test = np.split(rows, [len(rows) * 4 // 5])
    target = domain.names.index(TARGET)
    print(
        f"{len(rows):,} rows, {len(domain.columns)} columns, {sum(domain.shape):,} cells, {given.runs} runs"
    )
    if given.accuracy:
        print(f"accuracy of real rows: {accuracy(train, test, target):.4f}")
    print("method          epsilon  1-way   2-way   cpu s  wall s  accuracy")
    for epsilon in given.epsilons:
        for name in given.methods:
            mechanism = METHODS[name](columns=domain, epsilon=epsilon, delta=1e-9)
            found = []
            for run in range(given.runs):
                held = train if given.accuracy else rows
                before, wall = time.process_time(), time.perf_counter()
                made = mechanism.release(held).codes(seed=run)
                spent, waited = time.process_time() - before, time.perf_counter() - wall
                distances = [variation(held, made, domain.shape, ways) for ways in (1, 2)]
                learned = accuracy(made, test, target) if given.accuracy else float("nan")
                found.append((*distances, spent, waited, learned))
            one, two, spent, waited, learned = map(mean, zip(*found, strict=True))
            print(
                f"{name:<15} {epsilon:>7g}  {one:.4f}  {two:.4f}  {spent:>5.2f}  {waited:>6.2f}  "
                f"{learned:.4f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
