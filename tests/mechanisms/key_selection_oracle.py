"""Laws of selected keys by brute force: sums over the noise, and divergences over all sets of keys."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import mpmath

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from fractions import Fraction

mpmath.mp.dps = 60

Chance = "Callable[[int], mpmath.mpf]"


def real(x: Fraction | int) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator


def laplace_chance(scale: Fraction, threshold: int) -> Callable[[int], mpmath.mpf]:
    """P(n + N >= threshold), the masses of discrete Laplace noise summed one by one; 0 for n = 0."""
    ratio = mpmath.exp(-1 / real(scale))
    reach = int(150 * scale) + 10

    def chance(n: int) -> mpmath.mpf:
        masses = (ratio ** abs(k) for k in range(threshold - n, max(threshold - n, 0) + reach))
        return mpmath.fsum(masses) * (1 - ratio) / (1 + ratio) if n else mpmath.mpf(0)

    return chance


def gaussian_chance(variance: Fraction, threshold: int) -> Callable[[int], mpmath.mpf]:
    """P(n + N >= threshold), the masses of discrete Gaussian noise summed one by one; 0 for n = 0."""
    reach = int(20 * mpmath.sqrt(real(variance))) + 10
    weights = {k: mpmath.exp(-k * k / (2 * real(variance))) for k in range(-reach, reach + 1)}
    total = mpmath.fsum(weights.values())

    def chance(n: int) -> mpmath.mpf:
        reached = (weight for k, weight in weights.items() if n + k >= threshold)
        return mpmath.fsum(reached) / total if n else mpmath.mpf(0)

    return chance


def rounded_chance(variance: Fraction, threshold: int) -> Callable[[int], mpmath.mpf]:
    """P(n + N >= threshold) for the nearest integer N to a normal number; 0 for n = 0."""

    def chance(n: int) -> mpmath.mpf:
        edge = threshold - n - mpmath.mpf(1) / 2
        return mpmath.erfc(edge / mpmath.sqrt(2 * real(variance))) / 2 if n else mpmath.mpf(0)

    return chance


def geometric_chance(epsilon: Fraction, delta: Fraction, most: int) -> list[mpmath.mpf]:
    """p_0, …, p_most by the recursion in real numbers."""
    e, d = mpmath.exp(real(epsilon)), real(delta)
    chances = [mpmath.mpf(0)]
    for _ in range(most):
        p = chances[-1]
        chances.append(min(e * p + d, 1 - (1 - p - d) / e, mpmath.mpf(1)))
    return chances


def law(chances: Sequence[mpmath.mpf]) -> dict[tuple[bool, ...], mpmath.mpf]:
    """The law of the set of shown keys, each shown by itself."""
    return {
        shown: mpmath.fprod(p if is_shown else 1 - p for p, is_shown in zip(chances, shown, strict=True))
        for shown in product((False, True), repeat=len(chances))
    }


def gap(first: Sequence[mpmath.mpf], second: Sequence[mpmath.mpf], epsilon: mpmath.mpf) -> mpmath.mpf:
    """The largest P(S) - e^epsilon Q(S) over all sets of outcomes."""
    p, q = law(first), law(second)
    return mpmath.fsum(max(p[outcome] - mpmath.exp(epsilon) * q[outcome], 0) for outcome in p)


def neighbors(counts: Iterable[int], keys: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All counts of `keys` keys, before and after a person joins in at least one of them."""
    listed = sorted(set(counts))
    for before in product(listed, repeat=keys):
        for joined in product((0, 1), repeat=keys):
            if any(joined) and list(before) == sorted(before):  # keys are alike: their order does not matter
                yield before, tuple(n + one for n, one in zip(before, joined, strict=True))


def worst_gap(chance: Callable[[int], mpmath.mpf], counts: Iterable[int], keys: int, epsilon: Fraction):
    """The largest gap of all neighbors, in both directions."""
    known: dict[int, mpmath.mpf] = {}

    def at(row: tuple[int, ...]) -> list[mpmath.mpf]:
        return [known.setdefault(n, known[n] if n in known else chance(n)) for n in row]

    pairs = [(at(before), at(after)) for before, after in neighbors(counts, keys)]
    return max(max(gap(p, q, real(epsilon)), gap(q, p, real(epsilon))) for p, q in pairs)
