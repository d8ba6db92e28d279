"""Noise on an accelerator: drawn in registers, added to sums of gradients, never written out by itself.

Random words are those of ChaCha20 (RFC 8439) under a key of 256 bits that is drawn from secure entropy for
every step, so that no word is ever used twice. Two words make one draw (`noise.stacked_gaussian`).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.noise import Source
from discreet.noise.stacked_gaussian import FACTOR, look_up_table

__all__ = ["DeviceNoise", "blocks_for"]

_LANES = 128  # blocks of the cipher in one program, each for eight draws; by time measured
_DRAWS = 8
_SETTLED = 32  # blocks whose draws are drawn again together if one of them is not decided


def blocks_for(count: int) -> int:
    """Return how many blocks of the cipher so many draws take."""
    return triton.cdiv(count, _DRAWS * _LANES) * _LANES


class DeviceNoise:
    """Adds noise to sums where they are.

    Parameters
    ----------
    device : torch.device
    """

    def __init__(self, device: torch.device) -> None:
        table = look_up_table()
        self._entries = torch.from_numpy(table.entries.view("int32")).to(device)
        self._digits = torch.from_numpy(table.digits.view("int32")).to(device)
        self._key = torch.zeros(8, dtype=torch.int32, device=device)
        self._first = 0

    def renew(self, source: Source) -> None:
        """Draw the key of one step."""
        words = torch.from_numpy(source.words(4).view("int32").copy())
        self._key.copy_(words.pin_memory() if self._key.is_cuda else words, non_blocking=True)

    def release(self, sums: Tensor, out: Tensor, shift: int, scale: float) -> None:
        """Write scale times (the sums in grid steps, plus noise).

        Parameters
        ----------
        sums : tensor of int32 or int64
            Grid steps, at most 2^30; or integers of which 2^shift are one step, and which are rounded to the
            nearest one.
        out : tensor of float32
            As many numbers.
        shift : int
            At least 1: log2 of a grid step.
        scale : float
            What grid steps are multiplied by.
        """
        count = sums.numel()
        if count == 0:
            return
        blocks = blocks_for(count)
        if self._first + blocks > 2**32:
            raise OverflowError("more noise than one key is for")
        programs = blocks // _LANES
        is_open = torch.empty(blocks // _SETTLED, dtype=torch.int32, device=sums.device)
        given = (sums, out, self._key, self._first, self._entries, is_open, shift, scale, count)
        common = {"factor": FACTOR, "lanes": _LANES, "settled": _SETTLED}
        _release_kernel[(programs,)](*given, **common)
        _settle_kernel[(programs,)](*given, self._digits, **common, num_warps=1)
        self._first += blocks

    def forget(self) -> None:
        """Overwrite the key; the next noise begins with the first block of the cipher."""
        self._key.zero_()
        self._first = 0


@triton.jit
def _rotate(x, places: tl.constexpr):
    return (x << places) | (x >> (32 - places))


@triton.jit
def _quarter(a, b, c, d):
    a += b
    d = _rotate(d ^ a, 16)
    c += d
    b = _rotate(b ^ c, 12)
    a += b
    d = _rotate(d ^ a, 8)
    c += d
    b = _rotate(b ^ c, 7)
    return a, b, c, d


@triton.jit
def _chacha(key, counter, stream):
    """Return the sixteen words of a block: number `counter` of a stream."""
    zero = counter * 0
    s0, s1, s2, s3 = zero + 0x61707865, zero + 0x3320646E, zero + 0x79622D32, zero + 0x6B206574
    k0, k1, k2, k3 = _word(key, zero), _word(key + 1, zero), _word(key + 2, zero), _word(key + 3, zero)
    k4, k5, k6, k7 = _word(key + 4, zero), _word(key + 5, zero), _word(key + 6, zero), _word(key + 7, zero)
    nonce = zero + stream
    x0, x1, x2, x3, x4, x5, x6, x7 = s0, s1, s2, s3, k0, k1, k2, k3
    x8, x9, x10, x11, x12, x13, x14, x15 = k4, k5, k6, k7, counter, nonce, zero, zero
    for _ in range(10):
        x0, x4, x8, x12 = _quarter(x0, x4, x8, x12)
        x1, x5, x9, x13 = _quarter(x1, x5, x9, x13)
        x2, x6, x10, x14 = _quarter(x2, x6, x10, x14)
        x3, x7, x11, x15 = _quarter(x3, x7, x11, x15)
        x0, x5, x10, x15 = _quarter(x0, x5, x10, x15)
        x1, x6, x11, x12 = _quarter(x1, x6, x11, x12)
        x2, x7, x8, x13 = _quarter(x2, x7, x8, x13)
        x3, x4, x9, x14 = _quarter(x3, x4, x9, x14)
    return (
        x0 + s0,
        x1 + s1,
        x2 + s2,
        x3 + s3,
        x4 + k0,
        x5 + k1,
        x6 + k2,
        x7 + k3,
        x8 + k4,
        x9 + k5,
        x10 + k6,
        x11 + k7,
        x12 + counter,
        x13 + nonce,
        x14,
        x15,
    )


@triton.jit
def _word(place, zero):
    return tl.load(place).to(tl.uint32, bitcast=True) + zero


@triton.jit
def _look_up(word, entries):
    """Return cell, other magnitude, position and cut of a look-up."""
    cell = word >> 16
    entry = tl.load(entries + cell).to(tl.uint32, bitcast=True)
    return cell, entry & 0xFFFF, (word >> 1) & 0x7FFF, entry >> 16


@triton.jit
def _signed(word, magnitude):
    found = magnitude.to(tl.int32)
    return tl.where((word & 1) == 1, -found, found)


@triton.jit
def _draw(word, entries):
    """Return a draw, and whether its position is that of the cut, so that it is not yet decided."""
    cell, other, position, cut = _look_up(word, entries)
    return _signed(word, tl.where(position < cut, cell, other)), (position == cut).to(tl.int32)


@triton.jit
def _narrow(word, more, place: tl.constexpr, below, still, digits):
    """Decide, where that is open, by one more word and a digit of the cut point.

    `below` and `still` have a bit for each look-up of a lane: whether it is below its cut, and whether that
    is not yet decided.
    """
    digit = _word(digits + (word >> 16).to(tl.int64) * 4, word * 0)
    is_open = (still >> place) & 1
    below |= (is_open & (more < digit).to(tl.uint32)) << place
    still ^= (is_open & (more != digit).to(tl.uint32)) << place
    return below, still


@triton.jit
def _decided(word, entries, is_below):
    """Return a draw of which it is known whether it is below its cut."""
    cell, other, _, _ = _look_up(word, entries)
    return _signed(word, tl.where(is_below == 1, cell, other))


@triton.jit
def _put(sums, out, place, count, noise, shift, scale):
    """Store a sum with noise in units of the gradient; sums that are finer than grid steps are rounded."""
    read = tl.load(sums + place, mask=place < count, other=0, cache_modifier=".cg")
    if sums.dtype.element_ty == tl.int64:
        read = (read + (1 << (shift - 1))) >> shift
    tl.store(out + place, (read + noise).to(tl.float32) * scale, mask=place < count, cache_modifier=".cg")


@triton.jit(do_not_specialize=["first", "scale"])
def _release_kernel(
    sums,
    out,
    key,
    first,
    entries,
    is_open,
    shift,
    scale,
    count,
    factor: tl.constexpr,
    lanes: tl.constexpr,
    settled: tl.constexpr,
):
    """Write sums with noise, and which blocks have a look-up that is not decided by its word."""
    program = tl.program_id(0)
    lane = tl.arange(0, lanes)
    start = program.to(tl.int64) * (8 * lanes) + lane
    words = _chacha(key, first.to(tl.uint32) + (program * lanes + lane).to(tl.uint32), 0)
    undecided = lane * 0
    for j in tl.static_range(8):
        low, open_low = _draw(words[2 * j], entries)
        high, open_high = _draw(words[2 * j + 1], entries)
        undecided |= open_low | open_high
        _put(sums, out, start + j * lanes, count, low + factor * high, shift, scale)
    parts: tl.constexpr = lanes // settled
    found = tl.max(tl.reshape(undecided, (parts, settled)), 1)
    tl.store(is_open + program * parts + tl.arange(0, parts), found)


@triton.jit(do_not_specialize=["first", "scale"])
def _settle_kernel(
    sums,
    out,
    key,
    first,
    entries,
    is_open,
    shift,
    scale,
    count,
    digits,
    factor: tl.constexpr,
    lanes: tl.constexpr,
    settled: tl.constexpr,
):
    """Draw again where a block has a look-up that was not decided: as before, with more words for it."""
    parts: tl.constexpr = lanes // settled
    program = tl.program_id(0)
    some = tl.load(is_open + program * parts + tl.arange(0, parts))
    if tl.max(some) == 0:
        return
    for part in range(parts):
        if tl.load(is_open + program * parts + part) > 0:
            lane = part * settled + tl.arange(0, settled)
            counter = first.to(tl.uint32) + (program * lanes + lane).to(tl.uint32)
            start = program.to(tl.int64) * (8 * lanes) + lane
            words = _chacha(key, counter, 0)
            below, still = counter * 0, counter * 0
            for i in tl.static_range(16):
                _, _, position, cut = _look_up(words[i], entries)
                below |= (position < cut).to(tl.uint32) << i
                still |= (position == cut).to(tl.uint32) << i
            for stream in range(1, 5):
                if tl.max(still.to(tl.int32)) > 0:
                    more = _chacha(key, counter, stream)
                    for i in tl.static_range(16):
                        below, still = _narrow(words[i], more[i], i, below, still, digits + (stream - 1))
            for j in tl.static_range(8):
                low = _decided(words[2 * j], entries, (below >> (2 * j)) & 1)
                high = _decided(words[2 * j + 1], entries, (below >> (2 * j + 1)) & 1)
                _put(sums, out, start + j * lanes, count, low + factor * high, shift, scale)
