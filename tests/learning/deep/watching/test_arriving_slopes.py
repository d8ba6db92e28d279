"""Slopes that are handed over as they arrive are those that one backward pass to all outputs returns."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.autograd.graph import get_gradient_edge

from discreet.learning.deep.watching.arriving_slopes import first_places, hand_over_slopes
from effort import examples


class Recorded:
    """Notes where the gradients of outputs of modules arrive."""

    def __init__(self, *modules):
        self.calls = []
        for module in modules:
            module.register_forward_hook(self._note)

    def _note(self, module, args, returned):
        outputs = returned if isinstance(returned, tuple) else (returned,)
        self.calls.append([get_gradient_edge(one) if one.requires_grad else None for one in outputs])


def compare(calls, make_losses):
    """Assert that slopes arrive once and are those of a pass to all outputs; return what is asked for."""
    losses = make_losses()
    edges = [edge for call in calls for edge in call if edge is not None]
    expected = iter(torch.autograd.grad(losses.sum(), edges, allow_unused=True, retain_graph=True))
    full = {}
    for place, call in enumerate(calls):
        own = [next(expected) if edge is not None else None for edge in call]
        if any(one is not None for one in own):
            full[place] = own
    asked, found = first_places(calls, losses), {}

    def take(place, slopes):
        assert place not in found
        found[place] = slopes

    hand_over_slopes(calls, losses.sum(), asked, take)
    assert found.keys() == full.keys()
    for place, slopes in full.items():
        for one, other in zip(found[place], slopes, strict=True):
            assert (one is None) == (other is None)
            assert one is None or torch.equal(one, other)
    return asked


def test_slopes_are_handed_over_after_the_pass_through_their_operation():
    """Which may take much memory for a while: what is made of slopes is not there yet."""
    done = []

    class Noted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, values, name):
            ctx.name = name
            return 2 * values

        @staticmethod
        def backward(ctx, slopes):
            done.append(ctx.name)
            return 2 * slopes, None

    one = Noted.apply(torch.ones(3, requires_grad=True), "one")
    two = Noted.apply(one, "two")
    calls = [[get_gradient_edge(value)] for value in (one, two)]
    hand_over_slopes(calls, two.sum(), {0}, lambda place, slopes: done.append((place, slopes[0].tolist())))
    assert done == ["two", (1, [1.0] * 3), (0, [2.0] * 3)]


def test_of_a_chain_the_first_output_is_asked_for():
    layers = [nn.Linear(3, 3) for _ in range(4)]
    recorded = Recorded(*layers)
    inputs = torch.randn(5, 3)
    assert compare(recorded.calls, lambda: nn.Sequential(*layers)(inputs).tanh().sum(1)) == {0}


def test_branches_that_begin_apart_are_all_asked_for():
    one, two, three, last = (nn.Linear(3, 3) for _ in range(4))
    recorded = Recorded(one, two, three, last)
    inputs = torch.randn(5, 3)
    asked = compare(recorded.calls, lambda: last(one(inputs) * two(inputs) + three(inputs)).sum(1))
    assert asked == {0, 1, 2}


def test_what_comes_before_frozen_layers_is_reached_through_them():
    one, frozen, two = nn.Linear(3, 3), nn.Linear(3, 3).requires_grad_(False), nn.Linear(3, 3)
    recorded = Recorded(one, two)
    inputs = torch.randn(5, 3)
    assert compare(recorded.calls, lambda: two(frozen(one(inputs)).relu()).sum(1)) == {0}


def test_outputs_that_losses_do_not_use_have_no_slopes():
    one, beside, two = (nn.Linear(3, 3) for _ in range(3))
    recorded = Recorded(one, beside, two)
    inputs = torch.randn(5, 3)

    def losses():
        seen = one(inputs)
        beside(seen)
        return two(seen).sum(1)

    assert 0 in compare(recorded.calls, losses)


def test_inputs_that_have_gradients_themselves_do_not_hide_a_layer():
    one = nn.Linear(3, 3)
    recorded = Recorded(one)
    inputs = torch.randn(5, 3, requires_grad=True)
    assert compare(recorded.calls, lambda: one(inputs * 2).sum(1)) == {0}


def test_layers_with_several_outputs_are_asked_for():
    one, many = nn.Linear(3, 4), nn.LSTM(4, 2, batch_first=True)

    class Flat(nn.Module):
        def forward(self, values):
            found, (hidden, _) = many(values)
            return found, hidden

    flat = Flat()
    recorded = Recorded(one, flat)
    inputs = torch.randn(5, 6, 3)

    def losses():
        found, hidden = flat(one(inputs))
        return found.sum((1, 2)) + hidden.sum((0, 2))

    assert 1 in compare(recorded.calls, losses)


def test_a_layer_that_is_called_twice_has_two_slopes():
    one = nn.Linear(3, 3)
    recorded = Recorded(one)
    inputs = torch.randn(5, 3)
    assert compare(recorded.calls, lambda: one(one(inputs).relu_()).sum(1)) == {0}


def test_one_output_of_two_modules_is_handed_to_both():
    inner = nn.Linear(3, 3)
    outer = nn.Sequential(inner)
    recorded = Recorded(inner, outer)
    inputs = torch.randn(5, 3)
    assert compare(recorded.calls, lambda: outer(inputs).sum(1)) >= {0}


@given(
    links=st.lists(st.lists(st.integers(0, 30), min_size=1, max_size=3), min_size=1, max_size=8),
    used=st.sets(st.integers(0, 30), min_size=1, max_size=3),
)
@settings(max_examples=examples(40), deadline=None)
def test_any_network_of_layers(links, used):
    """Layer k reads sums of inputs and of outputs of layers before it; the losses read some outputs."""
    torch.manual_seed(3)
    layers = [nn.Linear(2, 2) for _ in links]
    recorded = Recorded(*layers)
    inputs = torch.randn(4, 2)

    def losses():
        values = [inputs]
        for layer, sources in zip(layers, links, strict=True):
            read = torch.stack([values[place % len(values)] for place in sources]).sum(0)
            values.append(layer(read).tanh() if len(sources) % 2 else layer(read))
        return torch.stack([values[1 + place % len(layers)] for place in used]).sum((0, 2))

    compare(recorded.calls, losses)


def test_an_error_of_the_taker_is_the_callers_and_leaves_no_hooks():
    one, two = nn.Linear(3, 3), nn.Linear(3, 3)
    recorded = Recorded(one, two)
    losses = two(one(torch.randn(5, 3))).sum(1)

    def refuse(place, slopes):
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        hand_over_slopes(recorded.calls, losses.sum(), {0}, refuse)
