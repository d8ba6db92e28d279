"""What an analyst waits for: processor time, beside that of the plain query and of OpenDP.

    python -m benchmarks.latency [--rows 1000000] [--repeats 9] [--peer PATH]

The small table has 10,000 rows in 100 cities, the large one `--rows` rows in 1,000 cities. A
question that was asked before is asked again at another confidence, which makes it another request: it is
charged, computed and drawn again; at another epsilon, where noise of another scale is drawn; and "new" ones
have another condition. All figures are processor time of all threads, medians, in milliseconds, so that
a busy machine does not change them. Every contender runs in its own process; what the interpreter needs to
start is taken off. OpenDP needs its own Polars: `--peer` names the Python of an environment with
`opendp[polars]`; `make bench` makes one. Its plan is resolved once, and only releases are measured.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import count
from pathlib import Path
from statistics import median

SMALL, SMALL_CITIES, CITIES, TOP, LIMIT = 10_000, 100, 1_000, 200_000, 10
DELTA = 1e-6
GROUPED = "SELECT city, COUNT(*) AS n, AVG(income) AS mean FROM people GROUP BY city"
SCALAR = "SELECT COUNT(*) AS n FROM people"
COUNTS = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"
TOP_FIVE = f"{COUNTS} ORDER BY n DESC LIMIT 5"

LIBRARIES = ("numpy", "pyarrow.compute", "duckdb", "sqlglot", "ibis.backends.sql.compilers", "cryptography")

Figures = dict[str, float]


def spent(work: Callable[[], object], repeats: int) -> float:
    """Return the median processor time of some work, in milliseconds."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return 1000 * median(times)


def city_names(cities: int) -> list[str]:
    """Return the names of the cities."""
    return [f"city {number:04d}" for number in range(cities)]


