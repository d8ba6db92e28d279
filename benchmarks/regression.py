"""Linear regression on California housing, beside the fit without privacy: R squared on homes not seen.

    python -m benchmarks.regression HOUSING.CSV [--splits 10] [--peer PATH]

HOUSING.CSV has the 20,640 districts of the census of 1990 (Pace and Barry 1997) with the columns that are
declared below. Each split fits on four fifths and predicts the others. Nothing
is tuned, and bounds are round numbers. Without privacy what is missing becomes the mean. `--peer` names
the Python of an environment with `diffprivlib==0.6.6` and `scikit-learn==1.6.1`.
Times of large fits: `python -m benchmarks.learning_speed`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from statistics import mean, stdev
from typing import Any

BOUNDS = {
    "longitude": (-125, -114),
    "latitude": (32, 42),
    "housing_median_age": (0, 100),
    "total_rooms": (0, 50_000),
    "total_bedrooms": (0, 10_000),
    "population": (0, 50_000),
    "households": (0, 10_000),
    "median_income": (0, 20),
}
KEY, TARGET, HIGHEST = "ocean_proximity", "median_house_value", 500_000
OFFERS = ((1.0, 1e-6), (0.1, 1e-6), (1.0, None))


def load(path: str) -> tuple[Any, Any]:
    """Return the columns, and the median value of a home."""
    import pandas

    frame = pandas.read_csv(path)
    return frame, frame.pop(TARGET).to_numpy(float)


def measure(make: Callable[[], Any], frame: Any, values: Any, times: int) -> tuple[list[float], float]:
    """Return R squared of each split, and processor seconds for a fit."""
    import numpy as np

    found, spent = [], 0.0
    for seed in range(times):
        order = np.random.default_rng(seed).permutation(len(values))
        learn, judge = order[: int(0.8 * len(order))], order[int(0.8 * len(order)) :]
        held = frame.iloc if hasattr(frame, "iloc") else frame
        model, start = make(), time.process_time()
        model.fit(held[learn], values[learn])
        spent += time.process_time() - start
        found.append(float(model.score(held[judge], values[judge])))
    return found, spent / times


def coordinates(frame: Any) -> Any:
    """Return columns of numbers: what is missing is the mean, keys have a column each."""
    import pandas

    numbers = frame[list(BOUNDS)]
    filled = numbers.fillna(numbers.mean())
    return pandas.concat([filled, pandas.get_dummies(frame[KEY])], axis=1).to_numpy(float)


def ours(path: str, times: int) -> Iterator[tuple[str, list[float], float]]:
    """Measure discreet, and scikit-learn without privacy."""
    from sklearn.linear_model import LinearRegression

    import discreet as dp
    from discreet import learning

    frame, values = load(path)
    columns = {**BOUNDS, KEY: dp.Keys(sorted(frame[KEY].unique()))}
    yield "scikit-learn, no privacy", *measure(LinearRegression, coordinates(frame), values, times)
    for kind in (learning.LinearRegression, learning.Ridge):
        for epsilon, delta in OFFERS:
            stated = {"epsilon": epsilon, "delta": delta, "columns": columns, "target": (0, HIGHEST)}
            words = f"epsilon {epsilon:g}" + ("" if delta is None else f", delta {delta:g}")
            yield (
                f"discreet {kind.__name__}, {words}",
                *measure(lambda k=kind, s=stated: k(**s), frame, values, times),
            )


def theirs(path: str, times: int) -> Iterator[tuple[str, list[float], float]]:
    """Measure diffprivlib."""
    import warnings

    import numpy as np
    from diffprivlib.models import LinearRegression

    warnings.simplefilter("ignore")
    frame, values = load(path)
    held = coordinates(frame)
    low, high = np.array([*BOUNDS.values(), *[(0, 1)] * (held.shape[1] - len(BOUNDS))], dtype=float).T
    for epsilon in (1.0, 0.1):
        stated = {"epsilon": epsilon, "bounds_X": (low, high), "bounds_y": (0, HIGHEST)}
        yield (
            f"diffprivlib LinearRegression, epsilon {epsilon:g}",
            *measure(lambda s=stated: LinearRegression(**s), held, values, times),
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--peer")
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.theirs:
        print(json.dumps(list(theirs(options.data, options.splits))))
        return
    print("| model | R squared | lowest | processor seconds |")
    print("|---|---|---|---|")
    for line in ours(options.data, options.splits):
        show(*line)
    if options.peer:
        command = [options.peer, __file__, options.data, "--theirs", "--splits", str(options.splits)]
        for line in json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout):  # noqa: S603
            show(*line)


def show(name: str, scores: list[float], spent: float) -> None:
    """Print one line: the mean over the splits with its standard error, and the lowest."""
    error = stdev(scores) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
    print(f"| {name} | {mean(scores):.4f} ± {error:.4f} | {min(scores):.4f} | {spent:.2f} |", flush=True)


if __name__ == "__main__":
    main()
