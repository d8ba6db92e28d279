"""Non-negative consistent trees: exact, against a general solver and by their conditions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.workloads.inference.trees.least_squares import consistent_tree
from discreet.workloads.inference.trees.nonnegative import non_negative_tree
from discreet.workloads.inference.trees.tree import Tree
from workloads.inference.convex_oracle import general_solver


def solved(tree, answers, variances):
    matrix = np.array([tree.sums(unit) for unit in np.eye(tree.leaves)]).T
    known = variances == 0
    weights = np.where(known, 0.0, 1 / np.where(known, 1.0, variances))
    cells = general_solver(
        matrix,
        answers,
        weights,
        lambda x: [x >= 0, *([matrix[known] @ x == answers[known]] if known.any() else [])],
    )
    return matrix @ cells


@pytest.mark.parametrize(("leaves", "branching"), [(1, 2), (2, 2), (7, 2), (16, 4), (23, 3)])
@pytest.mark.parametrize("kind", ["equal", "nodes", "unasked above", "public total", "public regions"])
def test_a_non_negative_tree_matches_a_general_solver(leaves, branching, kind):
    random = np.random.default_rng(1)
    tree = Tree.over(leaves, branching)
    for _ in range(3):
        truth = tree.sums(random.poisson(0.7, leaves).astype(float))
        answers = truth + random.laplace(0, 3, tree.nodes)
        variances = np.ones(tree.nodes)
        above = tree.nodes - leaves
        if kind == "nodes":
            variances = random.uniform(0.3, 5, tree.nodes)
        elif kind == "unasked above":
            variances[:above][random.random(above) < 0.6] = np.inf
        elif kind == "public total":
            variances[0], answers[0] = 0.0, truth[0]
        elif kind == "public regions":
            known = random.random(above) < 0.4
            variances[:above][known], answers[:above][known] = 0.0, truth[:above][known]
        estimate = non_negative_tree(tree, answers, variances)
        assert np.abs(estimate.constrained - solved(tree, answers, variances)).max() < 1e-6
        assert estimate.constrained.min() >= 0
        assert estimate.residual < 1e-9


@settings(max_examples=60, deadline=None)
@given(data=st.data(), leaves=st.integers(1, 12), branching=st.integers(2, 4))
def test_small_integers_and_ties_have_no_residual(data, leaves, branching):
    """Kinks that coincide, zeros and equal answers."""
    tree = Tree.over(leaves, branching)
    answers = data.draw(st.lists(st.integers(-3, 3), min_size=tree.nodes, max_size=tree.nodes))
    variances = data.draw(st.lists(st.sampled_from([1.0, 2.0]), min_size=tree.nodes, max_size=tree.nodes))
    estimate = non_negative_tree(tree, np.array(answers, float), variances)
    assert estimate.residual < 1e-9
    assert estimate.constrained == pytest.approx(tree.sums(estimate.constrained[-leaves:]))


def test_where_nothing_is_negative_it_is_the_unbiased_estimate():
    tree = Tree.over(8)
    answers = tree.sums(np.full(8, 50.0)) + np.random.default_rng(2).laplace(0, 2, 15)
    estimate = non_negative_tree(tree, answers)
    assert estimate.constrained == pytest.approx(consistent_tree(tree, answers).constrained)
    assert estimate.constrained == pytest.approx(estimate.unbiased)


def test_setting_negative_leaves_to_zero_is_worse():
    """What the price algorithm is for."""
    random = np.random.default_rng(3)
    tree = Tree.over(64)
    errors, naive = [], []
    for _ in range(50):
        cells = np.zeros(64)
        cells[random.integers(0, 64, 5)] = 30
        truth = tree.sums(cells)
        answers = truth + random.laplace(0, 4, tree.nodes)
        estimate = non_negative_tree(tree, answers)
        errors.append(((estimate.constrained - truth) ** 2).sum())
        clipped = tree.sums(np.maximum(estimate.unbiased[-64:], 0))
        naive.append(((clipped - truth) ** 2).sum())
        assert (
            np.linalg.norm(estimate.constrained - truth) <= np.linalg.norm(estimate.unbiased - truth) + 1e-9
        )
    assert np.mean(errors) < 0.5 * np.mean(naive)


def test_a_hundred_thousand_leaves_have_a_tiny_residual():
    random = np.random.default_rng(4)
    tree = Tree.over(100_000, 10)
    answers = tree.sums(random.poisson(1, tree.leaves).astype(float)) + random.laplace(0, 3, tree.nodes)
    assert non_negative_tree(tree, answers).residual < 1e-8


@pytest.mark.parametrize(
    ("answers", "variances", "match"),
    [
        ([-1.0, 1.0, 1.0], [0.0, 1.0], "node 0 of level 0 is known to be less"),
        ([3.0, -1.0, 1.0], [1.0, 0.0], "node 0 of level 1 is known to be below zero"),
        ([3.0, 2.0, 2.0], [0.0, 0.0], "children"),
    ],
)
def test_contradictions_are_refused_and_named(answers, variances, match):
    with pytest.raises(ParameterError, match=match):
        non_negative_tree(Tree.over(2), answers, variances)


def test_a_tree_too_large_for_memory_is_refused_with_its_size(monkeypatch):
    monkeypatch.setattr("discreet.workloads.inference.trees.nonnegative.MOST_KINKS", 20)
    with pytest.raises(ParameterError, match=r"8 leaves and 4 levels, for which 32 kinks.*larger branching"):
        non_negative_tree(Tree.over(8), np.zeros(15))
    non_negative_tree(Tree.over(8, 8), np.zeros(9))


def test_a_known_node_below_its_known_parts_is_refused():
    tree = Tree.over(2)
    with pytest.raises(ParameterError, match="node 0 of level 0 is known to be less than its known"):
        non_negative_tree(tree, [3.0, 5.0, 1.0], [0.0, 0.0, 1.0])
