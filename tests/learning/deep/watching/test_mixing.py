"""What mixes examples is refused, with the line that mends it."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.watching.mixing import check_modules


@pytest.mark.parametrize(
    ("module", "mend"),
    [
        (nn.BatchNorm2d(6), r"GroupNorm\(2, 6\)"),
        (nn.BatchNorm1d(64), r"model.0 = torch.nn.GroupNorm\(32, 64\)"),
        (nn.SyncBatchNorm(7), r"GroupNorm\(1, 7\)"),
        (nn.InstanceNorm1d(4, track_running_stats=True), "InstanceNorm1d"),
        (nn.Embedding(3, 2, max_norm=1.0), "max_norm = None"),
        (nn.Embedding(3, 2, scale_grad_by_freq=True), "scale_grad_by_freq = False"),
        (nn.MultiheadAttention(4, 2), "batch_first=True"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else None,
)
def test_modules_that_mix_examples_are_refused(module, mend):
    with pytest.raises(ParameterError, match=mend):
        check_modules(nn.Sequential(module))


def test_layers_without_parameters_yet_are_refused():
    with pytest.raises(ParameterError, match="called once"):
        check_modules(nn.Sequential(nn.LazyLinear(2)))


def test_the_mend_of_batch_normalization_works():
    check_modules(nn.Sequential(nn.GroupNorm(2, 6), nn.InstanceNorm1d(4), nn.Embedding(3, 2)))
    assert nn.GroupNorm(2, 6)(torch.zeros(1, 6, 2, 2)).shape == (1, 6, 2, 2)
