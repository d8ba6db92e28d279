"""Private GROUP BY at person level, against the plain one and against OpenDP, in one run.

    python -m benchmarks.queries [--rows 10000000] [--peer PATH]

The table has 1,000 cities and a tenth as many persons as rows, with 1 to 100 rows each. Asked are count, sum
and mean of an income per city, epsilon 1, at most 10 rows of a person, or at most 2 in each of 10 cities; on
DuckDB, and once on Spark.
Every contender runs in its own process, so that its time on the processor and its peak of memory are
its own. OpenDP needs its own Polars: `--peer` names the Python of an environment with
`opendp[polars]`; `make bench` makes one.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

CITIES, TOP, EPSILON, REPEATS = 1_000, 200_000, 1, 9
LIMIT, GROUPS, EACH = 10, 10, 2
QUESTION = "SELECT city, COUNT(*) AS n, SUM(income) AS total, AVG(income) AS mean FROM people GROUP BY city"
PLAIN = "SELECT city, count(*), sum(income), avg(income) FROM '{}' GROUP BY city"


def city_names() -> list[str]:
    """Return the names of the cities."""
    return [f"city {number:04d}" for number in range(CITIES)]


def make_table(path: Path, rows: int) -> None:
    """Write a table of persons with skewed activity to a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    random = np.random.default_rng(7)
    persons = max(rows // 10, 1)
    activity = np.minimum(random.pareto(1.2, persons) * 2 + 1, 100)
    person = random.choice(persons, rows, p=activity / activity.sum())
    city = np.minimum(random.pareto(1.0, rows) * 40, CITIES - 1).astype(np.int32)
    income = np.minimum(random.lognormal(10.5, 0.7, rows), 10**6).astype(np.int64)
    names = pyarrow.DictionaryArray.from_arrays(pyarrow.array(city), pyarrow.array(city_names()))
    table = pyarrow.table({"person": person, "city": names.cast(pyarrow.string()), "income": income})
    pyarrow.parquet.write_table(table, path)


def plain(path: str) -> dict[str, object]:
    """The same GROUP BY without privacy, by DuckDB on the file."""
    import duckdb

    connection = duckdb.connect()
    return {"seconds": _timed(lambda: connection.sql(PLAIN.format(path)).fetchall())}


def prepared(path: str) -> dict[str, object]:
    """A table prepared once: then every question is a plain GROUP BY, a charge, noise and intervals."""
    import discreet as dp

    return _asked(path, dp.Limits(rows=LIMIT), prepare=True)


def by_rows(path: str) -> dict[str, object]:
    """At most 10 rows of a person, bounded again for every question."""
    import discreet as dp

    return _asked(path, dp.Limits(rows=LIMIT), prepare=False)


def by_groups(path: str) -> dict[str, object]:
    """At most 2 rows of a person in each of 10 cities, bounded again for every question."""
    import discreet as dp

    return _asked(path, dp.Limits(groups=GROUPS, rows_per_group=EACH), prepare=False)


def _asked(source: object, limits: object, *, prepare: bool) -> dict[str, object]:
    import discreet as dp

    columns = {"city": dp.Keys(city_names()), "income": dp.Bounds(0, TOP, null=0)}
    options = {"prepare": True} if prepare else {}
    people = dp.Table(source, person="person", limits=limits, columns=columns, **options)
    with tempfile.TemporaryDirectory() as folder:
        clinic = dp.Curator({"people": people}, budget=dp.Budget(epsilon=10**6), ledger=f"{folder}/ledger")
        begin = time.perf_counter()
        clinic.ask(QUESTION, epsilon=EPSILON)
        first = time.perf_counter() - begin
        # Another confidence is another question: it is charged and drawn again.
        levels = iter(range(1, 10**6))
        seconds = _timed(
            lambda: clinic.ask(QUESTION, epsilon=EPSILON, confidence=0.9 + next(levels) * 1e-5),
            repeats=REPEATS if prepare else 3,
        )
        preview = clinic.preview(QUESTION, epsilon=EPSILON, rows=10_000)
        errors = {name: preview[name].standard_deviation for name in ("n", "total", "mean")}
        clinic.close()
    return {"first": first, "seconds": seconds, "errors": errors}


def arranged(path: str) -> dict[str, object]:
    """At most 2 rows of a person in each of 10 cities, bounded again on a table that is arranged for it."""
    import discreet as dp

    return _asked(path, dp.Limits(groups=GROUPS, rows_per_group=EACH), prepare=True)


def spark(path: str) -> dict[str, object]:
    """The same program on Spark: at most 10 rows of a person, drawn once."""
    from pyspark.sql import SparkSession

    import discreet as dp

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.driver.memory", "4g").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        return _asked(session.read.parquet(path), dp.Limits(rows=LIMIT), prepare=True)
    finally:
        session.stop()


def opendp(path: str) -> dict[str, object]:
    """OpenDP on Polars: at most 10 rows of a person, incomes as integers."""
    import opendp.prelude as dp
    import polars

    dp.enable_features("contrib")

    def release() -> None:
        context = dp.Context.compositor(
            data=polars.scan_parquet(path),
            privacy_unit=dp.unit_of(identifier=polars.col("person"), contributions=1),
            privacy_loss=dp.loss_of(epsilon=float(EPSILON)),
            split_evenly_over=1,
            margins=[dp.polars.Margin(max_length=20_000_000, max_groups=CITIES)],
        )
        query = (
            context.query()
            .truncate_per_group(LIMIT)
            .group_by("city")
            .agg(
                dp.len(signed=True).alias("n"),
                polars.col("income").cast(int).fill_null(0).dp.sum((0, TOP)).alias("total"),
            )
            .with_keys(polars.LazyFrame({"city": city_names()}))
        )
        scales.update(query.summarize().select("column", "scale").iter_rows())
        query.release().collect()

    scales: dict[str, float] = {}
    seconds = _timed(release, repeats=3)
    n, total = scales["n"] * 2**0.5, scales["total"] * 2**0.5
    # The mean of 10,000 values, were it the ratio of both, at the middle of its range: to first order.
    mean = (total**2 + (TOP / 2 * n) ** 2) ** 0.5 / 10_000
    return {"seconds": seconds, "errors": {"n": n, "total": total, "mean": mean}}


CONTENDERS: dict[str, Callable[[str], dict[str, object]]] = {
    "plain": plain,
    "prepared": prepared,
    "by_rows": by_rows,
    "by_groups": by_groups,
    "arranged": arranged,
    "spark": spark,
    "opendp": opendp,
}


def _timed(work: Callable[[], object], repeats: int = REPEATS) -> list[float]:
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return seconds


def run_one(name: str, path: str) -> None:
    """Run one contender in this process and print what was measured."""
    found = CONTENDERS[name](path)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    found |= {"processor": usage.ru_utime + usage.ru_stime, "memory": usage.ru_maxrss / 2**20}
    print(json.dumps(found))


def measure(name: str, path: Path, python: str) -> dict[str, object] | None:
    """Run one contender in its own process; None if it cannot run here."""
    command = [python, "-m", "benchmarks.queries", "--one", name, "--data", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        print(f"{name}: not measured ({done.stderr.strip().splitlines()[-1][:100]})")
        return None
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure every contender and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--peer", default=sys.executable)
    parser.add_argument("--one", choices=CONTENDERS)
    parser.add_argument("--data")
    options = parser.parse_args()
    if options.one:
        run_one(options.one, options.data)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.parquet"
        make_table(path, options.rows)
        report(
            {
                name: measure(name, path, options.peer if name == "opendp" else sys.executable)
                for name in CONTENDERS
            }
        )


def report(found: dict[str, dict[str, object] | None]) -> None:
    """Print what was measured, with ratios to the plain query."""
    base = median(found["plain"]["seconds"])  # type: ignore[index,arg-type]
    print(
        f"{'contender':<12}{'first s':>9}{'median s':>10}{'x plain':>9}{'cpu s':>8}{'GiB':>7}"
        "   deviation of n, total, mean"
    )
    for name, one in found.items():
        if one is None:
            continue
        seconds = median(one["seconds"])  # type: ignore[arg-type]
        first = one.get("first", one["seconds"][0])  # type: ignore[index]
        errors = ", ".join(f"{value:.4g}" for value in one.get("errors", {}).values())  # type: ignore[attr-defined]
        print(
            f"{name:<12}{first:>9.3f}{seconds:>10.4f}{seconds / base:>9.2f}{one['processor']:>8.1f}"
            f"{one['memory']:>7.2f}   {errors}"
        )


if __name__ == "__main__":
    main()
