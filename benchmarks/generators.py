"""Generator networks beside marginals: how far tables are from the real ones, and what is learned from rows.

    python -m benchmarks.generators ADULT [--epsilons 1 10] [--runs 3] [--delta 1e-9] [--methods …]
    python -m benchmarks.generators IMAGES --images [--pixels 7] --delta 1e-5 [--teachers 2000] [--rounds 50]

ADULT is the folder of `benchmarks.synthesis`; four fifths of its rows are synthesized, and gradient-boosted
trees that learned from synthetic rows are tested on the rest. IMAGES is a folder of `benchmarks.images`.
Images are averaged in blocks, 7 by 7 of them unless stated, each of which is dark or light, above an eighth
of the scale; with the class they are a table of 50 columns. A logistic regression that learned from 10,000
synthetic images is tested on the test images. "As published" measures no columns: all that a generator knows
is answers. Total variation is the mean over all tables of so many columns; seconds are of the processor.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import discreet as dp
from benchmarks.images import read_idx, read_json
from benchmarks.synthesis import TARGET, accuracy, load, variation
from discreet.synthesis import GPATE, Adaptive, CodedColumns, Independent, PateGAN, SpanningTree
from discreet.synthesis.columns.coded_column import coded

METHODS: dict[str, Any] = {
    "independent": Independent,
    "spanning tree": SpanningTree,
    "adaptive": Adaptive,
    "PATE-GAN": PateGAN,
    "G-PATE": GPATE,
    "PATE-GAN, as published": lambda **stated: PateGAN(**stated, columns_share=0),
    "G-PATE, as published": lambda **stated: GPATE(**stated, columns_share=0),
}
DARK = 1 / 8
LEARNED = 10_000


def adult(folder: Path) -> tuple[CodedColumns, np.ndarray, np.ndarray, int]:
    """Return the columns, rows to be synthesized, rows of the test, and the place of the target."""
    domain, rows = load(folder, coarse=False)
    train, test = np.split(np.random.default_rng(0).permutation(rows), [len(rows) * 4 // 5])
    return domain, train, test, domain.names.index(TARGET)


def images(folder: Path, pixels: int) -> tuple[CodedColumns, np.ndarray, np.ndarray, int]:
    """Return the same for images of dark and light blocks, and their class."""
    if (folder / "0.json").exists():
        train, test = read_json(folder)
    else:
        train, test = read_idx(folder, "train"), read_idx(folder, "t10k")

    def table(held: Any) -> np.ndarray:
        side = 28 // pixels
        blocks = held[0].numpy()[:, 0].reshape(-1, pixels, side, pixels, side).mean(axis=(2, 4))
        return np.column_stack([(blocks > DARK).reshape(len(blocks), -1), held[1].numpy()]).astype(np.int64)

    names = [f"pixel {place}" for place in range(pixels**2)]
    columns = [coded(name, dp.Keys([0, 1]), missing=False) for name in names]
    columns.append(coded("class", dp.Keys(range(10)), missing=False))
    return CodedColumns(columns=tuple(columns)), table(train), table(test), pixels**2


def classified(learned: np.ndarray, tested: np.ndarray, target: int) -> float:
    """Return how often a logistic regression that learned from some images is right about others."""
    from sklearn.linear_model import LogisticRegression

    some = np.random.default_rng(0).permutation(learned)[:LEARNED]
    if len(set(some[:, target])) < 2:
        return float((tested[:, target] == some[0, target]).mean())
    model: Any = LogisticRegression(max_iter=300).fit(np.delete(some, target, axis=1), some[:, target])
    return float(model.score(np.delete(tested, target, axis=1), tested[:, target]))


def main() -> None:
    """Print a line for every method and epsilon."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--images", action="store_true")
    parser.add_argument("--pixels", type=int, default=7)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--delta", default="1e-9")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--methods", nargs="*", default=list(METHODS))
    parser.add_argument("--teachers", type=int)
    parser.add_argument("--rounds", type=int)
    given = parser.parse_args()
    domain, train, test, target = images(given.folder, given.pixels) if given.images else adult(given.folder)
    learn = classified if given.images else accuracy
    shape = domain.shape
    print(f"{len(train):,} rows, {len(shape)} columns, {sum(shape)} cells, {given.runs} runs")
    print(f"accuracy of real rows: {learn(train, test, target):.4f}")
    print("method                  epsilon  1-way   2-way   accuracy  cpu s")
    for epsilon in given.epsilons:
        for name in given.methods:
            found = []
            for run in range(given.runs):
                before = time.process_time()
                stated = {"columns": domain, "epsilon": epsilon, "delta": given.delta}
                if "PATE" in name:
                    chosen = {"teachers": given.teachers, "rounds": given.rounds}
                    stated |= {one: value for one, value in chosen.items() if value is not None}
                mechanism = METHODS[name](**stated)
                made = mechanism.release(train).codes(len(train), seed=run)
                spent = time.process_time() - before
                ways = [variation(train, made, shape, many) for many in (1, 2)]
                found.append([*ways, learn(made, test, target), spent])
            one, two, right, spent = (mean(line[place] for line in found) for place in range(4))
            print(f"{name:<23} {epsilon:>7g}  {one:.4f}  {two:.4f}  {right:.4f}  {spent:>7.1f}", flush=True)


if __name__ == "__main__":
    main()
