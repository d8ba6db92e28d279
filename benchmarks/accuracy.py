"""Accuracy beside OpenDP: the same questions under the same epsilon, delta, bounds and limits, in one run.

    python -m benchmarks.accuracy [--runs 51] [--peer PATH] [--only NAME]

Printed are median relative errors over all runs; where there are groups, each run counts with the mean of the
20 largest. OpenDP needs its own Polars: `--peer` names the Python of an environment with
`opendp[polars]`, as `make bench` makes one. Nobody has more rows than the limit, so that nothing is cut.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

PERSONS, KEYS, SEVERAL, EPSILON, DELTA = 8_000, 20, 10, 1.0, 1e-7
TOP, STEP = 200_000, 500
"""The upper bound of incomes, and how far apart the candidates for quantiles are."""

Values = dict[str, float]
"""A statistic of each group; the key of a single one is ''."""


@dataclass(frozen=True)
class Question:
    """One question, in the words of both: SQL, and a part of a query of OpenDP."""

    name: str
    table: str
    sql: str
    peer: str
    needs_delta: bool = False


SHAPES = (
    ("count", "SELECT COUNT(*) AS v FROM {}", "count"),
    ("sum", "SELECT SUM(income) AS v FROM {}", "sum"),
    ("mean", "SELECT AVG(income) AS v FROM {}", "mean"),
    ("variance", "SELECT VAR_POP(income) AS v FROM {}", "variance"),
    ("median", "SELECT MEDIAN(income) AS v FROM {}", "median"),
    ("quantile 0.9", "SELECT QUANTILE(income, 0.9) AS v FROM {}", "quantile"),
    ("distinct values", "SELECT COUNT(DISTINCT word) AS v FROM {}", "distinct"),
    ("histogram", "SELECT k, COUNT(*) AS v FROM {} GROUP BY k", "keyed count"),
    ("sums by key", "SELECT k, SUM(income) AS v FROM {} GROUP BY k", "keyed sum"),
    ("means by key", "SELECT k, AVG(income) AS v FROM {} GROUP BY k", "keyed mean"),
    ("unknown keys", "SELECT word AS k, COUNT(*) AS v FROM {} GROUP BY word", "unknown"),
)
QUESTIONS = tuple(
    Question(f"{name}{words}", table, sql.format(table), peer, needs_delta=peer == "unknown")
    for table, words in (("once", ""), ("often", ", 10 rows each"))
    for name, sql, peer in SHAPES
)


def make_tables(folder: Path) -> None:
    """Write a table with one row of each person, and one with up to ten."""
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    draw = np.random.default_rng(9)
    for name, most in (("once", 1), ("often", SEVERAL)):
        person = np.repeat(np.arange(PERSONS), draw.integers(1, most + 1, PERSONS))
        rows = len(person)
        word = np.minimum(draw.zipf(1.5, rows), 2000)
        income = np.minimum(draw.lognormal(10.3, 0.7, rows), TOP).astype(np.int64)
        table = pyarrow.table(
            {
                "person": person,
                "income": income,
                "square": income**2,  # for OpenDP, which squares nothing
                "k": [f"k{key}" for key in draw.integers(0, KEYS, rows)],
                "word": [f"w{key}" for key in word],
            }
        )
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet")


def limit_of(question: Question) -> int:
    """Return how many rows of a person there may be."""
    return 1 if question.table == "once" else SEVERAL


def exact(question: Question, folder: Path) -> Values:
    """Return the true values, by DuckDB."""
    import duckdb

    connection = duckdb.connect()
    for name in ("once", "often"):
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM '{folder / name}.parquet'")  # noqa: S608
    rows = connection.execute(question.sql).fetchall()
    return {row[0] if len(row) > 1 else "": float(row[-1]) for row in rows}


def ours(question: Question, folder: Path, runs: int) -> Iterator[Values]:
    """Ask discreet, again and again."""
    import discreet as dp

    columns = {"income": dp.Bounds(0, TOP), "k": dp.Keys([f"k{key}" for key in range(KEYS)])}
    table = dp.Table(
        folder / f"{question.table}.parquet",
        person="person",
        limits=dp.Limits(rows=limit_of(question)),
        columns=columns,
    )
    budget = dp.Budget(epsilon=10**6, delta=0.5)
    curator = dp.Curator({question.table: table}, budget=budget, ledger=folder / f"{question.name}.ledger")
    for run in range(runs):
        offer = {"delta": DELTA} if question.needs_delta else {}
        # Another confidence is another question, which is charged and drawn again.
        answer = curator.ask(question.sql, epsilon=EPSILON, confidence=0.95 + run * 1e-9, **offer).columns()
        yield dict(zip(answer.get("k", [""]), map(float, answer["v"]), strict=True))
    curator.close()


def theirs(question: Question, folder: Path, runs: int) -> Iterator[Values]:
    """Ask OpenDP, again and again; variances are made of two sums and a count, as a user would."""
    import opendp.prelude as dp
    import polars

    dp.enable_features("contrib")
    income = polars.col("income").cast(int).fill_null(0)
    candidates = list(range(0, TOP + 1, STEP))
    square = polars.col("square").cast(int).fill_null(0)
    measured = {
        "count": [dp.len(signed=True)],
        "sum": [income.dp.sum((0, TOP))],
        "mean": [income.dp.sum((0, TOP)).alias("s"), dp.len(signed=True).alias("n")],
        "variance": [
            square.dp.sum((0, TOP**2)).alias("q"),
            income.dp.sum((0, TOP)).alias("s"),
            dp.len(signed=True).alias("n"),
        ],
        "median": [polars.col("income").cast(int).fill_null(0).dp.median(candidates)],
        "quantile": [polars.col("income").cast(int).fill_null(0).dp.quantile(0.9, candidates)],
        "distinct": [polars.col("word").dp.n_unique(signed=True)],
    }
    measured |= {f"keyed {name}": measured[name] for name in ("count", "sum", "mean")}
    measured["unknown"] = measured["count"]
    data = polars.scan_parquet(folder / f"{question.table}.parquet")
    context = dp.Context.compositor(
        data=data,
        privacy_unit=dp.unit_of(identifier=polars.col("person"), contributions=1),
        privacy_loss=dp.loss_of(epsilon=EPSILON, delta=DELTA if question.needs_delta else 0.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=PERSONS * SEVERAL * 2, max_groups=4_000)],
    )
    rows = context.query().truncate_per_group(limit_of(question))
    if question.peer.startswith("keyed"):
        keys = polars.LazyFrame({"k": [f"k{key}" for key in range(KEYS)]})
        asked = rows.group_by("k").agg(*measured[question.peer]).with_keys(keys)
    elif question.peer == "unknown":
        asked = rows.group_by("word").agg(*measured["unknown"])
    else:
        asked = rows.select(*measured[question.peer])
    measurement = asked.resolve()  # each call of it draws again
    for _ in range(runs):
        yield _finished(question, measurement(data).collect())


def _finished(question: Question, frame: object) -> Values:
    """Return the statistic of each group from what OpenDP released."""
    found: Values = {}
    for row in frame.iter_rows(named=True):  # type: ignore[attr-defined]
        key = next((str(value) for value in row.values() if isinstance(value, str)), "")
        numbers = [float(value) for value in row.values() if not isinstance(value, str)]
        if question.peer == "variance":
            n = max(row["n"], 1)
            found[key] = row["q"] / n - (row["s"] / n) ** 2
        elif question.peer.endswith("mean"):
            found[key] = row["s"] / max(row["n"], 1)
        else:
            found[key] = numbers[0]
    return found


def errors(values: list[Values], truth: Values) -> list[float]:
    """Return the mean relative error of each run over the largest groups; a missing one counts as 1."""
    largest = sorted(truth, key=lambda key: -truth[key])[:KEYS]
    return [
        mean(abs(one[key] - truth[key]) / abs(truth[key]) if key in one else 1.0 for key in largest)
        for one in values
    ]


SIDES: dict[str, Callable[[Question, Path, int], Iterator[Values]]] = {"discreet": ours, "opendp": theirs}


def run_one(side: str, folder: Path, runs: int, only: str) -> None:
    """Ask one side all questions and print all values as JSON."""
    found = {
        question.name: list(SIDES[side](question, folder, runs))
        for question in QUESTIONS
        if only in question.name
    }
    print(json.dumps(found))


def asked(side: str, python: str, folder: Path, options: argparse.Namespace) -> dict[str, list[Values]]:
    """Ask one side in its own process."""
    command = [python, "-m", "benchmarks.accuracy", "--side", side, "--data", str(folder)]
    command += ["--runs", str(options.runs), "--only", options.only]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{side} did not finish: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])  # type: ignore[no-any-return]


def main() -> None:
    """Ask both and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=51)
    parser.add_argument("--peer", default=sys.executable)
    parser.add_argument("--only", default="")
    parser.add_argument("--side", choices=SIDES)
    parser.add_argument("--data", type=Path)
    options = parser.parse_args()
    if options.side:
        run_one(options.side, options.data, options.runs, options.only)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_tables(folder)
        sides = {side: asked(side, python, folder, options) for side, python in _pythons(options).items()}
        print("| question | discreet | OpenDP | ratio | groups shown |\n|---|---|---|---|---|")
        for question in QUESTIONS:
            if options.only in question.name:
                print(_line(question, {side: found[question.name] for side, found in sides.items()}, folder))


def _pythons(options: argparse.Namespace) -> dict[str, str]:
    return {"discreet": sys.executable, "opendp": options.peer}


def _line(question: Question, sides: dict[str, list[Values]], folder: Path) -> str:
    truth = exact(question, folder)
    left, right = (median(errors(values, truth)) for values in sides.values())
    ratio = f"{left / right:.2f}" if right else "–"
    shown = " and ".join(f"{median(len(one) for one in values):.0f}" for values in sides.values())
    groups = f"{shown} of {len(truth)}" if len(truth) > 1 else ""
    return f"| {question.name} | {left:.2g} | {right:.2g} | {ratio} | {groups} |"


if __name__ == "__main__":
    main()
