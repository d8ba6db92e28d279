"""Trials where they are rare: after refusals, in long lists and in full ones, and close to the edge."""

from __future__ import annotations

from dataclasses import replace

import mpmath
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from scipy import stats

from discreet.learning.deep.accelerator import device_noise, noise_trials
from discreet.learning.deep.accelerator.noisy_sums import NOT_DRAWN
from discreet.noise.one_word_gaussian import BLOCKS, CELLS, noise_tables
from learning.deep.accelerator.test_device_noise import (
    DEVICE,
    KEY,
    LANES,
    PROGRAM,
    added_by,
    drawn_by,
    expected_noise,
    in_doubt,
    noise_with,
    rest_draw,
    share,
    trial,
    with_noise,
    words_of,
)


def listed_everywhere(programs):
    """Noise that calls every draw one of the rest, of which a program lists the first 128 of its lanes."""
    noise = noise_with(KEY)
    noise._limit = 0
    listed = np.add.outer(np.arange(programs) * PROGRAM, np.add.outer(np.arange(8), LANES * np.arange(16)))
    return noise, listed.reshape(-1)


def drawn(number, tables):
    program, inside = divmod(int(number), PROGRAM)
    place, lane = divmod(inside, LANES)
    return rest_draw(KEY, program * LANES + lane, place, tables)


def refusals(number):
    """How many trials of a draw are refused before one is accepted, of the first four."""
    program, inside = divmod(int(number), PROGRAM)
    place, lane = divmod(inside, LANES)
    words, more, last = (
        words_of(KEY, program * LANES + lane, 1, stream + place).reshape(4, 4) for stream in (1, 17, 33)
    )
    found = [trial(*given, noise_tables()) for given in zip(words, more, last, strict=True)]
    return next((i for i, one in enumerate(found) if one is not None), 4)


@pytest.mark.parametrize("margin", [16, 2**61])
def test_a_draw_whose_first_trials_are_refused_goes_on_with_other_words(margin, monkeypatch):
    """One in 370 draws is decided by a second block of words, or a later one: here, of two programs, two."""
    in_doubt(monkeypatch, margin)
    noise, listed = listed_everywhere(2)
    noise._first = 9 * LANES
    late = [int(number) for number in listed if refusals(number + 9 * PROGRAM) == 4]
    assert len(late) == 2
    found = drawn_by(noise, 2 * PROGRAM)
    expected = [drawn(number + 9 * PROGRAM, noise_tables()) for number in late]
    assert np.array_equal(found[late], expected)


def late_trial():
    """The first trial under turn 1 of a draw of which all four under turn 0 are refused, and its block."""
    number = 19_073
    assert refusals(number) == 4
    program, inside = divmod(number, PROGRAM)
    place, lane = divmod(inside, LANES)
    words, more, last = (
        words_of(KEY, program * LANES + lane, 1, stream + place, turn=1) for stream in (1, 17, 33)
    )
    return program, inside, [int(word) for word in words[:4]], more[:4], last[:2]


@pytest.mark.parametrize("above", [0, 1])
def test_more_digits_of_a_late_trial_are_those_of_its_turn(above):
    """A cut point is planted that is its position to 164 bits, or one more."""
    program, inside, (one, two, *_), more, _ = late_trial()
    cuts, usual = noise_tables().cuts.copy(), noise_tables()
    digits = sum(int(word) << 32 * (3 - i) for i, word in enumerate(more)) + above
    cuts[one >> 21] = (one & 0xFFFFF) << 16 | (two & 0xFFFF), digits >> 64, digits & (2**64 - 1)
    noise, _ = listed_everywhere(1)
    noise._first = program * LANES
    noise._cuts = torch.from_numpy(cuts.view("int64")).to(DEVICE)
    place, lane = divmod(inside, LANES)
    expected = rest_draw(KEY, program * LANES + lane, place, replace(usual, cuts=cuts))
    assert drawn_by(noise, PROGRAM)[inside] == expected


