"""A model that changes in its forward pass is refused, and one that does not is not."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.watching.held_model import HeldModel


def held():
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    return model, HeldModel(model, list(model.parameters()))


def test_what_stays_as_it_is_passes():
    model, state = held()
    model[0](torch.ones(2, 3))
    state.check()
    assert state.places == [value.data_ptr() for value in (*model.buffers(), *model.parameters())]


def write(model):
    with torch.no_grad():
        model[0].weight.add_(1)


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model(torch.ones(2, 3)),  # running statistics
        write,
        lambda model: setattr(model[0].weight, "data", torch.zeros(2, 3)),
        lambda model: model[0].register_buffer("seen", torch.zeros(1)),
    ],
    ids=["statistics", "written", "moved", "a buffer more"],
)
def test_what_changes_is_refused_until_it_is_held(change):
    model, state = held()
    change(model)
    with pytest.raises(ParameterError, match="changes a buffer or parameter"):
        state.check()
    state.hold()
    state.check()


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model[0].weight.requires_grad_(False),
        lambda model: model.append(nn.Linear(2, 2)),
        lambda model: setattr(model[0], "weight", nn.Parameter(torch.zeros(2, 3))),
    ],
    ids=["frozen", "a layer more", "another parameter"],
)
def test_other_trained_parameters_are_refused(change):
    model, state = held()
    change(model)
    with pytest.raises(ParameterError, match="other trained parameters"):
        state.check()


class Shared(nn.Module):
    """Parts that come twice, in an order that is not that of their depth, and parameters and buffers too."""

    def __init__(self):
        super().__init__()
        inner = nn.Linear(2, 2)
        self.first = nn.Sequential(inner, nn.BatchNorm1d(2, affine=False))
        self.inner, self.later, self.nothing = inner, nn.Linear(2, 2, bias=False), None
        self.later.weight = inner.weight
        self.register_buffer("empty", None)
        self.register_buffer("same", self.first[1].running_mean)
        self.register_module("nobody", None)


class Telling(nn.Linear):
    """Tells of its weights alone."""

    def parameters(self, recurse=True):
        return iter([self.weight])


@pytest.mark.parametrize(
    "make", [Shared, lambda: nn.Transformer(8, 2, 1, 1, 16, batch_first=True), lambda: Telling(2, 2)]
)
def test_values_are_those_that_the_model_tells_of_in_its_order(make):
    model = make()
    expected = [*model.buffers(), *model.parameters()]
    state = HeldModel(model, [value for value in expected if isinstance(value, nn.Parameter)])
    assert [id(value) for value, *_ in state._now()] == [id(value) for value in expected]
    state.hold()
    state.check()
