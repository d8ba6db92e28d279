"""Why a support vector machine is not private, and where noise should go.

A support vector machine is decided by a few rows, the support vectors: without one of them the line moves, so
whoever knows all other rows can tell from the line whether that person is among them. The left panel shows
both lines. Private fits add noise, and there are two places for it. Output perturbation adds it to the
weights, the same in every direction. Objective perturbation adds a random slope to the loss, which moves
weights far where the loss is flat and hardly where it is steep, that is, where data say much. The right panel
shows fits by both, at the same epsilon and regularization: one column has much to say, the other little.

Run with ``python examples/steep_surfaces.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys

import numpy as np
from picture import save
from sklearn.svm import SVC

from discreet.figures import Axes, draw_curve, draw_points, label_axes, next_style, panels
from discreet.learning import LogisticRegression

EPSILON = 1.0
REGULARIZATION = 5.0
METHODS = ("output", "objective")


def two_groups() -> tuple[np.ndarray, np.ndarray]:
    """Return 12 people in two groups; the last one stands between them."""
    source = np.random.default_rng(6)
    first = source.normal((-1.0, -0.6), 0.3, (6, 2))
    second = source.normal((1.0, 0.6), 0.3, (5, 2))
    return np.vstack([first, second, [[0.05, 0.75]]]), np.array([0] * 6 + [1] * 6)


def support_line(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the weights and the intercept of a support vector machine, without any noise."""
    machine = SVC(kernel="linear", C=1e6).fit(points, labels)
    return np.append(machine.coef_[0], machine.intercept_)


def uneven(count: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    """Return people with a wide column and a narrow one, both of which count alike."""
    source = np.random.default_rng(2)
    columns = source.uniform(-1, 1, (count, 2)) * (1.0, 0.15)
    return columns, (source.random(count) < 1 / (1 + np.exp(-3 * columns.sum(axis=1)))).astype(np.int64)


def fits(runs: int = 100) -> dict[str, np.ndarray]:
    """Return the two weights of many private fits by each method, and of one with hardly any noise."""
    design, labels = uneven()
    found = {}
    for method in METHODS:
        model = LogisticRegression(
            epsilon=EPSILON, columns=(-1, 1), classes=[0, 1], method=method, regularization=REGULARIZATION
        )
        found[method] = np.array([model.fit(design, labels).coef_[0].copy() for _ in range(runs)])
    plain = LogisticRegression(
        epsilon=1e5, columns=(-1, 1), classes=[0, 1], method="output", regularization=REGULARIZATION
    )
    found["hardly any noise"] = plain.fit(design, labels).coef_.copy()
    return found


def plot(found: dict[str, np.ndarray]) -> list[Axes]:
    """Draw the two lines of the machine, and the two clouds of weights."""
    left, right = panels(None, 2, size=(7.0, 6.0))
    points, labels = two_groups()
    for group, name in ((0, "one group"), (1, "the other")):
        held = points[labels == group]
        draw_points(left, held[:, 0], held[:, 1], next_style(left), spread=None, label=name)
    places = np.array([-2.0, 2.0])
    for kept, name in ((12, "with the person in the middle"), (11, "without")):
        first, second, shift = support_line(points[:kept], labels[:kept])
        draw_curve(left, places, -(first * places + shift) / second, next_style(left), label=name)
    left.set(xlim=(-2, 2), ylim=(-1.6, 1.6))
    label_axes(left, x="first column", y="second column", title="A support vector moves the line")
    for name, weights in found.items():
        draw_points(right, weights[:, 0], weights[:, 1], next_style(right), spread=None, label=name)
    label_axes(
        right,
        x="weight of the wide column",
        y="weight of the narrow one",
        title=f"Fits at epsilon {EPSILON:g}",
    )
    return [left, right]


def main(folder: str | None = None) -> None:
    """Print how far the line moves, and how far noise moves weights."""
    points, labels = two_groups()
    for kept, name in ((12, "with "), (11, "without")):
        line = support_line(points[:kept], labels[:kept])
        print(f"support vector machine {name:<7} one person: weights {line[0]:6.2f}, {line[1]:6.2f}")
    found = fits()
    print(f"\nstandard deviation of a weight at epsilon {EPSILON:g}:  wide column  narrow column")
    for method in METHODS:
        wide, narrow = found[method].std(axis=0)
        print(f"{method + ' perturbation':<45} {wide:>11.2f} {narrow:>14.2f}")
    save(lambda: plot(found), "steep_surfaces", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
