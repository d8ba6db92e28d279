"""How much larger a pair makes a model of facts: never less than what a model then holds."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from discreet.synthesis.columns.impossible_cells import ImpossibleCells
from discreet.synthesis.models.fact_joins import FactJoins, merged
from discreet.synthesis.models.possible_rows import PossibleRows


@given(
    st.lists(st.integers(1, 5), min_size=2, max_size=6),
    st.lists(st.sets(st.integers(0, 5), min_size=1, max_size=3), max_size=4),
)
def test_sizes_are_bounds_on_the_model(shape, sets):
    known = [tuple(sorted(one)) for one in sets if max(one) < len(shape)]
    zeros = tuple(ImpossibleCells(columns=one, cells=((0,),) * len(one)) for one in known)
    possible = PossibleRows(shape=tuple(shape), zeros=zeros)
    joins = FactJoins.of(possible)
    assert joins.cells == possible.cells_with([])
    for pair in combinations(range(len(shape)), 2):
        assert joins.size_with(pair) >= possible.cells_with([pair])
        if any(set(pair) <= set(one) for one in known):
            assert joins.together(*pair)
            assert joins.size_with(pair) == joins.cells
            assert joins.parts[pair[0]] == joins.parts[pair[1]]


def test_parts_are_merged():
    assert merged([0, 1, 2, 1], 0, 3) == [0, 0, 2, 0]
