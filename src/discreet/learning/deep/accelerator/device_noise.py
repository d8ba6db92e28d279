"""Noise on an accelerator: drawn in registers, added to sums of gradients, never written out by itself.

Random words are those of ChaCha20 (RFC 8439) under a key of 256 bits that is drawn from secure entropy for
every step, so that no word is ever used twice. Three words make one draw (`noise.stacked_gaussian`).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from discreet.noise import Source
from discreet.noise.stacked_gaussian import MIDDLE, StackedGaussian, look_up_table

__all__ = ["DeviceNoise"]

_LANES = 128  # blocks of the cipher in one program, each for five draws
_DRAWS = 5


class DeviceNoise:
    """Adds noise to sums where they are.

    Parameters
    ----------
    stack : StackedGaussian
        The law of the noise.
    device : torch.device
    """

    def __init__(self, stack: StackedGaussian, device: torch.device) -> None:
        table = look_up_table()
        self._multiplier = stack.multiplier
        self._entries = torch.from_numpy(table.entries.view("int32")).to(device)
        self._digits = torch.from_numpy(table.digits.view("int32")).to(device)
        self._key = torch.zeros(8, dtype=torch.int32, device=device)
        self._scale = torch.zeros(1, dtype=torch.float64, device=device)

    def renew(self, source: Source) -> None:
        """Draw the key of one step."""
        words = source.words(4).view("int32").copy()
        self._key.copy_(torch.from_numpy(words), non_blocking=True)

    def release(self, sums: Tensor, shift: int, scale: float) -> Tensor:
        """Return scale times (the integers nearest to sums / 2^shift, plus noise), and forget the key.

        Parameters
        ----------
        sums : tensor of int64
            At most 2^32 blocks of five.
        shift : int
            At least 1: log2 of a grid step of the noise.
        scale : float
            What grid steps are multiplied by.
        """
        self._scale.fill_(scale)
        out = torch.empty(sums.numel(), dtype=torch.float32, device=sums.device)
        programs = triton.cdiv(sums.numel(), _DRAWS * _LANES)
        _release_kernel[(programs,)](
            sums,
            out,
            self._key,
            self._entries,
            self._digits,
            self._multiplier,
            shift,
            self._scale,
            sums.numel(),
            middle=MIDDLE,
            lanes=_LANES,
        )
        self._key.zero_()
        return out


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
def _chacha(key, counter, stream: tl.constexpr):
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
    cell = word >> 18
    entry = tl.load(entries + cell).to(tl.uint32, bitcast=True)
    return cell, entry & 0x3FFF, (word >> 1) & 0x1FFFF, entry >> 14


@triton.jit
def _signed(word, magnitude):
    found = magnitude.to(tl.int64)
    return tl.where((word & 1) == 1, -found, found)


@triton.jit
def _draw(word, entries):
    """Return a draw, and whether its position is that of the cut, so that it is not yet decided."""
    cell, other, position, cut = _look_up(word, entries)
    return _signed(word, tl.where(position < cut, cell, other)), (position == cut).to(tl.int32)


@triton.jit
def _settle(word, one, two, three, four, entries, digits):
    """Return a draw that up to four more words decide."""
    cell, other, position, cut = _look_up(word, entries)
    is_below, is_open = position < cut, position == cut
    place = digits + cell.to(tl.int64) * 4
    digit = _word(place, cell * 0)
    is_below, is_open = is_below | (is_open & (one < digit)), is_open & (one == digit)
    digit = _word(place + 1, cell * 0)
    is_below, is_open = is_below | (is_open & (two < digit)), is_open & (two == digit)
    digit = _word(place + 2, cell * 0)
    is_below, is_open = is_below | (is_open & (three < digit)), is_open & (three == digit)
    digit = _word(place + 3, cell * 0)
    is_below = is_below | (is_open & (four < digit))
    return _signed(word, tl.where(is_below, cell, other))


@triton.jit
def _put(sums, out, place, count, noise, shift, scale):
    """Round a sum to the grid, add the noise, and store what they are in units of the gradient."""
    inside = place < count
    rounded = (tl.load(sums + place, mask=inside, other=0) + (1 << (shift - 1))) >> shift
    tl.store(out + place, ((rounded + noise).to(tl.float64) * scale).to(tl.float32), mask=inside)


@triton.jit
def _release_kernel(
    sums,
    out,
    key,
    entries,
    digits,
    multiplier,
    shift,
    factor,
    count,
    middle: tl.constexpr,
    lanes: tl.constexpr,
):
    program = tl.program_id(0)
    lane = tl.arange(0, lanes)
    counter = (program * lanes + lane).to(tl.uint32)
    start = program.to(tl.int64) * (5 * lanes) + lane
    scale = tl.load(factor)
    words = _chacha(key, counter, 0)
    undecided = lane * 0
    for j in tl.static_range(5):
        low, open_low = _draw(words[3 * j], entries)
        mid, open_mid = _draw(words[3 * j + 1], entries)
        high, open_high = _draw(words[3 * j + 2], entries)
        undecided |= open_low | open_mid | open_high
        _put(sums, out, start + j * lanes, count, low + middle * mid + multiplier * high, shift, scale)
    if tl.max(undecided) > 0:
        one, two = _chacha(key, counter, 1), _chacha(key, counter, 2)
        three, four = _chacha(key, counter, 3), _chacha(key, counter, 4)
        for j in tl.static_range(5):
            low = _settle(words[3 * j], one[3 * j], two[3 * j], three[3 * j], four[3 * j], entries, digits)
            mid = _settle(
                words[3 * j + 1],
                one[3 * j + 1],
                two[3 * j + 1],
                three[3 * j + 1],
                four[3 * j + 1],
                entries,
                digits,
            )
            high = _settle(
                words[3 * j + 2],
                one[3 * j + 2],
                two[3 * j + 2],
                three[3 * j + 2],
                four[3 * j + 2],
                entries,
                digits,
            )
            _put(sums, out, start + j * lanes, count, low + middle * mid + multiplier * high, shift, scale)
