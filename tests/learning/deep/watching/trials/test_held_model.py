"""A model that changes in its forward pass is refused, and one that does not is not."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.watching.trials import held_model
from discreet.learning.deep.watching.trials.held_model import HeldModel
from learning.deep.training_runs import small_run, train


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


@pytest.mark.parametrize("batch", [1, 2, 3, 4, 8, 64])
@pytest.mark.parametrize("name", ["weight", "frozen", "seen"])
def test_what_is_written_through_data_is_seen_in_batches_that_are_powers_of_two(name, batch):
    layer = nn.Linear(3, 2)
    layer.frozen = nn.Parameter(torch.zeros(2), requires_grad=False)
    layer.register_buffer("seen", torch.zeros(3))
    state = HeldModel(layer, [layer.weight, layer.bias])
    for _ in range(batch):
        state.hold()
        state.check()
    value = getattr(layer, name).data
    value.view(-1)[-1] = torch.nextafter(value.view(-1)[-1], torch.tensor(2.0))
    with pytest.raises(ParameterError, match="changes a buffer or parameter"):
        state.check()


def test_values_are_not_compared_in_every_batch(monkeypatch):
    computed = []
    monkeypatch.setattr(held_model, "checksums", lambda values: computed.append(len(values)) or [])
    _, state = held()
    numbers = []
    for number in range(1, 100):
        before = len(computed)
        state.hold()
        numbers += [number] * (len(computed) - before)
    assert numbers == [1, 2, 3, 4, 8, 16, 32, 64]
    assert set(computed) == {2 + 2 + 3}


class Shifting(nn.Module):
    """Begins with the mean of its first batch, or follows means of batches, past what PyTorch counts."""

    def __init__(self, kind):
        super().__init__()
        self.kind, self.calls = kind, 0
        self.shift = nn.Parameter(torch.zeros(3), requires_grad=kind == "first batch")
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.calls += 1
        if self.kind == "first batch" and self.calls == 1:
            self.shift.data.copy_(-x.mean(0))
        elif self.kind == "codes":
            self.shift.data.lerp_(x.detach().mean(0), 0.1)
        elif self.kind == "late" and self.calls > 10:
            self.mean.data.copy_(x.mean(0))
        return x + self.shift


@pytest.mark.parametrize("kind", ["first batch", "codes", "late"])
def test_a_model_that_writes_means_of_batches_through_data_is_refused(kind):
    optimizer, model = small_run(
        nn.Sequential(Shifting(kind), nn.Linear(3, 1)), batch=20, physical=64, steps=16
    )
    with pytest.raises(ParameterError, match="changes a buffer or parameter"):
        train(optimizer, model)
    optimizer.close()


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
