"""Three ways to say that neighbors look alike: one for pure privacy, three for approximate.

P and Q are the laws of what is released about two neighboring tables, and L(y) = log(P(y) / Q(y)) is the
privacy loss. Privacy may be asked of

- *events*: P(S) <= e^epsilon Q(S) + delta for every set S of outcomes (the definition);
- *outcomes*: P(y) <= e^epsilon Q(y) + delta for every single outcome y;
- *the loss*: P(L > epsilon) <= delta.

With delta = 0 the three say the same. Otherwise the least delta by outcomes is at most that by events, which
is at most that by the loss, and both may be far apart. Outcomes promise nothing: if a table's release is one
of a million numbers, and a neighbor's one of a million others, delta = 10^-6 holds for each, and any release
tells which table it was. The loss asks for too much: Laplace noise of epsilon = 1 on counts is
(0.99, 0.008)-private, but its loss exceeds 0.99 with probability 0.73. Everything here is by enumeration: of
all events, and of all pairs of laws on three outcomes with masses in sixths.

Run with ``python examples/three_definitions.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
from picture import save

from discreet.figures import Axes, draw_curve, label_axes, next_style, panels

SIXTHS = 6
FACTORS = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4))
"""Values of e^epsilon."""
Law = Sequence[Fraction] | Sequence[float]


def by_events(first: Law, second: Law, factor: float) -> float:
    """Return the least delta by events: the largest P(S) - e^epsilon Q(S), over all 2^n sets S."""
    gains = [p - factor * q for p, q in zip(first, second, strict=True)]
    return max(sum(gain for gain, taken in zip(gains, event, strict=True) if taken) for event in _all(gains))


def by_outcomes(first: Law, second: Law, factor: float) -> float:
    """Return the least delta by outcomes: the largest P(y) - e^epsilon Q(y), or 0."""
    return max(0, *(p - factor * q for p, q in zip(first, second, strict=True)))


def by_loss(first: Law, second: Law, factor: float) -> float:
    """Return the least delta by the loss: the probability under P that P(y) > e^epsilon Q(y)."""
    return sum(p for p, q in zip(first, second, strict=True) if p > factor * q)


DEFINITIONS = {"outcomes": by_outcomes, "events": by_events, "loss": by_loss}


def _all(outcomes: Sequence[object]) -> product[tuple[int, ...]]:
    return product((0, 1), repeat=len(outcomes))


def laws() -> list[tuple[Fraction, ...]]:
    """Return all laws on three outcomes whose masses are multiples of a sixth."""
    masses = product(range(SIXTHS + 1), repeat=3)
    return [tuple(Fraction(mass, SIXTHS) for mass in one) for one in masses if sum(one) == SIXTHS]


def agreement() -> dict[str, int]:
    """Return how often the definitions agree over all pairs of laws, whether pure or with a delta."""
    found = {
        "pairs": 0,
        "pure alike": 0,
        "delta alike": 0,
        "in order": 0,
        "outcomes lower": 0,
        "loss higher": 0,
    }
    for first, second, factor in product(laws(), laws(), FACTORS):
        low, exact, high = (rule(first, second, factor) for rule in DEFINITIONS.values())
        found["pairs"] += 1
        found["pure alike"] += (low == 0) == (exact == 0) == (high == 0)
        found["delta alike"] += low == exact == high
        found["in order"] += low <= exact <= high
        found["outcomes lower"] += low < exact
        found["loss higher"] += exact < high
    return found


def laplace_pair(epsilon: float, reach: int = 4) -> tuple[list[float], list[float]]:
    """Return discrete Laplace noise around 0 and around 1, clamped at both ends: 2 * reach + 2 outcomes."""
    ratio = exp(-epsilon)
    inside = (1 - ratio) / (1 + ratio)
    places = np.arange(-reach, reach + 2)
    return tuple(_clamped(inside * ratio ** np.abs(places - center), ratio) for center in (0, 1))  # type: ignore[return-value]


def _clamped(masses: np.ndarray, ratio: float) -> list[float]:
    """Add to the first and to the last outcome all that lies beyond: a geometric tail."""
    masses[[0, -1]] /= 1 - ratio
    return list(masses)


def deltas(first: Law, second: Law, epsilons: Sequence[float]) -> dict[str, list[float]]:
    """Return the least delta by each definition, for the worse order of the two laws."""
    return {
        name: [max(rule(*pair, exp(e)) for pair in ((first, second), (second, first))) for e in epsilons]
        for name, rule in DEFINITIONS.items()
    }


def plot(epsilon: float = 1.0) -> Axes:
    """Draw the least delta by each definition over epsilon, for Laplace noise of epsilon 1."""
    (ax,) = panels(None)
    # Floats cannot tell at epsilon itself, where all losses are equal to it, so the grid leaves it out.
    epsilons = epsilon * np.append(np.linspace(0, 1 - 1e-9, 41), np.linspace(1 + 1e-9, 1.2, 5))
    for name, line in deltas(*laplace_pair(epsilon), epsilons).items():
        draw_curve(ax, epsilons, np.maximum(line, 0), next_style(ax), label=f"by {name}")
    title = f"Laplace noise of epsilon = {epsilon:g}, ten outcomes: all 1,024 events"
    return label_axes(ax, x="epsilon", y="least delta", title=title)


def main(folder: str | None = None) -> None:
    """Enumerate, compare and draw."""
    found = agreement()
    print(f"{found['pairs']} pairs of laws and factors e^epsilon, by enumeration of all events:")
    print(f"  pure by one definition if and only if by the others: {found['pure alike']}")
    print(f"  delta by outcomes <= by events <= by the loss:       {found['in order']}")
    print(f"  the three deltas are the same:                       {found['delta alike']}")
    print(f"  outcomes claim too little:                           {found['outcomes lower']}")
    print(f"  the loss asks for too much:                          {found['loss higher']}\n")
    print("Laplace noise of epsilon = 1: least delta, by")
    print(f"{'epsilon':>9} {'outcomes':>10} {'events':>10} {'loss':>10}")
    epsilons = (0.25, 0.5, 0.75, 0.99, 1.01)
    table = deltas(*laplace_pair(1.0), epsilons)
    for place, epsilon in enumerate(epsilons):
        print(f"{epsilon:>9}" + "".join(f" {max(line[place], 0):>10.4f}" for line in table.values()))
    size = 8
    apart = [Fraction(1, size)] * size + [Fraction(0)] * size
    least = [float(rule(apart, apart[::-1], Fraction(1))) for rule in DEFINITIONS.values()]
    print(f"\nTwo laws on {size} numbers each, none in common: delta")
    print(f"{least[0]} by outcomes, {least[1]} by events and {least[2]} by the loss.")
    save(plot, "three_definitions", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
