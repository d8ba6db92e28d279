"""MST by private-pgm (on PyPI: mbi), for the table of `benchmarks.synthesis`, in a Python of its own.

    PEER/bin/python benchmarks/synthesis_peer.py ROWS.npy SHAPE.json RHO SEED MADE.npy

The privacy steps are those of its authors' mechanism: a third of rho for the columns, a third for choosing a
spanning tree, a third for its pairs. The model and the rows are private-pgm's. Noise is NumPy's: what is
compared are errors and time. The last line that is printed is the processor seconds and the seconds waited.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np


def measured_tables(rows: np.ndarray, shape: list[int], rho: float, seed: int) -> list[Any]:
    """Return noisy columns and noisy pairs of a tree, as private-pgm takes them."""
    import mbi

    random = np.random.default_rng(seed)
    many = len(shape)
    names = [f"x{column}" for column in range(many)]

    def table(columns: tuple[int, ...]) -> np.ndarray:
        sizes = [shape[column] for column in columns]
        cells = np.ravel_multi_index([rows[:, column] for column in columns], sizes)
        return np.bincount(cells, minlength=int(np.prod(sizes))).reshape(sizes).astype(float)

    def noisy(columns: tuple[int, ...], deviation: float) -> Any:
        exact = table(columns)
        counts = exact + random.normal(0, deviation, exact.shape)
        clique = tuple(names[column] for column in columns)
        return mbi.LinearMeasurement(counts.reshape(-1), clique, stddev=deviation)

    deviation = (3 * many / (2 * rho)) ** 0.5
    found = [noisy((column,), deviation) for column in range(many)]
    model = fitted(found, shape)
    total = float(model.total)
    columns = [np.asarray(model.project((name,)).datavector()) for name in names]
    pairs = list(combinations(range(many), 2))
    scores = np.array(
        [np.abs(table(pair) - np.outer(columns[pair[0]], columns[pair[1]]) / total).sum() for pair in pairs]
    )
    epsilon = (8 * (rho / 3) / (many - 1)) ** 0.5
    part, deviation = list(range(many)), (3 * (many - 1) / (2 * rho)) ** 0.5
    chosen = []
    for _ in range(many - 1):
        places = [place for place, (one, other) in enumerate(pairs) if part[one] != part[other]]
        drawn = scores[places] * epsilon / 2 + random.gumbel(size=len(places))
        one, other = pairs[places[int(drawn.argmax())]]
        chosen.append((one, other))
        gone = part[other]
        part = [part[one] if held == gone else held for held in part]
    return [*found, *(noisy(pair, deviation) for pair in chosen)]


def fitted(measured: list[Any], shape: list[int]) -> Any:
    """Return private-pgm's model of noisy tables."""
    import mbi
    from mbi import estimation

    domain = mbi.Domain([f"x{column}" for column in range(len(shape))], shape)
    return estimation.MirrorDescent().estimate(domain, measured)


def main() -> None:
    """Measure, fit, draw as many rows, and save them."""
    source, sizes, rho, seed, target = sys.argv[1:]
    rows, shape = np.load(source), json.loads(Path(sizes).read_text())
    before, wall = time.process_time(), time.perf_counter()
    model = fitted(measured_tables(rows, shape, float(rho), int(seed)), shape)
    made = model.synthetic_data(rows=len(rows))
    held = made.to_dict() if hasattr(made, "to_dict") else {name: made.df[name] for name in made.df}
    np.save(target, np.stack([np.asarray(held[f"x{column}"]) for column in range(len(shape))], axis=1))
    print(time.process_time() - before, time.perf_counter() - wall)


if __name__ == "__main__":
    main()
