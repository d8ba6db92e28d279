"""Sizes of grids of programs, in plain integers: what Triton has for this takes as long as a small kernel."""

from __future__ import annotations

__all__ = ["block_count", "next_power"]


def block_count(size: int, count: int) -> int:
    """Return how many blocks of a size hold so many numbers.

    >>> block_count(8, 16), block_count(8, 17)
    (2, 3)
    """
    return -(-count // size)


def next_power(count: int) -> int:
    """Return the smallest power of two that is at least so many, and at least 1.

    >>> next_power(0), next_power(4), next_power(5)
    (1, 4, 8)
    """
    return 1 << max(0, count - 1).bit_length()