def test_more_bits_of_a_late_trial_are_those_of_its_turn():
    """A share is planted with which it is on the edge, but for the last bits of 124."""
    program, inside, (one, two, three, four), _, last = late_trial()
    usual = noise_tables()
    position = (one & 0xFFFFF) << 16 | (two & 0xFFFF)
    block = one >> 21 if position < int(usual.cuts[one >> 21, 0]) else int(usual.others[one >> 21])
    magnitude, found = block << 16 | two >> 16, []
    with mpmath.workprec(400):
        power = mpmath.exp(-mpmath.mpf((two >> 16) * ((block << 17) + (two >> 16) + 1)) / 2**47)
        level = (
            mpmath.mpf((three << 32 | four) >> 2 << 62 | (int(last[0]) << 32 | int(last[1])) >> 2) / 2**124
        )
        edge = int(mpmath.floor((power - level) / (1 - level) * 2**124))
    for part in (edge - 2**17, edge + 2**17):
        shares = usual.shares.copy()
        shares[block] = part >> 62, part & (2**62 - 1)
        noise, _ = listed_everywhere(1)
        noise._first = program * LANES
        noise._shares = torch.from_numpy(shares.view("int64")).to(DEVICE)
        found.append(drawn_by(noise, PROGRAM)[inside])
    candidate = ~magnitude if one >> 20 & 1 else magnitude
    assert found[0] == candidate
    assert found[1] != candidate


def test_so_many_trials_and_so_long_a_list_are_enough():
    """Giving up, and draws of a program that do not fit into its list, have a probability below 2^-160."""
    cells = np.bincount(np.maximum(noise_tables().blocks[: noise_tables().decided], 0), minlength=BLOCKS)
    cells[0] = np.count_nonzero(noise_tables().blocks[: noise_tables().decided] == 0)
    starts = (
        2.0**32 * np.exp(-((2.0 * (np.arange(BLOCKS) << 16) + 1) ** 2) / 2**49) / (2 * np.pi * 2**46) ** 0.5
    )
    rest = CELLS - noise_tables().decided
    refused = 1 - rest / (2 * (starts - cells).sum())
    assert 0.2 < refused < 0.25
    assert 4 * noise_trials._TURNS * np.log2(refused) < -160
    assert stats.binom.logsf(device_noise._MOST_REST, PROGRAM, rest / CELLS) < -160 * np.log(2)


def test_a_full_list_holds_128_draws_and_no_other_is_drawn():
    """All 2048 words of a program are called rest: the first are drawn so."""
    noise, listed = listed_everywhere(2)
    found = drawn_by(noise, 2 * PROGRAM)
    assert np.array_equal(np.flatnonzero(found != NOT_DRAWN), np.sort(listed))
    expected = np.array([drawn(number, noise_tables()) for number in listed])
    assert np.array_equal(found[listed], expected)


def test_no_sum_is_released_for_which_a_full_list_has_no_room():
    """All 2048 words of a program are called rest: where they are not listed, 0 is released."""
    (noise, listed), sums = listed_everywhere(2), list(range(5, 2 * PROGRAM - 300))
    found = added_by(noise, sums)
    inside = np.sort(listed[listed < len(sums)])
    expected = np.array([drawn(number, noise_tables()) for number in inside])
    assert np.array_equal(found[inside], with_noise(np.array(sums)[inside], expected))
    assert np.array_equal(np.flatnonzero(found), inside)


def test_no_more_is_released_than_there_are_sums():
    """Of a program for 2048 sums there are 300, of a part of memory."""
    for noise in (noise_with(KEY), listed_everywhere(1)[0]):
        whole = torch.full((PROGRAM,), 77, dtype=torch.int32, device=DEVICE)
        noise.add_to(whole[:300], 1.0)
        assert (whole[300:] == 77).all()
        assert (whole[:300] != 77).all()


