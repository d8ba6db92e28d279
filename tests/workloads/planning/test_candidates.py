"""Candidates keep to the bits they are given, and every one has full rank."""

from __future__ import annotations

from math import isqrt

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.workloads import (
    AllRanges,
    Identity,
    Kronecker,
    Matrix,
    Prefixes,
    Product,
    RangesOfWidth,
    SquareRoot,
    Total,
)
from discreet.workloads.planning.candidates import LARGEST_ENTRY_BITS, candidates

WORKLOADS = [
    AllRanges(20),
    Prefixes(20),
    Total(20),
    RangesOfWidth(20, 3),
    Matrix(np.tri(3, 20)),
    Product(AllRanges(9), Prefixes(5), Total(3), Identity(2)),
]


@pytest.mark.few(24)
@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("bits", [2, 5, 8, 12, 16, 24, LARGEST_ENTRY_BITS])
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: type(workload).__name__)
def test_norms_of_columns_keep_to_their_bits(workload, bits, norm):
    built = 0
    for _, build in candidates(workload, norm, bits):
        try:
            strategy = build()
        except ParameterError:
            continue
        built += 1
        largest = strategy.column_norm1 if norm == 1 else isqrt(strategy.squared_column_norm2)
        levels = 8 if bits < 8 else 1  # a level cannot weigh less than 1
        assert largest <= levels * 2 ** (bits + 1)
        assert np.linalg.matrix_rank(strategy.matrix().astype(float)) == workload.size
    assert built >= 2


def test_cells_alone_suit_all_cells():
    assert [name for name, _ in candidates(Identity(9), 2, 16)] == ["cells"]


def test_a_long_first_axis_is_implicit():
    long = AllRanges(3000)
    (_, _), (name, build) = candidates(Product(long, Identity(2)), 2, 32)
    strategy = build()
    assert name == "product"
    assert isinstance(strategy, Kronecker)
    assert isinstance(strategy.factors[0], SquareRoot)
