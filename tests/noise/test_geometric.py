from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import stats

from discreet.errors import ParameterError
from discreet.noise import geometric
from discreet.noise.entropy import System
from discreet.noise.geometric import (
    LARGEST_SCALE,
    LEAST_SCALE,
    _digit_table,
    _high_table,
    check_scale,
    digit_tables,
    high_part,
    low_bits,
    sample_geometric,
)
from noise.oracle import (
    LONG_SCALE,
    RANDOM_SCALES,
    SCALES,
    digit_mass,
    exp_minus,
    geometric_mass,
    high,
    real,
)
from noise.sources import Counting, Scripted
from noise.tables import check_digits, check_every_entry, check_lazy_branch, widened
from significance import FALSE_ALARM, fit_p_value


def high_mass(scale: Fraction, value: int):
    return geometric_mass(scale / (1 << low_bits(scale)), value)


def check_tables(scale: Fraction) -> None:
    shift = low_bits(scale)
    assert (scale <= 16) == (shift == 0)
    assert shift == 0 or 8 < scale / (1 << shift) <= 16
    count = high_part(scale, shift)
    check_every_entry(
        _high_table.__wrapped__(scale), lambda value: high_mass(scale, value), list(range(count)), tail=True
    )
    check_digits(scale)


@pytest.mark.parametrize("scale", [*SCALES, LONG_SCALE], ids=lambda scale: f"{float(scale):g}")
def test_every_entry_of_every_table(scale):
    check_tables(scale)


@given(scale=RANDOM_SCALES)
@settings(deadline=None, max_examples=6)
def test_every_entry_for_random_scales(scale):
    check_tables(scale)


@pytest.mark.parametrize("scale", [Fraction(17), Fraction(1000)])
def test_digits_and_high_part_multiply_to_the_geometric_law(scale):
    shift = low_bits(scale)
    for value in [0, 1, 2, 5, 31, 32, 100, 1000, 12345]:
        joint = high_mass(scale, value >> shift)
        for position, table in digit_tables(scale, shift):
            joint *= digit_mass(scale, position, table.blocks, (value >> position) % table.blocks)
        assert abs(joint - geometric_mass(scale, value)) < high.ldexp(1, -1150)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(12), Fraction(2**40)])
def test_lanes_on_a_cut_point_are_decided_by_further_bits(scale):
    table = _high_table(scale)
    values = list(range(high_part(scale, low_bits(scale))))
    cuts = check_every_entry(table, lambda value: high_mass(scale, value), values, tail=True)
    inner = [cell for cell in values if table.alias(cell) != cell]
    for cell in inner[:: max(1, len(inner) // 5)]:
        check_lazy_branch(table, cell, cuts[cell])


def test_digits_on_a_cut_point_are_decided_by_further_bits():
    ((position, table), *_) = digit_tables(Fraction(2**40), 36)
    cuts = check_every_entry(
        table,
        lambda digit: digit_mass(Fraction(2**40), position, table.blocks, digit),
        list(range(table.blocks)),
        tail=False,
    )
    for cell in range(0, table.blocks, 100):
        if table.alias(cell) != cell:
            check_lazy_branch(table, cell, cuts[cell])


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1), Fraction(10), Fraction(1000)])
def test_beyond_the_table_the_law_starts_again(scale):
    shift, table = low_bits(scale), _high_table(scale)
    count = high_part(scale, shift)
    offset = 64 - (table.blocks.bit_length() - 1)
    tail_word = count << offset
    digit_words = [0] * len(digit_tables(scale, shift))
    word = 12345678901234567
    inside = int(Scripted([word], [0]).decide(table, 1)[0])
    once = Scripted([tail_word, word, *digit_words], [0] * 3)
    twice = Scripted([tail_word, tail_word, word, *digit_words], [0] * 4)
    assert sample_geometric(scale, 1, once)[0] >> shift == count + inside
    assert sample_geometric(scale, 1, twice)[0] >> shift == 2 * count + inside


@pytest.mark.parametrize("scale", SCALES, ids=lambda scale: f"{float(scale):g}")
def test_the_tail_weighs_what_the_law_says(scale):
    shift, table = low_bits(scale), _high_table(scale)
    count = high_part(scale, shift)
    low, top = table.cut(count, 640)
    exact = high.ldexp(exp_minus((count << shift) / scale), 640)
    assert low <= exact <= top
    assert exact < high.ldexp(1, 640 - 66)


