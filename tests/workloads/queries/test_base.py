"""Every family against the matrix of its queries, written down by hand."""

from __future__ import annotations

from itertools import combinations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.workloads import (
    AllRanges,
    Identity,
    Marginals,
    Matrix,
    MeasureCells,
    Prefixes,
    Product,
    RangesOfWidth,
    Total,
    WeightedUnion,
    plan,
)
from discreet.workloads.planning.candidates import _transformed_diagonal
from discreet.workloads.queries.base import Workload


def ranges_by_hand(size):
    return np.array(
        [[float(a <= cell <= b) for cell in range(size)] for a in range(size) for b in range(a, size)]
    )


def marginals_by_hand(shape, ways):
    cells = list(product(*map(range, shape)))
    rows = []
    for chosen in combinations(range(len(shape)), ways):
        for values in product(*[range(shape[place]) for place in chosen]):
            rows.append(
                [float(all(cell[p] == v for p, v in zip(chosen, values, strict=True))) for cell in cells]
            )
    return np.array(rows)


CASES = {
    "identity": (Identity(5), np.eye(5)),
    "total": (Total(5), np.ones((1, 5))),
    "one cell": (AllRanges(1), np.ones((1, 1))),
    "two cells": (AllRanges(2), ranges_by_hand(2)),
    "ranges": (AllRanges(7), ranges_by_hand(7)),
    "prefixes": (Prefixes(6), np.tril(np.ones((6, 6)))),
    "windows": (
        RangesOfWidth(7, 3),
        np.array([np.r_[np.zeros(i), np.ones(3), np.zeros(4 - i)] for i in range(5)]),
    ),
    "one window": (RangesOfWidth(4, 4), np.ones((1, 4))),
    "marginals": (Marginals((2, 3, 2), 2), marginals_by_hand((2, 3, 2), 2)),
    "zero-way": (Marginals((2, 3), 0), np.ones((1, 6))),
    "product": (Product(AllRanges(3), Prefixes(4)), np.kron(ranges_by_hand(3), np.tril(np.ones((4, 4))))),
    "union": (
        WeightedUnion([AllRanges(4), Total(4)], [1, 3]),
        np.vstack([ranges_by_hand(4), 3 * np.ones((1, 4))]),
    ),
    "matrix": (
        Matrix([[1.0, -2.0], [0.5, 0.0], [0.0, 3.0]]),
        np.array([[1.0, -2.0], [0.5, 0.0], [0.0, 3.0]]),
    ),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request):
    return request.param


def test_answers_and_rows_are_those_of_the_matrix(case):
    workload, rows = case
    x = np.arange(workload.size) ** 2 % 7
    assert workload.queries == len(rows)
    np.testing.assert_allclose(workload.answer(x), rows @ x)
    np.testing.assert_array_equal(workload.matrix(), rows)


def test_gram_and_its_parts_are_those_of_the_matrix(case):
    workload, rows = case
    gram, size = rows.T @ rows, workload.size
    np.testing.assert_allclose(workload.gram(), gram)
    np.testing.assert_allclose(workload.gram_diagonal(), np.diagonal(gram))
    values, vectors = np.linalg.eigh(gram)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    np.testing.assert_allclose(workload.root_diagonal(), np.diagonal(root), atol=1e-6)
    wrapped = [sum(gram[i, (i + d) % size] for i in range(size)) for d in range(size)]
    np.testing.assert_allclose(workload.diagonal_sums(), wrapped)
    for width in (1, 2, 3, size, size + 2):
        blocks = [np.arange(start, min(start + width, size)) for start in range(0, size, width)]
        trace = sum(gram[np.ix_(block, block)].sum() for block in blocks) / width
        np.testing.assert_allclose(workload.block_traces([width]), [trace])


@pytest.mark.parametrize("size", [1, 2, 3, 4, 9, 16, 4097])
@pytest.mark.parametrize("kind", [AllRanges, Prefixes])
def test_closed_root_diagonals_are_those_of_the_sine_transform(kind, size):
    """The other way to the same numbers, on which the entries of square roots in ledgers rest."""
    workload = kind(size)
    np.testing.assert_allclose(workload.root_diagonal(), _transformed_diagonal(workload), rtol=1e-12)


