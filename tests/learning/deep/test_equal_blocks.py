"""Blocks of a batch have one shape."""

from __future__ import annotations

from discreet.learning.deep.equal_blocks import block_size


def test_blocks_of_a_batch_are_equal():
    assert [block_size(12, most) for most in (0, 1, 2, 5, 11, 12, 99)] == [1, 1, 2, 4, 6, 12, 12]
    assert [block_size(13, most) for most in (0, 12, 13)] == [1, 1, 13]
    assert block_size(0, 5) == 1
