from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from mpmath import MPContext

from discreet.noise import laplace
from discreet.noise.entropy import System
from discreet.noise.geometric import FEW, MANY, digit_tables, high_part, low_bits
from discreet.noise.laplace import sample_laplace, sign_table
from effort import examples
from noise.oracle import LONG_SCALE, RANDOM_SCALES, SCALES, exp_minus, high, laplace_mass, real
from noise.sources import Counting, Scripted
from noise.tables import check_digits, check_every_entry, check_lazy_branch, implemented_masses, widened
from significance import FALSE_ALARM, fit_p_value

RATIO_SCALES = [Fraction(1, 100), Fraction(1, 7), Fraction(1, 2), Fraction(1), Fraction(10), Fraction(16)]


CUTTINGS = pytest.mark.parametrize("cutting", [MANY, FEW], ids=["many", "few"])


def sign_mass(scale: Fraction, value: int, cutting=MANY):
    """Sum the law over a block in closed form: r^a (1 - r^B) / (1 + r), and r times that for Y < 0."""
    width = 1 << low_bits(scale, cutting)
    ratio = exp_minus(1 / scale)
    start = value if value >= 0 else ~value
    mass = exp_minus(start / scale) * -high.expm1(-real(width / scale)) / (1 + ratio)
    return mass if value >= 0 else ratio * mass


def tabulated(scale: Fraction, cutting=MANY) -> list[int]:
    shift = low_bits(scale, cutting)
    starts = [h << shift for h in range(high_part(scale, shift))]
    return [value for start in starts for value in (start, ~start)]


def check_sign_table(scale: Fraction, cutting=MANY) -> list[int]:
    return check_every_entry(
        sign_table.__wrapped__(scale, cutting),
        lambda value: sign_mass(scale, value, cutting),
        tabulated(scale, cutting),
        tail=True,
    )


@pytest.mark.few(5)
@pytest.mark.parametrize("scale", [*SCALES, LONG_SCALE], ids=lambda scale: f"{float(scale):g}")
def test_every_entry_of_every_table(scale):
    check_sign_table(scale)


@pytest.mark.few(8)
@pytest.mark.parametrize("scale", [*SCALES, LONG_SCALE], ids=lambda scale: f"{float(scale):g}")
def test_every_entry_of_every_table_for_few_draws(scale):
    check_sign_table(scale, FEW)
    check_digits(scale, FEW)


@given(scale=RANDOM_SCALES)
@settings(deadline=None, max_examples=examples(6))
def test_every_entry_for_random_scales(scale):
    for cutting in (MANY, FEW):
        check_sign_table(scale, cutting)
        check_digits(scale, cutting)


@CUTTINGS
@pytest.mark.parametrize("scale", [Fraction(3), Fraction(17), Fraction(637, 10)])
def test_the_closed_form_is_the_sum_over_the_block(scale, cutting):
    width = 1 << low_bits(scale, cutting)
    for value in tabulated(scale, cutting)[:10]:
        block = [value ^ low for low in range(width)]
        total = sum(laplace_mass(scale, y) for y in block)
        assert abs(total - sign_mass(scale, value, cutting)) < high.ldexp(1, -1150)