@pytest.mark.parametrize("cell", [1, 2, 700, 1001, 2000])
@pytest.mark.parametrize("kind", [AllRanges, Prefixes])
def test_closed_root_diagonals_are_those_of_the_spectrum(kind, cell):
    """The sum over the eigenvectors, which are sines, in thirty digits."""
    size = 2000
    order, odd = (2 * size + 1, 2) if kind is Prefixes else (size + 1, 1)
    with mpmath.workdps(30):
        angles = [mpmath.pi * (odd * k - odd + 1) / (2 * order) for k in range(1, size + 1)]
        scale = 4 / mpmath.mpf(order) if kind is Prefixes else 2 / mpmath.sqrt(order)
        expected = scale * mpmath.fsum(mpmath.sin(2 * cell * x) ** 2 / (2 * mpmath.sin(x)) for x in angles)
    found = kind(size).root_diagonal()[-cell]
    assert found == pytest.approx(float(expected), rel=1e-13)


@given(st.data())
def test_sums_between_ranges_are_those_of_the_matrix(data):
    workload = data.draw(st.sampled_from([AllRanges, Prefixes]))(data.draw(st.integers(1, 12)))
    places = sorted(data.draw(st.sets(st.integers(0, workload.size - 1), min_size=1)))
    gram = workload.matrix().T @ workload.matrix()
    expected = np.add.reduceat(np.add.reduceat(gram, places, axis=0), places, axis=1)
    np.testing.assert_array_equal(workload.gram_between(places), expected)
    np.testing.assert_array_equal(Workload.gram_between(workload, places), expected)


def test_closed_singular_values_are_those_of_the_matrix():
    for workload in (AllRanges(9), Prefixes(9)):
        expected = np.linalg.svd(workload.matrix(), compute_uv=False)
        np.testing.assert_allclose(np.sort(workload.singular_values())[::-1], expected)


def test_ranges_are_numbered_both_ways():
    workload = AllRanges(9)
    for index in range(workload.queries):
        assert workload.index(*workload.bounds(index)) == index


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: AllRanges(0), "size"),
        (lambda: AllRanges(-1), "size"),
        (lambda: AllRanges(2**40), "size"),
        (lambda: Identity(()), "shape"),
        (lambda: RangesOfWidth(4, 5), "width"),
        (lambda: Marginals((2, 2), 3), "ways"),
        (lambda: Marginals((2, 2)), "ways"),
        (lambda: Marginals((2, 2), sets=[]), "sets"),
        (lambda: Marginals((2, 2), sets=[(0, 0)]), "sets"),
        (Product, "factors"),
        (lambda: WeightedUnion([]), "parts"),
        (lambda: WeightedUnion([Total(3), Total(4)]), "parts"),
        (lambda: WeightedUnion([Total(3)], [0]), "weights"),
        (lambda: Matrix(np.zeros((0, 3))), "rows"),
        (lambda: Matrix([[np.nan]]), "rows"),
        (lambda: AllRanges(5).index(3, 2), "last"),
        (lambda: AllRanges(5).index(0, 5), "last"),
        (lambda: AllRanges(5).answer(np.zeros(4)), "x"),
        (lambda: AllRanges(5).row(15), "index"),
    ],
)
def test_bad_input_is_refused_by_name(build, named):
    with pytest.raises(ParameterError) as refused:
        build()
    assert refused.value.parameter == named


def test_what_does_not_fit_in_memory_is_refused_with_its_size():
    large = AllRanges(2**20)
    for ask in (large.gram, large.matrix, lambda: large.answer(np.zeros(2**20))):
        with pytest.raises(ParameterError, match=r"1048576|549756338176"):
            ask()
    with pytest.raises(ParameterError, match="8193 cells"):
        RangesOfWidth(8193, 2).block_traces([2])


@pytest.mark.parametrize(
    "ask",
    [
        lambda workload: workload.gram(),
        lambda workload: workload.answer(np.zeros(3)),
        lambda workload: MeasureCells(3).trace(workload),
        lambda workload: plan(workload, rho=1).release(np.zeros(3, int)),
    ],
)
def test_domains_of_thousands_of_digits_are_refused_in_words(ask):
    with pytest.raises(ParameterError, match=r"about 2\^16609 cells"):
        ask(Marginals([10] * 5000, ways=1))
