"""Learning on Adult, beside diffprivlib and the fit without privacy: accuracy on people who were not seen.

    python -m benchmarks.learning [--splits 10] [--peer PATH]

Each split fits on four fifths of 30,162 people and predicts the others. All models get the same coordinates:
numbers between declared bounds, keys by one coordinate each. Nothing is tuned. `--peer` names the
Python of an environment with `diffprivlib==0.6.6` and `scikit-learn==1.6.1`, the newest on which it runs.
Times of large fits: `python -m benchmarks.learning_speed`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any

DATA = Path(__file__).parents[1] / "examples" / "data" / "adult.csv.gz"
BOUNDS = {
    "age": (17, 90),
    "fnlwgt": (0, 1_000_000),
    "education_num": (1, 16),
    "capital_gain": (0, 100_000),
    "capital_loss": (0, 5_000),
    "hr_per_week": (1, 99),
}
OFFERS = ((1.0, 1e-6), (0.1, 1e-6), (1.0, None), (0.1, None))
Scores = list[tuple[float, float]]


def load() -> tuple[Any, Any]:
    """Return the columns, and whether an income is above 50,000."""
    import pandas

    frame = pandas.read_csv(DATA)
    return frame, (frame.pop("income").str.strip() == ">50K").to_numpy().astype(int)


def splits(count: int, times: int) -> Iterator[tuple[Any, Any]]:
    """Give people to learn from, and others."""
    import numpy as np

    for seed in range(times):
        order = np.random.default_rng(seed).permutation(count)
        yield order[: int(0.8 * count)], order[int(0.8 * count) :]


def area(scores: Any, labels: Any) -> float:
    """Return how often somebody of class 1 has a higher score than somebody of class 0."""
    from scipy.stats import rankdata

    ranks, ones = rankdata(scores), labels == 1
    count = ones.sum()
    return float((ranks[ones].sum() - count * (count + 1) / 2) / (count * (~ones).sum()))


def measure(make: Callable[[], Any], frame: Any, labels: Any, times: int) -> tuple[Scores, float]:
    """Return the share of right predictions and the area of each split, and processor seconds for a fit."""
    found, spent = [], 0.0
    for learn, judge in splits(len(labels), times):
        model, start = make(), time.process_time()
        model.fit(frame.iloc[learn] if hasattr(frame, "iloc") else frame[learn], labels[learn])
        spent += time.process_time() - start
        held = frame.iloc[judge] if hasattr(frame, "iloc") else frame[judge]
        scores = model.decision_function(held)
        found.append((float(((scores > 0) == labels[judge]).mean()), area(scores, labels[judge])))
    return found, spent / times


def coordinates(frame: Any) -> tuple[Any, float]:
    """Return the same coordinates as an array, and how long a row is at most."""
    import numpy as np
    import pandas

    parts = [
        np.clip(2 * (frame[[name]].to_numpy(float) - low) / (high - low) - 1, -1, 1)
        for name, (low, high) in BOUNDS.items()
    ]
    keys = [name for name in frame if name not in BOUNDS]
    parts += [pandas.get_dummies(frame[name]).to_numpy(float) for name in keys]
    return np.concatenate(parts, axis=1), len(frame.columns) ** 0.5


def ours(times: int) -> Iterator[tuple[str, Scores, float]]:
    """Measure discreet, and scikit-learn without privacy."""
    from sklearn.linear_model import LogisticRegression

    import discreet as dp
    from discreet import learning

    frame, labels = load()
    columns = {name: BOUNDS.get(name) or dp.Keys(sorted(frame[name].unique())) for name in frame}
    kinds: list[tuple[Any, dict[str, Any]]] = [
        (learning.LogisticRegression, {}),
        *((learning.LogisticRegression, {"method": name}) for name in ("newton", "output", "objective")),
        (learning.LinearSVC, {}),
        (learning.AdditiveClassifier, {}),
    ]
    for kind, more in kinds:
        for epsilon, delta in OFFERS:
            stated = {"epsilon": epsilon, "delta": delta, "columns": columns, "classes": [0, 1], **more}
            words = f"epsilon {epsilon:g}" + ("" if delta is None else f", delta {delta:g}")
            named = f"discreet {kind.__name__}({more.get('method', '')})"
            yield (
                f"{named}, {words}",
                *measure(lambda k=kind, s=stated: k(**s), frame, labels, times),
            )
    held, _ = coordinates(frame)
    yield "scikit-learn, no privacy", *measure(lambda: LogisticRegression(max_iter=1000), held, labels, times)


def theirs(times: int) -> Iterator[tuple[str, Scores, float]]:
    """Measure diffprivlib."""
    import warnings

    from diffprivlib.models import LogisticRegression

    warnings.simplefilter("ignore")
    frame, labels = load()
    held, longest = coordinates(frame)
    for epsilon in (1.0, 0.1):
        yield (
            f"diffprivlib LogisticRegression, epsilon {epsilon:g}",
            *measure(
                lambda e=epsilon: LogisticRegression(epsilon=e, data_norm=longest, max_iter=1000),
                held,
                labels,
                times,
            ),
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--peer")
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.theirs:
        print(json.dumps(list(theirs(options.splits))))
        return
    print("| model | accuracy | area under the curve | processor seconds |")
    print("|---|---|---|---|")
    for line in ours(options.splits):
        show(*line)
    if options.peer:
        command = [options.peer, __file__, "--theirs", "--splits", str(options.splits)]
        for line in json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout):  # noqa: S603
            show(*line)


def show(name: str, scores: Scores, spent: float) -> None:
    """Print one line: means over the splits, with their standard errors."""
    words = []
    for place, unit in ((0, 100), (1, 1)):
        held = [unit * one[place] for one in scores]
        error = stdev(held) / len(held) ** 0.5 if len(held) > 1 else 0.0
        words.append(f"{mean(held):.{2 if unit == 100 else 4}f} ± {error:.{2 if unit == 100 else 4}f}")
    print(f"| {name} | {words[0]} | {words[1]} | {spent:.2f} |", flush=True)


if __name__ == "__main__":
    main()
