"""Accuracy beside OpenDP: the same questions under the same epsilon, delta, bounds and limits, in one run.

    python -m benchmarks.accuracy [--runs 2001] [--peer PATH] [--only NAME]

Printed are mean relative errors over all draws; where there are groups, each draw counts with the mean of the
20 largest. OpenDP needs its own Polars: `--peer` names the Python of an environment with
`opendp[polars]`, as `make bench` makes one. Nobody has more rows than the limit, so that nothing is cut.

Both sides compile a question once, and then draw again: discreet adds its noise to the same exact integers;
OpenDP draws Integer Laplace noise of the scale that its summary states for the question. Its quantiles, which
have no such noise, are asked through Polars each time, and less often.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp, expm1, log1p, sqrt
from pathlib import Path
from statistics import mean, median, variance
from typing import Any

PERSONS, KEYS, SEVERAL, EPSILON, DELTA = 8_000, 20, 10, 1.0, 1e-7
TOP, STEP = 200_000, 500
"""The upper bound of incomes, and how far apart the candidates for quantiles are."""

FEWER = 201
"""How often to draw where a draw takes long; the errors of unknown keys are means over 20 of them."""

ALONE_DELTA, ALONE_DRAWS = 0.05, 5_000
"""A delta that a few thousand draws can refute."""

THRESHOLDS: dict[str, tuple[float, int]] = {}
"""The scale and the threshold that OpenDP states for unknown keys, by question."""

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
    """Ask discreet once, and draw again and again."""
    import discreet as dp
    from discreet.curator.release.release import finish
    from discreet.curator.request.request import Draw
    from discreet.data import compute, fresh_salt
    from discreet.data.combination_counts import compute_combination_counts
    from discreet.queries.asking.counted_keys import AskedByCountedKeys
    from discreet.queries.asking.settle import settle
    from discreet.queries.question.terms import Terms

    columns = {"income": dp.Bounds(0, TOP), "k": dp.Keys([f"k{key}" for key in range(KEYS)])}
    table = dp.Table(
        folder / f"{question.table}.parquet",
        person="person",
        limits=dp.Limits(rows=limit_of(question)),
        columns=columns,
    )
    tables, offer = {question.table: table}, {"delta": DELTA} if question.needs_delta else {}
    asked = settle(question.sql, tables, Terms.stated(epsilon=EPSILON, **offer))
    if isinstance(asked, AskedByCountedKeys):
        plan, mechanism = asked.counted.plan, asked.counted.mechanism
        counted = compute_combination_counts(plan, tables, salt=fresh_salt())
        for _ in range(_fewer(question, runs)):
            shown = counted.chosen(mechanism.release(counted.counts))
            yield {str(key): float(count) for (key,), count in shown}
        return
    request = asked.request()
    exact = compute(request.plan, tables, salt=fresh_salt())
    for _ in range(runs):
        draws = [Draw(part=part, steps=part.mechanism.release(exact[part.measure])) for part in request.parts]
        answer = finish(request, draws, {"private": True}).columns()
        yield dict(zip(answer.get("k", [""]), map(float, answer["v"]), strict=True))


def _fewer(question: Question, runs: int) -> int:
    """Return how often to draw: less often where there are hundreds of keys, or Polars is asked each time."""
    return min(runs, FEWER) if question.peer in {"unknown", "median", "quantile"} else runs


def theirs(question: Question, folder: Path, runs: int) -> Iterator[Values]:
    """Ask OpenDP once, and draw again; variances are made of two sums and a count, as a user would."""
    import opendp.prelude as dp
    import polars

    dp.enable_features("contrib")
    income, square = (polars.col(name).cast(int).fill_null(0) for name in ("income", "square"))
    candidates = list(range(0, TOP + 1, STEP))
    total = income.dp.sum((0, TOP)).alias("s"), polars.col("income").sum().alias("s")
    size = dp.len(signed=True).alias("n"), polars.len().alias("n")
    squares = square.dp.sum((0, TOP**2)).alias("q"), polars.col("square").sum().alias("q")
    distinct = (
        polars.col("word").dp.n_unique(signed=True).alias("d"),
        polars.col("word").n_unique().alias("d"),
    )
    measured = {
        "count": [size],
        "sum": [total],
        "mean": [total, size],
        "variance": [squares, total, size],
        "median": [(income.dp.median(candidates), None)],
        "quantile": [(income.dp.quantile(0.9, candidates), None)],
        "distinct": [distinct],
    }
    measured |= {f"keyed {name}": measured[name] for name in ("count", "sum", "mean")}
    measured["unknown"] = measured["count"]
    released, plain = zip(*measured[question.peer], strict=True)
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
        asked = rows.group_by("k").agg(*released).with_keys(keys)
        exact = data.group_by("k").agg(*plain).collect()
    elif question.peer == "unknown":
        asked = rows.group_by("word").agg(*released)
        exact = data.group_by("word").agg(*plain).collect()
    else:
        asked = rows.select(*released)
        exact = None if plain[0] is None else data.select(*plain).collect()
    if exact is None:
        measurement = asked.resolve()
        for _ in range(_fewer(question, runs)):
            yield _finished(question, measurement(data).collect())
        return
    stated = {row["column"]: row for row in asked.summarize().iter_rows(named=True)}
    threshold = max(row.get("threshold") or 0 for row in stated.values())
    if threshold:
        THRESHOLDS[question.name] = stated["n"]["scale"], threshold
    for _ in range(_fewer(question, runs)):
        noisy = exact.with_columns(
            *(polars.Series(name, _with_noise(exact[name].to_list(), row)) for name, row in stated.items())
        )
        found = _finished(question, noisy)
        yield found if not threshold else {key: one for key, one in found.items() if one >= threshold}


def _with_noise(exact: list[int], stated: dict[str, object]) -> list[int]:
    """Add the noise that OpenDP states, drawn by OpenDP."""
    import opendp.prelude as dp

    if stated["distribution"] != "Integer Laplace":
        raise ValueError(stated)
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    return dp.m.make_laplace(*space, scale=stated["scale"])(exact)  # type: ignore[no-any-return]


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


def chance_alone(scale: float, threshold: int, rows: int) -> float:
    """Return how likely any key of one person alone is shown: the most over all ways to divide their rows.

    Of Integer Laplace noise of a scale s and r = exp(-1 / s), P(N >= k) is r^k / (1 + r) for k >= 1.
    """
    ratio = exp(-1 / scale)

    def divided(left: int, largest: int) -> Iterator[tuple[int, ...]]:
        if left == 0:
            yield ()
        for first in range(min(left, largest), 0, -1):
            yield from ((first, *others) for others in divided(left - first, first))

    def shown(counts: tuple[int, ...]) -> float:
        return -expm1(sum(log1p(-(ratio ** (threshold - count)) / (1 + ratio)) for count in counts))

    return max(map(shown, divided(rows, rows)))


def drawn_alone() -> tuple[int, float]:
    """Return the least threshold that OpenDP accepts for `ALONE_DELTA`, and how often it shows a lone key."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)),
        dp.l01inf_distance(dp.absolute_distance(T="i32")),
    )
    threshold = 1
    while True:
        made = space >> dp.m.then_laplace_threshold(scale=1 / EPSILON, threshold=threshold)
        if made.map(d_in=(1, 1, 1))[1] <= ALONE_DELTA:
            return threshold, sum(bool(made({"k": 1})) for _ in range(ALONE_DRAWS)) / ALONE_DRAWS
        threshold += 1


