"""Statistics of a forward pass are used again where they are of the same numbers, and nowhere else."""

from __future__ import annotations

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from discreet.learning.deep.watching.shared_statistics import share_statistics
from discreet.learning.deep.watching.written_graphs import without_writes

aten = torch.ops.aten
GAIN, SHIFT = torch.linspace(1, 2, 6), torch.linspace(-1, 1, 6)


def by_layer(values, gain=None, shift=None, epsilon=1e-5):
    return torch.native_layer_norm(values, (6,), gain, shift, epsilon)


def by_groups(values, gain=None, shift=None, epsilon=1e-5, groups=3):
    return torch.native_group_norm(values, gain, shift, 4, 6, values.numel() // 24, groups, epsilon)


def normalizations(function, *given):
    """How many a graph has in the end; its numbers are as before."""
    graph = make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)(*given)
    expected, graph = graph(*given), without_writes(graph, list(given))
    share_statistics(graph)
    for one, other in zip(graph(*given), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
    targets = (aten.native_layer_norm.default, aten.native_group_norm.default)
    return sum(node.target in targets for node in graph.graph.nodes)


NORMS = [(by_layer, (4, 5, 6)), (by_groups, (4, 6, 6)), (by_groups, (4, 6, 2, 3)), (by_groups, (4, 6))]


@pytest.mark.parametrize(("norm", "shape"), NORMS)
def test_a_second_normalization_of_the_same_tensor_reads_the_first(norm, shape):
    def of_one(values):
        values = values * 2 + 1
        after, *_ = norm(values, GAIN, SHIFT)
        return after, *norm(values.detach())

    def of_two(values):
        after, *_ = norm(values * 2 + 1, GAIN, SHIFT)
        return after, *norm((values * 2 + 1).detach())

    assert normalizations(of_one, torch.randn(shape)) == 1
    assert normalizations(of_two, torch.randn(shape)) == 2


@pytest.mark.parametrize("options", [{"epsilon": 1e-3}, {"groups": 2}, {"gain": GAIN}])
def test_what_is_normalized_otherwise_is_not_shared(options):
    def function(values):
        return *by_groups(values, GAIN, SHIFT), *by_groups(values.detach(), **options)

    assert normalizations(function, torch.randn(4, 6, 6)) == 2


def test_of_one_size_norms_of_layers_and_groups_are_apart():
    def function(values):
        return *by_layer(values, GAIN, SHIFT), *by_groups(values.detach())

    assert normalizations(function, torch.randn(4, 6, 6)) == 2


@pytest.mark.parametrize("is_view", [False, True])
def test_what_is_written_over_is_normalized_anew(is_view):
    def function(values):
        values = values * 2
        after, *_ = by_layer(values, GAIN, SHIFT)
        (values.view(4, 36)[:, :7] if is_view else values).exp_()
        return after, *by_layer(values.detach())

    assert normalizations(function, torch.randn(4, 6, 6)) == 2


def test_other_tensors_may_be_written_over():
    def function(values):
        values = values * 2
        after, *_ = by_layer(values, GAIN, SHIFT)
        return after.relu_(), *by_layer(values.detach())

    assert normalizations(function, torch.randn(4, 6, 6)) == 1
