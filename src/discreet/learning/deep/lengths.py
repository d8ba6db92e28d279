"""Norms of many vectors, each from above or rounded as doubles are.

Squares of floats are added up in floats, a short run of them at a time, and runs in doubles. That is several
times as fast as doubles throughout, which are written to memory before they are read, and off by a known
share at most (docs/proofs/private_gradients.md, lemma 2). Vectors that are so short or so long that squares
of floats leave their range are measured in doubles, each by itself.
"""

from __future__ import annotations

import torch
from torch import Tensor

from discreet.learning.deep.equal_blocks import block_size

__all__ = ["lengths"]

_LONGEST_RUN = 128  # part of the proof
_SHORTEST_RUN = 64  # shorter ones are no faster than doubles, by time measured
_UP = 1 + 2.0**-17
_LEAST = 2.0**-32  # of a norm beside which squares that floats cannot hold are nothing
_IN_CACHE = 1 << 19  # numbers that become doubles at once; more would wait for memory, by time measured


def lengths(vectors: Tensor) -> Tensor:
    """Return the norms over the last axis, in doubles.

    A norm is at least the exact one, but for a share of 2^-25, and at most 2^-16 more.
    """
    columns = vectors.shape[-1]
    run = block_size(columns, _LONGEST_RUN)
    is_flat = vectors.is_contiguous() and not vectors.is_cuda
    if not is_flat or vectors.dtype != torch.float32 or run < _SHORTEST_RUN:
        return _in_doubles(vectors)
    runs = torch.linalg.vector_norm(vectors.view(*vectors.shape[:-1], columns // run, run), dim=-1)
    found = torch.linalg.vector_norm(runs, dim=-1, dtype=torch.float64) * _UP
    is_held = (found >= _LEAST) & found.isfinite()
    return found if is_held.all() else torch.where(is_held, found, _in_doubles(vectors))


def _in_doubles(vectors: Tensor) -> Tensor:
    """Return the norms, some examples at a time.

    All blocks have the same shape, and rows that follow each other in memory, so that an example's norm is
    computed alike wherever it stands.
    """
    if vectors.is_cuda or (vectors.numel() <= _IN_CACHE and vectors.is_contiguous()):
        return torch.linalg.vector_norm(vectors, dim=-1, dtype=torch.float64)
    size = block_size(len(vectors), _IN_CACHE // max(1, vectors[:1].numel()))
    found = vectors.new_empty(vectors.shape[:-1], dtype=torch.float64)
    held = vectors.new_empty((size, *vectors.shape[1:]), dtype=torch.float64)
    for block, out in zip(vectors.split(size), found.split(size), strict=True):
        torch.linalg.vector_norm(held.copy_(block), dim=-1, out=out)
    return found
