"""Keys that nobody declared: how many are shown and how wrong their counts are, beside OpenDP.

    python -m benchmarks.chosen_keys [--repeats 5]

Counts by key, epsilon 1, delta 1e-6, one row for each person: keys of Zipf's law, as places of birth or
products are. OpenDP adds Laplace noise of scale 1 and shows what passes the least threshold that its privacy
map accepts. A key that is missed counts as an error of 1. Then: persons of several rows, persons of several
keys, rho; and keys in rounds, of a million keys.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow

from discreet import Budget, Curator, Limits, Table
from discreet.mechanisms import GaussianThreshold, LaplaceThreshold
from discreet.mechanisms.keys.keys_in_rounds import KeysInRounds

DELTA, EPSILON = 1e-6, 1
SQL = "SELECT k, {} AS n FROM t GROUP BY k"


def zipf(persons: int, keys: int, seed: int, power: float = 1.1) -> np.ndarray:
    """Return a key for each of many persons."""
    weights = 1.0 / np.arange(1, keys + 1) ** power
    return np.random.default_rng(seed).choice(keys, persons, p=weights / weights.sum())


def errors(found: dict[str, int], exact: dict[str, int]) -> tuple[int, float, float]:
    """Return how many keys were shown, and the median relative error: of those, and of all keys."""
    shown = [abs(found[key] - count) / count for key, count in exact.items() if key in found]
    every = [abs(found.get(key, 0) - count) / count for key, count in exact.items()]
    return len(shown), median(shown) if shown else 1.0, median(every)


def ours(rows: pyarrow.Table, limits: Limits, counted: str, **offer: object) -> tuple[dict[str, int], float]:
    """Ask, and return the counts of what is shown, and the time."""
    table = Table(rows, person="who", limits=limits)
    budget = Budget(rho=9, delta=0.1) if "rho" in offer else Budget(epsilon=9, delta=0.1)
    with tempfile.TemporaryDirectory() as place:
        curator = Curator({"t": table}, budget=budget, ledger=Path(place) / "ledger")
        began = time.process_time()
        answer = curator.ask(SQL.format(counted), **offer)
        spent = time.process_time() - began
        curator.close()
    return dict(zip(answer.keys["k"], answer["n"].tolist(), strict=True)), spent


def peer(exact: dict[str, int], keys: int, rows: int) -> dict[str, int]:
    """Return what OpenDP shows: one person moves at most this many keys by at most so much."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int)),
        dp.l01inf_distance(dp.absolute_distance(T="i32")),
    )
    bound = (keys, keys * rows, rows)
    scale = keys * rows / EPSILON
    threshold = _threshold(space, scale, bound, dp)
    made = space >> dp.m.then_laplace_threshold(scale=scale, threshold=threshold)
    return dict(made(exact))


def _threshold(space: object, scale: float, bound: tuple[int, int, int], dp: object) -> int:
    low, high = bound[2], 10**6
    while high - low > 1:
        middle = (low + high) // 2
        made = space >> dp.m.then_laplace_threshold(scale=scale, threshold=middle)  # type: ignore[attr-defined, operator]
        epsilon, delta = made.map(d_in=bound)
        low, high = (low, middle) if delta <= DELTA and epsilon <= EPSILON + 1e-6 else (middle, high)
    return high


def line(name: str, figures: list[tuple[int, float, float]], seconds: float | None = None) -> None:
    """Print medians over repetitions."""
    shown, right, every = (median(column) for column in zip(*figures, strict=True))
    taken = "" if seconds is None else f"  {seconds:6.2f} s"
    print(f"{name:<34} {shown:7.0f} keys shown, error {right:.4f} of shown, {every:.4f} of all{taken}")


def main() -> None:
    """Compare."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    repeats = parser.parse_args().repeats
    for persons, keys in ((20_000, 300), (200_000, 5_000)):
        names = [f"key {one}" for one in zipf(persons, keys, 1)]
        rows = pyarrow.table({"who": np.arange(persons), "k": names})
        exact = {str(key): int(many) for key, many in zip(*np.unique(names, return_counts=True), strict=True)}
        print(f"{persons:,} persons of one row, {len(exact):,} keys")
        offer = {"epsilon": EPSILON, "delta": DELTA}
        for name, more in (("one measurement", {}), ("key_share 1/3", {"key_share": "1/3"})):
            runs = [ours(rows, Limits(rows=1), "COUNT(*)", **offer, **more) for _ in range(repeats)]
            line(name, [errors(found, exact) for found, _ in runs], runs[-1][1])
        line("OpenDP", [errors(peer(exact, 1, 1), exact) for _ in range(repeats)])
        runs = [ours(rows, Limits(rows=1), "COUNT(*)", rho=0.05, delta=DELTA) for _ in range(repeats)]
        line("one measurement, rho 0.05", [errors(found, exact) for found, _ in runs], runs[-1][1])
    persons, many = 20_000, 5
    drawn = np.array([f"key {one}" for one in zipf(persons * many, 2_000, 2)])
    rows = pyarrow.table({"who": np.repeat(np.arange(persons), many), "k": drawn})
    pairs = {(who, key) for who, key in zip(np.repeat(np.arange(persons), many).tolist(), drawn, strict=True)}
    held = [key for _, key in pairs]
    exact = {str(key): int(count) for key, count in zip(*np.unique(held, return_counts=True), strict=True)}
    print(f"{persons:,} persons of {many} keys, {len(exact):,} keys, persons counted")
    limits = Limits(groups=many, rows_per_group=1)
    runs = [ours(rows, limits, "COUNT(DISTINCT who)", epsilon=1, delta=DELTA) for _ in range(repeats)]
    line("one measurement", [errors(found, exact) for found, _ in runs], runs[-1][1])
    line("OpenDP, Laplace", [errors(peer(exact, many, 1), exact) for _ in range(repeats)])
    for persons, each in ((100_000, 100), (400_000, 25)):
        in_rounds(persons, each)


def in_rounds(persons: int, each: int, keys: int = 1_000_000, limit: int = 100) -> None:
    """Compare a choice in rounds with the plain ones, for persons of many keys."""
    who, what = np.repeat(np.arange(persons), each), zipf(persons * each, keys, 3, power=1.0)
    mechanism = KeysInRounds(epsilon=EPSILON, delta=DELTA, keys=limit)
    began = time.process_time()
    found = mechanism.release(who, what).sum()
    spent = time.process_time() - began
    pairs = np.sort(who * keys + what)
    counts = np.bincount(pairs[np.append(True, pairs[1:] != pairs[:-1])] % keys)
    print(f"{persons:,} persons of {each} rows, {np.count_nonzero(counts):,} keys, a limit of {limit}")
    print(f"{'in rounds':<34} {found:7,} keys shown in {spent:.1f} s")
    for kind in (GaussianThreshold, LaplaceThreshold):
        shown = kind(epsilon=EPSILON, delta=DELTA, keys=limit).release(counts).sum()
        print(f"{kind.__name__:<34} {shown:7,} keys shown")


if __name__ == "__main__":
    main()
