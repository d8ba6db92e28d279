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
