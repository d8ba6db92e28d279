"""Small junction trees with potentials, and the whole distribution that they stand for, by enumeration."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from discreet.synthesis.models.junction_tree import JunctionTree
from discreet.synthesis.models.propagation import model_of


@st.composite
def shapes_and_sets(draw):
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    columns = st.integers(0, len(shape) - 1)
    sets = draw(st.lists(st.sets(columns, min_size=1, max_size=3), max_size=6))
    return tuple(shape), [tuple(sorted(one)) for one in sets]


@st.composite
def models(draw):
    """A model, and all of its probabilities times its total."""
    shape, sets = draw(shapes_and_sets())
    tree = JunctionTree.spanning(shape, sets)
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    potentials = [2 * random.normal(size=[shape[column] for column in clique]) for clique in tree.cliques]
    whole = np.zeros(shape)
    for clique, potential in zip(tree.cliques, potentials, strict=True):
        whole = whole + potential[tuple(slice(None) if one in clique else None for one in range(len(shape)))]
    whole = np.exp(whole)
    return model_of(tree, potentials, 10.0), 10.0 * whole / whole.sum()


def table_of(whole, columns):
    return whole.sum(axis=tuple(axis for axis in range(whole.ndim) if axis not in columns))
