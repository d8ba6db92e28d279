"""The cipher against the block of RFC 8439, section 2.3.2."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from discreet.learning.deep.accelerator.chacha import chacha

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BLOCK = (
    "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
    "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
)


@triton.jit
def _block_kernel(out, key, counter, stream, turn):
    lane = tl.arange(0, 2)
    words = chacha(key, counter.to(tl.uint32) + lane.to(tl.uint32), stream, turn)
    for i in tl.static_range(16):
        tl.store(out + 16 * lane + i, words[i].to(tl.int32, bitcast=True))


def test_a_block_is_that_of_the_standard():
    key = torch.frombuffer(bytearray(range(32)), dtype=torch.int32).to(DEVICE)
    out = torch.zeros(2, 16, dtype=torch.int32, device=DEVICE)
    _block_kernel[(1,)](out, key, 0, 0x09000000, 0x4A000000)
    assert out[1].cpu().numpy().tobytes().hex() == BLOCK
    assert not torch.equal(out[0], out[1])
