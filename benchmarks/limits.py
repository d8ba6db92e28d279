"""A bought limit on rows beside the best fixed one in hindsight, wrong ones, a chosen rank and a race.

Error of a count of all rows, as a multiple of that of the best fixed limit (a power of two up to 1000), for
rows per person by Zipf's laws, Poisson's and geometric ones. Run with ``python -m benchmarks.limits``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas

from discreet.data import AUTO, Limits, Source, Table
from discreet.privacy.offer import Offer
from discreet.queries.fitting.row_limits import fitting_limit, row_edges, rows_query, spare_persons
from discreet.queries.fitting.size_counts import SizeCounts
from discreet.queries.noise.build_request import build_request

MOST = 1000
EDGES = np.array(row_edges(MOST))
REPEATS = 200
SHARE = Fraction(1, 4)


def worlds(random):
    """Return rows per person by name."""
    laws = {
        "zipf 1.7": lambda n: np.minimum(random.zipf(1.7, n), 5000),
        "zipf 2": lambda n: np.minimum(random.zipf(2.0, n), 5000),
        "zipf 3": lambda n: np.minimum(random.zipf(3.0, n), 5000),
        "1 + poisson 5": lambda n: 1 + random.poisson(5, n),
        "geometric 20": lambda n: random.geometric(0.05, n),
    }
    return {(name, n): law(n) for n in (300, 3000, 30_000) for name, law in laws.items()}


def fixed(rows, limit, epsilon, random):
    """Return the mean error under one limit."""
    cut = rows.sum() - np.minimum(rows, limit).sum()
    return np.abs(random.laplace(0, limit / epsilon, 1000) - cut).mean()


def bought(rows, epsilon, random):
    """Return the mean error under the limit that the library buys."""
    first, rest = SHARE * epsilon, (1 - SHARE) * epsilon
    table = {"t": Table(pandas.DataFrame({"p": [1]}), person="p", limits=Limits(rows=AUTO, at_most=MOST))}
    part = build_request(rows_query(Source(table="t"), MOST), table, Offer(epsilon=first)).parts[0]
    cells = np.histogram(rows, [0, *(EDGES + 0.5), 10**9])[0]
    spare = spare_persons(Offer(epsilon=rest), 1, 1)
    errors = []
    for _ in range(REPEATS):
        noise = np.rint(random.laplace(0, float(1 / first), len(cells))).astype(int)
        counts = SizeCounts(edges=tuple(EDGES.tolist()), counts=cells + noise, part=part)
        errors.append(fixed(rows, fitting_limit(counts, spare), float(rest), random))
    return np.mean(errors)


def ranked(rows, epsilon, random):
    """Return the mean error where the exponential mechanism chooses the limit by its rank."""
    first, rest = float(SHARE * epsilon), float((1 - SHARE) * epsilon)
    above = np.array([(rows > edge).sum() for edge in EDGES])
    scores = -np.abs(above - (1 / rest + np.log(len(EDGES)) / first)) * first / 2
    chances = np.exp(scores - scores.max())
    limits = random.choice(EDGES, REPEATS, p=chances / chances.sum())
    return np.mean([fixed(rows, limit, rest, random) for limit in limits])


def raced(rows, epsilon, random, failure=0.05):
    """Return the mean error of race-to-the-top."""
    limits = 2.0 ** np.arange(1, int(np.ceil(np.log2(MOST))) + 1)
    steps = len(limits)
    totals = np.array([np.minimum(rows, limit).sum() for limit in limits])
    scale = steps * limits / float(epsilon)
    noisy = totals + random.laplace(0, 1, (REPEATS, steps)) * scale - np.log(steps / failure) * scale
    return np.abs(np.maximum(noisy.max(axis=1), 0) - rows.sum()).mean()


def main() -> None:
    """Print ratios to the best fixed limit: geometric mean, median and worst over all worlds."""
    random = np.random.default_rng(1)
    ratios: dict[str, list[float]] = {}
    for rows in worlds(random).values():
        for epsilon in (Fraction(3, 10), Fraction(1), Fraction(3)):
            errors = {edge: fixed(rows, edge, float(epsilon), random) for edge in EDGES.tolist()}
            best = min(errors.values())
            found = {
                "bought": bought(rows, epsilon, random),
                "rank by exponential": ranked(rows, epsilon, random),
                "race to the top": raced(rows, epsilon, random),
                "always 1": errors[1],
                "always 1000": errors[1000],
            }
            for name, error in found.items():
                ratios.setdefault(name, []).append(float(error / best))
    print(f"{'limit':<22}{'geometric mean':>16}{'median':>10}{'worst':>10}")
    for name, all_of in ratios.items():
        middle, worst = np.median(all_of), max(all_of)
        print(f"{name:<22}{np.exp(np.mean(np.log(all_of))):>16.2f}{middle:>10.2f}{worst:>10.1f}")


if __name__ == "__main__":
    main()
