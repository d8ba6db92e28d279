from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.noise import gaussian
from discreet.noise.entropy import System
from discreet.noise.gaussian import (
    block_table,
    keep_lanes,
    least_kept,
    low_bits,
    sample_beyond,
    sample_gaussian,
    single_table,
    tabulated_count,
    weight_series,
)
from effort import examples
from noise.oracle import (
    block_mass,
    exp_minus,
    gaussian_between,
    gaussian_mass,
    high,
    scaled,
    theta_by_duality,
    theta_by_summation,
)
from noise.sources import Counting, Scripted
from noise.tables import check_every_entry, check_lazy_branch
from significance import FALSE_ALARM, fit_p_value

SINGLE = [
    Fraction(1, 10**4),
    Fraction(1, 100),
    Fraction(1, 49),
    Fraction(1, 4),
    Fraction(1),
    Fraction(5, 3),
    Fraction(100),
    Fraction(637**2, 100),
    Fraction(4096),
    Fraction(10 * 2**2000 + 1, 2**2003 + 5),
]
BLOCKS = [
    4096 + Fraction(1, 1000),
    Fraction(128**2),
    Fraction(10**6),
    Fraction(10**8),
    2**40 + Fraction(1, 3),
    Fraction(2**80),
    Fraction(2**2050 + 1, 2**2030 + 5),
]
RANDOM_VARIANCES = st.builds(
    lambda exponent, numerator, denominator: Fraction(2) ** exponent * Fraction(numerator, denominator),
    st.integers(-12, 77),
    st.integers(1001, 3999),
    st.integers(1000, 2000),
)


def curvature_of(variance: Fraction) -> Fraction:
    return Fraction(1 << (2 * low_bits(variance))) / (2 * variance)


def check_table(variance: Fraction) -> list[int]:
    shift = low_bits(variance)
    count = tabulated_count(curvature_of(variance))
    if shift == 0:
        assert variance <= 64**2
        values = [0, *(value for y in range(1, count) for value in (y, -y))]
        table = single_table.__wrapped__(variance)
        return check_every_entry(table, lambda y: gaussian_mass(variance, y), values, tail=True)
    assert 32**2 < variance / (1 << (2 * shift)) <= 64**2
    values = [value for h in range(count) for value in (h << shift, ~(h << shift))]
    table = block_table.__wrapped__(variance, shift)
    return check_every_entry(
        table, lambda value: block_mass(variance, shift, max(value, ~value)), values, tail=True
    )


@pytest.mark.few(6)
@pytest.mark.parametrize("variance", [*SINGLE, *BLOCKS], ids=lambda variance: f"{float(variance):g}")
def test_every_entry_of_every_table(variance):
    check_table(variance)


@given(variance=RANDOM_VARIANCES)
@settings(deadline=None, max_examples=examples(6))
def test_every_entry_for_random_variances(variance):
    check_table(variance)


@pytest.mark.parametrize("variance", [Fraction(1, 6), Fraction(1), Fraction(7, 3), Fraction(40)])
def test_the_two_forms_of_the_normalizer_agree(variance):
    assert abs(theta_by_summation(variance) - theta_by_duality(variance)) < high.ldexp(1, -1150)


