from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.noise.alias import AliasTable
from discreet.noise.entropy import System
from discreet.noise.geometric import _high_table
from discreet.noise.laplace import sign_table
from effort import examples
from noise.oracle import laplace_mass, real
from noise.sources import Scripted
from noise.tables import check_every_entry, check_lazy_branch, implemented_masses, independent_cuts
from significance import FALSE_ALARM


def rational_table(weights: list[int], **extra) -> tuple[AliasTable, list[Fraction]]:
    total = sum(weights)
    law = [Fraction(weight, total) for weight in weights]

    def masses(bits: int) -> list[tuple[int, int]]:
        return [(floor(p * (1 << bits)), ceil(p * (1 << bits))) for p in law]

    return AliasTable(range(len(weights)), masses, **extra), law


# The total is a prime, so no sum of some masses is a dyadic number and every cut point can be certified.
PRIME = 1_000_003
WEIGHTS = st.lists(st.integers(0, PRIME), min_size=1, max_size=70).map(
    lambda ends: np.diff([0, *sorted(ends), PRIME]).tolist()
)


@given(weights=WEIGHTS)
@settings(deadline=None, max_examples=examples(60))
def test_any_rational_law_is_tabulated_exactly(weights):
    table, law = rational_table(weights)
    check_every_entry(table, lambda value: real(law[value]), list(range(len(weights))), tail=False)


def test_a_single_item_needs_no_comparison():
    table, _ = rational_table([5])
    assert table.blocks == 1
    assert Scripted([0, 1, 2**64 - 1]).decide(table, 3).tolist() == [0, 0, 0]
    assert table.cut(0, 64) == (1 << 64, 1 << 64)


def test_a_heavy_tail_is_refused():
    with pytest.raises(ArithmeticError, match="2\\^-64"):
        rational_table([2**64, 3], tail=lambda source: 7)


def test_a_law_whose_cuts_cannot_be_certified_is_refused():
    def masses(bits: int) -> list[tuple[int, int]]:
        third = (1 << bits) // 3
        return [(third - (1 << (bits - 60)), third + (1 << (bits - 60)))] * 3

    with pytest.raises(ArithmeticError, match="certified"):
        AliasTable(range(3), masses)


@pytest.mark.few(2)
@pytest.mark.parametrize("scale", [Fraction(1, 7), Fraction(1), Fraction(10), Fraction(637, 10)])
def test_lanes_on_a_cut_point_are_decided_by_further_bits(scale):
    table = sign_table(scale)
    values = table._values[0 : 2 * (table._items - 1) : 2].tolist()
    cuts = check_every_entry(table, lambda value: masses_of_sign_table(scale, value), values, tail=True)
    inner = [cell for cell in range(table._items - 1) if table.alias(cell) != cell]
    for cell in inner[:: max(1, len(inner) // 12)]:
        check_lazy_branch(table, cell, cuts[cell])


def masses_of_sign_table(scale: Fraction, value: int):
    shift = 0
    while scale > 16 << shift:
        shift += 1
    start = value if value >= 0 else ~value
    return sum(laplace_mass(scale, (y if value >= 0 else ~y)) for y in range(start, start + (1 << shift)))


def test_a_padding_cell_gives_everything_to_its_alias():
    table = sign_table(Fraction(1))
    padding = range(table._items, table.blocks)
    assert padding
    offset = 64 - (table.blocks.bit_length() - 1)
    for cell in padding:
        for bits in (0, (1 << 192) - 1):
            source = Scripted([cell << offset], [bits])
            assert source.decide(table, 1)[0] == table._values[2 * table.alias(cell)]
            assert source.spent


def test_the_full_cell_keeps_everything():
    table = sign_table(Fraction(10))
    (cell,) = [cell for cell in range(table.blocks) if table.alias(cell) == cell]
    offset = 64 - (table.blocks.bit_length() - 1)
    for bits in (0, (1 << 192) - 1):
        assert Scripted([cell << offset], [bits]).decide(table, 1)[0] == table._values[2 * cell]
    assert Scripted([((cell + 1) << offset) - 1]).decide(table, 1)[0] == table._values[2 * cell]


def test_only_the_exact_path_reaches_the_tail():
    table = sign_table(Fraction(1))
    tail_cell, offset = table._items - 1, 64 - (table.blocks.bit_length() - 1)
    reached = []
    table_tail, table._tail = table._tail, lambda source: reached.append(source) or 99
    try:
        words = [(tail_cell << offset) + step for step in range(4)]
        source = Scripted(words, [0])
        assert source.decide(table, 4)[0] == 99
        assert len(reached) == 1
        assert source.spent
        source = Scripted(words[:1], [(1 << 192) - 1])
        assert source.decide(table, 1)[0] == table._values[2 * table.alias(tail_cell)]
    finally:
        table._tail = table_tail


def test_a_lane_of_many_is_settled_in_its_place():
    table = sign_table(Fraction(1))
    cell = next(
        cell for cell in range(table._items) if table._cuts[cell][0] > 0 and table.alias(cell) != cell
    )
    word = int(table._cut_words[cell])
    source = Scripted([word - 1, word, word + 1, word], [0, (1 << 192) - 1])
    own, other = (int(value) for value in table._values[2 * cell : 2 * cell + 2])
    assert source.decide(table, 4).tolist() == [own, own, other, other]


def test_cuts_narrow_with_precision():
    table = _high_table(Fraction(10))
    for cell in range(0, table.blocks, 37):
        wide, narrow = table.cut(cell, 320), table.cut(cell, 1024)
        assert wide[0] << 704 <= narrow[0] <= narrow[1] <= wide[1] << 704
        assert narrow[1] - narrow[0] < 1 << 20


def test_the_implemented_masses_sum_to_one():
    table = sign_table(Fraction(10))
    masses = implemented_masses(table, 512)
    assert sum(low for low, _ in masses) <= 1 << 512 <= sum(top for _, top in masses)


def test_a_swapped_alias_is_caught():
    table = sign_table.__wrapped__(Fraction(1))
    values = table._values[0 : 2 * (table._items - 1) : 2].tolist()
    children = [cell for cell in range(table._items) if table.alias(cell) != cell]
    table._cut_words[children[3]] += np.uint64(1)
    with pytest.raises(AssertionError):
        check_every_entry(table, lambda value: masses_of_sign_table(Fraction(1), value), values, tail=True)


def test_a_cycle_is_caught():
    table = sign_table.__wrapped__(Fraction(1))
    table._alias[0], table._alias[1] = 1, 0
    with pytest.raises(AssertionError, match="cycle"):
        independent_cuts(table, [0] * table._items)


@pytest.mark.statistical
def test_draws_follow_a_rational_law():
    weights = [1, 5, 0, 17, 40, 3, 3]
    table, law = rational_table(weights)
    counts = np.bincount(System().decide(table, 300_000), minlength=7)
    assert counts[2] == 0
    kept = [0, 1, 3, 4, 5, 6]
    expected = np.array([float(law[item]) for item in kept]) * 300_000
    assert stats.chisquare(counts[kept], expected).pvalue > FALSE_ALARM
    wrong = np.array([1, 5, 17, 40, 3, 4]) / 70 * 300_000
    assert stats.chisquare(counts[kept], wrong).pvalue < FALSE_ALARM
