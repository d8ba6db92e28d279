"""Statistics of a forward pass are used again where they are of the same numbers, and nowhere else."""

from __future__ import annotations

from operator import getitem

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from discreet.learning.deep.watching.shared_statistics import share_statistics

aten = torch.ops.aten
GAIN, SHIFT = torch.linspace(1, 2, 6), torch.linspace(-1, 1, 6)


def by_layer(values, gain=None, shift=None, epsilon=1e-5):
    return torch.native_layer_norm(values, (6,), gain, shift, epsilon)


def by_groups(values, gain=None, shift=None, epsilon=1e-5, groups=3):
    return torch.native_group_norm(values, gain, shift, 4, 6, values.numel() // 24, groups, epsilon)


def shared(function, *given):
    """A graph, and the nodes whose statistics it reads."""
    graph = make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)(*given)
    expected = graph(*given)
    share_statistics(graph)
    for one, other in zip(graph(*given), expected, strict=True):
        assert torch.equal(one, other)
    return {
        node.args[0]
        for node in graph.graph.nodes
        if node.target is getitem and node.args[1] > 0 and node.users
    }


@pytest.mark.parametrize("norm", [by_layer, by_groups])
def test_a_second_normalization_of_the_same_tensor_reads_the_first(norm):
    def function(values):
        after, *_ = norm(values * 2, GAIN, SHIFT)
        return after, *norm((values * 2).detach())[1:]

    def of_one(values):
        values = values * 2
        after, *_ = norm(values, GAIN, SHIFT)
        return after, *norm(values.detach())[1:]

    values = torch.randn(4, 6, 6)
    (read,) = shared(of_one, values)
    assert read.args[1 if norm is by_groups else 2] is not None  # the first, which has a gain
    (read,) = shared(function, values)
    assert read.args[1 if norm is by_groups else 2] is None  # of other tensors


@pytest.mark.parametrize("options", [{"epsilon": 1e-3}, {"groups": 2}])
def test_what_is_normalized_otherwise_is_not_shared(options):
    def function(values):
        return *by_groups(values, GAIN, SHIFT)[1:], *by_groups(values.detach(), **options)[1:]

    assert len(shared(function, torch.randn(4, 6, 6))) == 2
