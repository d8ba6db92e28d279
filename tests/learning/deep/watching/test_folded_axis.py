"""Positions that are folded into the axis of the examples: gradients are those of examples alone."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.uses import LookupUse, OuterUse
from discreet.learning.deep.watching import folded_axis
from discreet.learning.deep.watching.folded_axis import is_of_examples, unfolded, uses_by_rule
from discreet.learning.deep.watching.layer_calls import WatchedLayer
from learning.deep.gradient_oracle import booked, compare
from learning.deep.training_runs import small_run


class Gain(nn.Module):
    """A module without a rule."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.randn(4, 4))

    def forward(self, x, beside=None):
        return torch.tanh(x @ self.gain) + (0 if beside is None else beside.sum(1, keepdim=True))


class Folded(nn.Module):
    """Gives a layer all positions of all examples on one axis; examples are (3 positions, *shape)."""

    def __init__(self, layer):
        super().__init__()
        self.layer, self.last = layer, nn.LazyLinear(2)

    def forward(self, x):
        return self.last(self.layer(x.flatten(0, 1)).reshape(len(x), -1))


class PositionsFirst(Folded):
    """The same, with examples after positions."""

    def forward(self, x):
        found = self.layer(x.transpose(0, 1).flatten(0, 1))
        return self.last(found.unflatten(0, (3, -1)).transpose(0, 1).flatten(1))


class WrongOrder(Folded):
    """Takes examples apart in another order than they were folded in: data of others are read."""

    def forward(self, x):
        return self.last(self.layer(x.transpose(0, 1).flatten(0, 1)).reshape(len(x), -1))[:, 0]


class Beside(Folded):
    """Gives a module two tensors that are folded alike."""

    def forward(self, x):
        found = self.layer(x.flatten(0, 1), beside=2 * x.flatten(0, 1))
        return self.last(found.reshape(len(x), -1))


LAYERS = {
    "linear": (nn.Linear(4, 5), (3, 4)),
    "linear with positions of its own": (nn.Linear(4, 5), (3, 2, 4)),
    "layer norm": (nn.LayerNorm(4), (3, 4)),
    "layer norm of two axes": (nn.LayerNorm((2, 4)), (3, 2, 4)),
    "root-mean-square norm": (nn.RMSNorm(4), (3, 2, 4)),
    "group norm": (nn.GroupNorm(2, 4), (3, 4, 5)),
    "convolution": (nn.Conv2d(2, 3, 2), (3, 2, 4, 4)),
    "convolution by patches": (nn.Conv2d(8, 9, 2), (3, 8, 3, 3)),
    "convolution by groups": (nn.Conv1d(4, 4, 2, groups=2), (3, 4, 6)),
    "no rule": (Gain(), (3, 4)),
}


@pytest.mark.parametrize("examples", [1, 5])
@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_those_of_examples_alone(name, examples):
    torch.manual_seed(1)
    layer, shape = LAYERS[name]
    model, rows = Folded(layer), torch.randn(examples, *shape)
    model(rows)
    compare(model, rows)


def test_words_that_are_folded_are_looked_up():
    torch.manual_seed(2)
    model, words = Folded(nn.Embedding(7, 4)), torch.randint(0, 7, (5, 3))
    model(words)
    compare(model, words)
    assert isinstance(booked(model, words)[0][0], LookupUse)


def test_a_module_that_is_given_two_folded_tensors():
    torch.manual_seed(3)
    model, rows = Beside(Gain()), torch.randn(5, 3, 4)
    model(rows)
    compare(model, rows)


@pytest.mark.parametrize("name", LAYERS)
def test_rows_in_another_order_are_refused(name):
    layer, shape = LAYERS[name]
    model, rows = PositionsFirst(layer), torch.randn(5, *shape)
    model(rows)
    with pytest.raises(ParameterError, match="mixes examples"):
        booked(model, rows)


def test_data_of_others_that_are_read_so_are_refused_in_a_run():
    model, rows = WrongOrder(nn.Linear(4, 5)), torch.randn(20, 3, 4)
    model(rows)
    optimizer, _ = small_run(model, (rows, rows.sum((1, 2))), steps=2)
    with pytest.raises(ParameterError, match="mix examples"):
        list(optimizer.run(lambda given, targets: (model(given) - targets) ** 2))
    optimizer.close()


def test_rows_in_another_order_would_be_wrong(monkeypatch):
    """The planted fault: positions before examples."""
    turned = lambda values, examples: values.reshape(-1, examples, *values.shape[1:]).transpose(0, 1)  # noqa: E731
    monkeypatch.setattr(folded_axis, "unfolded", turned)
    model, rows = Folded(nn.Linear(4, 5)), torch.randn(5, 3, 4)
    model(rows)
    with pytest.raises(AssertionError):
        compare(model, rows)


def test_each_example_has_as_many_rows():
    assert is_of_examples(torch.zeros(6), 3)
    assert not is_of_examples(torch.zeros(7), 3)
    assert not is_of_examples(torch.zeros(()), 1)
    assert not is_of_examples(torch.zeros(0, 2), 3)
    assert unfolded(torch.arange(6), 3).tolist() == [[0, 1], [2, 3], [4, 5]]


def test_a_kind_of_use_that_cannot_be_joined_is_refused():
    def watched(use):
        return WatchedLayer("layer", nn.Linear(2, 2), lambda *_: {"weight": use}, {})

    rows = torch.ones(6, 2)
    known = uses_by_rule(watched(OuterUse(torch.ones(6, 1, 2), torch.ones(6, 1, 3))), rows, rows, 3)
    assert known["weight"].left.shape == (3, 2, 2)
    with pytest.raises(ParameterError, match="no kernel"):
        uses_by_rule(watched(object()), rows, rows, 3)
    with pytest.raises(ParameterError, match="input is not that of the examples"):
        uses_by_rule(watched(object()), torch.ones(9, 2), rows, 3)
