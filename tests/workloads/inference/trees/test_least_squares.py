"""Consistent trees: least squares exactly, whatever the branching and the variances."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.workloads.inference.trees.least_squares import consistent_tree, tree_residual
from discreet.workloads.inference.trees.tree import Tree

TREES = [
    Tree.over(1),
    Tree.over(2),
    Tree.over(7),
    Tree.over(16, 4),
    Tree.over(23, 3),
    Tree.of_branching((3, 1, 4)),
    Tree.of_branching((5,)),
]


def matrix_of(tree):
    return np.array([tree.sums(unit) for unit in np.eye(tree.leaves)]).T


def least_squares(tree, answers, variances):
    """By one dense solution: asked nodes by weight, known ones as equalities."""
    matrix = matrix_of(tree)
    known = variances == 0
    weights = np.where(known, 0.0, 1 / np.where(known, 1.0, variances))
    exact = matrix[known]
    system = np.block(
        [
            [matrix.T @ (weights[:, None] * matrix), exact.T],
            [exact, np.zeros((exact.shape[0], exact.shape[0]))],
        ]
    )
    right = np.concatenate([matrix.T @ (weights * answers), answers[known]])
    return matrix @ np.linalg.lstsq(system, right, rcond=None)[0][: tree.leaves]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: str(tree.widths))
@pytest.mark.parametrize("kind", ["equal", "levels", "nodes", "unasked above", "public total"])
def test_tree_consistency_is_least_squares(tree, kind):
    random = np.random.default_rng(1)
    levels = len(tree.widths)
    for _ in range(5):
        answers = tree.sums(random.poisson(3, tree.leaves).astype(float)) + random.laplace(0, 3, tree.nodes)
        variances = np.ones(tree.nodes)
        if kind == "levels":
            variances = tree.per_node(random.uniform(0.2, 9, levels), "variances")
        elif kind == "nodes":
            variances = random.uniform(0.2, 9, tree.nodes)
        elif kind == "unasked above":
            variances[: tree.nodes - tree.leaves][random.random(tree.nodes - tree.leaves) < 0.6] = np.inf
        elif kind == "public total":
            variances[0] = 0.0
        estimate = consistent_tree(tree, answers, variances)
        assert estimate.constrained == pytest.approx(least_squares(tree, answers, variances), abs=1e-9)
        assert estimate.residual < 1e-9
        assert estimate.unbiased is estimate.constrained


def test_level_variances_may_be_given_once():
    tree = Tree.of_branching((2, 2))
    answers = np.array([10.0, 4.0, 5.0, 1.0, 2.0, 3.0, 4.0])
    by_level = consistent_tree(tree, answers, [1.0, 2.0, 4.0]).constrained
    by_node = consistent_tree(tree, answers, [1.0, 2.0, 2.0, 4.0, 4.0, 4.0, 4.0]).constrained
    assert np.array_equal(by_level, by_node)


def test_consistency_keeps_the_mean_and_lowers_every_variance():
    """Over many draws: unbiased, and a binary tree's root goes from 1 to its share."""
    random = np.random.default_rng(2)
    tree = Tree.over(8)
    truth = tree.sums(random.poisson(5, 8).astype(float))
    made = np.array([consistent_tree(tree, truth + random.normal(0, 1, 15)).constrained for _ in range(4000)])
    assert np.abs(made.mean(axis=0) - truth).max() < 6 / np.sqrt(4000)
    matrix = matrix_of(tree)
    exact = np.diag(matrix @ np.linalg.inv(matrix.T @ matrix) @ matrix.T)
    assert made.var(axis=0) == pytest.approx(exact, rel=0.15)
    assert exact.max() < 1


def test_a_consistent_tree_is_never_farther_from_the_truth():
    random = np.random.default_rng(3)
    for _ in range(50):
        tree = Tree.over(int(random.integers(2, 40)), int(random.integers(2, 6)))
        truth = tree.sums(random.poisson(2, tree.leaves).astype(float))
        answers = truth + random.laplace(0, 2, tree.nodes)
        fitted = consistent_tree(tree, answers).constrained
        assert np.linalg.norm(fitted - truth) <= np.linalg.norm(answers - truth)


def test_a_million_leaves_have_a_tiny_residual():
    random = np.random.default_rng(4)
    tree = Tree.over(1_000_000, 16)
    answers = tree.sums(random.poisson(1, tree.leaves).astype(float)) + random.laplace(0, 3, tree.nodes)
    estimate = consistent_tree(tree, answers)
    assert estimate.residual < 1e-8


def test_the_residual_notices_sums_that_are_not_best():
    random = np.random.default_rng(5)
    tree = Tree.over(9, 3)
    answers = random.normal(5, 3, tree.nodes)
    for variances in (np.ones(13), np.concatenate([[0.0], np.ones(12)])):
        fitted = consistent_tree(tree, answers, variances).constrained
        moved = np.zeros(9)
        moved[:2] = 0.01, -0.01  # keeps the total
        assert tree_residual(tree, fitted + tree.sums(moved), answers, variances) > 1e-3
        torn = fitted.copy()
        torn[-1] += 0.01
        assert tree_residual(tree, torn, answers, variances) > 1e-3


def test_known_nodes_that_disagree_are_refused_and_named():
    tree = Tree.of_branching((2, 2))
    answers = [10.0, 4.0, 5.0, 1.0, 2.0, 3.0, 4.0]
    with pytest.raises(
        ParameterError, match="node 0 of level 0 is known, and so are its children"
    ) as refused:
        consistent_tree(tree, answers, [0.0, 0.0, 1.0])
    assert "10" not in str(refused.value)
    consistent_tree(tree, [9.0, *answers[1:]], [0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("answers", "variances", "match"),
    [
        ([1.0, 2.0], 1.0, "answers"),
        ([1.0, 2.0, 3.0], [1.0, np.inf], "leaf"),
        ([1.0, 2.0, 3.0], -1.0, "variances"),
    ],
)
def test_bad_input_is_refused(answers, variances, match):
    with pytest.raises(ParameterError, match=match):
        consistent_tree(Tree.over(2), answers, variances)
