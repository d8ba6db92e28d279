from itertools import combinations, product

import pytest
from hypothesis import given

from discreet.errors import ParameterError
from discreet.synthesis.models.junction_tree import JunctionTree, tree_cells
from synthesis.small_models import shapes_and_sets


@given(shapes_and_sets())
def test_every_set_is_in_a_clique_and_columns_stay_connected(found):
    shape, sets = found
    tree = JunctionTree.spanning(shape, sets)
    assert all(
        tree.clique_of(one) is not None for one in [*sets, *((column,) for column in range(len(shape)))]
    )
    assert [branch.child for branch in tree.branches] == list(range(1, len(tree.cliques)))
    for branch in tree.branches:
        above = {column for clique in tree.cliques[: branch.child] for column in clique}
        # The running intersection: all that was seen before is in the parent.
        assert above & set(tree.cliques[branch.child]) == set(branch.separator)
        assert set(branch.separator) <= set(tree.cliques[branch.parent])
    assert tree.cells == tree_cells(shape, sets)


@given(shapes_and_sets())
def test_no_clique_lies_within_another(found):
    tree = JunctionTree.spanning(*found)
    assert not any(set(one) <= set(other) for one, other in combinations(tree.cliques, 2))


def test_pairs_of_a_tree_are_their_own_cliques():
    edges = [(0, 2), (1, 2), (2, 3), (3, 4)]
    for shape in product([2, 5], repeat=5):
        assert sorted(JunctionTree.spanning(shape, edges).cliques) == edges


def test_a_cycle_needs_larger_cliques():
    assert tree_cells((2, 2, 2, 2), [(0, 1), (1, 2), (2, 3), (0, 3)]) == 16


def test_no_columns_are_refused():
    with pytest.raises(ParameterError):
        JunctionTree.spanning((), ())