@pytest.mark.slow
def test_no_sum_is_released_with_a_draw_that_is_given_up():
    """With shares of 1 no trial is accepted: 0 is released."""
    noise, sums = noise_with(KEY), list(range(5, PROGRAM + 5))
    noise._shares = torch.zeros_like(noise._shares)
    noise._shares[:, 0] = 2**62
    assert np.flatnonzero(added_by(noise, sums) == 0).tolist() == expected_noise(KEY, PROGRAM)[1]


@pytest.mark.slow
def test_a_draw_that_is_given_up_is_marked():
    """With shares of 1 no trial is accepted."""
    noise = noise_with(KEY)
    noise._shares = torch.zeros_like(noise._shares)
    noise._shares[:, 0] = 2**62
    found = drawn_by(noise, PROGRAM)
    assert np.flatnonzero(found == NOT_DRAWN).tolist() == expected_noise(KEY, PROGRAM)[1]


def test_lists_that_are_longer_than_usual_are_drawn_to_their_end():
    tables = replace(noise_tables(), decided=62_800)
    expected, rest = expected_noise(KEY, PROGRAM + 700, tables=tables)
    assert 64 < sum(number < PROGRAM for number in rest) <= 128
    noise = noise_with(KEY)
    noise._limit = tables.decided << 16
    assert np.array_equal(drawn_by(noise, PROGRAM + 700), expected)


def test_no_more_is_written_than_is_asked_for(monkeypatch):
    """Draws are for 2048 numbers, of the rest as well, and there are 300."""
    whole = torch.full((PROGRAM,), 77, dtype=torch.int32, device=DEVICE)
    honest = torch.empty
    listing, listed = listed_everywhere(1)
    for noise, expected in ((noise_with(KEY), range(300)), (listing, np.sort(listed[listed < 300]))):
        whole.fill_(77)
        monkeypatch.setattr(
            torch, "empty", lambda *size, **kind: whole[:300] if size == (300,) else honest(*size, **kind)
        )
        found = noise.draw(300).cpu().numpy()
        monkeypatch.undo()
        assert np.flatnonzero(found != NOT_DRAWN).tolist() == list(expected)
        assert (whole[300:] == 77).all()


@pytest.mark.parametrize("above", [0, 1])
def test_every_trial_of_a_block_has_digits_of_its_own(above):
    """Cut points are planted that tie to 164 bits with trials after the first, or are one more."""
    noise, listed = listed_everywhere(1)
    chosen = [int(number) for number in listed if 0 < refusals(number) < 4]
    cuts, usual = noise_tables().cuts.copy(), noise_tables()
    for number in chosen:
        place, lane = divmod(number, LANES)
        i = refusals(number)
        one, two = (int(word) for word in words_of(KEY, lane, 1, 1 + place)[4 * i : 4 * i + 2])
        more = words_of(KEY, lane, 1, 17 + place)[4 * i : 4 * i + 4]
        digits = sum(int(word) << 32 * (3 - k) for k, word in enumerate(more)) + above
        cuts[one >> 21] = (one & 0xFFFFF) << 16 | (two & 0xFFFF), digits >> 64, digits & (2**64 - 1)
    noise._cuts = torch.from_numpy(cuts.view("int64")).to(DEVICE)
    expected = [drawn(number, replace(usual, cuts=cuts)) for number in chosen]
    assert np.array_equal(drawn_by(noise, PROGRAM)[chosen], expected)


def product(one, other):
    return one * other >> 62


