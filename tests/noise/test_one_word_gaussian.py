"""Noise of one word: its tables are certified, and together they are nearly the floor of a normal number."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isqrt

import mpmath
import numpy as np
import pytest

from discreet.noise.one_word_gaussian import BLOCKS, CELLS, CUT_BITS, VARIANCE, noise_tables

PRECISION = 400
SPREAD = 2**46


def density(place):
    """D(k), whose norm is sqrt(2 pi w) to e^(-2 pi^2 w)."""
    with mpmath.workprec(PRECISION):
        half = mpmath.mpf(2 * place + 1)
        return mpmath.exp(-half * half / (8 * SPREAD)) / mpmath.sqrt(2 * mpmath.pi * SPREAD)


def whole(limbs, bits):
    found = 0
    for limb in limbs:
        found = found << bits | int(limb)
    return found


@cache
def cells_of():
    """How many cells each block has, on either side."""
    found = noise_tables().blocks[: noise_tables().decided].astype(int)
    upwards = np.bincount(found[found >= 0], minlength=BLOCKS)
    assert np.array_equal(upwards, np.bincount(~found[found < 0], minlength=BLOCKS))
    return upwards


@cache
def drawn_blocks():
    """The law of a trial's block that the alias table defines, as fractions."""
    tables = noise_tables()
    masses = [0] * BLOCKS
    for cell in range(BLOCKS):
        cut = whole(tables.cuts[cell], 64)
        masses[cell] += cut
        masses[int(tables.others[cell])] += (1 << (CUT_BITS + 128)) - cut
    return [Fraction(mass, BLOCKS << (CUT_BITS + 128)) for mass in masses]


@cache
def rest_of_blocks():
    """What a block would weigh beyond its cells if all its integers were as likely as the first, in cells."""
    with mpmath.workprec(PRECISION):
        return [density(h << 16) * 2**32 - int(cells_of()[h]) for h in range(BLOCKS)]


def law(place, blocks, share_of):
    """The probability of an integer by a cell, or by trials of which the first accepted one counts."""
    block, offset = divmod(place, 2**16)
    cells = int(cells_of()[block])
    with mpmath.workprec(PRECISION):
        steps = offset * (2 * (place - offset) + offset + 1)
        share = share_of(block)
        accepted = (mpmath.exp(-mpmath.mpf(steps) / 2**47) - share) / (1 - share)
        # All trials together are accepted with the mass of the rest, by that of all blocks of trials.
        rest = mpmath.mpf(CELLS - noise_tables().decided) / CELLS
        chance = rest / (2 * mpmath.fsum(rest_of_blocks()) / CELLS)
        trial = mpmath.mpf(blocks[block].numerator) / blocks[block].denominator
        return cells / mpmath.mpf(2) ** 32 + rest * trial / 2 / 2**16 * accepted / chance


def share_drawn(block):
    return mpmath.mpf(whole(noise_tables().shares[block], 62)) / 2**124


def distance(found, ideal):
    with mpmath.workprec(PRECISION):
        return abs(mpmath.log(found / ideal))


def test_no_block_has_more_cells_than_fit_and_each_as_many_as_do():
    assert noise_tables().decided == 2 * sum(cells_of())
    with mpmath.workprec(PRECISION):
        for block in (*range(0, 600, 7), BLOCKS - 1):
            least = density((block << 16) + 2**16 - 1) * 2**32
            assert cells_of()[block] == int(mpmath.floor(least))
    assert CELLS - noise_tables().decided < 0.011 * CELLS


def test_blocks_of_trials_have_their_masses_to_160_bits():
    with mpmath.workprec(PRECISION):
        total = mpmath.fsum(rest_of_blocks())
        off = mpmath.fsum(
            abs(mpmath.mpf(one.numerator) / one.denominator - other / total)
            for one, other in zip(drawn_blocks(), rest_of_blocks(), strict=True)
        )
        assert off < mpmath.mpf(2) ** -160
    assert sum(drawn_blocks()) == 1


def test_cut_points_of_36_bits_alone_would_be_told():
    off = sum(Fraction(int(cut) + 1, BLOCKS << (CUT_BITS + 64)) for cut in noise_tables().cuts[:, 1])
    assert off > Fraction(1, 2**40)


def test_cut_points_of_100_bits_alone_would_be_told():
    off = sum(Fraction(int(cut) + 1, BLOCKS << (CUT_BITS + 128)) for cut in noise_tables().cuts[:, 2])
    assert off > Fraction(1, 2**110)


def test_shares_and_powers_are_rounded_down_at_124_bits():
    tables = noise_tables()
    with mpmath.workprec(PRECISION):
        for block in (0, 1, 100, 500, BLOCKS - 1):
            ideal = int(cells_of()[block]) / (density(block << 16) * 2**32)
            assert whole(tables.shares[block], 62) == int(mpmath.floor(ideal * 2**124))
        for steps, powers in zip((2**33, 2**21), tables.powers, strict=True):
            for i in (0, 1, 2, 777, 4095):
                ideal = mpmath.exp(-mpmath.mpf(i * steps) / 2**47)
                assert whole(powers[i], 62) == int(mpmath.floor(ideal * 2**124))


@pytest.mark.parametrize("deviations", [0, 0.01, 1.3, 3.9, 5, 13])
def test_a_draw_has_the_law_at_every_place(deviations):
    first = int(deviations * 2**23)
    for place in range(first, first + 2**17, 13_331):
        found = law(place, drawn_blocks(), share_drawn)
        with mpmath.workprec(PRECISION):
            assert distance(found, density(place)) < mpmath.mpf(2) ** -115 + mpmath.mpf(2) ** -175 / found


def test_shares_of_fewer_bits_would_be_told():
    def coarse(block):
        return mpmath.floor(share_drawn(block) * 2**40) / 2**40

    found = law(1_000_000, drawn_blocks(), coarse)
    with mpmath.workprec(PRECISION):
        assert abs(found - density(1_000_000)) > mpmath.mpf(2) ** -90


def floor_of_normal(place, variance):
    with mpmath.workprec(PRECISION):
        deviation = mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)
        first = mpmath.mpf(place) / deviation
        return mpmath.quad(
            lambda y: mpmath.exp(-((first + y / deviation) ** 2) / 2) / deviation, [0, 1]
        ) / mpmath.sqrt(2 * mpmath.pi)


@pytest.mark.parametrize("deviations", [0, 0.01, 1.3, 13, 20])
def test_the_law_is_the_floor_of_a_normal_number_at_every_place(deviations):
    place = int(deviations * isqrt(int(VARIANCE)))
    assert distance(density(place), floor_of_normal(place, VARIANCE)) < mpmath.mpf(2) ** -83


@pytest.mark.parametrize("off", [Fraction(1, 12), Fraction(-1, 12)])
def test_another_variance_would_be_told(off):
    """The 1/12 of rounding is part of the law: one without it, or with twice of it, is not so close."""
    assert distance(density(0), floor_of_normal(0, VARIANCE + off)) > mpmath.mpf(2) ** -60


def test_far_integers_are_those_of_the_last_blocks():
    with mpmath.workprec(PRECISION):
        beyond = mpmath.erfc(mpmath.mpf(BLOCKS * 2**16) / mpmath.sqrt(2 * SPREAD))
        assert beyond < mpmath.mpf(2) ** -180
