"""How long fits of a large table take, and how much memory, beside scikit-learn's fits without privacy.

    python -m benchmarks.learning_speed [--rows 1000000] [--columns 100] [--only Ridge,PCA]

Every fit runs in a process of its own, on the same made-up rows: normal columns, and a response or classes
that ten of them tell. KMeans of scikit-learn stops after 20 steps; all else is as it comes. Seconds are
those of the processor, with one thread for linear algebra; memory is what a fit adds to the
design at its peak, and the design itself, in sizes of the design.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NORMAL = {"epsilon": 1, "delta": 1e-6, "columns": (-10, 10)}
PURE = {"epsilon": 1, "columns": (-10, 10)}
BINARY = {"classes": [0, 1]}
NUMBER = {"target": (-50, 50)}
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def pairs() -> dict[str, tuple[Callable[[], Any], Callable[[], Any], str]]:
    """Return, by name, our model, scikit-learn's, and what both learn."""
    from sklearn import cluster, decomposition, ensemble, linear_model, naive_bayes, svm

    from discreet import learning as ours

    lines = linear_model
    return {
        "LogisticRegression": (
            lambda: ours.LogisticRegression(**NORMAL, **BINARY),
            lines.LogisticRegression,
            "class",
        ),
        "LogisticRegression, pure epsilon (objective perturbation)": (
            lambda: ours.LogisticRegression(**PURE, **BINARY),
            lines.LogisticRegression,
            "class",
        ),
        "LogisticRegression, output perturbation": (
            lambda: ours.LogisticRegression(**PURE, **BINARY, method="output"),
            lines.LogisticRegression,
            "class",
        ),
        "LinearSVC": (lambda: ours.LinearSVC(**NORMAL, **BINARY), svm.LinearSVC, "class"),
        "LinearSVC, pure epsilon (objective perturbation)": (
            lambda: ours.LinearSVC(**PURE, **BINARY),
            svm.LinearSVC,
            "class",
        ),
        "LinearRegression": (
            lambda: ours.LinearRegression(**NORMAL, **NUMBER),
            lines.LinearRegression,
            "number",
        ),
        "Ridge": (lambda: ours.Ridge(**NORMAL, **NUMBER), lines.Ridge, "number"),
        "GaussianNB": (lambda: ours.GaussianNB(**NORMAL, **BINARY), naive_bayes.GaussianNB, "class"),
        "PCA": (lambda: ours.PCA(10, **NORMAL), lambda: decomposition.PCA(10), "nothing"),
        "KMeans": (
            lambda: ours.KMeans(8, **NORMAL),
            lambda: cluster.KMeans(8, max_iter=20, random_state=0),
            "nothing",
        ),
        "AdditiveClassifier, 4 bins": (
            lambda: ours.AdditiveClassifier(bins=4, **NORMAL, **BINARY),
            lambda: ensemble.HistGradientBoostingClassifier(random_state=0),
            "class",
        ),
    }


def measure(name: str, side: int, rows: int, columns: int) -> None:
    """Print the seconds of a fit, the memory that it adds, and how well it predicts."""
    import numpy as np

    *models, learns = pairs()[name]
    source = np.random.default_rng(0)
    design = source.normal(size=(rows, columns))
    line = design[:, :10].sum(axis=1)
    target = {
        "class": (line + source.logistic(size=rows) > 0).astype(int),
        "number": line + source.normal(size=rows),
        "nothing": None,
    }[learns]
    given = (design,) if target is None else (design, target)
    models[side]().fit(*(one[:500] for one in given))  # imports, tables, and what is computed once
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    model = models[side]().fit(*given)
    spent = time.process_time() - start
    added = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    score = None if target is None else model.score(design[:10_000], target[:10_000])
    print(json.dumps([spent, 1 + added / design.nbytes, score]))


def asked(name: str, side: int, rows: int, columns: int) -> tuple[float, float, float | None]:
    """Return the same from a process of its own."""
    command = [sys.executable, "-m", "benchmarks.learning_speed", "--measure", name, str(side)]
    command += ["--rows", str(rows), "--columns", str(columns)]
    environment = {**os.environ, **dict.fromkeys(ONE_THREAD, "1")}
    done = subprocess.run(  # noqa: S603
        command, check=True, capture_output=True, text=True, env=environment, cwd=Path(__file__).parents[1]
    )
    spent, memory, score = json.loads(done.stdout.splitlines()[-1])
    return spent, memory, score


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--only", default="", help="the beginnings of names, with commas between")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure[0], int(options.measure[1]), options.rows, options.columns)
        return
    print(f"{options.rows:,} rows of {options.columns} columns\n")
    print("| model | seconds | scikit-learn's | times | memory | scikit-learn's | score | scikit-learn's |")
    print("|---|---|---|---|---|---|---|---|")
    wanted = tuple(options.only.split(","))
    for name in pairs():
        if name.startswith(wanted):
            ours, theirs = (asked(name, side, options.rows, options.columns) for side in (0, 1))
            scores = ["" if one[2] is None else f"{one[2]:.3f}" for one in (ours, theirs)]
            print(
                f"| {name} | {ours[0]:.1f} | {theirs[0]:.1f} | {ours[0] / theirs[0]:.1f} | "
                f"{ours[1]:.2f} | {theirs[1]:.2f} | {scores[0]} | {scores[1]} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
