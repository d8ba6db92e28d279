"""The rest of the noise's law (`noise.one_word_gaussian`) on an accelerator: trials, decided by integers.

A block of the cipher has the words of four trials, of which the first that is accepted counts. They are
decided with 62 bits. Where that leaves a doubt, or where a cut point is met to 36 bits, in less than one of
2^30 trials, two more blocks of words and twice as many bits decide.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import triton
import triton.language as tl

from discreet.learning.deep.accelerator.chacha import chacha
from discreet.learning.deep.accelerator.grid_sizes import block_count
from discreet.learning.deep.accelerator.noisy_sums import released
from discreet.learning.deep.accelerator.quick_launches import launched_quickly

__all__ = ["add_rest", "draw_rest", "trials_for"]

_WIDTH = 32  # draws at once, in one warp
_LISTS = 4  # that a program reads, so that hardly any of its threads has no draw
_TURNS = 64
"""Blocks of four trials after which a draw is given up; trials are refused with a probability below 0.3."""
_MARGIN = 16
"""Units of 2^-62: more than the numbers that are compared may be off (lemma 4)."""
_LIMB = tl.constexpr(1 << 62)
_LOW = tl.constexpr((1 << 62) - 1)


def trials_for(programs: tuple[int]) -> tuple[int]:
    """Return how many programs draw what so many have listed."""
    return (block_count(_LISTS, programs[0]),)


@triton.jit
def _high(a, b):
    """Return a b 2^-62, rounded down, of numbers up to 2^62."""
    return (tl.umulhi(a, b) << 2) | ((a * b) >> 62)


@triton.jit
def _long_product(a, b, c, d):
    """Return (a 2^62 + b) (c 2^62 + d) 2^-124 in two limbs, at most three units of 2^-124 too small."""
    low = ((a * c) & _LOW) + _high(a, d) + _high(b, c)
    return _high(a, c) + (low >> 62), low & _LOW


@triton.jit
def _read(place):
    return tl.load(place).to(tl.uint64, bitcast=True)


@triton.jit
def _joined(one, other):
    return (one.to(tl.uint64) << 32) | other.to(tl.uint64)


@triton.jit
def _block(one, is_below, others):
    cell = (one >> 21).to(tl.int32)
    return tl.where(is_below, cell, tl.load(others + cell))


@triton.jit
def _steps(block, two):
    """Return t, of which 2^47 are 1 in the exponent of a candidate's power."""
    offset = (two >> 16).to(tl.uint64)
    return offset * ((block.to(tl.uint64) << 17) + offset + 1)


@triton.jit
def _trial(words, i: tl.constexpr, others, cuts, shares, powers, margin: tl.constexpr):
    """Say whether the block is below its cut, whether the candidate is accepted, and whether it is sure."""
    one, two, three, four = words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]
    cell = (one >> 21).to(tl.int32)
    position = ((one & 0xFFFFF).to(tl.uint64) << 16) | (two & 0xFFFF).to(tl.uint64)
    cut = _read(cuts + 3 * cell)
    block = _block(one, position < cut, others)
    steps = _steps(block, two)
    small = steps & 0x1FFFFF
    power = _high(
        _read(powers + 2 * (steps >> 33).to(tl.int32)),
        _read(powers + 2 * (4096 + ((steps >> 21) & 0xFFF).to(tl.int32))),
    )
    power = _high(power, _LIMB - (small << 15) + ((small * small) >> 33))
    share = _read(shares + 2 * block)
    level = share + _high(_joined(three, four) >> 2, _LIMB - share)
    is_sure = (level + margin <= power) | (level >= power + margin)
    return position < cut, level < power, is_sure & (position != cut)


