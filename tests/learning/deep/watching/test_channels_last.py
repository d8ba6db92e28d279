"""Graphs whose convolutions read channels next to each other have the same numbers."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx

from discreet.learning.deep.watching.channels_last import laid_channels_last
from discreet.learning.deep.watching.shared_statistics import share_statistics
from discreet.learning.deep.watching.written_graphs import without_writes

BACKWARD = torch.ops.aten.convolution_backward.default
PARTS = {
    "one after the other": [],
    "normalized": [nn.GroupNorm(2, 6), nn.ReLU()],
    "flattened": [nn.Flatten(), nn.Unflatten(1, (6, 8, 8))],
    "pooled": [nn.MaxPool2d(2), nn.Upsample(scale_factor=2)],
    "of groups": [nn.Conv2d(6, 6, 1, groups=3)],
}


def traced(function, *given):
    return make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)(*given)


def slopes_of(model):
    """What a graph of both passes is a function of: the image, its gradient and what was found on the way."""

    def function(image):
        image = image.requires_grad_()
        losses = model(image).flatten(1).square().sum(1)
        return losses.detach(), *torch.autograd.grad(losses.sum(), image)

    return function


@pytest.fixture
def image():
    return torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(2))


@pytest.mark.parametrize("name", PARTS)
def test_numbers_are_the_same_and_convolutions_read_channels_next_to_each_other(name, image):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Conv2d(3, 6, 3, 1, 1), *PARTS[name], nn.Conv2d(6, 4, 3, 2, 1))
    graph = traced(slopes_of(model), image)
    found = laid_channels_last(graph, [image])
    backward = found.graph.find_nodes(op="call_function", target=BACKWARD)
    assert len(backward) >= 2
    for node in backward:
        assert all(
            value.meta["val"].is_contiguous(memory_format=torch.channels_last) for value in node.args[:3]
        )
    for one, other in zip(found(image), graph(image), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
        assert one.shape == other.shape


class Halved(nn.Module):
    """Writes over a part of what a convolution returned, before another reads it."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 6, 3, 1, 1), nn.Conv2d(6, 4, 3, 2, 1)

    def forward(self, image):
        values = self.first(image).tanh().clone()
        values[:, :2].mul_(0.5)
        values.relu_()
        return self.second(values) + values.mean()


def test_what_is_written_over_before_a_convolution_is_read_as_it_is_then(image):
    torch.manual_seed(1)
    graph = traced(slopes_of(Halved()), image)
    found = laid_channels_last(without_writes(graph, [image]), [image])
    assert any(node.target is BACKWARD for node in found.graph.nodes)
    for one, other in zip(found(image), graph(image), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


class Twice(nn.Module):
    """A convolution that reads numbers that were normalized before."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 6, 3, 1, 1), nn.Conv2d(6, 4, 3, 2, 1)
        self.norm, self.plain = nn.GroupNorm(2, 6), nn.GroupNorm(2, 6, affine=False)

    def forward(self, image):
        values = self.first(image)
        return self.second(self.plain(values)) + self.norm(values).mean((1, 2, 3), keepdim=True)


def test_a_convolution_of_shared_statistics_is_laid_too(image):
    torch.manual_seed(1)
    graph = traced(slopes_of(Twice()), image)
    expected = graph(image)
    share_statistics(graph)
    found = laid_channels_last(graph, [image])
    assert found is not graph
    for one, other in zip(found(image), expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def test_a_graph_without_convolutions_of_images_stays_as_it_is():
    for model, given in (
        (nn.Linear(8, 3), torch.randn(2, 3, 8, 8)),
        (nn.Conv1d(3, 4, 3), torch.randn(2, 3, 8)),
    ):
        graph = traced(slopes_of(model), given)
        assert laid_channels_last(graph, [given]) is graph


def test_a_graph_that_reads_memory_by_its_layout_stays_as_it_is(image):
    """The same strides in another layout would be other numbers."""
    inner = nn.Conv2d(3, 6, 3, 1, 1)

    def read(values):
        return inner(values).as_strided((2, 6, 4, 4), (384, 64, 16, 2)).flatten(1).square()

    graph = traced(lambda image: torch.autograd.grad(read(image.requires_grad_()).sum(), image), image)
    assert laid_channels_last(graph, [image]) is graph


def test_a_graph_with_an_operation_that_needs_another_layout_stays_as_it_is(image, monkeypatch):
    graph = traced(slopes_of(nn.Conv2d(3, 6, 3)), image)
    expected, code = graph(image), graph.code

    def fail(*given):
        raise RuntimeError("view size is not compatible")

    monkeypatch.setattr("discreet.learning.deep.watching.channels_last._traced_again", fail)
    assert laid_channels_last(graph, [image]) is graph
    assert graph.code == code
    assert all(torch.equal(one, other) for one, other in zip(graph(image), expected, strict=True))
