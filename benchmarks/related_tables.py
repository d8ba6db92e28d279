"""Two related synthetic tables at size: seconds, memory, and how far they are from the real ones.

    python -m benchmarks.related_tables [--persons 10 --events 1000000] [--limit 8] [--epsilon 1]

Persons have an age and a sex; how many events they have, and of which kind and cost, follows from both. The
engine counts; Python sees tables of counts. Seconds are of the clock and of the processor; memory is the most
that the process held. Few persons have next to nothing that can be released: what is measured there is work.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import discreet as dp
from discreet.synthesis import related_fidelity

KINDS = ("children", "eyes", "heart", "maternity")


def made_up(persons: int, events: int, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return a frame of persons and one of about so many events."""
    random = np.random.default_rng(seed)
    age, sex = random.integers(0, 100, persons), np.array(["f", "m"])[random.integers(0, 2, persons)]
    share = np.where(age > 60, 4.0, 1.0)
    owners = np.repeat(np.arange(persons), random.poisson(share * events / share.sum()))
    level = random.random(len(owners))
    kind = np.where(level < age[owners] / 100, "heart", "eyes")
    kind = np.where((sex[owners] == "f") & (level > 0.7), "maternity", kind)
    kind = np.where(age[owners] < 18, "children", kind)
    cost = np.select([kind == "heart", kind == "eyes"], [300, 50], 120) + 20 * random.normal(size=len(owners))
    people = pd.DataFrame({"person": np.arange(persons), "age": age, "sex": sex})
    held = pd.DataFrame({"person": owners, "kind": kind, "cost": np.round(np.clip(cost, 0, 500))})
    return people, held


def main() -> None:
    """Synthesize once, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--persons", type=int, default=100_000)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--epsilon", type=float, default=1.0)
    given = parser.parse_args()
    people, events = made_up(given.persons, given.events)
    tables = {
        "persons": dp.Table(
            people,
            person="person",
            limits=dp.Limits(rows=1),
            columns={"age": dp.Bounds(0, 99), "sex": dp.Keys(["f", "m"])},
        ),
        "events": dp.Table(
            events,
            person="person",
            limits=dp.Limits(rows=given.limit),
            columns={"kind": dp.Keys(KINDS), "cost": dp.Bounds(0, 500, step=1)},
        ),
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder:
        curator = dp.Curator(tables, budget=dp.Budget(epsilon=100, delta=1e-3), ledger=Path(folder) / "l")
        clock, spent = time.perf_counter(), time.process_time()
        made = curator.synthesize_related(
            "persons",
            ["age", "sex"],
            events="events",
            event_columns=["kind", "cost"],
            epsilon=given.epsilon,
            delta=1e-7,
        )
        clock, spent = time.perf_counter() - clock, time.process_time() - spent
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print(f"{len(people):,} persons, {len(events):,} events, {given.limit} of a person count")
        print(f"synthesis: {clock:.1f} s, {spent:.1f} s of the processor")
        print(f"memory: {held / 2**20:.2f} GB, {before / 2**20:.2f} GB of it before (rows and libraries)")
        begun = time.perf_counter()
        drawn = made.to_pandas()
        print(f"rows: {[len(one) for one in drawn.values()]} in {time.perf_counter() - begun:.1f} s")
        print(related_fidelity(people, events, made.data))


if __name__ == "__main__":
    main()
