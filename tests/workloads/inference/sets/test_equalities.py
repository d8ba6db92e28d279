"""Equalities, dense and implicit: the same projection, and contradictions named."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

from discreet.errors import ParameterError
from discreet.workloads.inference.sets.equalities import Equalities, ImplicitEqualities


def by_linear_system(matrix, values, answers, weights):
    """Solve the full system of conditions: W x + C^T u = W y and C x = d."""
    rows, columns = matrix.shape
    system = np.block([[np.diag(weights), matrix.T], [matrix, np.zeros((rows, rows))]])
    right = np.concatenate([weights * answers, values])
    return np.linalg.lstsq(system, right, rcond=None)[0][:columns]


def made(random, rows, columns):
    matrix = random.integers(-1, 3, (rows, columns)).astype(float)
    return matrix, matrix @ random.normal(0, 5, columns)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (3, 7), (7, 7), (9, 5)])
def test_both_solve_the_system_of_conditions(shape):
    random = np.random.default_rng(1)
    for _ in range(5):
        matrix, values = made(random, *shape)
        answers, weights = random.normal(0, 9, shape[1]), random.uniform(0.2, 4, shape[1])
        for member in (Equalities(matrix, values), ImplicitEqualities(aslinearoperator(matrix), values)):
            for given in (weights, None):
                used = np.ones(shape[1]) if given is None else given
                point = member.project(answers, given)
                assert np.abs(point - by_linear_system(matrix, values, answers, used)).max() < 1e-8
                assert member.residual(point, answers, given) < 1e-8


def test_the_residual_notices_a_point_that_is_not_the_projection():
    random = np.random.default_rng(2)
    matrix, values = made(random, 2, 6)
    answers = random.normal(0, 9, 6)
    for member in (Equalities(matrix, values), ImplicitEqualities(aslinearoperator(matrix), values)):
        other = member.project(answers + random.normal(0, 1, 6))  # meets the equalities, but is not closest
        assert np.abs(matrix @ other - values).max() < 1e-9
        assert member.residual(other, answers) > 1e-2
        assert member.residual(answers, answers) > 1e-2  # is closest, but does not meet them


def test_contradictions_name_the_rows_that_contradict():
    """Rows a + b = c in the matrix, not in the values; d is not involved."""
    matrix = [[1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 0], [0, 0, 0, 1]]
    names = ["women", "men", "everyone", "children"]
    for build in (
        lambda values: Equalities(matrix, values, names=names),
        lambda values: ImplicitEqualities(aslinearoperator(np.array(matrix, float)), values, names=names),
    ):
        with pytest.raises(ParameterError, match="no vector meets all of women, men, everyone;") as refused:
            build([10.0, 20.0, 31.0, 5.0])
        assert "31" not in str(refused.value)
        assert "children" not in str(refused.value)
        build([10.0, 20.0, 30.0, 5.0])


def test_many_contradictions_are_not_all_named():
    with pytest.raises(ParameterError, match="…"):
        Equalities(np.ones((30, 1)), np.arange(30.0))


def test_a_large_operator_is_never_written_down():
    """Ten thousand pairs of neighbors are equal: the projection is the mean of each pair."""

    class Pairs:
        shape = (10_000, 20_000)

        def matvec(self, x):
            return x[::2] - x[1::2]

        def rmatvec(self, y):
            return np.repeat(y, 2) * np.tile([1.0, -1.0], 10_000)

    answers = np.random.default_rng(3).normal(0, 5, 20_000)
    member = ImplicitEqualities(Pairs(), np.zeros(10_000))
    point = member.project(answers)
    assert np.abs(point - np.repeat(answers.reshape(-1, 2).mean(axis=1), 2)).max() < 1e-10
    assert member.residual(point, answers) < 1e-10


def test_edges():
    empty = Equalities(np.zeros((0, 3)), [])
    assert empty.project([1.0, 2.0, 3.0]).tolist() == [1, 2, 3]
    assert empty.residual(np.array([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]) == 0
    zero = Equalities([[0.0, 0.0]], [0.0])
    assert zero.project([1.0, 2.0]).tolist() == [1, 2]
    with pytest.raises(ParameterError, match="equality 0"):
        Equalities([[0.0, 0.0]], [1.0])
    with pytest.raises(ParameterError, match="names"):
        Equalities([[1.0, 1.0]], [1.0], names=["a", "b"])
    with pytest.raises(ParameterError, match="two dimensions"):
        Equalities([1.0, 1.0], [1.0])
    with pytest.raises(ParameterError, match="matrix"):
        Equalities([[1.0, np.inf]], [1.0])


def test_rows_are_the_equalities():
    random = np.random.default_rng(4)
    matrix, values = made(random, 3, 5)
    for member in (Equalities(matrix, values), ImplicitEqualities(aslinearoperator(matrix), values)):
        rows = member.rows(5)
        assert np.array_equal(rows.equal.toarray(), matrix)
        assert np.array_equal(rows.values, values)
