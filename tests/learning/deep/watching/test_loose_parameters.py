"""Parameters in lists belong to the module that reads them."""

from __future__ import annotations

import torch
from torch import nn

from discreet.learning.deep.uses import RowsUse
from discreet.learning.deep.watching.loose_parameters import loose_parameters
from learning.deep.gradient_oracle import booked, compare


class Lists(nn.Module):
    """Parameters in a list, in a mapping and in a list of lists, and a layer."""

    def __init__(self):
        super().__init__()
        self.list = nn.ParameterList([torch.randn(3, 2), torch.randn(2)])
        self.named = nn.ParameterDict({"gain": torch.rand(2) + 0.5})
        self.nested = nn.ModuleList([nn.ParameterList([torch.randn(2)]), nn.Linear(2, 2)])

    def forward(self, x):
        x = (x @ self.list[0] + self.list[1]) * self.named["gain"]
        return self.nested[1](torch.tanh(x) + self.nested[0][0])


def test_they_are_found_and_those_of_layers_are_not():
    found = [name for name, _ in loose_parameters(Lists())]
    assert found == ["list.0", "list.1", "named.gain", "nested.0.0"]
    assert [name for name, _ in loose_parameters(nn.Linear(2, 2))] == ["weight", "bias"]


def test_gradients_of_parameters_in_lists_are_those_of_examples_alone():
    torch.manual_seed(1)
    compare(Lists(), torch.randn(4, 3))
    compare(nn.Sequential(nn.Linear(3, 3), Lists()), torch.randn(4, 3))


def test_a_layer_with_a_list_is_not_taken_for_that_layer():
    class Listing(nn.Linear):
        """The forward pass of a linear layer, which reads no list."""

        def __init__(self):
            super().__init__(3, 2)
            self.added = nn.ParameterList([torch.randn(2)])

    found = booked(Listing(), torch.randn(4, 3))
    assert [type(use) for (use,) in found] == [RowsUse] * 3
    assert not found[2][0].each().any()
