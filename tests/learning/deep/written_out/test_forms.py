"""Modules have a written-out form if they compute as PyTorch's do, with parameters of their own."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.learning.deep.written_out import forms
from discreet.learning.deep.written_out.forms import written_form

KNOWN = [
    nn.RNN(3, 2),
    nn.GRU(3, 2, num_layers=2, bidirectional=True),
    nn.LSTM(3, 2, proj_size=1),
    nn.RNNCell(3, 2),
    nn.GRUCell(3, 2),
    nn.LSTMCell(3, 2),
    nn.MultiheadAttention(4, 2, batch_first=True),
    nn.MultiheadAttention(4, 2, kdim=3, batch_first=True),
]


class Doubled(nn.LSTM):
    """Computes otherwise."""

    def forward(self, input, hx=None):
        found, last = super().forward(input, hx)
        return 2 * found, last


class Renamed(nn.LSTM):
    """Computes the same."""


def replaced():
    """A layer whose forward pass was replaced."""
    layer = nn.GRU(3, 2)
    layer.forward = layer.forward
    return layer


def names_of(module):
    """The names of all parameters."""
    return {name for name, _ in module.named_parameters()}


@pytest.mark.parametrize("module", [*KNOWN, Renamed(3, 2)], ids=lambda module: type(module).__name__)
def test_modules_of_pytorch_have_a_form(module):
    assert written_form(module, names_of(module)) is not None


def test_others_have_none():
    normal = nn.utils.parametrizations.weight_norm(nn.LSTM(3, 2), "weight_hh_l0")
    shown = nn.MultiheadAttention(4, 2, batch_first=True)
    nn.utils.parametrizations.weight_norm(shown.out_proj)
    keys = nn.MultiheadAttention(4, 2, batch_first=True, add_bias_kv=True)
    for module in (Doubled(3, 2), replaced(), normal, shown, keys, nn.Linear(3, 2), nn.Tanh()):
        assert written_form(module, names_of(module)) is None


def test_arguments_are_taken_by_place_and_by_name():
    torch.manual_seed(1)
    layer, rows, state = nn.GRU(3, 2), torch.randn(5, 4, 3), torch.randn(1, 4, 2)
    form = written_form(layer, names_of(layer))
    for args, kwargs in (((rows, state), {}), ((rows,), {"hx": state}), ((), {"hx": state, "input": rows})):
        returned, parts = form(args, kwargs)
        torch.testing.assert_close(returned, layer(rows, state))
        assert {name for part in parts for name in part.names.values()} == names_of(layer)


def test_a_form_that_forgets_a_parameter_is_not_taken(monkeypatch):
    def forgets(parts, module, given, state):
        return parts.linear(given, "weight_ih", "bias_ih")

    monkeypatch.setitem(forms._FORMS, nn.GRUCell, (forgets, forms._RECURRENT))
    cell, rows = nn.GRUCell(3, 2), torch.randn(4, 3)
    assert written_form(cell, names_of(cell))((rows,), {}) is None
    assert written_form(cell, {"weight_ih", "bias_ih"})((rows,), {}) is not None
