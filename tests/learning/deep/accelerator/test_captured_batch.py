"""Batches that can be recorded and repeated; `python -m benchmarks.device` compares repeated steps."""

from __future__ import annotations

import torch

from discreet.learning.deep.accelerator.captured_batch import can_be_captured


def test_batches_on_the_processor_are_not_recorded():
    assert not can_be_captured([torch.zeros(2)])
    assert not can_be_captured({"inputs": torch.zeros(2)})
    assert not can_be_captured([])
