"""Naive Bayes, clusters, components, pipelines and model selection on real data, beside fits without privacy.

    python -m benchmarks.estimators [--splits 5]

Digits: 1,797 images of 64 pixels, bundled with scikit-learn. Adult: the six columns of numbers of 30,162
people. Each split fits on four fifths and judges on the others. Nothing is tuned. Delta is 1e-6.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from statistics import mean, stdev
from typing import Any

from benchmarks.learning import BOUNDS, load, splits

DELTA = 1e-6


def digits(times: int) -> Iterator[tuple[str, list[float]]]:
    """Measure naive Bayes and components on digits."""
    from sklearn import decomposition, naive_bayes
    from sklearn.datasets import load_digits

    from discreet import learning

    rows, labels = load_digits(return_X_y=True)
    declared = {"columns": (0, 16), "delta": DELTA}

    def right(make: Callable[[], Any]) -> list[float]:
        return [
            100 * float(make().fit(rows[learn], labels[learn]).score(rows[judge], labels[judge]))
            for learn, judge in splits(len(rows), times)
        ]

    def kept(make: Callable[[], Any]) -> list[float]:
        """Return which share of the variance of others is along ten components."""
        found = []
        for learn, judge in splits(len(rows), times):
            model, others = make().fit(rows[learn]), rows[judge] - rows[judge].mean(axis=0)
            found.append(100 * float(((others @ model.components_.T) ** 2).sum() / (others**2).sum()))
        return found

    smooth = naive_bayes.GaussianNB(var_smoothing=1e-2)
    for epsilon in (1, 4):
        stated = {**declared, "epsilon": epsilon}
        classes = list(range(10))
        yield (
            f"digits, GaussianNB, epsilon {epsilon}: right",
            right(lambda s=stated, c=classes: learning.GaussianNB(classes=c, **s)),
        )
        yield (
            f"digits, PCA(10), epsilon {epsilon}: variance kept",
            kept(lambda s=stated: learning.PCA(10, **s)),
        )
    yield "digits, GaussianNB of scikit-learn (var_smoothing=1e-2): right", right(lambda: smooth)
    yield "digits, PCA(10) of scikit-learn: variance kept", kept(lambda: decomposition.PCA(10))


def adult(times: int) -> Iterator[tuple[str, list[float]]]:
    """Measure clusters, pipelines and model selection on the numbers of Adult."""
    from sklearn import cluster, naive_bayes

    from discreet import learning

    frame, labels = load()
    frame = frame[list(BOUNDS)]

    def judged(make: Callable[[], Any], score: Callable[[Any, Any, Any], float]) -> list[float]:
        return [
            score(make().fit(frame.iloc[learn], labels[learn]), frame.iloc[judge], labels[judge])
            for learn, judge in splits(len(labels), times)
        ]

    def right(model: Any, rows: Any, of: Any) -> float:
        return 100 * float((model.predict(rows) == of).mean())

    scaled = learning.MinMaxScaler(columns=BOUNDS).fit(frame)

    def distance(model: Any, rows: Any, _: Any) -> float:
        """Return the mean squared distance to the nearest center, in thousandths, of columns from 0 to 1."""
        held = scaled.transform(rows)
        centers = model.steps_[-1][1].cluster_centers_ if hasattr(model, "steps_") else model.cluster_centers_
        gaps = ((held[:, None] - centers) ** 2).sum(axis=2).min(axis=1)
        return 1000 * float(gaps.mean())

    def inner(rows: Any) -> Any:
        return cluster.KMeans(6, n_init=3, random_state=0).fit(scaled.transform(rows))

    said = {"classes": [0, 1]}
    for epsilon in (1, 0.1):
        stated = {"columns": BOUNDS, "epsilon": epsilon, "delta": DELTA}
        steps = [("scale", learning.MinMaxScaler()), ("near", learning.KMeans(6))]
        yield (
            f"Adult, MinMaxScaler and KMeans(6), epsilon {epsilon}: squared distance, thousandths",
            judged(lambda p=steps, s=stated: learning.Pipeline(p, **s), distance),
        )
        for name, last in (
            ("GaussianNB", learning.GaussianNB(**said)),
            ("LogisticRegression", learning.LogisticRegression(**said)),
        ):
            stages = [("scale", learning.StandardScaler()), ("say", last)]
            yield (
                f"Adult, StandardScaler and {name}, epsilon {epsilon}: right",
                judged(lambda p=stages, s=stated: learning.Pipeline(p, **s), right),
            )
        candidates = [
            ("bayes", learning.GaussianNB(**said)),
            ("line", learning.LogisticRegression(**said)),
            ("steps", learning.AdditiveClassifier(**said)),
        ]
        yield (
            f"Adult, best of three by ModelSelection, epsilon {epsilon}: right",
            judged(lambda c=candidates, s=stated: learning.ModelSelection(c, **s), right),
        )
    exact = [
        distance(inner(frame.iloc[learn]), frame.iloc[judge], None)
        for learn, judge in splits(len(labels), times)
    ]
    yield "Adult, KMeans(6) of scikit-learn: squared distance, thousandths", exact
    yield "Adult, GaussianNB of scikit-learn: right", judged(naive_bayes.GaussianNB, right)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=5)
    times = parser.parse_args().splits
    print("| data, model, figure | mean ± standard error |")
    print("|---|---|")
    for measure in (digits, adult):
        for name, found in measure(times):
            error = stdev(found) / len(found) ** 0.5 if len(found) > 1 else 0.0
            print(f"| {name} | {mean(found):.1f} ± {error:.1f} |", flush=True)


if __name__ == "__main__":
    main()
