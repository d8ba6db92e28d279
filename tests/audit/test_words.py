from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.audit import NotEnumerable, word_law
from discreet.noise.bernoulli import Coin, ExponentialCoins
from discreet.noise.choice import ExponentialWeightsDecision
from discreet.noise.gaussian import Acceptance, block_table, single_table
from discreet.noise.geometric import digit_tables
from discreet.noise.laplace import sign_table
from discreet.noise.powers import Powers
from discreet.noise.uniform import UniformBelow, UniformBits

UNIT = 1 << 128


@pytest.fixture(autouse=True)
def _precision():
    with mpmath.workprec(300):
        yield


def assert_law(law, expected, tail=0):
    """Every mass lies below the exact probability, by no more than what is undecided."""
    assert sum(law.masses.values()) + law.undecided == 1 << law.bits
    assert law.undecided <= len(law.pieces) + mpmath.mpf(tail) * 2**law.bits
    for outcome, probability in expected.items():
        exact = mpmath.mpf(probability) * 2**law.bits
        found = law.masses.get(outcome, 0)
        assert found <= exact <= found + len(law.pieces), outcome


def laplace_mass(y, scale):
    ratio = mpmath.exp(-1 / mpmath.mpf(scale.numerator) * scale.denominator)
    return (1 - ratio) / (1 + ratio) * ratio ** abs(y)


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1, 2), Fraction(1), Fraction(10)])
def test_law_of_a_sign_table_is_that_of_the_formula(scale):
    law = word_law(sign_table(scale))
    reach = max(law.masses)
    assert_law(law, {y: laplace_mass(y, scale) for y in range(-reach - 1, reach + 1)}, tail=2.0**-64)


@pytest.mark.few(2)
@pytest.mark.parametrize("variance", [Fraction(1, 10**4), Fraction(1), Fraction(50), Fraction(4096)])
def test_law_of_a_gaussian_table_is_that_of_the_formula(variance):
    law = word_law(single_table(variance))
    reach = max(law.masses)
    half = mpmath.mpf(variance.denominator) / (2 * variance.numerator)
    weights = {y: mpmath.exp(-half * y * y) for y in range(-2 * reach - 2, 2 * reach + 3)}
    total = mpmath.fsum(weights.values())
    assert_law(law, {y: weights[y] / total for y in range(-reach, reach + 1)}, tail=2.0**-64)


@pytest.mark.parametrize("table", [sign_table(Fraction(3)), single_table(Fraction(9))])
def test_borders_are_the_certified_cuts_of_the_table(table):
    law = word_law(table)
    width = UNIT // table.blocks
    ends = {}
    for first, last, _ in law.pieces:
        ends.setdefault(first // width, []).append(last)
    for cell in range(table.blocks):
        low, high = table.cut(cell, 400)
        if len(ends[cell]) == 2:
            border = ends[cell][0]
            assert (border - cell * width) << 272 <= high
            assert low <= (border + 1 - cell * width) << 272
        else:
            # One outcome fills the cell: its own mass is all of it, or nothing.
            assert high == 0 or low == width << 272 or table.alias(cell) == cell


def test_digits_are_geometric():
    step = mpmath.mpf(1) / 2**14
    law = word_law(digit_tables(Fraction(1 << 14), 10)[0][1])
    weights = [mpmath.exp(-digit * step) for digit in range(1 << 10)]
    assert_law(law, {digit: weight / mpmath.fsum(weights) for digit, weight in enumerate(weights)})


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(1, 2**70)])
def test_coin(p):
    assert_law(word_law(Coin(p)), {1: mpmath.mpf(p.numerator) / p.denominator})


@pytest.mark.parametrize(("bound", "bits"), [(1, 128), (3, 128), (100, 128), (7, 80)])
def test_uniform_below(bound, bits):
    law = word_law(UniformBelow(bound), bits=bits)
    assert_law(law, {k: mpmath.mpf(1) / bound for k in range(bound)})


def test_uniform_bits():
    assert_law(word_law(UniformBits(4)), {k: mpmath.mpf(1) / 16 for k in range(16)})


def test_lanes_of_coins_have_laws_of_their_own():
    coins = ExponentialCoins(np.array([0, 1, 7, 500]), Powers(Fraction(1, 3)))
    for lane, exponent in enumerate([0, 1, 7, 500]):
        assert_law(word_law(coins, lane), {1: mpmath.exp(-mpmath.mpf(exponent) / 3)})


def test_acceptance():
    accept = Acceptance(np.array([200, 0, 150]), np.array([1, 2, 0]), Fraction(10**4))
    for lane, exponent in enumerate([401, 4, 0]):
        assert_law(word_law(accept, lane), {1: mpmath.exp(-mpmath.mpf(exponent) / 20000)})


def test_choice_with_a_border_at_exactly_one_half():
    exponents = [1, 0, 1, 0, 120]
    weights = [mpmath.exp(-mpmath.mpf(k) / 2) for k in exponents]
    law = word_law(ExponentialWeightsDecision(np.array(exponents), Fraction(1, 2)))
    assert_law(law, {index: weight / mpmath.fsum(weights) for index, weight in enumerate(weights)})
    # Weights 1, 0, 1, 0 put the second border at 1/2, on which bits of zeros decide nothing.
    assert_law(word_law(ExponentialWeightsDecision(np.array(exponents[:4]), Fraction(1, 2))), {})


def test_all_lanes_of_a_table_share_one_law():
    table = sign_table(Fraction(2))
    assert word_law(table, 5) is word_law(table, 0)


def test_a_cut_that_is_off_by_two_words_is_seen():
    table = single_table.__wrapped__(Fraction(2))
    honest = word_law(table)
    table._cut_words[3] += np.uint64(2)
    tampered = word_law(table)
    moved = sum(abs(tampered.masses[y] - honest.masses[y]) for y in honest.masses)
    assert moved >= 1 << 64


def test_block_tables_are_symmetric():
    law = word_law(block_table(Fraction(10**4), 1))
    assert all(abs(law.masses[y] - law.masses[~y]) <= len(law.pieces) for y in law.masses if y >= 0)


class Lanes:
    """Two blocks whose order differs from lane to lane: a batch of words misleads."""

    blocks = 2

    def outcomes(self, words, lane, source):
        upper = (words >> np.uint64(63)).astype(np.int64)
        return upper ^ ((lane + np.arange(len(words))) % 2)


def test_a_rule_that_differs_between_lanes_is_not_mistaken_for_a_table():
    for lane in range(3):
        law = word_law(Lanes(), lane)
        assert [outcome for _, _, outcome in law.pieces] == [lane % 2, 1 - lane % 2]
        assert_law(law, {0: mpmath.mpf(1) / 2, 1: mpmath.mpf(1) / 2})


class Endless(Coin):
    def _settle(self, word, source):
        while True:
            source.bits(64)


def test_numbers_without_an_end_are_undecided():
    law = word_law(Endless(Fraction(1, 3)))
    assert law.undecided >= 1 << 64
    assert law.masses.keys() == {0, 1}


def test_too_many_outcomes_and_unstated_blocks_are_refused():
    with pytest.raises(NotEnumerable, match="more than"):
        word_law(UniformBelow(1 << 40))
    stranger = Coin(Fraction(1, 2))
    stranger.blocks = None
    with pytest.raises(NotEnumerable, match="blocks"):
        word_law(stranger)
