"""A walk meets what losses depend on past the recorded calls, and nothing that is only inside of one."""

from __future__ import annotations

import torch
from torch.autograd.graph import get_gradient_edge

from discreet.learning.deep.watching.graph_walk import place_of, walked_past


def edges(*values):
    return [get_gradient_edge(value) for value in values]


def names(walk):
    """What is met: parameters by identity, operations by name, calls as None."""
    met = [node for node, _ in walk]
    return sorted(
        str(id(node.variable) if hasattr(node, "variable") else node and node.name()) for node in met
    )


def reached(node):
    """Every node below one, and itself, by recursion."""
    return {node}.union(*(reached(child) for child, _ in node.next_functions if child is not None))


def test_without_calls_all_is_met_once():
    one, other = torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)
    shared = one * other
    losses = shared.exp() + shared.sin() * one
    steps = list(walked_past([], [], losses))
    assert len(steps) == len({node for node, _ in steps})
    assert {node for node, _ in steps} == reached(losses.grad_fn)
    assert all(tuple(read) == node.next_functions for node, read in steps)


def test_a_call_leads_on_to_what_it_was_given():
    first, weight, last = (torch.rand(3, requires_grad=True) for _ in range(3))
    given = first.exp()
    returned = (given * weight).sin()
    walk = list(walked_past([edges(returned)], [edges(given)], returned * last))
    met = [str(id(first)), str(id(last)), "ExpBackward0", "MulBackward0", "None"]
    assert names(walk) == sorted(met)
    assert [read for node, read in walk if node is None] == [[place_of(get_gradient_edge(given))]]


def test_a_way_past_a_call_is_met():
    first, weight = torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)
    returned = (first * weight).sin()
    walk = walked_past([edges(returned)], [edges(first)], returned * weight.exp())
    assert str(id(weight)) in names(walk)


def test_outputs_of_one_operation_are_told_apart():
    """Of an operation with four outputs, two are those of calls; from both others it is met once."""
    whole, others = torch.rand(4, requires_grad=True), [torch.rand((), requires_grad=True) for _ in range(2)]
    parts = whole.unbind()
    returned, given = [edges(parts[0]), edges(parts[1])], [edges(others[0]), edges(others[1])]
    inside = names(walked_past(returned, given, parts[0] * parts[1]))
    assert inside == sorted(["MulBackward0", "None", "None", *(str(id(one)) for one in others)])
    past = names(walked_past(returned, given, parts[0] * parts[1] * parts[2] * parts[3]))
    operations = ["MulBackward0"] * 3 + ["UnbindBackward0", str(id(whole))]
    assert past == sorted(["None", "None", *operations, *(str(id(one)) for one in others)])


def test_arguments_without_gradients_keep_their_places():
    weight = torch.rand(3, requires_grad=True)
    [(_, read), _] = walked_past([], [], torch.rand(3) * weight)
    assert [child is None for child, _ in read] == [True, False]


def test_losses_that_a_call_has_returned_are_that_call():
    first, weight = torch.rand(3, requires_grad=True), torch.rand(3, requires_grad=True)
    losses = first * weight
    assert names(walked_past([[None, *edges(losses)]], [edges(first)], losses)) == sorted(
        ["None", str(id(first))]
    )
