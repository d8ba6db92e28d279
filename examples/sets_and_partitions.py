"""A set and a partition released with noise for these data: adaptive mechanisms for what is no number.

A panel says of eight dishes which they like. Released is the *set* of dishes that most like: one person may
flip all eight in the worst case, but hardly any here, so a bound of one dish is proposed, tested, and the
set is released for it. Then the dishes are grouped by whether most like them and whether most cook them at
home. This is a *partition*; its distance from another is how many dishes must move, and a bound on how many
one person can move is bought.

Run with ``python examples/sets_and_partitions.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from functools import cache
from itertools import chain, combinations, permutations

import numpy as np
from picture import save

from discreet.mechanisms import BoundedRelease, NearbyOutput, TestedRelease
from discreet.mechanisms.adaptive.no_answer import NO_ANSWER
from discreet.mechanisms.selection.nearby_output import MetricSpace
from discreet.stability import distance_to_sensitive, majorities, slow_bound

DISHES = ("soup", "pasta", "curry", "salad", "stew", "pie", "rice", "tofu")
GROUPED = 7
EPSILON, DELTA = Fraction(8), Fraction(1, 10**4)

Partition = tuple[tuple[int, ...], ...]


def panel(persons: int = 4000) -> np.ndarray:
    """Return made-up answers: columns are likes, then who cooks it at home. One dish is near a tie."""
    source = np.random.default_rng(5)
    likes = (0.7, 0.6, 0.503, 0.4, 0.35, 0.62, 0.75, 0.2)
    cooks = (0.6, 0.65, 0.3, 0.7, 0.35, 0.4, 0.6, 0.3)
    return (source.random((persons, 2 * len(DISHES))) < np.array(likes + cooks)).astype(np.int64)


def subsets() -> MetricSpace[tuple[int, ...]]:
    """Return all sets of dishes; two are as far apart as dishes are in only one of them."""
    places = range(len(DISHES))
    outputs = chain.from_iterable(combinations(places, size) for size in range(len(DISHES) + 1))
    return MetricSpace(outputs=outputs, distance=lambda one, other: len({*one} ^ {*other}))


@cache
def moved(one: Partition, other: Partition) -> int:
    """Return how many items must move to turn a partition into another: a metric (Day 1981)."""
    few, many = sorted((one, other), key=len)
    kept = max(
        sum(len({*a} & {*b}) for a, b in zip(few, chosen, strict=True))
        for chosen in permutations(many, len(few))
    )
    return sum(map(len, one)) - kept


def partitions(items: int) -> list[Partition]:
    """Return all partitions of the items 0, 1, …."""
    found: list[Partition] = [()]
    for item in range(items):
        found = [
            tuple(sorted((*parts[:place], (*parts[place], item), *parts[place + 1 :])))
            for parts in found
            for place in range(len(parts))
        ] + [tuple(sorted((*parts, (item,)))) for parts in found]
    return found


def grouped(answers: np.ndarray) -> tuple[Partition, int]:
    """Return the dishes by what most like and cook, and a slow bound on how many one person can move."""
    columns = [*range(GROUPED), *range(len(DISHES), len(DISHES) + GROUPED)]
    yes, profile = majorities(answers[:, columns])
    labels = [(item in yes, item + GROUPED in yes) for item in range(GROUPED)]
    parts = {label: tuple(i for i in range(GROUPED) if labels[i] == label) for label in labels}
    return tuple(sorted(parts.values())), min(slow_bound(profile, 1), GROUPED)


def set_by_test(answers: np.ndarray, bound: int = 1) -> tuple[TestedRelease, tuple[int, ...], int]:
    """Return the mechanism for a proposed bound, the exact set, and how far the data are from it."""
    mechanism = TestedRelease(
        mechanism=NearbyOutput(space=subsets(), reach=bound, epsilon=EPSILON - 1),
        epsilon=1,
        delta=DELTA,
    )
    chosen, profile = majorities(answers[:, : len(DISHES)])
    return mechanism, chosen, min(distance_to_sensitive(profile, bound), 2**40)


def partition_by_bound() -> tuple[BoundedRelease, NearbyOutput]:
    """Return the mechanism that buys a bound for the partition, and that for the worst case."""
    space = MetricSpace(outputs=partitions(GROUPED), distance=moved)
    bought = BoundedRelease(
        family=lambda bound: NearbyOutput(space=space, reach=bound, epsilon=EPSILON),
        change=1,
        global_sensitivity=GROUPED,
        epsilon=2 * EPSILON,
        delta=DELTA,
    )
    return bought, NearbyOutput(space=space, reach=GROUPED, epsilon=2 * EPSILON)


def mean_errors(answers: np.ndarray, runs: int = 60) -> dict[str, tuple[float, float]]:
    """Return how many dishes are wrong on average: for these data, and for the worst case."""
    mechanism, chosen, distance = set_by_test(answers)
    space = subsets()
    worst = NearbyOutput(space=space, reach=len(DISHES), epsilon=EPSILON)
    drawn = [mechanism.release(chosen, distance) for _ in range(runs)]
    sets = [space.distance(chosen, one) for one in drawn if one is not NO_ANSWER]
    plain = [space.distance(chosen, worst.release(chosen)) for _ in range(runs)]
    exact, local = grouped(answers)
    bought, blind = partition_by_bound()
    parts = [moved(exact, bought.release(exact, local).output) for _ in range(runs)]
    others = [moved(exact, blind.release(exact)) for _ in range(runs)]
    return {
        "set": (float(np.mean(sets)), float(np.mean(plain))),
        "partition": (float(np.mean(parts)), float(np.mean(others))),
    }


def main(folder: str | None = None) -> None:
    """Print what is released, beside what it would be for the worst case."""
    answers = panel()
    mechanism, chosen, distance = set_by_test(answers)
    answer = mechanism.release(chosen, distance)
    print(f"liked by most, exactly: {', '.join(DISHES[i] for i in chosen)}")
    shown = answer if answer is NO_ANSWER else ", ".join(DISHES[i] for i in answer)
    print(f"released for a proposed bound of one dish ({mechanism.guarantee}): {shown}")
    exact, local = grouped(answers)
    bought, _ = partition_by_bound()
    released = bought.release(exact, local)
    print(f"\ngroups, exactly: {named(exact)}")
    print(f"released ({bought.guarantee}) for a bought bound of {released.bound}: {named(released.output)}\n")
    for name, (here, worst) in mean_errors(answers).items():
        print(f"{name:<10} dishes wrong on average: {here:.2f}; with noise for the worst case {worst:.2f}")
    save(lambda: mechanism.plot(label="a set, bound of one dish"), "sets_and_partitions", folder)


def named(parts: Partition) -> str:
    """Return a partition in words."""
    return " | ".join(" ".join(DISHES[i] for i in part) for part in parts)


if __name__ == "__main__":
    main(*sys.argv[1:])
