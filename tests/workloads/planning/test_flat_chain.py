"""Chains of flat spaces: bounds on what they reach, the search for them, and the inequality they serve."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.workloads import AllRanges, Matrix, Prefixes
from discreet.workloads.planning import flat_chain as module
from discreet.workloads.planning.flat_chain import cell_weights, flat_levels, largest_in_cells, unevenness
from discreet.workloads.planning.laplace_bound import _by_flat_chain

RANDOM = np.random.default_rng(31)


def diagonals(gram: np.ndarray, basis: np.ndarray, dimensions: list[int]) -> np.ndarray:
    """The diagonals of Y (Y^T G Y)^-1 Y^T themselves, for the first columns of a basis."""
    spaces = [basis[:, :dimension] for dimension in dimensions]
    return np.array([np.diag(some @ np.linalg.inv(some.T @ gram @ some) @ some.T) for some in spaces])


def leading(gram: np.ndarray) -> np.ndarray:
    values, vectors = np.linalg.eigh(gram)
    return (vectors / np.sqrt(values))[:, ::-1]


@pytest.mark.parametrize("workload", [AllRanges(13), Prefixes(9), Matrix(RANDOM.normal(size=(9, 7)))])
def test_reaches_are_never_below_the_diagonals(workload):
    gram = workload.gram()
    basis, dimensions = leading(gram), [workload.size, 4, 2, 1]
    for off in (0.0, 1e-9, 1e-5):
        moved = basis + off * RANDOM.normal(size=basis.shape) * np.abs(basis).max(axis=0) / len(basis)
        bounds, exact = largest_in_cells(gram, moved, dimensions), diagonals(gram, moved, dimensions)
        assert np.all(bounds >= exact * (1 - 1e-12))
        assert np.all(bounds <= exact * 1.01 + 1e-9 * exact.max())
    assert len(largest_in_cells(gram, 1.1 * basis, dimensions)) == 0


@pytest.mark.parametrize("workload", [AllRanges(24), Prefixes(24)])
def test_turned_spaces_are_flatter_and_still_bounded(workload):
    gram = workload.gram()
    bounds, leverages = flat_levels(gram)
    dimensions = [int(one) for one in np.cumsum(leverages[::-1])[::-1]]
    plain = diagonals(gram, leading(gram), dimensions)
    assert dimensions[0] == workload.size
    assert dimensions[-1] == 1
    assert np.allclose(bounds[0], np.diag(np.linalg.inv(gram)))
    for turned, before in zip(bounds[1:], plain[1:], strict=True):
        assert turned.max() < before.max()
        assert turned.sum() >= before.sum() * (1 - 1e-9)  # Ky Fan: eigenvectors have the least sum


def test_the_search_descends_along_its_gradient():
    basis = leading(AllRanges(12).gram())[:, :6]
    matrix, change = np.eye(6) + 0.1 * RANDOM.normal(size=(6, 6)), RANDOM.normal(size=(6, 6))
    _, slope = unevenness(matrix, basis, [4, 2, 1])
    ahead, back = (unevenness(matrix + step * change, basis, [4, 2, 1])[0] for step in (1e-6, -1e-6))
    assert (ahead - back) / 2e-6 == pytest.approx(float((slope * change).sum()), rel=1e-5)


def test_rows_pay_for_their_leverage_in_weighted_norms():
    """The inequality of theorem 8 with weights, level by level, on random strategies."""
    size = 12
    gram = AllRanges(size).gram()
    basis, dimensions = leading(gram), [12, 5, 2, 1]
    weights, inverses = cell_weights(largest_in_cells(gram, basis, dimensions), 4)
    for _ in range(20):
        matrix = np.concatenate([np.eye(size), RANDOM.normal(size=(9, size))])
        inner = matrix.T @ matrix
        parts = [
            basis[:, :k] @ np.linalg.inv(basis[:, :k].T @ inner @ basis[:, :k]) @ basis[:, :k].T
            for k in dimensions
        ]
        norms = np.abs(matrix) @ weights
        for own, coarser, inverse in zip(parts, [*parts[1:], np.zeros_like(gram)], inverses, strict=True):
            spread = matrix @ (own - coarser)
            leverage = (spread * matrix).sum(axis=1)
            errors = np.einsum("ri,ij,rj->r", spread, gram, spread)
            assert leverage.min() >= -1e-9
            assert np.all(leverage <= norms * np.sqrt(errors * inverse) + 1e-9)


def test_weights_are_those_of_the_level_that_is_largest_in_a_cell():
    bounds = np.array([[1.0, 4.0, 1.0], [2.0, 2.0, 8.0]])
    weights, inverses = cell_weights(bounds, 1)
    assert weights == pytest.approx(np.sqrt([0.5, 2.0, 2.0]))
    assert inverses == pytest.approx([2.0, 4.0])


def test_workloads_that_tell_little_have_few_levels():
    some = Matrix(np.array([[1.0, 1, 1, 0], [1, 1, 0, 0]]))
    bounds, leverages = flat_levels(some.gram())
    assert leverages.sum() == 2
    assert bounds[:, 3].max() < 1e-12
    found = _by_flat_chain(some.gram())
    assert 0 < found <= np.trace(some.gram())  # cells themselves, at noise of variance 1
    steep = np.diag(10.0 ** np.linspace(0, 9, 6))
    assert 0 <= _by_flat_chain(steep.T @ steep) <= np.trace(steep.T @ steep)


def test_dimensions_fall_to_one():
    assert module._dimensions(256) == [256, 102, 41, 16, 6, 2, 1]
    assert module._dimensions(2) == [2, 1]
    assert module._dimensions(1) == [1]
