"""Linear layers of a written-out module are noted with what they were given and where slopes arrive."""

from __future__ import annotations

import torch
from torch import nn

from discreet.learning.deep.written_out.linear_parts import LinearParts, LinearSteps


def test_a_layer_is_noted_by_the_parameters_that_are_trained():
    module, rows = nn.Sequential(nn.Linear(3, 2)), torch.randn(4, 5, 3)
    parts = LinearParts(module, {"0.bias"})
    found = parts.linear(rows, "0.weight", "0.bias")
    torch.testing.assert_close(found, module(rows))
    (part,) = parts.noted
    assert part.names == {"bias": "0.bias"}
    assert part.given is rows
    assert part.seen is found
    assert parts.is_complete


def test_a_layer_that_is_not_trained_is_not_noted():
    module = nn.Linear(3, 2).requires_grad_(False)
    parts = LinearParts(module, set())
    assert not parts.linear(torch.randn(4, 3), "weight", "bias").requires_grad
    assert parts.noted == []
    assert parts.is_complete


def test_a_trained_parameter_that_was_not_used_is_missed():
    parts = LinearParts(nn.Linear(3, 2), {"weight", "bias"})
    assert not parts.is_complete
    parts.linear(torch.randn(4, 3), "weight", "none")
    assert not parts.is_complete
    assert parts.value("none") is None
    assert parts.value("none.weight") is None


def test_parameters_of_steps_have_no_part_in_the_graph():
    """So that none of them reaches a loss otherwise than by what is noted."""
    module, rows = nn.Linear(3, 3), torch.randn(4, 3, requires_grad=True)
    parts = LinearParts(module, {"weight", "bias"})
    steps = LinearSteps(parts, "weight", "bias", examples=4, positions=2)
    loss = steps(1, steps(0, rows)).sum()
    found = torch.autograd.grad(loss, [*module.parameters(), rows], allow_unused=True)
    assert [value is None for value in found] == [True, True, False]


def test_steps_are_noted_at_once_with_the_slopes_of_each():
    torch.manual_seed(1)
    module = nn.Linear(3, 3).double()
    parts = LinearParts(module, {"weight", "bias"})
    steps = LinearSteps(parts, "weight", "bias", examples=4, positions=2)
    rows = torch.randn(4, 3).double()
    one = steps(1, rows)
    two = steps(0, one.tanh())
    steps.end()
    (part,) = parts.noted
    assert torch.equal(part.given, torch.stack([one.tanh(), rows], 1))
    (slopes,) = torch.autograd.grad(two.square().sum(), part.seen)
    expected = torch.autograd.grad(module(module(rows).tanh()).square().sum(), list(module.parameters()))
    torch.testing.assert_close(torch.einsum("bto,bti->oi", slopes, part.given), expected[0])
    torch.testing.assert_close(slopes.sum((0, 1)), expected[1])


def test_steps_that_are_not_trained_are_not_noted():
    parts = LinearParts(nn.Linear(3, 3), set())
    steps = LinearSteps(parts, "weight", "bias", examples=4, positions=1)
    assert not steps(0, torch.randn(4, 3)).requires_grad
    steps.end()
    assert parts.noted == []
