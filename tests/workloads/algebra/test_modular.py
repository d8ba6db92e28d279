"""Integer products are exact modulo 2^64, and folding never moves values apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.workloads.algebra.modular import (
    IntegerMatrix,
    SineProduct,
    clamped_counts,
    cyclic_product,
    fold_wrapped,
    limbs_of,
    self_overlap,
    transform_error,
)

integers = st.integers(-(2**80), 2**80)


def wrap(value: int) -> np.int64:
    return np.int64((value + 2**63) % 2**64 - 2**63)


def triangle(value: int) -> int:
    """The triangle wave by its definition, in integers of any length."""
    turn = (value + 2**62) % 2**64
    return (turn if turn <= 2**63 else 2**64 - turn) - 2**62


@given(integers)
def test_fold_is_the_triangle_wave(value):
    assert int(fold_wrapped(np.array([wrap(value)]))[0]) == triangle(value)


@given(integers, st.integers(-(2**64), 2**64))
def test_fold_never_moves_values_apart(value, step):
    first, second = fold_wrapped(np.array([wrap(value), wrap(value + step)]))
    assert abs(int(first) - int(second)) <= abs(step)
    assert abs(int(first)) <= 2**62


def test_plain_wrapping_would_move_values_apart():
    below, above = wrap(2**63 - 1), wrap(2**63)
    assert abs(int(below) - int(above)) > 1  # what folding is for


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=20), st.integers(4, 14))
def test_limbs_add_up(values, bits):
    limbs = limbs_of(np.array(values), bits, 12)
    assert [
        sum(int(limb[i]) << (bits * place) for place, limb in enumerate(limbs)) for i in range(len(values))
    ] == values
    assert all(np.abs(limb[:-1]).max(initial=0) <= 2 ** (bits - 1) for limb in limbs[:-1])


@pytest.mark.parametrize("size", [1, 2, 3, 10, 100, 257])
def test_sine_products_are_exact(size):
    generator = np.random.default_rng(size)
    half = np.sort(generator.integers(0, 2**17, size + 2))[::-1].copy()
    period = np.concatenate([half, half[-2:0:-1]])
    places = np.arange(1, size + 1)
    matrix = (
        period[(places[:, None] - places) % len(period)] - period[(places[:, None] + places) % len(period)]
    )
    largest = 2**43
    values = generator.integers(-largest, largest, size)
    values[0] = largest
    expected = [int(wrap(sum(int(a) * int(b) for a, b in zip(row, values, strict=True)))) for row in matrix]
    assert SineProduct.of(half, largest).times(values).tolist() == expected


@pytest.mark.parametrize("size", [1, 2, 3, 97, 256])
def test_cyclic_products_are_exact(size):
    generator = np.random.default_rng(size)
    first = generator.integers(-(2**20), 2**20, size)
    second = generator.integers(-(2**29), 2**29, size)
    expected = [
        int(wrap(sum(int(first[(i - j) % size]) * int(second[j]) for j in range(size)))) for i in range(size)
    ]
    assert cyclic_product(first, second, 2**29).tolist() == expected
    even = first + first[(-np.arange(size)) % size]
    overlap = [sum(int(even[i]) * int(even[(i + d) % size]) for i in range(size)) for d in range(size)]
    assert self_overlap(even).tolist() == overlap


def test_limbs_are_short_enough_at_a_million_cells():
    """Taps of large norm: the bound on rounding is below 1/2 for the limbs chosen."""
    order = 2**20
    half = np.full(order + 1, -(2**12))
    half[::3] = 2**12
    largest = 2**12
    product = SineProduct.of(half, largest)
    parts = limbs_of(half, product.bits, len(product.spectra))
    norms = [float(np.linalg.norm(np.concatenate([part, part[-2:0:-1]]))) for part in parts]
    digits = np.sqrt(2 * order) * 2.0 ** (product.bits - 1)
    assert sum(transform_error(2 * order, norm, digits) for norm in norms) < 0.5
    assert product.bits < 14
    values = np.full(order - 1, largest - 1)
    result = product.times(values)
    places = np.arange(1, order)
    for place in (1, 2, order // 2, order - 1):
        total = place + places
        row = half[np.abs(place - places)] - half[np.where(total > order, 2 * order - total, total)]
        assert int(result[place - 1]) == int((row * values).sum())


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (40, 30)])
def test_matrix_products_are_exact_and_wrap(shape):
    generator = np.random.default_rng(0)
    matrix = generator.integers(-(2**20), 2**20, shape)
    values = generator.integers(-(2**63), 2**63 - 1, (2, shape[1]))
    expected = [
        [int(wrap(sum(int(a) * int(b) for a, b in zip(row, vector, strict=True)))) for row in matrix]
        for vector in values
    ]
    assert IntegerMatrix.of(matrix).times(values).tolist() == expected


def test_matrices_that_floats_cannot_hold_are_refused():
    for entry, kind in ((2**50, np.int64), (-(2**63), np.int64), (2**63, np.uint64), (2**64 - 1, np.uint64)):
        with pytest.raises(ParameterError, match="too large"):
            IntegerMatrix.of(np.full((1, 4), entry, kind))


@given(st.lists(st.integers(-(2**70), 2**70), min_size=1, max_size=6))
def test_counts_of_any_size_enter_clamped(values):
    bound = 2**29 - 1
    clamped = [max(-bound, min(bound, value)) for value in values]
    assert clamped_counts(values, len(values)).tolist() == clamped


@pytest.mark.parametrize(
    "x", [[0.5, 1.0], ["a", "b"], [True, False], [1], [[1], [1, 2]], np.zeros(2)], ids=str
)
def test_counts_are_refused_by_type_and_number_alone(x):
    with pytest.raises(ParameterError, match="2 counts"):
        clamped_counts(x, 2)
