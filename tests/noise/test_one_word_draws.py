"""Draws on the processor: words become integers, and what is of the rest is drawn by exact trials."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from discreet.errors import ParameterError
from discreet.noise import is_private, one_word_draws
from discreet.noise.entropy import KeyedSource, Replay, System
from discreet.noise.one_word_draws import OneWordDraws, TrialAcceptance, one_word_parts
from discreet.noise.one_word_gaussian import BLOCKS, CELLS, noise_tables
from noise.oracle import high, real, scaled
from noise.sources import Counting, Scripted
from noise.tables import check_every_entry
from noise.test_one_word_gaussian import PRECISION, cells_of, density
from significance import FALSE_ALARM, fit_p_value

DRAWS = 1_000_000


def vector(size, source):
    draws = OneWordDraws(size, source)
    return np.concatenate([draws.next(min(2**15, size - start)) for start in range(0, size, 2**15)])


def test_words_become_their_block_and_offset():
    tables = noise_tables()
    cells = [0, 1, tables.decided // 2 - 1, tables.decided // 2, tables.decided - 1, 777]
    offsets = [0, 1, 2**15, 2**16 - 1, 4711, 99]
    halves = [cell << 16 | offset for cell, offset in zip(cells, offsets, strict=True)]
    words = np.array(halves, np.uint32).view(np.uint64).tolist()
    draws = OneWordDraws(9, System())
    draws._source = Scripted(words)
    expected = [(int(tables.blocks[c]) << 16) + o for c, o in zip(cells, offsets, strict=True)]
    assert draws.next(6).tolist() == expected
    # All others are the rest: whatever the word, it is given the value of the next trial that was accepted.
    kept = draws._rest[:2].tolist()
    rest = np.array([tables.decided << 16, (CELLS - 1) << 16 | 5], np.uint32).view(np.uint64).tolist()
    draws._source = Scripted(rest)
    assert draws.next(2).tolist() == kept


def test_every_entry_of_the_table_of_trials():
    with high.workprec(1200):
        greatest = high.mpf(2) ** 32 / high.sqrt(2 * high.pi * 2**46)
        starts = [greatest * high.exp(-high.mpf((2 * (h << 16) + 1) ** 2) / 2**49) for h in range(BLOCKS)]
        weights = [start - int(cells) for start, cells in zip(starts, cells_of(), strict=True)]
        masses = [weight / (2 * high.fsum(weights)) for weight in weights]
    values = [value for block in range(BLOCKS) for value in (block, ~block)]
    table = one_word_draws._rest_table()
    check_every_entry(table, lambda value: masses[max(value, ~value)], values, tail=False)


def check_cuts():
    for block, offset in ((0, 1), (0, 2**16 - 1), (130, 40_000), (400, 2**15), (700, 2**16 - 1)):
        with mpmath.workprec(PRECISION):
            share = int(cells_of()[block]) / (density(block << 16) * 2**32)
            steps = offset * ((block << 17) + offset + 1)
            power = mpmath.exp(-mpmath.mpf(steps) / 2**47)
            cut = scaled((power - share) / (1 - share), 256)
        floor, rest = cut >> 192, (cut >> 128) & (2**64 - 1)
        for word, bits, kept in (
            (floor - 1, [], 1),
            (floor + 1, [], 0),
            (floor, [rest - 1], 1),
            (floor, [rest + 1], 0),
            (floor - (1 << 50), [], 1),
            (floor + (1 << 50), [], 0),
        ):
            if not all(0 <= each < 1 << 64 for each in (word, *bits)):
                continue
            source = Scripted([word], bits)
            found = source.decide(TrialAcceptance(np.array([block]), np.array([offset])), 1)
            assert found.tolist() == [kept]
            assert source.spent


def test_a_trial_is_accepted_exactly_below_its_cut():
    check_cuts()


def test_a_share_that_is_a_little_off_is_caught(monkeypatch):
    exact = one_word_draws._share
    monkeypatch.setattr(
        one_word_draws,
        "_share",
        lambda block, bits: tuple(end + (1 << (bits - 60)) for end in exact(block, bits)),
    )
    with pytest.raises(AssertionError):
        check_cuts()


def test_shares_in_floats_are_within_their_bound():
    with mpmath.workprec(PRECISION):
        for block in (0, 5, 130, 500, BLOCKS - 1):
            share = int(cells_of()[block]) / (density(block << 16) * 2**32)
            assert abs(real(Fraction(float(one_word_draws._shares()[block]))) - share) < mpmath.mpf(2) ** -50


def between(deviation):
    return lambda a, b: float(np.diff(stats.norm.cdf(np.array([a, b]) / deviation))[0])


@pytest.mark.statistical
def test_the_law():
    drawn = vector(DRAWS, System())
    edges = np.arange(-35, 36) * (2**23 // 7)
    assert fit_p_value(drawn, between(2**23), edges) > FALSE_ALARM
    assert fit_p_value(drawn, between(2**23 * 1.02), edges) < FALSE_ALARM
    assert stats.chisquare(np.bincount(drawn & 15, minlength=16)).pvalue > FALSE_ALARM


@pytest.mark.statistical
def test_the_law_of_the_rest():
    """What cells leave, bin by bin: it is not the whole law."""
    drawn = one_word_draws._draw_rest(150_000, System())
    upwards = cells_of()
    edges = np.arange(-70, 71) * 2**19
    blocks = np.arange(-BLOCKS, BLOCKS)
    cells = np.concatenate([upwards[::-1], upwards])
    whole = 1 - noise_tables().decided / CELLS

    def law(a, b):
        inside = cells[(blocks << 16 >= a) & (blocks << 16 < b)].sum() / CELLS
        return max(0.0, between(2**23)(a, b) - inside) / whole

    assert fit_p_value(drawn, law, edges) > FALSE_ALARM
    assert fit_p_value(drawn, between(2**23), edges) < FALSE_ALARM


def check_range():
    drawn = vector(200_000, System())
    assert np.abs(drawn.astype(np.int64)).max() < 2**27


def test_what_is_of_the_rest_is_drawn():
    check_range()


def test_one_of_the_rest_that_is_left_undrawn_is_caught(monkeypatch):
    honest = np.flatnonzero
    monkeypatch.setattr(one_word_draws.np, "flatnonzero", lambda found: honest(found)[1:])
    with pytest.raises(AssertionError):
        check_range()


@pytest.mark.parametrize("size", [0, 1, 1000, 2**16 + 1])
def test_the_work_is_that_of_the_size(size):
    source = Counting()
    trials = one_word_draws._trials(size)
    for _ in range(3):
        before, draws = source.drawn, OneWordDraws(size, source)
        for start in range(0, size, 2**16):
            draws.next(min(2**16, size - start))
        assert source.drawn - before == -(-size // 2) + 3 * trials


def test_trials_that_do_not_suffice_are_followed_by_more(monkeypatch):
    monkeypatch.setattr(one_word_draws, "_trials", lambda size: 2)
    draws = OneWordDraws(100, System())
    draws._source = Scripted([2**64 - 1] * 50, then=System())
    assert len(set(draws.next(100).tolist())) > 90
    assert one_word_draws._kept() == pytest.approx(
        len(one_word_draws._draw_rest(50_000, System())) / 50_000, abs=0.02
    )


def test_a_vector_is_drawn_some_at_a_time():
    draws = OneWordDraws(1000, System())
    first = draws.next(601)
    assert not np.array_equal(first[:399], draws.next(399))
    for count in (1, -1, 2**17):
        with pytest.raises(ParameterError, match="count"):
            draws.next(count)
    assert len(draws.next(0)) == 0


def test_parts_make_up_the_vector_and_have_words_of_their_own():
    sizes = {0: [0], 5: [0], 2**16: [0], 2**16 + 1: [0, 2**16], 3 * 2**16: [0, 3 * 2**15]}
    for size, starts in sizes.items():
        parts = one_word_parts(size, System())
        assert [start for start, _ in parts] == starts
        assert sum(draws._left for _, draws in parts) == size
    assert len(one_word_parts(3 * 2**20 + 1, System())) == 4
    both = [one_word_parts(2**18, Replay(3)) for _ in range(2)]
    found = [[draws.next(1000).tolist() for _, draws in parts] for parts in (both[0], both[1][::-1])]
    assert found[0] == found[1][::-1]  # whichever thread is first
    assert found[0][0] != found[0][1]


def test_a_branch_is_as_private_as_its_source():
    assert is_private(KeyedSource(System()).mark(0))
    assert not is_private(KeyedSource(Replay(1)).mark(0))


@pytest.mark.parametrize("size", [3, 1000, 20_000])
def test_words_of_a_branch_are_fresh_every_time(size):
    """Else all chunks of a part would have the same noise, and releases would tell their difference."""
    source = KeyedSource(System())
    words = np.concatenate([source.words(size) for _ in range(5)])
    assert len(np.unique(words)) == 5 * size
    ((_, draws),) = one_word_parts(2**16, System())
    first, second = draws.next(2**15), draws.next(2**15)
    assert (first == second).sum() < 10
