"""The cipher whose words become noise on an accelerator: ChaCha20 (RFC 8439), one block in each lane."""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["chacha"]


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
def chacha(key, counter, stream, turn):
    """Return the sixteen words of a block: number `counter` under the nonce (stream, turn, 0)."""
    zero = counter * 0
    s0, s1, s2, s3 = zero + 0x61707865, zero + 0x3320646E, zero + 0x79622D32, zero + 0x6B206574
    k0, k1, k2, k3 = _word(key, zero), _word(key + 1, zero), _word(key + 2, zero), _word(key + 3, zero)
    k4, k5, k6, k7 = _word(key + 4, zero), _word(key + 5, zero), _word(key + 6, zero), _word(key + 7, zero)
    nonce, more = zero + stream, zero + turn
    x0, x1, x2, x3, x4, x5, x6, x7 = s0, s1, s2, s3, k0, k1, k2, k3
    x8, x9, x10, x11, x12, x13, x14, x15 = k4, k5, k6, k7, counter, nonce, more, zero
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
        x14 + more,
        x15,
    )


@triton.jit
def _word(place, zero):
    return tl.load(place).to(tl.uint32, bitcast=True) + zero