@pytest.mark.few(2)
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(16), Fraction(10**4), Fraction(2**40)])
def test_lanes_on_a_cut_point_are_decided_by_further_bits(scale):
    table, cuts = sign_table(scale), check_sign_table(scale)
    inner = [cell for cell in range(table._items - 1) if table.alias(cell) != cell]
    for cell in inner[:: max(1, len(inner) // 4)]:
        check_lazy_branch(table, cell, cuts[cell])


@pytest.mark.slow
@pytest.mark.parametrize("scale", RATIO_SCALES, ids=lambda scale: f"{float(scale):g}")
def test_neighboring_values_differ_by_exactly_the_claimed_factor(scale):
    """Pure epsilon, for all values of the table and the first beyond it: enclosures of what is drawn."""
    widths = []
    for bits in (512, 2048):
        table = sign_table(scale)
        masses = implemented_masses(table, bits)
        values = table._values[0 : 2 * (table._items - 1) : 2].tolist()
        law = dict(zip(values, masses, strict=False))
        count, tail = high_part(scale, 0), masses[-1]
        # The tail starts again: P(count + y) is its mass times P(y), and so for the other sign.
        for first, beyond in ((0, count), (-1, -1 - count)):
            law[beyond] = tail[0] * law[first][0] >> bits, -(-tail[1] * law[first][1] >> bits)
        widths.append(check_ratios(law, 1 / scale, bits))
    assert widths[1] * 2**1500 < widths[0], "the enclosures do not close in on the exact ratio"


@pytest.mark.slow
@CUTTINGS
@pytest.mark.parametrize("scale", [Fraction(17), Fraction(637, 10), Fraction(1000)])
def test_values_made_of_digits_keep_the_claimed_factor(scale, cutting):
    shift = low_bits(scale, cutting)
    count = high_part(scale, shift) << shift
    near_zero = range(-200, 201)
    around_blocks = [start + y for start in (1 << shift, 5 << shift, count // 2) for y in range(-3, 4)]
    chosen = sorted({*near_zero, *around_blocks, *(-y for y in around_blocks)})
    widths = []
    for bits in (512, 2048):
        table = sign_table(scale, cutting)
        masses = implemented_masses(table, bits)
        values = table._values[0 : 2 * (table._items - 1) : 2].tolist()
        signs = dict(zip(values, masses, strict=False))
        digits = [
            (position, digit_table.blocks, implemented_masses(digit_table, bits))
            for position, digit_table in digit_tables(scale, shift, cutting)
        ]
        law = {}
        for y in chosen:
            magnitude = y if y >= 0 else ~y
            start = magnitude >> shift << shift
            low, top = signs[start if y >= 0 else ~start]
            for position, base, digit_masses in digits:
                digit = digit_masses[(magnitude >> position) % base]
                low, top = low * digit[0] >> bits, -(-top * digit[1] >> bits)
            law[y] = low, top
        widths.append(check_ratios(law, 1 / scale, bits))
    assert widths[1] * 2**1500 < widths[0]


def check_ratios(law: dict[int, tuple[int, int]], epsilon: Fraction, bits: int):
    """Assert that P(y) / P(y + 1) may be exp(±epsilon) for every pair, and return the widest doubt."""
    exact = MPContext()
    exact.prec = bits + 400
    up = exact.exp(exact.mpf(epsilon.numerator) / epsilon.denominator)
    widest, pairs = exact.mpf(0), 0
    for y in sorted(law):
        if y + 1 not in law:
            continue
        (low, top), (next_low, next_top) = law[y], law[y + 1]
        if y < 0:
            low, top, next_low, next_top = next_low, next_top, low, top
        least, most = exact.mpf(low) / next_top, exact.mpf(top) / next_low
        assert least <= up <= most
        widest = max(widest, (most - least) / up)
        pairs += 1
    assert pairs >= 2
    return widest


def test_a_ratio_that_is_off_is_caught():
    table = sign_table(Fraction(1))
    law = dict(zip(table._values[0:-2:2].tolist(), implemented_masses(table, 512), strict=False))
    law[0] = tuple(end + (1 << 400) for end in law[0])
    with pytest.raises(AssertionError):
        check_ratios(law, Fraction(1), 512)


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1), Fraction(10), Fraction(1000)])
@pytest.mark.parametrize("sign", [0, 1])
@CUTTINGS
def test_beyond_the_table_the_law_starts_again(monkeypatch, scale, sign, cutting):
    monkeypatch.setattr(laplace, "_FEW_DRAWS", 1 if cutting == FEW else 0)
    shift, table = low_bits(scale, cutting), sign_table(scale, cutting)
    reach = high_part(scale, shift) << shift
    offset = 64 - (table.blocks.bit_length() - 1)
    tail_word = (table._items - 1) << offset
    digits = digit_tables(scale, shift, cutting)
    inner = sign << offset  # the first word of cell 0 (value 0) or cell 1 (value -1): its own item
    inside = int(Scripted([inner], [0]).decide(table, 1)[0])
    assert (inside < 0) == bool(sign)
    source = Scripted([tail_word, tail_word, inner] + [0] * len(digits), [0] * (3 + len(digits)))
    drawn = int(sample_laplace(scale, 1, source)[0])
    assert drawn == (inside + 2 * reach if inside >= 0 else inside - 2 * reach)


@pytest.mark.statistical
@pytest.mark.parametrize("scale", [Fraction(2), Fraction(50)])
def test_the_tail_law_itself(scale):
    draws, shift, table = 15_000, low_bits(scale), sign_table(scale)
    reach = high_part(scale, shift) << shift
    source = System()
    beyond = np.array([table._tail(source) for _ in range(draws)])
    assert (np.where(beyond >= 0, beyond, ~beyond) >= reach).all()
    excess = np.where(beyond >= 0, beyond - reach, beyond + reach) >> shift
    width = float(scale) / (1 << shift)

    def mass(width: float):
        ratio = np.exp(-1 / (width * (1 << shift)))

        def between(a: int, b: int) -> float:
            def right(a: int, b: int) -> float:
                return float(np.exp(-a / width) - np.exp(-b / width)) / (1 + ratio)

            negative = right(max(-b, 0), max(-a, 0)) * ratio
            return negative + right(max(a, 0), max(b, 0))

        return between

    edges = np.arange(-int(9 * width), int(9 * width) + 1, max(1, int(width) // 3))
    assert fit_p_value(excess, mass(width), edges) > FALSE_ALARM
    assert fit_p_value(excess, mass(width * 1.25), edges) < FALSE_ALARM
    assert fit_p_value(excess, mass(width / 1.25), edges) < FALSE_ALARM


@pytest.mark.parametrize(
    ("scale", "few", "many"),
    [(Fraction(1, 2), 1, 1), (2, 1, 1), (3, 2, 1), (16, 2, 1), (17, 2, 2), (10**4, 4, 2), (2**40, 9, 5)],
)
def test_a_draw_takes_a_fixed_number_of_words(scale, few, many):
    source = Counting()
    for _ in range(300):
        before = source.drawn
        sample_laplace(scale, 1, source)
        assert source.drawn - before == few
    for size, words in ((1 << 12, few), ((1 << 12) + 1, many), (200_001, many)):
        before = source.drawn
        sample_laplace(scale, size, source)
        assert source.drawn - before == size * words


@pytest.mark.parametrize("size", [0, 1, 2**16, 2**16 + 1, 2**17 + 3])
def test_any_number_of_values_can_be_drawn(size):
    for scale in (Fraction(3), Fraction(100)):
        drawn = sample_laplace(scale, size, System())
        assert drawn.shape == (size,)
        assert drawn.dtype == np.int64


def test_the_oracle_sums_to_one():
    assert abs(sum(laplace_mass(Fraction(1, 2), y) for y in range(-500, 501)) - 1) < high.ldexp(1, -1100)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(5, 3), Fraction(18)])
def test_masses_enclose_what_follows_from_either_end(monkeypatch, scale):
    table, bits = sign_table.__wrapped__(scale), 64
    shift = low_bits(scale)
    wide = widened(monkeypatch, laplace)
    enclosures = table._masses(bits)
    unit = Fraction(1, 1 << (bits + 16))
    ratios, high_ratios = (wide(x, bits + 16) for x in (1 / scale, Fraction(1 << shift) / scale))
    for r, q in product((end * unit for end in ratios), [end * unit for end in high_ratios]):
        for place, (low, above) in enumerate(enclosures[:-1]):
            mass = q ** (place // 2) * (1 - q) / (1 + r) * (r if place % 2 else 1)
            assert low <= mass * 2**bits <= above
        assert enclosures[-1][0] <= q ** high_part(scale, shift) * 2**bits <= enclosures[-1][1]
