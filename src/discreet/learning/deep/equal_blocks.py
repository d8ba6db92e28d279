"""How a batch is cut into blocks of one shape: an example is computed alike, whichever it is in."""

from __future__ import annotations

__all__ = ["block_size"]


def block_size(examples: int, most: int) -> int:
    """Return the largest size up to `most`, and at least 1, in which a batch is cut into equal blocks."""
    return next((size for size in range(min(examples, most), 1, -1) if examples % size == 0), 1)
