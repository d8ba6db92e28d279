"""What mixes examples is refused, with the line that mends it."""

from __future__ import annotations

import re

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.watching.mixing import check_modules


@pytest.mark.parametrize(
    ("module", "mend"),
    [
        (nn.BatchNorm2d(6), r"model\[0\] = torch.nn.GroupNorm\(3, 6\)"),
        (nn.BatchNorm2d(16), r"GroupNorm\(8, 16\)"),
        (nn.BatchNorm3d(1), r"GroupNorm\(1, 1\)"),
        (nn.BatchNorm1d(64), r"model\[0\] = torch.nn.LayerNorm\(64\), or torch.nn.GroupNorm\(32, 64\)"),
        (nn.BatchNorm2d(6), r"or model\[0\].eval\(\).requires_grad_\(False\)"),
        (nn.BatchNorm2d(6).requires_grad_(False), r"allowed: model\[0\].eval\(\), again"),
        (nn.BatchNorm2d(6).eval(), r"requires_grad_\(False\)"),
        (nn.BatchNorm2d(6, track_running_stats=False).eval().requires_grad_(False), r"GroupNorm\(3, 6\)$"),
        (nn.SyncBatchNorm(7), r"GroupNorm\(1, 7\)"),
        (nn.InstanceNorm1d(4, track_running_stats=True), r"model\[0\] = torch.nn.InstanceNorm1d"),
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


def test_a_frozen_batch_normalization_passes():
    check_modules(nn.Sequential(nn.Linear(2, 6), nn.BatchNorm1d(6).eval().requires_grad_(False)))


@pytest.mark.parametrize("kind", [nn.BatchNorm1d, nn.BatchNorm2d])
@pytest.mark.parametrize("channels", [2, 3, 6, 7, 16, 62, 64, 96])
def test_what_batch_normalization_is_replaced_with_lets_examples_differ(kind, channels):
    """A group of one number would be normalized to 0 whatever it is."""
    model = nn.Sequential(kind(channels))
    with pytest.raises(ParameterError) as caught:
        check_modules(model)
    (line,) = re.findall(r"model\[0\] = torch.nn.\w+\([0-9, ]+\)", str(caught.value))
    exec(line, {"model": model, "torch": torch})  # noqa: S102 - what is tested is that it is Python
    check_modules(model)
    rows = torch.randn(64, channels, *(() if kind is nn.BatchNorm1d else (2, 2)))
    assert model(rows).std(0).min() > 1e-2


def test_the_mend_of_batch_normalization_works():
    check_modules(nn.Sequential(nn.GroupNorm(2, 6), nn.InstanceNorm1d(4), nn.Embedding(3, 2)))
    assert nn.GroupNorm(2, 6)(torch.zeros(1, 6, 2, 2)).shape == (1, 6, 2, 2)
