"""What is noted of a call is enough to find its gradients, and to see that nothing was written over."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.layers import rule_of
from discreet.learning.deep.watching.layer_calls import WatchedLayer, keep_all, noted_call


def called(values, **named):
    layer = nn.Linear(3, 2)
    watched = WatchedLayer("first", layer, rule_of(layer), dict(layer.named_parameters()))
    returned = layer(values)
    return noted_call(watched, (values,), named, [returned]), returned


def test_gradients_arrive_at_what_a_call_returned_and_was_given():
    values = torch.randn(4, 3, requires_grad=True)
    call, returned = called(values * 2)
    loss = returned.square().sum()
    slopes = torch.autograd.grad(loss, call.edges, retain_graph=True)
    assert torch.equal(slopes[0], 2 * returned)
    (before,) = torch.autograd.grad(loss, call.before)
    assert torch.allclose(before, 2 * returned @ call.watched.module.weight)


def test_what_was_given_is_noted_without_how_it_was_made():
    call, _ = called(torch.ones(4, 3, requires_grad=True) * 2, mask=torch.ones(4), size=3)
    (args, kwargs) = call.given
    assert not args[0].requires_grad
    assert kwargs["size"] == 3
    assert len(call.versions) == 2
    assert len(call.before) == 1


def test_a_call_that_nothing_leads_to_has_no_edges_before_it():
    call, _ = called(torch.ones(4, 3))
    assert call.before == []
    assert call.edges[0] is not None


def test_arguments_that_are_written_over_are_seen():
    values = torch.ones(4, 3)
    call, _ = called(values)
    call.check_unchanged()
    values += 1
    with pytest.raises(ParameterError, match=r"writes over the input of its Linear \(first\)"):
        call.check_unchanged()


def test_all_uses_are_kept_as_they_are_made():
    made = {"weight": object()}
    assert keep_all(made) is made