@pytest.mark.few(2)
@pytest.mark.parametrize("variance", [Fraction(1, 100), Fraction(1), Fraction(4096), Fraction(2**80)])
def test_lanes_on_a_cut_point_are_decided_by_further_bits(variance):
    shift = low_bits(variance)
    table = block_table(variance, shift) if shift else single_table(variance)
    cuts = check_table(variance)
    inner = [cell for cell in range(table._items - 1) if table.alias(cell) != cell]
    for cell in inner[:: max(1, len(inner) // 4)]:
        check_lazy_branch(table, cell, cuts[cell])


@given(variance=RANDOM_VARIANCES)
@settings(deadline=None, max_examples=examples(40))
def test_what_is_not_tabulated_weighs_less_than_the_bound(variance):
    curvature = curvature_of(variance)
    count = tabulated_count(curvature)
    terms = (exp_minus(curvature * h * h) for h in range(count, count + 2000))
    total = high.mpf(0)
    for term in terms:
        total += term
        if term < high.ldexp(1, -400):
            break
    assert total < high.ldexp(1, -66)
    if low_bits(variance):
        # The last tabulated block still lies where the polynomial is proven.
        assert (2 * (count - 1) + 1) * curvature <= Fraction(1, 3)


@given(
    curvature=st.fractions(Fraction(1, 1000), 3, max_denominator=10**4),
    count=st.integers(1, 30),
    bits=st.integers(4, 300),
)
@settings(deadline=None, max_examples=examples(30))
def test_what_is_left_out_is_enclosed_at_any_precision(curvature, count, bits):
    kept, (low, top) = weight_series(curvature, count, bits)
    assert len(kept) == count
    for h, weight in enumerate(kept):
        assert weight[0] <= high.ldexp(exp_minus(curvature * h * h), bits) <= weight[1]
    reach = count + int((350 / float(curvature)) ** 0.5) + 2
    rest = high.ldexp(sum(exp_minus(curvature * h * h) for h in range(count, reach)), bits)
    assert low <= rest <= top


# Beyond the tables


@pytest.mark.parametrize("variance", [Fraction(1, 100), Fraction(1), Fraction(1000), *BLOCKS])
@pytest.mark.parametrize("heads", [True, False])
def test_the_tail_is_reached_and_left_with_either_sign(variance, heads):
    shift = low_bits(variance)
    table = block_table(variance, shift) if shift else single_table(variance)
    offset = 64 - (table.blocks.bit_length() - 1)
    # The tail's cell, a geometric excess of 0 (word 0), a coin of probability 1, the sign.
    words = [(table._items - 1) << offset, 0, 0, 0 if heads else 2**64 - 1]
    source = Scripted(words, [0] * 8)
    drawn = int(source.decide(table, 1)[0])
    least = tabulated_count(curvature_of(variance)) << shift
    assert drawn == (least if heads else (~least if shift else -least))


def test_the_lightest_tail_takes_thousands_of_bits_to_reach():
    table = single_table(Fraction(1, 10**4))
    offset = 64 - (table.blocks.bit_length() - 1)
    enough = 2 + 7213 // 192 + 1  # exp(-5000) is 2^-7213
    source = Scripted([(table._items - 1) << offset, 0, 0, 0], [0] * enough)
    assert int(source.decide(table, 1)[0]) == 1
    source = Scripted([(table._items - 1) << offset], [0] * 37 + [1 << 191])
    assert int(source.decide(table, 1)[0]) == 0
    assert source.spent


@pytest.mark.parametrize("start", [1, 2, 9, 30])
@pytest.mark.parametrize("excess", [0, 1, 2, 17])
@pytest.mark.parametrize("curvature", [Fraction(1, 50), Fraction(3, 2), Fraction(49), Fraction(5000)])
def test_excess_and_coin_together_have_the_gaussian_weight(monkeypatch, start, excess, curvature):
    seen = {}

    def geometric(scale, size, source):
        del size, source
        seen["scale"] = scale
        return np.array([excess])

    class Coin:
        blocks = 1

        def __init__(self, exponent):
            seen["exponent"] = exponent

        def outcomes(self, words, lane, source):
            del lane, source
            return np.ones(len(words), np.int64)

    monkeypatch.setattr(gaussian, "sample_geometric", geometric)
    monkeypatch.setattr(gaussian, "ExponentialCoin", Coin)
    assert sample_beyond(curvature, start, System()) == start + excess
    assert seen["exponent"] >= 0
    assert seen["scale"] >= Fraction(1, 100)
    exact = curvature * ((start + excess) ** 2 - start**2)
    assert excess / seen["scale"] + seen["exponent"] == exact


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize(("variance", "start"), [(Fraction(25), 3), (Fraction(2000), 20), (Fraction(1), 1)])
def test_the_tail_law_itself(variance, start):
    source = System()
    drawn = np.array([sample_beyond(1 / (2 * variance), start, source) for _ in range(8_000)])
    assert drawn.min() >= start

    def mass(variance: float):
        support = np.arange(start, start + 4000)
        weights = np.exp(-(support**2 - start**2) / (2 * variance))
        cumulative = np.concatenate([[0.0], np.cumsum(weights / weights.sum())])
        return lambda a, b: float(cumulative[min(b - start, 4000)] - cumulative[a - start])

    edges = np.arange(start, start + int(5 * float(variance) ** 0.5) + 2, max(1, int(variance**0.5) // 5))
    assert fit_p_value(drawn, mass(float(variance)), edges) > FALSE_ALARM
    assert fit_p_value(drawn, mass(float(variance) * 1.4), edges) < FALSE_ALARM
    assert fit_p_value(drawn, mass(float(variance) / 1.4), edges) < FALSE_ALARM


# Blocks


def script_for(value: int, variance: Fraction, uniform: int) -> tuple[list[int], list[int]]:
    """Return the words and bits of a trial that proposes `value` and compares it with `uniform`."""
    shift = low_bits(variance)
    table = block_table(variance, shift)
    offset = 64 - (table.blocks.bit_length() - 1)
    magnitude = value if value >= 0 else ~value
    cell = 2 * (magnitude >> shift) + (value < 0)
    # The first word of a cell belongs to its own item, unless it is the cut's floor: then bits decide.
    bits = [0] if int(table._cut_words[cell]) == cell << offset else []
    return [cell << offset, (magnitude & ((1 << shift) - 1)) << (64 - shift), uniform], bits


@pytest.mark.few(3)
@pytest.mark.parametrize("variance", BLOCKS, ids=lambda variance: f"{float(variance):g}")
def test_a_candidate_is_kept_exactly_below_its_cut(variance):
    """P(block) P(offset) P(kept) is proportional to exp(-y^2 / (2 variance)), at every cut point tried."""
    shift = low_bits(variance)
    reach = tabulated_count(curvature_of(variance)) - 1
    generator = np.random.default_rng(20)
    blocks = sorted({0, 1, 2, reach // 2, reach, *generator.integers(0, reach, 12).tolist()})
    width = 1 << shift
    for block in blocks:
        for offset in {0, 1, width // 2, width - 1}:
            for sign in (False, True):
                magnitude = (block << shift) + offset
                value = ~magnitude if sign else magnitude
                start = block << shift
                exponent = Fraction(value * value - start * start) / (2 * variance)
                if exponent == 0:
                    source = Scripted(*script_for(value, variance, 2**64 - 1))
                    assert sample_gaussian(variance, 1, source)[0] == value
                    continue
                cut = scaled(exp_minus(exponent), 256)
                floor, rest = cut >> 192, (cut >> 128) & (2**64 - 1)
                again, bits_again = script_for(0, variance, 0)
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
                    words, first_bits = script_for(value, variance, uniform)
                    source = Scripted(words, first_bits + bits)
                    if not kept:
                        source = Scripted(words + again, first_bits + bits + bits_again)
                    assert sample_gaussian(variance, 1, source)[0] == (value if kept else 0)
                    assert source.spent


def test_a_block_beyond_the_table_is_settled_by_enclosures():
    variance = Fraction(10**8)
    shift = low_bits(variance)
    start, advance = 10**4 << shift, 5 << (shift - 3)
    exponent = Fraction((2 * start + advance) * advance) / (2 * variance)
    assert exponent > 1
    cut = scaled(exp_minus(exponent), 64)
    coin = gaussian.Acceptance(np.array([start] * 2), np.array([advance] * 2), variance)
    assert Scripted([cut - 1, cut + 1]).decide(coin, 2).tolist() == [1, 0]


@pytest.mark.parametrize(
    "fraction", [Fraction(1, 5), Fraction(9, 10), Fraction(99, 100), Fraction(101, 100), Fraction(6)]
)
def test_acceptance_at_every_distance_from_the_cut(fraction):
    """Around exponents of 1/3, where the polynomial is least accurate, and beyond, where it is not used."""
    variance, advance = Fraction(10**8), 1 << 8
    start = round(fraction * 2 * variance / (3 * 2 * advance))
    exponent = Fraction((2 * start + advance) * advance) / (2 * variance)
    assert (exponent > Fraction(1, 3)) == (fraction > 1)
    cut = scaled(exp_minus(exponent), 64)
    words = [cut + sign * (1 << place) for place in range(57) for sign in (-1, 1)]
    coin = gaussian.Acceptance(np.full(len(words), start), np.full(len(words), advance), variance)
    assert Scripted(words).decide(coin, len(words)).tolist() == [int(word < cut) for word in words]


starts_and_advances = st.tuples(st.integers(0, 600), st.integers(0, 1 << 62), st.integers(0, 1 << 62))


@given(
    variance=RANDOM_VARIANCES.filter(lambda v: v > 4200), draw=starts_and_advances, word=st.integers(-70, 70)
)
@settings(deadline=None, max_examples=examples(300))
def test_acceptance_compares_with_the_exponential(variance, draw, word):
    shift = low_bits(variance)
    start = draw[0] << shift
    advance = draw[1] % ((1 << shift) + 1)
    exponent = Fraction((2 * start + advance) * advance) / (2 * variance)
    cut = scaled(exp_minus(exponent), 64)
    distance = (-1 if word < 0 else 1) * (1 << min(abs(word), 62))
    uniform = min(max(cut + distance, 0), 2**64 - 1)
    coin = gaussian.Acceptance(np.array([start]), np.array([advance]), variance)
    if uniform == cut:
        return
    assert Scripted([uniform]).decide(coin, 1)[0] == int(uniform < cut)


def test_lanes_past_the_first_batch_meet_their_own_candidate():
    variance = Fraction(10**8)
    size = (1 << 17) + 5
    advances = np.zeros(size, np.int64)
    advances[-1] = 100
    starts = np.full(size, 300 << low_bits(variance))
    exponent = Fraction((2 * int(starts[-1]) + 100) * 100) / (2 * variance)
    cut = scaled(exp_minus(exponent), 64)
    words = [0] * (size - 1) + [cut + 1]
    kept = Scripted(words).decide(gaussian.Acceptance(starts, advances, variance), size)
    assert kept[-1] == 0
    assert kept[:-1].all()


# The work of a draw


@pytest.mark.parametrize("variance", [Fraction(1, 100), Fraction(1), Fraction(100), Fraction(64**2)])
def test_a_draw_from_one_table_takes_one_word(variance):
    source = Counting()
    for _ in range(500):
        before = source.drawn
        sample_gaussian(variance, 1, source)
        assert source.drawn == before + 1


@pytest.mark.statistical
@pytest.mark.parametrize("variance", [Fraction(10**4), Fraction(10**8)])
def test_blocks_are_rejected_rarely(variance):
    source = Counting()
    sample_gaussian(variance, 200_000, source)
    trials = source.drawn / 3
    assert 200_000 <= trials < 200_000 / 0.97


@pytest.mark.parametrize("size", [0, 1, 2**16, 2**16 + 1])
@pytest.mark.parametrize("variance", [Fraction(9), Fraction(10**8)])
def test_any_number_of_values_can_be_drawn(variance, size):
    drawn = sample_gaussian(variance, size, System())
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64


@pytest.mark.statistical
def test_an_acceptance_without_its_sign_term_is_caught(monkeypatch):
    """Plant the bug: negative candidates judged by x instead of x + 1."""

    class Careless(gaussian.Acceptance):
        def __init__(self, starts, advances, variance, least=0):
            super().__init__(starts, np.maximum(advances - 1, 0), variance, least)

    monkeypatch.setattr(gaussian, "Acceptance", Careless)
    with pytest.raises(AssertionError):
        test_a_candidate_is_kept_exactly_below_its_cut(Fraction(10**6))


def test_a_taylor_polynomial_with_one_wrong_term_is_caught(monkeypatch):
    wrong = list(gaussian.TAYLOR)
    wrong[3] *= 1 + 1e-3
    monkeypatch.setattr(gaussian, "TAYLOR", wrong)
    with pytest.raises(AssertionError):
        test_a_candidate_is_kept_exactly_below_its_cut(Fraction(10**6))


def test_gaussian_between_is_the_law():
    for variance in (Fraction(1, 4), Fraction(100)):
        between = gaussian_between(float(variance))
        assert between(-3, 2) == pytest.approx(float(sum(gaussian_mass(variance, y) for y in range(-3, 2))))


# Candidates that are kept at sight


@pytest.mark.parametrize("variance", [4097, 10**6, 2**40 + Fraction(1, 3), 2**80], ids=str)
def test_every_candidate_of_a_table_is_kept_more_often_than_the_least(variance):
    variance, shift = Fraction(variance), low_bits(Fraction(variance))
    last, least = least_kept(variance, shift)
    assert last == max(block_table(variance, shift)._values)
    end = last + (1 << shift)
    exact = exp_minus((end * end - last * last) / (2 * variance))
    assert 0.6 < least / 2**64 <= exact
    assert exact - least / 2**64 < 0.06


@pytest.mark.parametrize("least", [0, 1, 2**63, 2**64 - 1])
def test_lanes_are_judged_by_their_words_alone(least):
    words = np.array([0, 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1], np.uint64)
    judged = []

    def judge(lanes):
        judged.extend(lanes.tolist())
        return lanes % 2 == 0

    kept = keep_lanes(words, least, judge)
    assert judged == [lane for lane, word in enumerate(words.tolist()) if word >= least]
    assert kept.tolist() == [int(word < least or lane % 2 == 0) for lane, word in enumerate(words.tolist())]


def test_a_block_beyond_the_table_is_never_kept_at_sight(monkeypatch):
    """There candidates may be kept more rarely than those of the table."""
    variance = Fraction(10**6)
    shift, seen = low_bits(variance), []

    class Beyond(gaussian.Acceptance):
        def __init__(self, starts, advances, variance, least=0):
            seen.append((int(starts.max()), least))
            super().__init__(starts, advances, variance, least)

    monkeypatch.setattr(gaussian, "Acceptance", Beyond)
    last, least = least_kept(variance, shift)
    for start, expected in ((last, least), (last + (1 << shift), 0)):
        monkeypatch.setattr(gaussian, "block_table", lambda *_, start=start: Fixed(start))
        sample_gaussian(variance, 1, System())
        assert seen[-1] == (start, expected)


class Fixed:
    """A table with one block."""

    blocks = 1

    def __init__(self, start):
        self._start = start

    def outcomes(self, words, lane, source):
        del lane, source
        return np.full(len(words), self._start)
