"""Can a client tell neighbors apart by a clock? ``python -m benchmarks.timing [--pairs 2000] [--slot 0.5]``.

Two servers hold clinics that differ in one person, who has more rows than all others together, so that the
engine works longer where they are. A client asks both the same at the same time, and takes the time of each
answer. On half of the times a classifier learns, on the other half it is judged: its accuracy should be 50 %,
and is, within chance, where all work ends in the first slot. ``--slot 0.001`` is the control: without slots
the person is seen.
"""

from __future__ import annotations

import argparse
import http.client
import random
import tempfile
import time
from bisect import bisect
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.service import Seen, Server, prepare
from discreet.server.keys import KeyFile, keys_beside

BINS = 16
ROWS = 40_000


def accuracy(times: Sequence[Sequence[float]]) -> float:
    """Return how often a classifier is right about which of two servers a time is of.

    The first half of the times of each is for learning: they are sorted together into bins of equal numbers,
    and a bin says who had more times in it. The second half is judged, a tie as half a hit.
    """
    halves = [(one[: len(one) // 2], one[len(one) // 2 :]) for one in times]
    together = sorted(value for learned, _ in halves for value in learned)
    edges = [together[len(together) * i // BINS] for i in range(1, BINS)]
    leaning = [0] * BINS
    for sign, (learned, _) in zip((-1, 1), halves, strict=True):
        for value in learned:
            leaning[bisect(edges, value)] += sign
    hits, judged = 0.0, 0
    for sign, (_, held) in zip((-1, 1), halves, strict=True):
        for value in held:
            said = leaning[bisect(edges, value)] * sign
            hits += 0.5 if said == 0 else said > 0
            judged += 1
    return hits / judged


def measured(
    directory: Path, *, pairs: int, slot: float, rows: int = ROWS
) -> tuple[list[float], list[float]]:
    """Ask two neighbors the same, so many times; return the times of the answers of each."""
    servers, keys = [], []
    for name in ("without", "with"):
        place = directory / name
        place.mkdir()
        prepare(place, pairs, None)
        servers.append(Server(place, workers=1, slot=slot))
        keys.append(KeyFile(keys_beside(place / "clinic.toml")).create("client", role="analyst")[1])
    with (directory / "with" / "visits.csv").open("a", encoding="utf-8") as table:
        table.writelines(f"the person,{i % 90}\n" for i in range(rows))
    found: tuple[list[float], list[float]] = ([], [])
    try:
        for server in servers:
            server.start()
        connections = [http.client.HTTPConnection(one.address, timeout=120) for one in servers]

        def ask(side: int, number: int) -> None:
            began, seen = time.perf_counter(), Seen()
            seen.ask(connections[side], keys[side], number)
            found[side].append(time.perf_counter() - began)
            if set(seen.codes) != {"answered"}:
                raise SystemExit(f"not answered: {dict(seen.codes)}")

        with ThreadPoolExecutor(2) as both:
            for number in range(pairs):
                order = random.sample((0, 1), 2)
                list(both.map(ask, order, (number, number)))
        for connection in connections:
            connection.close()
    finally:
        for server in servers:
            if server.process is not None:
                server.stop()
    return found


def main() -> None:
    """Measure, and judge."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--slot", type=float, default=0.5)
    parser.add_argument("--rows", type=int, default=ROWS, help="of the person")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        times = measured(Path(directory), pairs=options.pairs, slot=options.slot, rows=options.rows)
    print(f"slots of {options.slot} s, a person with {options.rows} rows")
    _report("all", times)
    ended = [pair for pair in zip(*times, strict=True) if max(pair) < 1.5 * options.slot]
    _report("those of the first slot", tuple(zip(*ended, strict=True)))


def _report(name: str, times: Sequence[Sequence[float]]) -> None:
    if not times:
        return
    medians = " and ".join(f"{sorted(one)[len(one) // 2]:.4f} s" for one in times)
    pairs = len(times[0])
    deviation = 50 / pairs**0.5
    print(f"  {name}: {pairs} pairs, medians {medians}, accuracy {100 * accuracy(times):.1f} %")
    print(f"    (of a coin: 50 %, one deviation {deviation:.1f} %)")


if __name__ == "__main__":
    main()
