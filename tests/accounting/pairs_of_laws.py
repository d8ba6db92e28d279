"""Pairs of laws on finitely many outcomes, and whether what a filter charges covers them."""

from __future__ import annotations

import math
from functools import reduce
from itertools import product

import numpy as np
from scipy import special

from discreet.accounting.filters import GaussianFilter, PureFilter, RenyiFilter, ZeroConcentratedFilter

ORDERS = (1.5, 2, 3, 8, 32)
KINDS = {
    "pure": lambda of: PureFilter(10**6, delta="0.99", neighbors=of),
    "rho": lambda of: ZeroConcentratedFilter(10**6, delta="0.99", neighbors=of),
    "renyi": lambda of: RenyiFilter(ORDERS, [10**6] * len(ORDERS), delta="0.99", neighbors=of),
    "mu": lambda of: GaussianFilter(10**3, neighbors=of),
}


def response(ratio, delta=0.0):
    """The worst pair of (log ratio, delta)."""
    big, small = (1 - delta) * ratio / (1 + ratio), (1 - delta) / (1 + ratio)
    return np.array([delta, big, small, 0.0]), np.array([0.0, small, big, delta])


def gaussian(noise, shift=1.0):
    """Normal noise, cut into cells, which only loses."""
    cuts = np.linspace(-6 * noise, 1 + 6 * noise, 100)
    laws = []
    for center in (shift, 0.0):
        z = (cuts - center) / noise
        left, right = special.ndtr(z), special.ndtr(-z)
        inside = np.where(z[1:] <= 0, np.diff(left), -np.diff(right))
        laws.append(np.concatenate([left[:1], inside, right[-1:]]))
    return tuple(laws)


def rounded(sigma, shift):
    """Rounded normal noise moved by some steps, and not: the normal law on cells of one step."""
    edges = np.arange(-6 * sigma, 6 * sigma + shift + 1) - 0.5
    laws = []
    for center in (shift, 0):
        left, right = special.ndtr((edges - center) / sigma), special.ndtr((center - edges) / sigma)
        inside = np.where(edges[1:] <= center, np.diff(left), -np.diff(right))
        laws.append(np.concatenate([left[:1], inside, right[-1:]]))
    return tuple(laws)


def laplace(epsilon):
    x = np.linspace(0, 1, 50)
    below = np.concatenate([[0], np.exp(epsilon * (x - 1)) / 2, [1]])
    above = np.concatenate([[0], 1 - np.exp(-epsilon * x) / 2, [1]])
    return np.diff(below), np.diff(above)


def lattice(weight, shift):
    k = np.arange(-70, 71)
    laws = [np.exp([-weight(abs(y - c)) for y in k]) for c in (shift, 0)]
    return tuple(law / law.sum() for law in laws)


def bounded_range(epsilon, top):
    p = (math.exp(epsilon) - math.exp(top)) / math.expm1(epsilon)
    return np.array([p, 1 - p]), np.array([p * math.exp(-top), (1 - p) * math.exp(epsilon - top)])


def times(*pairs):
    """The joint law of independent releases."""
    return reduce(
        lambda one, other: tuple(np.outer(a, b).ravel() for a, b in zip(one, other, strict=True)), pairs
    )


def mixture(rate, first, second):
    return (1 - rate) * first + rate * second


def poisson(rate, *pairs):
    return [(mixture(rate, q, p), q) for pair in pairs for p, q in (pair, pair[::-1])]


def fixed(rate, laws):
    """The unit has the value of a or of b, every other one that of c."""
    return [(mixture(rate, c, a), mixture(rate, c, b)) for a, b, c in product(laws, repeat=3)]


def drawn(draws, population, laws):
    """The noisy answer is about how many of the drawn units are the one in question, up to its law's end."""
    weights = [
        math.comb(draws, j) * (population - 1) ** (draws - j) / population**draws for j in range(draws + 1)
    ]
    return [
        (laws[0], sum(w * laws[j] for j, w in enumerate(weights))),
        (sum(w * laws[j] for j, w in enumerate(weights)), laws[0]),
    ]


def shuffled(truth, people):
    pairs = []
    for ones in range(people):
        others = np.ones(1)
        for person in range(people - 1):
            chance = truth if person < ones else 1 - truth
            others = np.convolve(others, [1 - chance, chance])
        pairs.append((np.convolve(others, [1 - truth, truth]), np.convolve(others, [truth, 1 - truth])))
    return pairs


def hockey_stick(p, q, factor):
    return float(np.maximum(p - factor * q, 0).sum())


def divergence(p, q, order):
    seen = p > 0
    with np.errstate(divide="ignore"):
        return math.log(float(np.sum(p[seen] * (p[seen] / q[seen]) ** (order - 1)))) / (order - 1)


def converted(order, bound, epsilon):
    """The delta that a divergence implies at one order (Canonne, Kamath & Steinke 2020)."""
    exponent = (order - 1) * (bound - epsilon) - math.log(order - 1) + order * math.log(1 - 1 / order)
    return math.exp(min(exponent, 0))


def normal_hockey_stick(square, factor):
    mu, log_factor = math.sqrt(square), math.log(factor)
    return special.ndtr(mu / 2 - log_factor / mu) - factor * special.ndtr(-mu / 2 - log_factor / mu)


def promised(kind, cost, epsilon):
    """The delta at an epsilon that a cost allows."""
    if kind == "mu":
        return normal_hockey_stick(cost[0] or 1e-30, math.exp(epsilon))
    if kind == "rho":
        orders = np.append(1 + np.geomspace(1e-6, 4, 200), ORDERS)
        return cost[1] + min(converted(a, a * cost[0], epsilon) for a in orders)
    return cost[-1] + min(map(converted, ORDERS, cost, [epsilon] * len(ORDERS)))


def check(kind, cost, pairs):
    """No pair that the event allows, in either direction, is easier to tell apart than was paid for."""
    cost = [float(entry) for entry in cost]
    epsilons = np.linspace(0, 3, 13)
    promises = {e: promised(kind, cost, e) for e in epsilons} if kind != "pure" else {cost[0]: cost[1]}
    limits = {"rho": [a * cost[0] for a in ORDERS], "renyi": cost[:-1]}.get(kind, [])
    for pair in pairs:
        for p, q in (pair, pair[::-1]):
            for epsilon, delta in promises.items():
                assert hockey_stick(p, q, math.exp(epsilon)) <= delta + 1e-12
            if cost[-1] == 0:
                for order, limit in zip(ORDERS, limits, strict=bool(limits)):
                    assert divergence(p, q, order) <= limit * (1 + 1e-9) + 1e-12
