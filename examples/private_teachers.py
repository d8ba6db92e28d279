"""Private teachers: digits that a student learns from votes of teachers, each of whom saw other people.

Scanned digits (8 x 8 pixels, those of scikit-learn): two thirds are private, the others public, without
labels. Teachers are trained on disjoint shards and vote on public rows; noise hides what one person
changes. The script prints how much teachers agree and how often they are right, by their number: few know
more each, many drown the noise. Then a student learns from the answers, and the picture shows what queries
cost, by their number: whatever the votes are, and as it may be released where teachers agree.

Run with ``python examples/private_teachers.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys

import numpy as np
from picture import save
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.semi_supervised import LabelSpreading

from discreet.learning import CostRelease, GNMax, TeacherVotes, cost_curve
from discreet.learning.plot import costs
from discreet.learning.teachers.ensemble import Ensemble
from discreet.learning.teachers.shards import shard_numbers
from discreet.learning.teachers.vote_counts import count_votes

NUMBERS = (10, 25, 50, 100)
ASKED = 60
PRIVATE = 1200


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Return pixels between -1 and 1, and digits, in a shuffled order."""
    rows, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(rows))
    return rows[order] / 8 - 1, labels[order]


def agreement(numbers: tuple[int, ...] = NUMBERS) -> list[tuple[int, float, float, float]]:
    """Return for each number of teachers how often one is right, how often most are, and their lead.

    The lead is that of the first class over the second, as a share of all votes. For these private rows it is
    as private as they are: a figure for teaching, of public data.
    """
    rows, labels = digits()
    found = []
    for teachers in numbers:
        shards = shard_numbers(range(PRIVATE), teachers=teachers, key=b"example")
        ensemble = Ensemble(model=RidgeClassifier(), teachers=teachers, classes=10)
        votes = ensemble.votes(rows[:PRIVATE], labels[:PRIVATE], shards, rows[PRIVATE:])
        counts = count_votes(votes, classes=10)
        ordered = np.sort(counts, axis=1)
        lead = float((ordered[:, -1] - ordered[:, -2]).mean() / teachers)
        each = float((votes == labels[PRIVATE:]).mean())
        found.append((teachers, each, float((counts.argmax(axis=1) == labels[PRIVATE:]).mean()), lead))
    return found


def student(teachers: int = 50, epsilon: float = 8.0) -> tuple[float, float]:
    """Return how often answers are right, and a student that learned from them, on all public rows."""
    rows, labels = digits()
    public, truth = rows[PRIVATE:], labels[PRIVATE:]
    votes = TeacherVotes(
        epsilon=epsilon,
        delta=1e-5,
        columns=(-1, 1),
        classes=list(range(10)),
        model=RidgeClassifier(),
        public=public[:ASKED],
        teachers=teachers,
    ).fit(rows[:PRIVATE], labels[:PRIVATE])
    given = np.full(len(public), -1)
    given[:ASKED] = votes.labels_.astype(int)
    learned = LabelSpreading(kernel="knn", n_neighbors=7, alpha=0.5).fit(public, given)
    return float((given[:ASKED] == truth[:ASKED]).mean()), float((learned.transduction_ == truth).mean())


def main(folder: str | None = None) -> None:
    """Print agreement and the student, and draw what queries cost."""
    print(f"{'teachers':>9}{'one is right':>14}{'most are':>10}{'lead':>7}")
    for teachers, each, most, lead in agreement():
        print(f"{teachers:>9}{each:>14.1%}{most:>10.1%}{lead:>7.2f}")
    answers, learned = student()
    print(f"\n{ASKED} answers of 50 teachers at epsilon 8: {answers:.0%} right; the student: {learned:.1%}")
    votes = GNMax(sigma=40, teachers=250, classes=10)
    release = CostRelease(order=12, rho="0.02", decay="0.05")
    supposed = np.full(1000, 245)
    curve = cost_curve(votes, supposed, release=release, delta=1e-5)
    print(f"1,000 answers of 250 teachers, sigma 40: epsilon {curve.worst[-1]:.2f} whatever the votes are,")
    print(f"and about {curve.released[-1]:.2f} as released if 245 of 250 agree")
    save(lambda: costs(curve), "private_teachers", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