@triton.jit
def _long_trial(words, more, last, i: tl.constexpr, others, cuts, shares, powers):
    """Decide a trial with 128 more bits of its position, and twice as many of all other numbers."""
    one, two, three, four = words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]
    cell = (one >> 21).to(tl.int32)
    position = ((one & 0xFFFFF).to(tl.uint64) << 16) | (two & 0xFFFF).to(tl.uint64)
    cut, second, third = _read(cuts + 3 * cell), _read(cuts + 3 * cell + 1), _read(cuts + 3 * cell + 2)
    digits, rest = _joined(more[4 * i], more[4 * i + 1]), _joined(more[4 * i + 2], more[4 * i + 3])
    is_below = (digits < second) | ((digits == second) & (rest < third))
    is_below = (position < cut) | ((position == cut) & is_below)
    block = _block(one, is_below, others)
    steps = _steps(block, two)
    coarse = powers + 2 * (steps >> 33).to(tl.int32)
    fine = powers + 2 * (4096 + ((steps >> 21) & 0xFFF).to(tl.int32))
    high, low = _long_product(_read(coarse), _read(coarse + 1), _read(fine), _read(fine + 1))
    # 1 - y + y^2 / 2 - y^3 / 6, for y = small / 2^47
    small = steps & 0x1FFFFF
    cube = ((small * small * small) // 6) >> 17
    square = ((small * small) << 29) & _LOW
    tail = _LIMB - (small << 15) + ((small * small) >> 33) - (square < cube).to(tl.uint64)
    high, low = _long_product(high, low, tail, (square - cube) & _LOW)
    share, least = _read(shares + 2 * block), _read(shares + 2 * block + 1)
    uniform, uniform_low = _joined(three, four) >> 2, _joined(last[4 * i], last[4 * i + 1]) >> 2
    level, level_low = _long_product(uniform, uniform_low, _LOW - share, _LIMB - least)
    level_low += least
    level += share + (level_low >> 62)
    level_low &= _LOW
    return is_below, (level < high) | ((level == high) & (level_low < low))


@triton.jit
def _rest(
    key,
    counter,
    stream,
    still,
    others,
    cuts,
    shares,
    powers,
    turns: tl.constexpr,
    margin: tl.constexpr,
):
    """Return draws from the rest of the law where `still` is 1, and where it is 1 after so many turns.

    A draw has the block of the cipher in which its word was, under a nonce of its own: (stream, turn), and
    (stream + 16, turn) and (stream + 32, turn) where more words are needed.
    """
    noise, turn = still * 0, 0
    while (turn < turns) & (tl.max(still) > 0):
        words = chacha(key, counter, stream, turn)
        below, taken, doubt = noise * 0, noise * 0, noise * 0
        for i in tl.static_range(4):
            is_below, is_taken, is_sure = _trial(words, i, others, cuts, shares, powers, margin)
            below |= is_below.to(tl.int32) << i
            taken |= is_taken.to(tl.int32) << i
            doubt |= 1 - is_sure.to(tl.int32)
        if tl.max(doubt & still) > 0:
            more = chacha(key, counter, stream + 16, turn)
            last = chacha(key, counter, stream + 32, turn)
            below, taken = noise * 0, noise * 0
            for i in tl.static_range(4):
                is_below, is_taken = _long_trial(words, more, last, i, others, cuts, shares, powers)
                below |= is_below.to(tl.int32) << i
                taken |= is_taken.to(tl.int32) << i
        for i in tl.static_range(4):
            block = _block(words[4 * i], ((below >> i) & 1) == 1, others)
            found = (block << 16) | (words[4 * i + 1] >> 16).to(tl.int32)
            found = tl.where(((words[4 * i] >> 20) & 1) == 1, ~found, found)
            noise = tl.where((still & (taken >> i)) == 1, found, noise)
            still &= ~(taken >> i)
        turn += 1
    return noise, still


@triton.jit
def _listed(counts, programs, lists: tl.constexpr, most: tl.constexpr):
    """Return how many draws the lists of a program have."""
    many = 0
    for i in tl.static_range(lists):
        number = tl.program_id(0) * lists + i
        many += tl.minimum(tl.load(counts + number, mask=number < programs, other=0), most)
    return many


@triton.jit
def _listed_draws(
    key,
    first,
    listed,
    counts,
    programs,
    start,
    others,
    cuts,
    shares,
    powers,
    lanes: tl.constexpr,
    most: tl.constexpr,
    lists: tl.constexpr,
    width: tl.constexpr,
    turns: tl.constexpr,
    margin: tl.constexpr,
):
    """Return where some draws of a program's lists belong, which are listed, which are drawn, and the noise.

    A draw has the block of the cipher in which its word was, under nonces that begin at 1 + its place there.
    """
    item = start + tl.arange(0, width)
    number, before, end = item * 0 + tl.program_id(0) * lists, item * 0, 0
    for i in tl.static_range(lists):
        here = tl.program_id(0) * lists + i
        end += tl.minimum(tl.load(counts + here, mask=here < programs, other=0), most)
        number += (item >= end).to(tl.int32)
        before = tl.where(item >= end, end, before)
    is_listed = item < end
    place = listed + number.to(tl.int64) * most + item - before
    place = tl.load(place, mask=is_listed, other=0).to(tl.int32)
    counter = first.to(tl.uint32) + (number * lanes + place % lanes).to(tl.uint32)
    stream = 1 + (place // lanes).to(tl.uint32)
    still = is_listed.to(tl.int32)
    noise, still = _rest(key, counter, stream, still, others, cuts, shares, powers, turns, margin)
    return number.to(tl.int64) * (16 * lanes) + place, is_listed, still == 0, noise


@launched_quickly
@triton.jit(do_not_specialize=["first"])
def draw_rest(
    out,
    key,
    first,
    listed,
    counts,
    others,
    cuts,
    shares,
    powers,
    count,
    programs,
    lanes: tl.constexpr,
    most: tl.constexpr,
    lists: tl.constexpr = _LISTS,
    width: tl.constexpr = _WIDTH,
    turns: tl.constexpr = _TURNS,
    margin: tl.constexpr = _MARGIN,
):
    """Write the draws that are listed: they are from the rest of the law."""
    for start in range(0, _listed(counts, programs, lists, most), width):
        place, is_listed, is_drawn, noise = _listed_draws(
            key,
            first,
            listed,
            counts,
            programs,
            start,
            others,
            cuts,
            shares,
            powers,
            lanes,
            most,
            lists,
            width,
            turns,
            margin,
        )
        tl.store(out + place, noise, mask=is_listed & is_drawn & (place < count))


@launched_quickly
@triton.jit(do_not_specialize=["first", "scale"])
def add_rest(
    steps,
    key,
    first,
    listed,
    counts,
    others,
    cuts,
    shares,
    powers,
    count,
    programs,
    scale,
    lanes: tl.constexpr,
    most: tl.constexpr,
    lists: tl.constexpr = _LISTS,
    width: tl.constexpr = _WIDTH,
    turns: tl.constexpr = _TURNS,
    margin: tl.constexpr = _MARGIN,
):
    """Release sums where draws are listed, with these draws, or 0 where one is given up."""
    for start in range(0, _listed(counts, programs, lists, most), width):
        place, is_listed, is_drawn, noise = _listed_draws(
            key,
            first,
            listed,
            counts,
            programs,
            start,
            others,
            cuts,
            shares,
            powers,
            lanes,
            most,
            lists,
            width,
            turns,
            margin,
        )
        inside = is_listed & (place < count)
        value = released(tl.load(steps + place, mask=inside, other=0), noise, scale)
        tl.store(steps + place, tl.where(is_drawn, value, 0), mask=inside)