def make_table(folder: Path, rows: int, cities: int) -> None:
    """Write the same table of persons, cities and incomes as a CSV and as a Parquet file."""
    import numpy as np
    import pyarrow
    import pyarrow.csv
    import pyarrow.parquet

    random = np.random.default_rng(7)
    person = random.integers(0, max(rows // 3, 1), rows)
    city = np.minimum(random.pareto(1.0, rows) * cities / 25, cities - 1).astype(np.int32)
    income = np.minimum(random.lognormal(10.5, 0.7, rows), 10**6).astype(np.int64)
    names = pyarrow.DictionaryArray.from_arrays(pyarrow.array(city), pyarrow.array(city_names(cities)))
    table = pyarrow.table({"person": person, "city": names.cast(pyarrow.string()), "income": income})
    pyarrow.parquet.write_table(table, folder / f"{rows}.parquet")
    pyarrow.csv.write_csv(table, folder / f"{rows}.csv")


def plain_small(folder: str, rows: int, repeats: int) -> Figures:
    """The questions about the small table without privacy, by DuckDB on the file."""
    del rows
    import duckdb

    file = f"'{folder}/{SMALL}.parquet'"
    connection = duckdb.connect()
    return {
        name: spent(lambda text=text: connection.sql(text.replace("people", file)).fetchall(), repeats)
        for name, text in (("groups", GROUPED), ("scalar", SCALAR))
    }


def plain_large(folder: str, rows: int, repeats: int) -> Figures:
    """The questions about the large table without privacy, by DuckDB on the file."""
    import duckdb

    file = f"'{folder}/{rows}.parquet'"
    connection = duckdb.connect()
    return {
        name: spent(lambda text=text: connection.sql(text.replace("people", file)).fetchall(), repeats)
        for name, text in (("unknown keys", COUNTS), ("top 5", TOP_FIVE), ("known keys", COUNTS))
    }


def plain_opening(folder: str, rows: int, repeats: int) -> Figures:
    """Importing DuckDB and reading the CSV into it."""
    del rows, repeats
    begin = time.process_time()
    import duckdb

    duckdb.connect().execute(f"CREATE TABLE people AS SELECT * FROM '{folder}/{SMALL}.csv'")  # noqa: S608
    return {"opening": 1000 * (time.process_time() - begin)}


def libraries(folder: str, rows: int, repeats: int) -> Figures:
    """Importing the libraries that a question stands on, and nothing of this package."""
    del folder, rows, repeats
    begin = time.process_time()
    for name in LIBRARIES:
        import_module(name)
    return {"opening": 1000 * (time.process_time() - begin)}


def opening(folder: str, rows: int, repeats: int) -> Figures:
    """Importing, declaring a CSV file and opening a curator; then the first question."""
    del rows, repeats
    begin = time.process_time()
    curator = _curator(f"{folder}/{SMALL}.csv", folder, SMALL_CITIES)
    opened = time.process_time()
    curator.ask(GROUPED, epsilon=1)
    return {"opening": 1000 * (opened - begin), "first": 1000 * (time.process_time() - opened)}


def unprepared(folder: str, rows: int, repeats: int) -> Figures:
    """Small questions on a Parquet file."""
    del rows
    return _small(folder, repeats, prepare=False)


def prepared(folder: str, rows: int, repeats: int) -> Figures:
    """Small questions on a table that was prepared."""
    del rows
    return _small(folder, repeats, prepare=True)


def large_prepared(folder: str, rows: int, repeats: int) -> Figures:
    """Keys that nobody declared, and the largest five, on the large table, prepared."""
    curator = _curator(f"{folder}/{rows}.parquet", folder, None, prepare=True)
    offers, ages = _offers(), count(1)
    found: Figures = {}
    for name, question in (("unknown keys", COUNTS), ("top 5", TOP_FIVE)):
        curator.ask(question, epsilon=1, delta=DELTA)

        def conditioned(text: str = question) -> object:
            asked = text.replace("FROM people", f"FROM people WHERE income > {next(ages)}")
            return curator.ask(asked, epsilon=1, delta=DELTA)

        def otherwise(text: str = question) -> object:
            return curator.ask(text, epsilon=next(offers), delta=DELTA)

        found[name] = spent(conditioned, repeats)
        found[f"{name}, new epsilon"] = spent(otherwise, repeats)
    curator.close()
    known = _curator(f"{folder}/{rows}.parquet", folder, CITIES, prepare=True)
    known.ask(COUNTS, epsilon=1)
    found["known keys"] = spent(lambda: known.ask(COUNTS, epsilon=next(offers)), repeats)
    return found


def counts(folder: str, rows: int, repeats: int) -> Figures:
    """Planning a distribution function of 601 cells; all prefixes of 2^20 cells, planned and released."""
    del rows, repeats
    import numpy as np

    import discreet as dp
    from discreet.workloads import Prefixes, plan

    columns = {"income": dp.Bounds(0, 600)}
    people = dp.Table(f"{folder}/{SMALL}.parquet", person="person", limits=dp.Limits(rows=1), columns=columns)
    curator = dp.Curator({"people": people}, budget=dp.Budget(epsilon=10**6), ledger=f"{folder}/cdf")
    question = dp.cdf("people", "income")
    curator.ask(SCALAR, epsilon=1)
    begin = time.process_time()
    curator.preview(question, epsilon=1)
    found = {"cdf of 601 cells, preview": 1000 * (time.process_time() - begin)}
    begin = time.process_time()
    curator.ask(question, epsilon=1)
    found["cdf of 601 cells, then ask"] = 1000 * (time.process_time() - begin)
    cells = np.random.default_rng(0).integers(0, 1000, 2**20)
    begin = time.process_time()
    planned = plan(Prefixes(2**20), epsilon=1)
    middle = time.process_time()
    planned.release(cells)
    found["2^20 cells, plan"] = 1000 * (middle - begin)
    found["2^20 cells, release"] = 1000 * (time.process_time() - middle)
    return found


def opendp(folder: str, rows: int, repeats: int) -> Figures:
    """OpenDP on Polars: the same groups, with a plan that was resolved before."""
    del rows
    import opendp.prelude as dp
    import polars

    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=polars.scan_parquet(f"{folder}/{SMALL}.parquet"),
        privacy_unit=dp.unit_of(identifier=polars.col("person"), contributions=1),
        privacy_loss=dp.loss_of(epsilon=float(4 * repeats)),
        split_evenly_over=4 * repeats,
        margins=[dp.polars.Margin(max_length=20_000_000, max_groups=SMALL_CITIES)],
    )
    grouped = (
        context.query()
        .truncate_per_group(LIMIT)
        .group_by("city")
        .agg(
            dp.len(signed=True).alias("n"),
            polars.col("income").cast(int).fill_null(0).dp.sum((0, TOP)).alias("total"),
        )
        .with_keys(polars.LazyFrame({"city": city_names(SMALL_CITIES)}))
    )
    scalar = context.query().truncate_per_group(LIMIT).select(dp.len(signed=True))
    found: Figures = {}
    for name, query in (("groups", grouped), ("scalar", scalar)):
        resolved = query.resolve()
        context(resolved).collect()
        found[name] = spent(lambda one=resolved: context(one).collect(), repeats)
    return found


def _curator(source: str, folder: str, cities: int | None, *, prepare: bool = False):  # type: ignore[no-untyped-def]
    import discreet as dp

    keys = {} if cities is None else {"city": dp.Keys(city_names(cities))}
    people = dp.Table(
        source,
        person="person",
        limits=dp.Limits(rows=LIMIT),
        columns={**keys, "income": dp.Bounds(0, TOP, null=0)},
        **({"prepare": True} if prepare else {}),
    )
    budget = dp.Budget(epsilon=10**6, delta=0.5)
    ledger = f"{tempfile.mkdtemp(dir=folder)}/ledger"  # an empty one, so that everything is charged
    return dp.Curator({"people": people}, budget=budget, ledger=ledger)


def _small(folder: str, repeats: int, *, prepare: bool) -> Figures:
    curator = _curator(f"{folder}/{SMALL}.parquet", folder, SMALL_CITIES, prepare=prepare)
    offers, levels, ages = _offers(), (0.9 + number / 10**5 for number in count(1)), count(1)
    found = {"first": spent(lambda: curator.ask(GROUPED, epsilon=1), 1)}
    for name, text in (("groups", GROUPED), ("scalar", SCALAR)):
        curator.ask(text, epsilon=2)

        def again(text: str = text) -> object:
            return curator.ask(text, epsilon=2, confidence=next(levels))

        def otherwise(text: str = text) -> object:
            return curator.ask(text, epsilon=next(offers))

        found[name] = spent(again, repeats)
        found[f"{name}, new epsilon"] = spent(otherwise, repeats)
    for name, text in (("groups", GROUPED), ("scalar", SCALAR)):

        def conditioned(text: str = text) -> object:
            asked = text.replace("FROM people", f"FROM people WHERE income > {next(ages)}")
            return curator.ask(asked, epsilon=2)

        found[f"{name}, new condition"] = spent(conditioned, repeats)
    found["stored"] = spent(lambda: curator.ask(GROUPED, epsilon=1), repeats)
    found["preview"] = spent(lambda: curator.preview(GROUPED, epsilon=next(offers)), repeats)
    curator.close()
    return found


def _offers() -> Iterator[float]:
    return (1 + number / 64 for number in count(1))


CONTENDERS: dict[str, Callable[[str, int, int], Figures]] = {
    "DuckDB, opening": plain_opening,
    "libraries alone": libraries,
    "opening a CSV": opening,
    "DuckDB, small": plain_small,
    "OpenDP, small": opendp,
    "unprepared": unprepared,
    "prepared": prepared,
    "DuckDB, large": plain_large,
    "large, prepared": large_prepared,
    "counts": counts,
}


def measure(name: str, folder: str, rows: int, repeats: int, python: str) -> Figures | None:
    """Run one contender in its own process; None if it cannot run here."""
    command = [python, "-m", "benchmarks.latency", "--one", name, "--data", folder]
    command += ["--rows", str(rows), "--repeats", str(repeats)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    for _ in range(
        2 if name in {"libraries alone", "opening a CSV", "DuckDB, opening"} else 1
    ):  # the first one compiles what was never imported
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, check=False, env=environment
        )
    if done.returncode:
        print(f"{name}: not measured ({done.stderr.strip().splitlines()[-1][:100]})")
        return None
    found: Figures = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure every contender and print what each took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--peer", default=sys.executable)
    parser.add_argument("--one", choices=CONTENDERS)
    parser.add_argument("--data")
    options = parser.parse_args()
    if options.one:
        found = CONTENDERS[options.one](options.data, options.rows, options.repeats)
        print(json.dumps(found))
        return
    with tempfile.TemporaryDirectory() as folder:
        make_table(Path(folder), SMALL, SMALL_CITIES)
        make_table(Path(folder), options.rows, CITIES)
        print(f"{'contender':<18}{'what':<28}{'cpu ms':>10}{'x plain':>9}")
        found: dict[str, Figures] = {}
        for name, work in CONTENDERS.items():
            python = options.peer if work is opendp else sys.executable
            found[name] = measure(name, folder, options.rows, options.repeats, python) or {}
            report(name, found)


def report(name: str, found: dict[str, Figures]) -> None:
    """Print milliseconds of processor time, and how many times those of the plain query they are."""
    plain = {
        "libraries alone": "DuckDB, opening",
        "opening a CSV": "DuckDB, opening",
        "OpenDP, small": "DuckDB, small",
        "unprepared": "DuckDB, small",
        "prepared": "DuckDB, small",
        "large, prepared": "DuckDB, large",
    }
    base = found.get(plain.get(name, ""), {})
    for what, milliseconds in found[name].items():
        usual = base.get(what.split(", ")[0])
        ratio = f"{milliseconds / usual:9.1f}" if usual else ""
        print(f"{name:<18}{what:<28}{milliseconds:>10.1f}{ratio}", flush=True)


if __name__ == "__main__":
    main()
