"""Four counts about one group of people, asked in two ways.

A table holds sex, height and weight. Four counts are asked: women, tall people, heavy
people, tall women. One person can change all four, so answering them directly takes
Laplace noise of scale 4 / epsilon each: a total squared error of 4 * 2 * (4 / epsilon)^2 =
128 / epsilon^2. Or count the eight disjoint cells (sex x tall x heavy): a person is in one
of them, so noise of scale 1 / epsilon suffices where a person is added or removed (2 / epsilon where
one is replaced), and every answer is a sum of cells, which costs nothing more.

Run with ``python examples/four_counts.py``.
"""

from __future__ import annotations

from itertools import product

import numpy as np

import discreet as dp
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_PERSON
from discreet.privacy.sensitivity import disjoint_counts, overlapping_counts

CELLS = list(product((0, 1), repeat=3))  # (woman, tall, heavy)
QUERIES = {
    "women": [woman for woman, _, _ in CELLS],
    "tall": [tall for _, tall, _ in CELLS],
    "heavy": [heavy for _, _, heavy in CELLS],
    "tall women": [woman * tall for woman, tall, _ in CELLS],
}
WORKLOAD = np.array(list(QUERIES.values()))
TABLE = np.array([310, 90, 140, 160, 260, 40, 70, 30])  # people in each cell


def squared_errors(epsilon: float, runs: int = 20_000) -> dict[str, tuple[float, float]]:
    """Return, for each way of asking, the total squared error computed and measured."""
    truth = WORKLOAD @ TABLE
    direct = dp.Laplace(sensitivity=overlapping_counts(len(QUERIES)), epsilon=epsilon)
    noisy = direct.release(np.tile(truth, (runs, 1)))
    results = {
        "asked directly": (
            len(QUERIES) * direct.error.variance,
            float(((noisy - truth) ** 2).sum(axis=1).mean()),
        )
    }
    for words, neighbors in (("add or remove", ADD_REMOVE_PERSON), ("replace", REPLACE_PERSON)):
        cells = dp.Laplace(sensitivity=disjoint_counts(len(CELLS), neighbors=neighbors), epsilon=epsilon)
        answers = cells.release(np.tile(TABLE, (runs, 1))) @ WORKLOAD.T
        results[f"from disjoint cells ({words} a person)"] = (
            int(WORKLOAD.sum()) * cells.error.variance,
            float(((answers - truth) ** 2).sum(axis=1).mean()),
        )
    return results


def main() -> None:
    """Print the comparison."""
    epsilon = 0.1
    print(f"Four counts, epsilon = {epsilon}: total squared error\n")
    print(f"{'':<46} {'computed':>10} {'measured':>10}  in units of 1 / epsilon^2")
    for words, (computed, measured) in squared_errors(epsilon).items():
        print(f"{words:<46} {computed:>10.0f} {measured:>10.0f}  {computed * epsilon**2:.1f}")


if __name__ == "__main__":
    main()