@pytest.mark.statistical
def test_the_tail_law_itself():
    scale, draws = Fraction(3), 20_000
    table, count = _high_table(scale), high_part(scale, 0)
    source = System()
    excess = np.array([table._tail(source) for _ in range(draws)]) - count
    assert excess.min() >= 0
    edges = np.arange(0, 25)

    def mass(scale: float):
        return lambda a, b: float(np.exp(-a / scale) - np.exp(-b / scale))

    assert fit_p_value(excess, mass(3.0), edges) > FALSE_ALARM
    assert fit_p_value(excess, mass(3.0 * 1.2), edges) < FALSE_ALARM
    assert fit_p_value(excess, mass(3.0 / 1.2), edges) < FALSE_ALARM


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(10), Fraction(1000), Fraction(2**40)])
def test_draws_follow_the_law_and_no_other(scale):
    drawn = sample_geometric(scale, 300_000, System())
    assert drawn.dtype == np.int64
    assert drawn.min() >= 0
    width = max(1, int(scale / 8))
    edges = np.arange(0, 12 * max(8 * width, 2), width)

    def mass(scale: float):
        return lambda a, b: float(np.exp(-a / scale) * -np.expm1((a - b) / scale))

    assert fit_p_value(drawn, mass(float(scale)), edges) > FALSE_ALARM
    assert fit_p_value(drawn, mass(float(scale) * 1.05), edges) < FALSE_ALARM
    assert fit_p_value(drawn, mass(float(scale) / 1.05), edges) < FALSE_ALARM


@pytest.mark.statistical
def test_low_bits_are_independent_of_the_rest():
    drawn = sample_geometric(Fraction(1000), 400_000, System())
    counts = np.zeros((2, 8))
    np.add.at(counts, (drawn & 1, np.minimum(drawn >> 8, 7)), 1)
    assert stats.chi2_contingency(counts).pvalue > FALSE_ALARM
    expected = float(1 / (1 + np.exp(-1 / 1000)))
    assert stats.binomtest(int(counts[0].sum()), 400_000, expected).pvalue > FALSE_ALARM


@pytest.mark.parametrize(("scale", "words"), [(1, 1), (16, 1), (17, 2), (2**14, 2), (2**15, 3), (2**40, 5)])
def test_a_draw_takes_a_fixed_number_of_words(scale, words):
    source = Counting()
    for _ in range(20):
        before = source.drawn
        sample_geometric(Fraction(scale), 3, source)
        assert source.drawn - before == 3 * words


def test_a_wrong_mass_is_caught():
    scale = Fraction(10)
    with pytest.raises(AssertionError):
        check_every_entry(
            _high_table(scale),
            lambda value: geometric_mass(scale + Fraction(1, 10**60), value),
            list(range(high_part(scale, 0))),
            tail=True,
        )


def test_the_oracle_agrees_with_itself():
    assert abs(sum(geometric_mass(Fraction(1, 2), k) for k in range(500)) - 1) < high.ldexp(1, -1100)
    total = sum(digit_mass(Fraction(1000), 0, 64, d) for d in range(64))
    assert abs(total - 1) < high.ldexp(1, -1150)
    assert real(Fraction(1, 3)) * 3 == 1


@pytest.mark.parametrize(
    "scale",
    [
        LEAST_SCALE - Fraction(1, 10**9),
        LARGEST_SCALE + 1,
        Fraction(0),
        Fraction(-1),
        1 + Fraction(1, 1 << 4096),  # in range, with a denominator of 4097 bits
    ],
)
def test_a_scale_without_certified_tables_is_refused(scale):
    with pytest.raises(ParameterError, match="scale"):
        check_scale(scale)


@pytest.mark.parametrize("scale", [LEAST_SCALE, LARGEST_SCALE, 1 + Fraction(1, 1 << 4095)])
def test_scales_at_the_ends_of_the_range_are_accepted(scale):
    assert check_scale(scale) == scale


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(5, 3), Fraction(18)])
def test_masses_enclose_what_follows_from_either_end(monkeypatch, scale):
    table, digits, bits = _high_table.__wrapped__(scale), _digit_table(1 / scale, 4), 64
    shift = low_bits(scale)
    wide = widened(monkeypatch, geometric)
    enclosures = table._masses(bits)
    for q in (Fraction(end, 1 << (bits + 16)) for end in wide(Fraction(1 << shift) / scale, bits + 16)):
        exact = [q**h * (1 - q) for h in range(high_part(scale, shift))]
        for mass, (low, above) in zip([*exact, q ** len(exact)], enclosures, strict=True):
            assert low <= mass * 2**bits <= above
    ends = (wide(x / scale, bits + 64) for x in (1, 4))
    enclosures = digits._masses(bits)
    for r, last in product(*([Fraction(end, 1 << (bits + 64)) for end in pair] for pair in ends)):
        for d, (low, above) in enumerate(enclosures):
            assert low <= r**d * (1 - r) / (1 - last) * 2**bits <= above
