"""How much privacy an accuracy costs.

"Which epsilon do I need, if a count may be off by more than 10 only once in 100,000 times?"
The answer is known before any data is touched, from the law of the noise alone.

Run with ``python examples/tolerated_error.py``.
"""

from __future__ import annotations

from math import log

import numpy as np

import discreet as dp


def main() -> None:
    """Print the question, its answer, and a measurement."""
    mechanism = dp.Laplace.for_error(10, confidence=1 - 1e-5, sensitivity=1)
    print("Error above 10 with probability at most 1e-5, sensitivity 1:")
    print(f"  continuous Laplace noise, exp(-10 epsilon) = 1e-5:  epsilon = {log(1e5) / 10:.4f}")
    print(f"  discrete noise, which suits a count better:         epsilon = {mechanism.epsilon:.4f}")
    noise = np.abs(mechanism.release(np.zeros(10_000_000, np.int64)))
    expected = len(noise) * mechanism.error.tail(10)
    seen = int((noise > 10).sum())
    print(f"  in ten million releases {expected:.0f} ± {2 * expected**0.5:.0f} should exceed 10; {seen} did")

    print("\nThe total error of 20 counts (L1), epsilon = 1, at most this with probability 0.99:")
    vector = dp.Laplace(sensitivity=20, epsilon=1, size=20)
    exact = vector.error.l1.quantile(0.99)
    union = next(t for t in range(10_000) if vector.error.l1.union_bound(t) <= 0.01)
    print(f"  by the union bound {union}; exactly {exact:.0f}")


if __name__ == "__main__":
    main()
