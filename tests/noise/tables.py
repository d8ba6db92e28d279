"""Takes alias tables apart and holds every entry against the law it stands for."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise.geometric import MANY, Cutting, digit_tables, low_bits
from noise.oracle import digit_mass, scaled
from noise.sources import Scripted

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from discreet.noise.alias import AliasTable

BITS = 1100
"""Fixed point of the independent computation: entries are right to 2^-1090."""

CLOSE = 1 << (BITS - 1090)


def independent_cuts(table: AliasTable, masses: list[int]) -> list[int]:
    """Solve for what each cell keeps for its own item, given every item's mass.

    Only the pairing is taken from the table: item i receives what cell i keeps and the rest of
    all cells whose alias it is. Masses and answers are integers over 2^BITS.
    """
    cell_mass = (1 << BITS) // table.blocks
    alias = [table.alias(cell) for cell in range(table.blocks)]
    waiting = [0] * table.blocks
    for cell, other in enumerate(alias):
        if other != cell:
            waiting[other] += 1
    cuts = masses + [0] * (table.blocks - len(masses))
    ready = [cell for cell in range(table.blocks) if waiting[cell] == 0]
    settled = 0
    while ready:
        cell = ready.pop()
        settled += 1
        other = alias[cell]
        if other != cell:
            cuts[other] -= cell_mass - cuts[cell]
            waiting[other] -= 1
            if waiting[other] == 0:
                ready.append(other)
    assert settled == table.blocks, "the pairing holds a cycle"
    return cuts


def check_every_entry(
    table: AliasTable, mass: Callable[[int], object], values: list[int], *, tail: bool
) -> list[int]:
    """Check a table against `mass`, the exact law of its values, and return its cut points.

    Every stored word is the floor of its cut point, every enclosure holds it, every word next to
    a cut decides for the right value, and everything sums to one.
    """
    expected = [scaled(mass(value), BITS) for value in values]
    if tail:
        rest = (1 << BITS) - sum(expected)
        assert -CLOSE * len(values) < rest < 1 << (BITS - 64), "the tail must weigh less than 2^-64"
        expected.append(max(rest, 0))
    assert abs(sum(expected) - (1 << BITS)) <= CLOSE * len(values)
    items = len(expected)
    assert table._items == items
    assert table.blocks & (table.blocks - 1) == 0
    assert items <= table.blocks < 2 * items
    own = table._values[0::2]
    assert own[: len(values)].tolist() == values
    assert table._values[1::2].tolist() == [own[table.alias(cell)] for cell in range(table.blocks)]

    offset = 64 - (table.blocks.bit_length() - 1)
    cell_mass = (1 << BITS) // table.blocks
    cuts = independent_cuts(table, expected)
    roots = [cell for cell in range(table.blocks) if table.alias(cell) == cell]
    assert len(roots) == 1
    assert abs(cuts[roots[0]] - cell_mass) <= CLOSE * items
    if tail:
        assert roots[0] != items - 1
        assert all(table.alias(cell) != items - 1 for cell in range(table.blocks) if cell != items - 1)

    words, outcomes = [], []
    for cell, cut in enumerate(cuts):
        start, end = cell << offset, ((cell + 1) << offset) - 1
        if cell == roots[0]:
            words += [start + 1, end]
            outcomes += [own[cell]] * 2
            continue
        assert 0 <= cut <= cell_mass
        floor = start + (cut >> (BITS - 64))
        assert int(table._cut_words[cell]) == floor
        low, high_end = table._cuts[cell]
        assert low << (BITS - 320) <= cut + CLOSE * items
        assert cut - CLOSE * items <= high_end << (BITS - 320)
        assert high_end - low < 1 << (320 - 250), "an enclosure is wider than 2^-250"
        for word in {start, floor - 1, floor + 1, end} - {floor}:
            if start <= word <= end:
                words.append(word)
                outcomes.append(own[cell] if word < floor else own[table.alias(cell)])
    source = Scripted()
    drawn = table.outcomes(np.array(words, np.uint64), 0, source)
    assert drawn.tolist() == [int(outcome) for outcome in outcomes]
    return cuts


def check_digits(scale: Fraction, cutting: Cutting = MANY) -> None:
    """Check the tables of all digits of a geometric draw."""
    places = 0
    for position, table in digit_tables.__wrapped__(scale, low_bits(scale, cutting), cutting):
        assert position == places
        count = table.blocks
        check_every_entry(
            table,
            lambda digit, position=position, count=count: digit_mass(scale, position, count, digit),
            list(range(count)),
            tail=False,
        )
        places += count.bit_length() - 1
    assert places == low_bits(scale, cutting)


def check_lazy_branch(table: AliasTable, cell: int, cut: int) -> None:
    """Force the lane of one cell onto its cut point, and decide it by further bits, as many as it takes."""
    offset = 64 - (table.blocks.bit_length() - 1)
    floor = (cell << offset) + (cut >> (BITS - 64))
    own, other = int(table._values[2 * cell]), int(table._values[2 * cell + 1])

    def chunk(index: int) -> int:
        known = 64 + 192 * (index + 1)
        return (cut >> (BITS - known)) & ((1 << 192) - 1)

    for rounds in range(4):  # the cut point's own bits for so many rounds, then one unit less or more
        agreed, last = [chunk(index) for index in range(rounds)], chunk(rounds)
        for bits, outcome in ((last - 1, own), (last + 1, other)):
            source = Scripted([floor], [*agreed, bits])
            assert source.decide(table, 1).tolist() == [outcome]
            assert source.spent, "the lane was decided before its bits were beyond doubt"


def implemented_masses(table: AliasTable, bits: int) -> list[tuple[int, int]]:
    """Enclose the mass that the table really gives to every item, from its own cuts at `bits` bits."""
    original = table._masses
    table._masses = lru_cache(maxsize=1)(original)  # every cut asks for all masses
    try:
        cell_mass = 1 << (bits - (table.blocks.bit_length() - 1))
        lows, highs = [0] * table._items, [0] * table._items
        for cell in range(table.blocks):
            low, high_end = table.cut(cell, bits)
            if cell < table._items:
                lows[cell] += low
                highs[cell] += high_end
            other = table.alias(cell)
            if other != cell:
                lows[other] += cell_mass - high_end
                highs[other] += cell_mass - low
    finally:
        table._masses = original
    return list(zip(lows, highs, strict=True))


def widened(monkeypatch: object, module: object, units: int = 1 << 30) -> Callable[[Fraction, int], tuple]:
    """Make a module's exponentials far wider than they are, so that guard bits hide no wrong end.

    Returned is the wider function: a table whose every sum, product and quotient keeps to its own side
    encloses what follows from either end.
    """
    exact = module.exponential

    def wide(x: Fraction, bits: int) -> tuple[int, int]:
        low, above = exact(x, bits)
        return max(low - units, 0), min(above + units, (1 << bits) - 1)

    monkeypatch.setattr(module, "exponential", wide)
    return wide
