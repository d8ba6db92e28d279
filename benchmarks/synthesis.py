"""Synthetic Adult: how far its tables are from the real ones, how long it takes, and what is learned from it.

    python -m benchmarks.synthesis FOLDER [--runs 10] [--epsilons 0.1 1 10] [--methods …] [--coarse]
        [--facts] [--accuracy] [--peer PEER/bin/python] [--peer-runs 1]

FOLDER holds `adult-coded.csv.gz`, 48,842 rows of 14 columns of codes, and `adult-coded-domain.json`, how many
codes each column has. Numbers are declared as bounds, all other columns as keys. With `--coarse` the weight
of a row is left out, and age, hours and capital are put in cells of 5, 5 and 10 codes: 13 columns, as
published figures have them. Delta is 1e-9. Total variation is the mean over all tables of so many columns,
of as many synthetic rows as were counted, and beside it that of the model's own tables; seconds are of one
process, all of `release` and of drawing rows. As a measure: the tree of the exact pairs, without any noise.
With `--facts` it is declared that wives are women, husbands men, and both married: 4 real rows break that.
Accuracy is that of gradient-boosted trees that learn from synthetic rows and are tested on a fifth of
the real ones, which the synthesizer did not see. With `--peer`, a Python that has private-pgm
(`pip install "mbi>=2,<3"`), its MST is in the same table: see `benchmarks/synthesis_peer.py`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import discreet as dp
from discreet.synthesis import Adaptive, CodedColumns, Independent, SpanningTree, SyntheticData
from discreet.synthesis.columns.coded_column import coded
from discreet.synthesis.measuring.exact_tables import CountedRows
from discreet.synthesis.measuring.stated_rho import rho_bought
from discreet.synthesis.models.junction_tree import JunctionTree
from discreet.synthesis.models.tree_model import TreeModel

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
FACTS = (
    dp.Impossible({"relationship": 0, "sex": 1}),
    dp.Impossible({"relationship": 2, "sex": 0}),
    dp.Impossible({"relationship": [0, 2], "marital-status": [1, 2, 3, 4, 5]}),
)
"""Wives and husbands: of one sex each, and married, to a civilian (0) or to a soldier (6)."""


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


def exact_tree(rows: np.ndarray, shape: tuple[int, ...]) -> float:
    """Return the mean total variation of pairs under the tree of the most dependent ones, without noise."""
    counted = CountedRows(shape=shape, codes=rows)
    pairs = list(combinations(range(len(shape)), 2))
    tables = {pair: counted.table(pair).astype(float) for pair in pairs}

    def apart(pair: tuple[int, int]) -> float:
        table = tables[pair]
        return float(np.abs(table - np.outer(table.sum(axis=1), table.sum(axis=0)) / len(rows)).sum())

    part, chosen = list(range(len(shape))), []
    for one, other in sorted(pairs, key=apart, reverse=True):
        if part[one] != part[other]:
            chosen.append((one, other))
            gone = part[other]
            part = [part[one] if held == gone else held for held in part]
    tree = JunctionTree.spanning(shape, chosen)
    model = TreeModel(tree=tree, total=float(len(rows)), tables=tuple(tables[pair] for pair in tree.cliques))
    made = model.pairs(pairs)
    return float(np.mean([np.abs(made[pair] - tables[pair]).sum() / (2 * len(rows)) for pair in pairs]))


def of_model(real: np.ndarray, data: SyntheticData) -> float:
    """Return the mean total variation of the pairs of a model, without drawing rows."""
    shape = data.domain.shape
    counted = CountedRows(shape=shape, codes=real)
    held = data.model.model.pairs(combinations(range(len(shape)), 2))
    found = []
    for pair, table in held.items():
        exact, made = counted.table(pair), data.model.unfolded(table, pair)
        found.append(np.abs(exact / exact.sum() - made / made.sum()).sum() / 2)
    return float(np.mean(found))


def peer(
    python: str, rows: np.ndarray, shape: tuple[int, ...], epsilon: float, seed: int
) -> tuple[np.ndarray, float, float]:
    """Return rows that private-pgm made, and its processor seconds and seconds."""
    rho = float(rho_bought(Fraction(str(epsilon)), Fraction(1, 10**9)))
    script = Path(__file__).with_name("synthesis_peer.py")
    with tempfile.TemporaryDirectory() as folder:
        held = Path(folder)
        np.save(held / "rows.npy", rows)
        (held / "shape.json").write_text(json.dumps(shape))
        files = [held / "rows.npy", held / "shape.json", str(rho), str(seed), held / "made.npy"]
        told = subprocess.run(  # noqa: S603
            [python, script, *files], check=True, capture_output=True, text=True
        ).stdout
        spent, waited = map(float, told.split()[-2:])
        return np.load(held / "made.npy"), spent, waited


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
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--coarse", action="store_true")
    parser.add_argument("--facts", action="store_true", help="declare what wives and husbands are")
    parser.add_argument("--accuracy", action="store_true", help="learn from synthetic rows, too")
    parser.add_argument("--peer", help="a Python that has private-pgm")
    parser.add_argument("--peer-runs", type=int, default=1)
    given = parser.parse_args()
    domain, rows = load(given.folder, coarse=given.coarse)
    rows = np.random.default_rng(0).permutation(rows)
    train, test = np.split(rows, [len(rows) * 4 // 5])
    held = train if given.accuracy else rows
    target = domain.names.index(TARGET)
    print(
        f"{len(held):,} rows, {len(domain.columns)} columns, {sum(domain.shape):,} cells, {given.runs} runs"
    )
    print(f"the tree of the exact pairs, without noise: 2-way {exact_tree(held, domain.shape):.4f}")
    if given.accuracy:
        print(f"accuracy of real rows: {accuracy(train, test, target):.4f}")
    print("method          epsilon  1-way   2-way   model   cpu s  wall s  accuracy")

    def line(name: str, epsilon: float, found: list[tuple[np.ndarray, float, float, float]]) -> None:
        """Print the means of runs: rows, the error of the model, and seconds."""
        one, two = (mean(variation(held, made, domain.shape, ways) for made, *_ in found) for ways in (1, 2))
        model, spent, waited = (mean(run[place] for run in found) for place in (1, 2, 3))
        learned = mean(accuracy(made, test, target) for made, *_ in found) if given.accuracy else float("nan")
        print(
            f"{name:<15} {epsilon:>7g}  {one:.4f}  {two:.4f}  {model:.4f}  {spent:>6.2f}  {waited:>6.2f}  "
            f"{learned:.4f}",
            flush=True,
        )

    ruled_out = Independent(columns=domain, rho=1, facts=FACTS).facts.possible
    for epsilon in given.epsilons:
        for name in given.methods:
            facts = FACTS if given.facts else ()
            mechanism = METHODS[name](columns=domain, epsilon=epsilon, delta=1e-9, facts=facts)
            found = []
            for run in range(given.runs):
                before, wall = time.process_time(), time.perf_counter()
                data = mechanism.release(held)
                made = data.codes(seed=run)
                spent, waited = time.process_time() - before, time.perf_counter() - wall
                found.append((made, of_model(held, data), spent, waited))
            line(name, epsilon, found)
            broken = mean(float(ruled_out.violated(made).mean()) for made, *_ in found)
            print(f"  rows that break facts about couples: {broken:.2%}", flush=True)
        if given.peer:
            drawn = [peer(given.peer, held, domain.shape, epsilon, run) for run in range(given.peer_runs)]
            line("private-pgm MST", epsilon, [(made, float("nan"), *seconds) for made, *seconds in drawn])


if __name__ == "__main__":
    main()
