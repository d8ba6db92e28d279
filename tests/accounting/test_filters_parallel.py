"""Parallel parts: what each filter charges, against brute force over small tables."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from accounting.pairs_of_laws import KINDS, ORDERS, check, divergence, hockey_stick, lattice, times
from discreet.privacy import ADD_REMOVE_PERSON, REPLACE_PERSON, REPLACE_ROW, events

# Tables of units in three parts, each part released by a law of its count.


def tables(parts, most):
    return [counts for counts in product(range(most + 1), repeat=parts) if sum(counts) <= most]


def neighbors(relation, most, parts=3):
    everything = tables(parts, most)
    for one, other in product(everything, repeat=2):
        came = sum(max(b - a, 0) for a, b in zip(one, other, strict=True))
        went = sum(max(a - b, 0) for a, b in zip(one, other, strict=True))
        if relation.change.value == "replace":
            if came == went <= relation.size:
                yield one, other
        elif came + went <= relation.size:
            yield one, other


def part_event(name, kernel, relation):
    """The least event of its kind that a part's release satisfies under a relation: units come and go."""
    pairs = [
        (kernel[a], kernel[b])
        for a, b in product(range(len(kernel)), repeat=2)
        if a != b and abs(a - b) <= relation.size
    ]
    if name == "pure":
        worst = max(float(np.max(np.log(p / q))) for p, q in pairs)
        return events.Pure(epsilon=worst * (1 + 1e-12), neighbors=relation)
    if name == "approximate":
        delta = max(hockey_stick(p, q, math.exp(0.3)) for p, q in pairs)
        return events.Approximate(epsilon=0.3, delta=delta, neighbors=relation)
    curve = [(order, max(divergence(p, q, order) for p, q in pairs) * (1 + 1e-12)) for order in ORDERS]
    return events.Renyi(curve=curve, neighbors=relation)


@pytest.mark.parametrize(
    "relation", [ADD_REMOVE_PERSON, REPLACE_PERSON, ADD_REMOVE_PERSON.group(2), REPLACE_ROW.group(2)], ids=str
)
@pytest.mark.parametrize("seed", range(3))
def test_parallel_parts_of_small_tables_cost_what_the_relation_can_touch(relation, seed):
    source = np.random.default_rng(seed)
    most = 3
    # Laws of a part, one for each count: a noisy count of a noise that differs from part to part.
    kernels = [
        [
            source.dirichlet(np.ones(4)) * 0.2 + 0.8 * base
            for base in source.dirichlet(np.ones(4) * 3, most + 1)
        ]
        for _ in range(3)
    ]
    joint = {
        counts: times(*((kernel[n], kernel[n]) for kernel, n in zip(kernels, counts, strict=True)))[0]
        for counts in tables(3, most)
    }
    pairs = [(joint[one], joint[other]) for one, other in neighbors(relation, most) if one < other]
    for name, kind in (
        ("pure", "pure"),
        ("pure", "rho"),
        ("pure", "renyi"),
        ("approximate", "pure"),
        ("approximate", "rho"),
        ("approximate", "renyi"),
        ("renyi", "renyi"),
    ):
        event = events.Parallel(*(part_event(name, kernel, relation) for kernel in kernels))
        check(kind, KINDS[kind](relation).cost(event), pairs)


@pytest.mark.parametrize(("relation", "touched"), [(ADD_REMOVE_PERSON, 1), (REPLACE_PERSON, 2)], ids=str)
def test_parallel_parts_cost_no_more_than_some_tables_lose(relation, touched):
    # Noisy counts: a unit that moves from one part to another is told apart in both.
    ratios, most = (2, 3, 5), 2
    kernels = [
        [lattice(lambda y, r=ratio: y * math.log(r), n)[0] for n in range(most + 1)] for ratio in ratios
    ]
    event = events.Parallel(*(part_event("pure", kernel, relation) for kernel in kernels))
    loss = max(
        sum(
            float(np.max(np.log(kernel[a] / kernel[b])))
            for kernel, a, b in zip(kernels, one, other, strict=True)
        )
        for one, other in neighbors(relation, most)
    )
    assert loss == pytest.approx(sum(math.log(r) for r in sorted(ratios)[-touched:]))
    assert float(KINDS["pure"](relation).cost(event)[0]) == pytest.approx(loss)
    curves = events.Parallel(*(part_event("renyi", kernel, relation) for kernel in kernels))
    for order, cost in zip(ORDERS, KINDS["renyi"](relation).cost(curves), strict=False):
        worst = max(
            sum(
                divergence(kernel[a], kernel[b], order)
                for kernel, a, b in zip(kernels, one, other, strict=True)
            )
            for one, other in neighbors(relation, most)
        )
        assert float(cost) == pytest.approx(worst)
    noises = (1, 2, 4)
    normal = events.Parallel(*(events.Gaussian(noise_multiplier=s, neighbors=relation) for s in noises))
    square = max(
        sum(((a - b) / s) ** 2 for s, a, b in zip(noises, one, other, strict=True))
        for one, other in neighbors(relation, most)
    )
    assert KINDS["mu"](relation).cost(normal) == (Fraction(square),)


def test_the_largest_part_at_one_order_need_not_be_the_largest_at_another():
    # So entries are taken one by one: neither part's own costs would do for both.
    narrow, wide = events.Laplace(epsilon="1/2"), events.Gaussian(noise_multiplier=4)
    budget = KINDS["renyi"](ADD_REMOVE_PERSON)
    both = budget.cost(events.Parallel(narrow, wide))
    apart = budget.cost(narrow), budget.cost(wide)
    assert both == tuple(map(max, *apart))
    assert both not in apart
