"""Graphs are rewritten only where nothing writes over a tensor: each node has one value."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional

from discreet.learning.deep.watching import traced_batch
from discreet.learning.deep.watching.channels_last import laid_channels_last
from discreet.learning.deep.watching.written_graphs import without_writes
from learning.deep.watching.test_traced_batch import as_it_is, read_and_traced, written


class Images(nn.Module):
    """Two convolutions."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 6, 3, 1, 1), nn.Conv2d(6, 4, 3, 1, 1)


class WritesToAView(Images):
    """What the second reads is written through a view of other sizes, which no copy of it is."""

    def forward(self, x):
        y = self.first(x)
        y.view(len(y), -1).mul_(2)
        return self.second(y)


class ReadsAView(Images):
    """What the second reads is a view that was taken before its numbers were written."""

    def forward(self, x):
        y = self.first(x)
        z = y.view(len(y), 6, 4, 16)
        y.relu_()
        return self.second(z)


class NormalizedTwice(nn.Module):
    """A tensor is normalized, written to through a view, and normalized again."""

    def __init__(self):
        super().__init__()
        self.norm, self.layer = nn.GroupNorm(2, 6), nn.Linear(6, 3)

    def forward(self, x):
        x = x * 1
        y = functional.group_norm(x, 2)
        x[:, ::2].mul_(3)
        return self.layer((self.norm(x) + y).mean((2, 3)))


class WritesToItsInput(nn.Module):
    """What a batch holds is written over before it is used."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x):
        x.mul_(2)
        return self.layer(x)


def writing(graph):
    """The operations of a graph that write to something else than what it is given."""
    return [
        node
        for node in graph.graph.nodes
        if getattr(node.target, "_schema", None) is not None
        and node.target._schema.is_mutable
        and node.args[0].op != "placeholder"
    ]


@pytest.mark.parametrize("make", [WritesToAView, ReadsAView])
def test_channels_are_laid_last_in_what_was_written(make):
    torch.manual_seed(1)
    model, image = make(), torch.randn(2, 3, 8, 8)

    def function(image):
        losses = model(image.requires_grad_()).flatten(1).square().sum(1)
        return losses.detach(), *torch.autograd.grad(losses.sum(), image)

    graph = make_fx(function, tracing_mode="fake", _allow_non_fake_inputs=True)(image)
    assert writing(graph)
    found = laid_channels_last(without_writes(graph, [image]), [image])
    assert found is not graph
    for one, other in zip(found(image), function(image), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (WritesToAView, (2, 3, 8, 8)),
        (ReadsAView, (2, 3, 8, 8)),
        (NormalizedTwice, (4, 6, 5, 5)),
        (WritesToItsInput, (5, 4)),
    ],
)
def test_a_model_that_writes_over_tensors_is_rewritten_without(make, shape):
    torch.manual_seed(1)
    rows, seen = torch.randn(shape), []
    uses, traced = read_and_traced(make(), rows.clone(), lambda graph: seen.append(graph) or graph)
    assert not writing(*seen)
    given = rows.clone()
    torch.testing.assert_close(written(traced.uses([given])), written(uses), rtol=1e-5, atol=1e-5)
    assert torch.equal(given, rows * 2 if make is WritesToItsInput else rows)


def test_a_graph_that_only_writes_stays_as_it_is(monkeypatch):
    def fail(*given):
        raise RuntimeError("no functional form")

    torch.manual_seed(1)
    monkeypatch.setattr(traced_batch, "without_writes", fail)
    rows = torch.randn(4, 6, 5, 5)
    uses, traced = read_and_traced(NormalizedTwice(), rows, as_it_is)
    torch.testing.assert_close(written(traced.uses([rows])), written(uses), rtol=1e-5, atol=1e-5)


def test_a_graph_without_writes_stays_as_it_is():
    rows = torch.randn(3, 4)
    graph = make_fx(lambda rows: (rows * 2).sum(1), tracing_mode="fake")(rows)
    assert without_writes(graph, [rows]) is graph
