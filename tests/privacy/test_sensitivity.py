"""Every rule is attained by a pair of neighboring tables, and exceeded by none, by brute force."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from itertools import chain, combinations, product

import pytest

from discreet.errors import ParameterError
from discreet.privacy import sensitivity
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, ADD_REMOVE_ROW, REPLACE_PERSON, REPLACE_ROW, Change
from discreet.privacy.sensitivity import Sensitivity

BOTH = [ADD_REMOVE_ROW, REPLACE_ROW]
BOUNDS = [(0, 1), (-2, 1), (Fraction(1, 2), 3), (-3, Fraction(-1, 2))]


def neighboring(domain, neighbors, sizes):
    """Yield every pair of neighboring tables of rows from the domain."""
    for n in sizes:
        for table in product(domain, repeat=n):
            if neighbors.change is Change.REPLACE:
                for place, row in product(range(n), domain):
                    yield table, (*table[:place], row, *table[place + 1 :])
            else:
                for place in range(n):
                    yield table, table[:place] + table[place + 1 :]


def searched(statistic, pairs):
    """Return the largest change in each norm, found by looking at all pairs."""
    most = [0, 0, 0, 0]
    for one, other in pairs:
        change = [abs(a - b) for a, b in zip(statistic(one), statistic(other), strict=True)]
        norms = (sum(c > 0 for c in change), sum(change), sum(c * c for c in change), max(change))
        most = [max(pair) for pair in zip(most, norms, strict=True)]
    return tuple(most)


def stated(rule):
    return (rule.l0, rule.l1, rule.squared_l2, rule.linf)


def values(lower, upper):
    return [lower, Fraction(2 * lower + upper, 3), Fraction(lower + upper, 2), upper]


def subsets(k):
    return [set(s) for s in chain.from_iterable(combinations(range(k), size) for size in range(k + 1))]


@pytest.mark.parametrize("neighbors", BOTH, ids=str)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_overlapping_counts_attained(k, neighbors):
    def counts(table):
        return [sum(cell in row for row in table) for cell in range(k)]

    found = searched(counts, neighboring(subsets(k), neighbors, (1, 2)))
    assert found == stated(sensitivity.overlapping_counts(k, neighbors=neighbors))


@pytest.mark.parametrize("neighbors", BOTH, ids=str)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_disjoint_counts_attained(k, neighbors):
    def counts(table):
        return [table.count(cell) for cell in range(k)]

    # The extra row, k, is in no cell: disjoint cells need not cover everything.
    found = searched(counts, neighboring(range(k + 1), neighbors, (1, 2, 3)))
    assert found == stated(sensitivity.disjoint_counts(k, neighbors=neighbors))


def test_disjoint_counts_word_for_word():
    replaced = sensitivity.disjoint_counts(5, neighbors=REPLACE_PERSON)
    assert (replaced.l1, replaced.squared_l2) == (2, 2)
    assert math.sqrt(2) <= replaced.l2 <= math.nextafter(math.sqrt(2), 2)
    assert sensitivity.disjoint_counts(5).l1 == sensitivity.disjoint_counts(5).squared_l2 == 1


@pytest.mark.parametrize("neighbors", BOTH, ids=str)
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_sum_attained(lower, upper, neighbors):
    found = searched(lambda t: [sum(t)], neighboring(values(lower, upper), neighbors, (1, 2, 3)))
    assert found == stated(sensitivity.sum_of(lower, upper, neighbors=neighbors))


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_proportions_attained(k, n):
    def shares(table):
        return [Fraction(sum(cell in row for row in table), n) for cell in range(k)]

    found = searched(shares, neighboring(subsets(k), REPLACE_ROW, (n,)))
    assert found == stated(sensitivity.proportions(k, n, neighbors=REPLACE_ROW))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_mean_attained(lower, upper, n):
    found = searched(lambda t: [sum(t) / Fraction(n)], neighboring(values(lower, upper), REPLACE_ROW, (n,)))
    assert found == stated(sensitivity.mean(lower, upper, n, neighbors=REPLACE_ROW))


@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_standard_deviation_attained(lower, upper, n):
    def deviation(table):
        return [math.sqrt(sum(v * v for v in table) / Fraction(n) - (sum(table) / Fraction(n)) ** 2)]

    rule = sensitivity.standard_deviation(lower, upper, n, neighbors=REPLACE_ROW)
    _, l1, squared, _ = searched(deviation, neighboring(values(lower, upper), REPLACE_ROW, (n,)))
    assert rule.squared_l2 == Fraction(upper - lower) ** 2 * (n - 1) / n**2
    assert l1 == pytest.approx(float(rule.l1), rel=1e-12)
    assert squared == pytest.approx(float(rule.squared_l2), rel=1e-12)
    assert rule.l1**2 >= rule.squared_l2


def test_standard_deviation_is_less_than_the_rounded_rule():
    for n in range(2, 50):
        assert sensitivity.standard_deviation(0, 1, n, neighbors=REPLACE_ROW).squared_l2 < Fraction(1, n)


@pytest.mark.parametrize("empty", [0, 1])
@pytest.mark.parametrize("neighbors", BOTH, ids=str)
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_maximum_attained(lower, upper, neighbors, empty):
    fallback = (lower, upper)[empty]
    found = searched(
        lambda t: [max(t, default=fallback)], neighboring(values(lower, upper), neighbors, (1, 2, 3))
    )
    assert found == stated(sensitivity.maximum(lower, upper, neighbors=neighbors))


@pytest.mark.parametrize("sizes", [(1, 2, 3), (3,), (2,)])
@pytest.mark.parametrize("neighbors", BOTH, ids=str)
@pytest.mark.parametrize(("lower", "upper"), BOUNDS)
def test_median_attained(lower, upper, neighbors, sizes):
    if neighbors.change is Change.ADD_REMOVE and sizes == (3,):
        sizes = (4,)  # the lower median moves fully when an even number of rows loses one

    def median(table):
        return [sorted(table)[(len(table) - 1) // 2] if table else lower]

    found = searched(median, neighboring(values(lower, upper), neighbors, sizes))
    assert found == stated(sensitivity.median(lower, upper, neighbors=neighbors))


@pytest.mark.parametrize("neighbors", [ADD_REMOVE_PERSON, ADD_REMOVE_ROW], ids=str)
def test_rules_in_n_are_refused_under_add_remove(neighbors):
    for rule in (
        lambda: sensitivity.proportions(2, 10, neighbors=neighbors),
        lambda: sensitivity.mean(0, 1, 10, neighbors=neighbors),
        lambda: sensitivity.standard_deviation(0, 1, 10, neighbors=neighbors),
    ):
        with pytest.raises(ParameterError, match="number of rows n is private"):
            rule()


def test_the_relation_is_part_of_the_result():
    for name in ("overlapping_counts", "disjoint_counts"):
        assert getattr(sensitivity, name)(2).neighbors == ADD_REMOVE_PERSON
        assert getattr(sensitivity, name)(2, neighbors=REPLACE_ROW).neighbors == REPLACE_ROW


@pytest.mark.parametrize("neighbors", BOTH, ids=str)
def test_a_group_moves_no_further_than_stated(neighbors):
    def counts(table):
        return [table.count(cell) for cell in range(3)]

    rows = range(4)
    pairs = [
        (first, second)
        for first, middle in neighboring(rows, neighbors, (2, 3))
        for start, second in neighboring(rows, neighbors, (1, 2, 3))
        if start == middle
    ]
    bound = stated(sensitivity.disjoint_counts(3, neighbors=neighbors).group(2))
    assert all(found <= most for found, most in zip(searched(counts, pairs), bound, strict=True))
    assert searched(counts, pairs)[1:] == bound[1:]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: sensitivity.overlapping_counts(0), "k"),
        (lambda: sensitivity.disjoint_counts(1.5), "k"),
        (lambda: sensitivity.sum_of(1, 1), "lower"),
        (lambda: sensitivity.sum_of(2, 1), "lower"),
        (lambda: sensitivity.sum_of(float("nan"), 1), "lower"),
        (lambda: sensitivity.sum_of(0, float("inf")), "upper"),
        (lambda: sensitivity.mean(0, 1, 0, neighbors=REPLACE_ROW), "n"),
        (lambda: sensitivity.standard_deviation(0, 1, 1, neighbors=REPLACE_ROW), "n"),
        (lambda: sensitivity.median(0, 1, neighbors=REPLACE_ROW.group(2)), "neighbors"),
        (lambda: sensitivity.median(0, 1, neighbors="replace row"), "neighbors"),
        (lambda: Sensitivity(l0=0, l1=1, squared_l2=1, linf=1), "l0"),
        (lambda: Sensitivity(l0=1, l1=-1, squared_l2=1, linf=1), "l1"),
        (lambda: Sensitivity(l0=1, l1=2, squared_l2=1, linf=1), "l1"),
        (lambda: Sensitivity(l0=2, l1=1, squared_l2=2, linf=1), "squared_l2"),
        (lambda: Sensitivity(l0=2, l1=2, squared_l2=1, linf=1), "l1"),
        (lambda: Sensitivity(l0=2, l1=1, squared_l2=1, linf=2), "l1"),
        (lambda: Sensitivity(l0=1, l1=1, squared_l2=1, linf=1, neighbors=None), "neighbors"),
    ],
)
def test_bad_parameters_are_refused_by_name(call, name):
    with pytest.raises(ParameterError, match=f"^{name} "):
        call()


def test_a_sensitivity_is_a_frozen_value():
    rule = sensitivity.standard_deviation(0, "1/3", 7, neighbors=REPLACE_ROW)
    assert pickle.loads(pickle.dumps(rule)) == rule == copy.deepcopy(rule)
    assert hash(rule) == hash(copy.deepcopy(rule))
    assert (
        repr(sensitivity.disjoint_counts(3, neighbors=REPLACE_ROW))
        == "Sensitivity(l0=2, l1=2, squared_l2=2, linf=1, neighbors=REPLACE_ROW)"
    )
