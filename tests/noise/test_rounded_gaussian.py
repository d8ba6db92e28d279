from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.noise import normal_cells, rounded_gaussian
from discreet.noise.entropy import System
from discreet.noise.gaussian import block_table, low_bits
from discreet.noise.gaussian import tabulated_count as tabulated_blocks
from discreet.noise.normal_cells import cell_average, cell_masses, tail_from
from discreet.noise.rounded_gaussian import _beyond, _tabulated, rounded_table, sample_rounded_gaussian
from effort import examples
from noise.oracle import exp_minus, high, normal_tail, real, rounded_mass, scaled
from noise.sources import Counting, Scripted
from noise.tables import check_every_entry, check_lazy_branch
from significance import FALSE_ALARM, fit_p_value

SINGLE = [
    Fraction(1, 10**4),
    Fraction(1, 49),
    Fraction(1, 4),
    Fraction(999, 1000),
    Fraction(1),
    Fraction(5, 3),
    Fraction(100),
    Fraction(10 * 2**2000 + 1, 2**2003 + 5),
]
WIDE = [Fraction(637**2, 100), Fraction(4096)]
BLOCKS = [4096 + Fraction(1, 1000), Fraction(10**6), Fraction(10**8), 2**40 + Fraction(1, 3), Fraction(2**80)]
HALF = Fraction(1, 2)
RANDOM_VARIANCES = st.builds(
    lambda exponent, numerator, denominator: Fraction(2) ** exponent * Fraction(numerator, denominator),
    st.integers(-12, 9),
    st.integers(1001, 3999),
    st.integers(1000, 2000),
)


def check_table(variance: Fraction) -> list[int]:
    count = _tabulated(variance)
    values = [0, *(value for k in range(1, count) for value in (k, -k))]
    table = rounded_table.__wrapped__(variance)
    return check_every_entry(table, lambda k: rounded_mass(variance, k), values, tail=True)


def average(left: Fraction, base: Fraction, variance: Fraction):
    """The mean of exp(-((left + u)^2 - base) / (2 v)) over a cell: a difference of tails, to 1200 bits."""
    between = normal_tail(variance, left) - normal_tail(variance, left + 1)
    return between * high.sqrt(2 * high.pi * real(variance)) / exp_minus(base / (2 * variance))


@pytest.mark.parametrize("variance", SINGLE, ids=lambda variance: f"{float(variance):g}")
def test_every_entry_of_every_table(variance):
    check_table(variance)


@pytest.mark.slow
@pytest.mark.parametrize("variance", WIDE, ids=lambda variance: f"{float(variance):g}")
def test_every_entry_of_wide_tables(variance):
    check_table(variance)