def test_doubt_is_wider_than_what_62_bits_may_be_off():
    """A share is planted with which 62 bits, rounded down, would refuse by four units what is accepted."""
    usual, (noise, listed) = noise_tables(), listed_everywhere(8)
    for number in listed:
        program, inside = divmod(int(number), PROGRAM)
        place, lane = divmod(inside, LANES)
        words, last = (words_of(KEY, program * LANES + lane, 1, stream + place) for stream in (1, 33))
        one, two, three, four = (int(word) for word in words[:4])
        position = (one & 0xFFFFF) << 16 | (two & 0xFFFF)
        block = one >> 21 if position < int(usual.cuts[one >> 21, 0]) else int(usual.others[one >> 21])
        steps = (two >> 16) * ((block << 17) + (two >> 16) + 1)
        small, powers = steps & 0x1FFFFF, usual.powers[:, :, 0].astype(object)
        power = product(powers[0, steps >> 33], powers[1, steps >> 21 & 0xFFF])
        power = product(power, 2**62 - (small << 15) + (small * small >> 33))
        with mpmath.workprec(400):
            uniform = (three << 32 | four) >> 2
            whole = mpmath.mpf(uniform << 62 | (int(last[0]) << 32 | int(last[1])) >> 2) / 2**124
            exact = mpmath.exp(-mpmath.mpf(steps) / 2**47) - mpmath.mpf(2) ** -100
            part = int(mpmath.floor((exact - whole) / (1 - whole) * 2**124))
        if part >= 0 and (part >> 62) + product(uniform, 2**62 - (part >> 62)) >= power + 4:
            break
    else:
        raise AssertionError("no candidate is rounded so far")
    shares = usual.shares.copy()
    shares[block] = part >> 62, part & (2**62 - 1)
    noise._shares = torch.from_numpy(shares.view("int64")).to(DEVICE)
    magnitude = block << 16 | two >> 16
    noise._first = program * LANES
    found = drawn_by(noise, PROGRAM)[inside]
    assert found == ~magnitude if one >> 20 & 1 else magnitude


@triton.jit
def _decide(words, noise, out, count: tl.constexpr):
    """Decide made-up trials, as the first of their blocks: twelve words of each."""
    others, cuts, shares, powers = noise
    place = words + 12 * tl.arange(0, count)
    taken = (
        (_word(place), _word(place + 1), _word(place + 2), _word(place + 3)),
        (_word(place + 4), _word(place + 5), _word(place + 6), _word(place + 7)),
        (_word(place + 8), _word(place + 9), _word(place + 10), _word(place + 11)),
    )
    _, is_taken = noise_trials._long_trial(taken[0], taken[1], taken[2], 0, others, cuts, shares, powers)
    tl.store(out + tl.arange(0, count), is_taken.to(tl.int32))


@triton.jit
def _word(place):
    return tl.load(place).to(tl.uint32, bitcast=True)


def test_trials_are_decided_to_94_bits_at_their_limit():
    """U is just below or just above it, in blocks near and far and at offsets of all sizes."""
    tables = noise_tables()
    blocks = [block for block in (*range(0, 600, 41), 2047) if int(tables.cuts[block, 0]) > 0]
    places = list(zip(blocks, (1, 77, 4096, 2**15, 2**16 - 2, 2**16 - 1, 31_337) * 3, strict=False))
    assert len(places) > 8
    rows, expected = [], []
    for block, offset in places:
        with mpmath.workprec(400):
            odd, first = 2 * (block << 16 | offset) + 1, 2 * (block << 16) + 1
            power = mpmath.exp(-mpmath.mpf(odd * odd - first * first) / 2**49)
            part = share(block, tables)
            limit = int(mpmath.floor((power - part) / (1 - part) * 2**124))
        for uniform, is_taken in ((limit - 2**30, 1), (limit + 2**30, 0)):
            high, low = uniform >> 62 << 2, (uniform & (2**62 - 1)) << 2
            words = [block << 21, offset << 16, high >> 32, high & (2**32 - 1), 0, 0, 0, 0]
            rows.append([*words, low >> 32, low & (2**32 - 1), 0, 0])
            expected.append(is_taken)
    count = 64
    rows += [rows[0]] * (count - len(rows))
    words = torch.from_numpy(np.array(rows, np.uint32).view(np.int32)).to(DEVICE)
    noise, out = noise_with(KEY), torch.zeros(count, dtype=torch.int32, device=DEVICE)
    _decide[(1,)](words, (noise._others, noise._cuts, noise._shares, noise._powers), out, count=count)
    assert out[: len(expected)].tolist() == expected
