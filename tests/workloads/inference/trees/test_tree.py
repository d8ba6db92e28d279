"""Trees of sums: shapes, sums and their transpose."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.workloads.inference.trees.tree import Tree


def sums_by_definition(tree, cells):
    """Every node, level by level: the recursive sum over its children."""

    def value(level, node):
        if level == len(tree.offsets):
            return cells[node]
        first, after = tree.offsets[level][node : node + 2]
        return sum(value(level + 1, child) for child in range(first, after))

    return [value(level, node) for level, width in enumerate(tree.widths) for node in range(width)]


@pytest.mark.parametrize(
    ("leaves", "branching"), [(1, 2), (2, 2), (3, 2), (8, 2), (9, 2), (16, 4), (23, 3), (5, 9)]
)
def test_sums_and_their_transpose(leaves, branching):
    tree = Tree.over(leaves, branching)
    assert tree.widths[0] == 1
    assert tree.widths[-1] == leaves
    random = np.random.default_rng(1)
    cells, nodes = random.normal(size=leaves), random.normal(size=tree.nodes)
    assert tree.sums(cells) == pytest.approx(sums_by_definition(tree, cells))
    assert nodes @ tree.sums(cells) == pytest.approx(tree.spread(nodes) @ cells)


def test_any_branching_on_each_level():
    tree = Tree.of_branching((2, 1, 3))
    assert tree.widths == (1, 2, 2, 6)
    assert tree.sums(np.ones(6)).tolist() == [6, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1]
    assert Tree.of_branching(()).widths == (1,)


def test_numbers_for_all_nodes():
    tree = Tree.of_branching((2, 2))
    assert tree.per_node(3.0, "variances").tolist() == [3.0] * 7
    assert tree.per_node([0.0, 1.0, np.inf], "variances").tolist() == [0, 1, 1, *[np.inf] * 4]
    for wrong in ([1.0, 2.0], [-1.0, 1.0, 1.0], [np.nan, 1.0, 1.0]):
        with pytest.raises(ParameterError, match="variances"):
            tree.per_node(wrong, "variances")


@pytest.mark.parametrize(
    "call",
    [
        lambda: Tree.over(0),
        lambda: Tree.over(4, 1),
        lambda: Tree.of_branching((2, 0)),
        lambda: Tree.over(1 << 40),
    ],
)
def test_bad_input_is_refused(call):
    with pytest.raises(ParameterError):
        call()


def test_a_tree_too_large_is_refused_with_its_size():
    with pytest.raises(ParameterError, match=r"1073741824 nodes on one level.*drop a level"):
        Tree.of_branching((1 << 15, 1 << 15))