@given(variance=RANDOM_VARIANCES, bits=st.integers(64, 700))
@settings(deadline=None, max_examples=examples(15))
def test_masses_are_enclosed_at_any_precision(variance, bits):
    count = _tabulated(variance)
    masses = cell_masses(variance, count, bits)
    assert len(masses) == count
    for k in {0, 1, count // 2, count - 1} & set(range(count)):
        low, top = masses[k]
        assert low <= high.ldexp(rounded_mass(variance, k), bits) <= top
        assert top - low <= 16


@given(variance=RANDOM_VARIANCES)
@settings(deadline=None, max_examples=examples(40))
def test_what_is_not_tabulated_weighs_less_than_the_bound(variance):
    count = _tabulated(variance)
    assert 2 * normal_tail(variance, count - HALF) < high.ldexp(1, -66)
    if variance >= 1:
        assert Fraction(count - 1) / (2 * variance) <= 6  # where the series is proven


@given(
    variance=st.fractions(Fraction(1, 1000), 10**6, max_denominator=1000),
    left=st.fractions(0, 60, max_denominator=4),
    share=st.fractions(0, 1, max_denominator=20),
)
@settings(deadline=None, max_examples=examples(40))
def test_averages_over_cells_are_enclosed(variance, left, share):
    left *= max(1, int(float(variance) ** 0.5))
    if left * left > 600 * variance:
        return
    base = left * left * share
    low, top = cell_average(left, base, variance, 128)
    assert low <= high.ldexp(average(left, base, variance), 128) <= top
    assert top - low <= 2


def test_tails_of_either_sign():
    for edge in (Fraction(-7, 2), Fraction(0), Fraction(5, 3), Fraction(900)):
        low, top = tail_from(Fraction(7, 3), edge, 200)
        assert low <= high.ldexp(normal_tail(Fraction(7, 3), edge), 200) <= top


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1)])
def test_lanes_on_a_cut_point_are_decided_by_further_bits(variance):
    table, cuts = rounded_table(variance), check_table(variance)
    inner = [cell for cell in range(table._items - 1) if table.alias(cell) != cell]
    for cell in inner[:: max(1, len(inner) // 2)]:
        check_lazy_branch(table, cell, cuts[cell])


# Beyond the tables


@pytest.mark.parametrize("variance", [Fraction(1, 100), Fraction(1), Fraction(1000)])
@pytest.mark.parametrize("heads", [True, False])
def test_the_tail_is_reached_and_left_with_either_sign(variance, heads):
    table = rounded_table(variance)
    offset = 64 - (table.blocks.bit_length() - 1)
    # The tail's cell, a geometric excess of 0 (word 0), a coin that surely shows 1 (word 0), the sign.
    source = Scripted([(table._items - 1) << offset, 0, 0, 0 if heads else 2**64 - 1], [0] * 40)
    drawn = int(source.decide(table, 1)[0])
    assert drawn == (_tabulated(variance) if heads else -_tabulated(variance))


@pytest.mark.parametrize("start", [1, 2, 9])
@pytest.mark.parametrize("excess", [0, 1, 17])
@pytest.mark.parametrize("variance", [Fraction(25), Fraction(1, 3), Fraction(1, 10**4)])
def test_excess_and_coin_together_have_the_weight_of_the_cell(monkeypatch, start, excess, variance):
    seen = {}

    def geometric(scale, size, source):
        del size, source
        seen["scale"] = scale
        return np.array([excess])

    class Coin:
        blocks = 1

        def __init__(self, left, base, spread):
            seen["cell"] = left, base, spread

        def outcomes(self, words, lane, source):
            del lane, source
            return np.ones(len(words), np.int64)

    monkeypatch.setattr(rounded_gaussian, "sample_geometric", geometric)
    monkeypatch.setattr(rounded_gaussian, "_CellCoin", Coin)
    assert _beyond(variance, start, System()) == start + excess
    left, base, spread = seen["cell"]
    assert (left, spread) == (start + excess - HALF, variance)
    assert base <= left * left  # so that the coin's probability is at most 1
    # The proposal's exponent and the coin's make up that of the cell, except for one constant.
    assert excess / seen["scale"] - base / (2 * variance) == -((start - HALF) ** 2) / (2 * variance)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(("variance", "start"), [(Fraction(25), 3), (Fraction(1), 1)])
def test_the_tail_law_itself(variance, start):
    source = System()
    drawn = np.array([_beyond(variance, start, source) for _ in range(1_000)])
    assert drawn.min() >= start

    def mass(spread: float):
        from scipy.stats import norm

        whole = norm.sf((start - 0.5) / spread**0.5)
        return lambda a, b: float(
            (norm.sf((a - 0.5) / spread**0.5) - norm.sf((b - 0.5) / spread**0.5)) / whole
        )

    edges = np.arange(start, start + int(5 * float(variance) ** 0.5) + 2, max(1, int(variance**0.5) // 5))
    assert fit_p_value(drawn, mass(float(variance)), edges) > FALSE_ALARM
    assert fit_p_value(drawn, mass(float(variance) * 2), edges) < FALSE_ALARM


# Blocks


def script_for(value: int, doubled: Fraction, uniform: int) -> tuple[list[int], list[int]]:
    """Return the words and bits of a trial that proposes J = `value` and compares it with `uniform`."""
    shift = low_bits(doubled)
    table = block_table(doubled, shift)
    offset = 64 - (table.blocks.bit_length() - 1)
    magnitude = value if value >= 0 else ~value
    cell = 2 * (magnitude >> shift) + (value < 0)
    bits = [0] if int(table._cut_words[cell]) == cell << offset else []
    return [cell << offset, (magnitude & ((1 << shift) - 1)) << (64 - shift), uniform], bits


@pytest.mark.few(2)
@pytest.mark.parametrize("variance", BLOCKS, ids=lambda variance: f"{float(variance):g}")
def test_a_candidate_is_kept_exactly_below_its_cut(variance):
    """P(block) P(offset) P(kept) is proportional to P(j <= 2 X < j + 1), at every cut point tried."""
    doubled = 4 * variance
    shift = low_bits(doubled)
    assert doubled > 128**2
    reach = tabulated_blocks(Fraction(1 << (2 * shift)) / (2 * doubled)) - 1
    generator = np.random.default_rng(20)
    width = 1 << shift
    for block in sorted({0, 1, reach, *generator.integers(0, reach, 4).tolist()}):
        for offset in {0, 1, width // 2, width - 1}:
            start, magnitude = block << shift, (block << shift) + offset
            cut = scaled(average(Fraction(magnitude), Fraction(start * start), doubled), 256)
            floor, rest = cut >> 192, (cut >> 128) & (2**64 - 1)
            again, bits_again = script_for(0, doubled, 0)
            for value in (magnitude, ~magnitude):
                for uniform, bits, kept in (
                    (floor - 1, [], True),
                    (floor + 1, [], False),
                    (floor, [rest - 1], True),
                    (floor, [rest + 1], False),
                    (floor - (1 << 50), [], True),
                    (floor + (1 << 50), [], False),
                ):
                    if max(uniform, *bits, 0) >= 1 << 64:
                        continue
                    words, first_bits = script_for(value, doubled, uniform)
                    source = Scripted(words, first_bits + bits)
                    if not kept:
                        source = Scripted(words + again, first_bits + bits + bits_again)
                    # The nearest integer to X, where value <= 2 X < value + 1.
                    nearest = (Fraction(value + 1) / 2).__floor__()
                    assert sample_rounded_gaussian(variance, 1, source)[0] == (nearest if kept else 0)
                    assert source.spent


@pytest.mark.parametrize("fraction", [Fraction(1, 5), Fraction(9, 10), Fraction(99, 100), Fraction(101, 100)])
def test_acceptance_at_every_distance_from_the_cut(fraction):
    """Around exponents of 1/3, where the polynomial is least accurate, and beyond, where it is not used."""
    variance, offset = Fraction(10**8), 1 << 8
    start = round(fraction * 2 * variance / (3 * 2 * offset))
    cut = scaled(average(Fraction(start + offset), Fraction(start * start), variance), 64)
    words = [cut + sign * (1 << place) for place in range(0, 57, 8) for sign in (-1, 1)]
    coin = rounded_gaussian.CellAcceptance(np.full(len(words), start), np.full(len(words), offset), variance)
    assert Scripted(words).decide(coin, len(words)).tolist() == [int(word < cut) for word in words]


@pytest.mark.parametrize("block", [300, 700])
def test_steep_cells_of_narrow_laws_are_averaged_rightly(block):
    """Just above 128 steps slopes are steepest; blocks beyond the table are settled by enclosures."""
    variance = Fraction(128**2 + 1)
    for offset in (0, 1):
        start = block << low_bits(variance)
        cut = scaled(average(Fraction(start + offset), Fraction(start * start), variance), 64)
        words = [cut + sign * (1 << place) for place in (0, 36) for sign in (-1, 1)]
        arrays = np.full(len(words), start), np.full(len(words), offset)
        coin = rounded_gaussian.CellAcceptance(*arrays, variance)
        assert Scripted(words).decide(coin, len(words)).tolist() == [int(word < cut) for word in words]


def test_the_four_terms_of_an_average_are_within_the_band():
    """The residual is largest at the largest slope and the least variance that floats decide."""
    for variance in (Fraction(128**2), Fraction(10**6)):
        for slope in (0, 0.02, 0.05, 0.1):
            x = Fraction(slope) * variance
            exact = average(x - HALF, x * x, variance)
            e, k = 1 / (2 * real(variance)), real(x / variance)
            terms = 1 + k**2 / 24 + k**4 / 1920 - e * (high.mpf(1) / 12 + k**2 / 160) + e**2 / 160
            assert abs(exact - terms) < high.ldexp(1, -37)


def test_an_average_without_its_correction_is_caught(monkeypatch):
    """Plant the bug: a candidate is judged by the middle of its cell."""
    monkeypatch.setattr(
        rounded_gaussian.CellAcceptance, "__init__", _init_without_correction(rounded_gaussian.CellAcceptance)
    )
    with pytest.raises(AssertionError):
        test_a_candidate_is_kept_exactly_below_its_cut(Fraction(10**6))


def _init_without_correction(acceptance):
    original = acceptance.__init__

    def careless(self, starts, offsets, variance, least=0):
        original(self, starts, np.maximum(offsets - 1, 0), variance, least)

    return careless


def test_a_series_with_one_wrong_term_is_caught(monkeypatch):
    exact = normal_cells._moments

    def wrong(variance, bits):
        first, second, *rest = exact(variance, bits)
        return [first, (second[0] + (1 << 60), second[1] + (1 << 60)), *rest]

    monkeypatch.setattr(normal_cells, "_moments", wrong)
    with pytest.raises(AssertionError):
        check_table(Fraction(5, 3))


# The work of a draw


@pytest.mark.parametrize("variance", [Fraction(1, 100), Fraction(1), Fraction(100), Fraction(64**2)])
def test_a_draw_from_one_table_takes_one_word(variance):
    source = Counting()
    for _ in range(200):
        before = source.drawn
        sample_rounded_gaussian(variance, 1, source)
        assert source.drawn == before + 1


@pytest.mark.statistical
@pytest.mark.parametrize("variance", [Fraction(10**4), Fraction(10**8)])
def test_blocks_are_rejected_rarely(variance):
    source = Counting()
    sample_rounded_gaussian(variance, 200_000, source)
    trials = source.drawn / 3
    assert 200_000 <= trials < 200_000 / 0.97


@pytest.mark.parametrize("size", [0, 1, 2**16 + 1])
@pytest.mark.parametrize("variance", [Fraction(9), Fraction(10**8)])
def test_any_number_of_values_can_be_drawn(variance, size):
    drawn = sample_rounded_gaussian(variance, size, System())
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64