def run_one(side: str, folder: Path, runs: int, only: str) -> None:
    """Ask one side all questions, and print the values of each as a line of JSON."""
    for question in QUESTIONS:
        if only in question.name:
            print(json.dumps([question.name, list(SIDES[side](question, folder, runs))]), flush=True)
    print(json.dumps(["thresholds", THRESHOLDS]))
    print(json.dumps(["alone", drawn_alone() if THRESHOLDS else None]))


def asked(side: str, python: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Ask one side in its own process."""
    command = [python, "-m", "benchmarks.accuracy", "--side", side, "--data", str(folder)]
    command += ["--runs", str(options.runs), "--only", options.only]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{side} did not finish: {done.stderr.strip()[-2000:]}")
    return dict(map(json.loads, done.stdout.splitlines()))


def main() -> None:
    """Ask both and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2001)
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
                values = [found[question.name] for found in sides.values()]
                print(_line(question.name, *values, exact(question, folder)))
                if question.name in sides["opendp"]["thresholds"]:
                    _print_honest(question, *values, exact(question, folder), sides["opendp"])


def _print_honest(
    question: Question, ours: list[Values], theirs: list[Values], truth: Values, peer: dict[str, Any]
) -> None:
    """Print the line beside the least threshold that delta permits, if OpenDP's is lower; and why."""
    scale, threshold = peer["thresholds"][question.name]
    rows, honest = limit_of(question), threshold
    while chance_alone(scale, honest, rows) > DELTA:
        honest += 1
    chances = [f"{chance_alone(scale, one, rows):.2g}" for one in (threshold, honest)]
    words = (
        f"OpenDP shows {question.name} from {threshold} on, with noise of scale {scale:g}: keys of one person"
    )
    print(f"{words} with probability {chances[0]}, delta {DELTA:.2g}", file=sys.stderr)
    if honest == threshold:
        return
    kept = [{key: one for key, one in run.items() if one >= honest} for run in theirs]
    print(_line(f"{question.name}, those of OpenDP from {honest} on", ours, kept, truth))
    lone, share = peer["alone"]
    print(
        f"from {honest} on it would be {chances[1]}; for delta {ALONE_DELTA}, OpenDP accepts {lone}, and "
        f"shows a key of one person in {share:.1%} of {ALONE_DRAWS:,} draws",
        file=sys.stderr,
    )


def _pythons(options: argparse.Namespace) -> dict[str, str]:
    return {"discreet": sys.executable, "opendp": options.peer}


def _line(name: str, ours: list[Values], theirs: list[Values], truth: Values) -> str:
    """Return a line of the table; of the ratio, two standard errors are printed."""
    found = [errors(values, truth) for values in (ours, theirs)]
    left, right = map(mean, found)
    spread = sqrt(sum(variance(one) / len(one) / mean(one) ** 2 for one in found))
    shown = " and ".join(f"{median(len(one) for one in values):.0f}" for values in (ours, theirs))
    groups = f"{shown} of {len(truth)}" if len(truth) > 1 else ""
    ratio = left / right
    return f"| {name} | {left:.2g} | {right:.2g} | {ratio:.2f} ± {2 * ratio * spread:.2f} | {groups} |"


if __name__ == "__main__":
    main()
