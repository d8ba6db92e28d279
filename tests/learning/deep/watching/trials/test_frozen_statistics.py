"""Batch normalization that stays frozen trains along; one that is called in training mode ends the run."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.private import private
from discreet.learning.deep.watching.trials.frozen_statistics import (
    FrozenStatistics,
    can_be_frozen,
    is_frozen,
)
from discreet.noise import replay

PLACES = 5


class Net(nn.Module):
    """A pretrained body and a head."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(1, 4, 3, bias=False), nn.BatchNorm1d(4), nn.Tanh(), nn.Flatten())
        self.head = nn.Linear(4 * (PLACES - 2), 1)
        with torch.no_grad():
            self.body[1].running_mean.uniform_(-1, 1)
            self.body[1].running_var.uniform_(0.5, 2)
        self.body.eval().requires_grad_(False)

    def forward(self, rows):
        return self.head(self.body(rows))[:, 0]


def data():
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn(60, 1, PLACES, generator=generator)
    return rows, rows.sum((1, 2))


def made(model, rows_and_targets=None, steps=3):
    optimizer = torch.optim.SGD([value for value in model.parameters() if value.requires_grad], lr=0.1)
    given = data() if rows_and_targets is None else rows_and_targets
    return private(optimizer, model, given, epsilon=2, delta=1e-5, batch=20, steps=steps, physical=64)


def test_a_head_is_trained_as_on_the_outputs_of_the_body():
    net = Net()
    alone, before = deepcopy(net.head), deepcopy(net.body.state_dict())
    rows, targets = data()
    with replay(1):
        optimizer = made(net)
        for some, wanted in optimizer.batches():
            optimizer.step((net(some) - wanted) ** 2)
    with replay(1), torch.no_grad():
        outputs = net.body(rows)
    with replay(1):
        optimizer = made(alone, (outputs, targets))
        for some, wanted in optimizer.batches():
            optimizer.step((alone(some)[:, 0] - wanted) ** 2)
    torch.testing.assert_close(net.head.weight, alone.weight)
    assert all(torch.equal(value, before[name]) for name, value in net.body.state_dict().items())


def in_training_mode_for_one_call(net, rows):
    net.train()
    found = net(rows)
    net.body.eval()
    return found


def without_gradient(net, rows):
    net.train()
    with torch.inference_mode():
        net.body(rows)
    net.body.eval()
    return net(rows)


def without_counting(net, rows):
    net.body[1].track_running_stats = False
    return net(rows)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda net, rows: net.train()(rows), r"training mode.*model.body\[1\].eval\(\)"),
        (in_training_mode_for_one_call, "statistics were written to"),
        (without_gradient, "statistics were written to"),
        (without_counting, "training mode"),
    ],
    ids=["train", "for one call", "without gradient", "without counting"],
)
@pytest.mark.parametrize("first", [0, 2, 6], ids=["at once", "later", "after all trials"])
def test_a_body_in_training_mode_ends_the_run(call, message, first):
    net = Net()
    optimizer, seen = made(net, steps=9), []

    def loop():
        for rows, targets in optimizer.batches():
            seen.append(net.head.weight.detach().clone())
            found = (call if optimizer.taken > first else Net.forward)(net, rows)
            optimizer.step((found - targets) ** 2)

    with pytest.raises(ParameterError, match=message):
        loop()
    assert optimizer.taken == first + 1
    assert torch.equal(net.head.weight, seen[-1])


@pytest.mark.parametrize("compiler", [None, lambda graph: graph], ids=["plain", "compiled"])
@pytest.mark.parametrize("after", [1, 3])
def test_a_body_that_is_put_to_training_mode_after_steps_ends_a_run(compiler, after):
    net = Net()
    optimizer, seen = made(net, steps=9), []

    def loop():
        for step in optimizer.run(lambda rows, targets: (net(rows) - targets) ** 2, compiler=compiler):
            seen.append(net.head.weight.detach().clone())
            if step == after:
                net.train()

    with pytest.raises(ParameterError, match=r"training mode|changes a buffer"):
        loop()
    assert optimizer.taken == after + 1
    assert torch.equal(net.head.weight, seen[-1])


def test_calls_between_steps_are_seen():
    """Statistics of rows that are looked at in between would be in every checkpoint."""
    net = Net()
    optimizer = made(net)

    def loop():
        for rows, targets in optimizer.batches():
            net.body.eval()
            optimizer.step((net(rows) - targets) ** 2)
            net.train()
            net(rows)

    with pytest.raises(ParameterError, match="statistics were written to"):
        loop()
    assert optimizer.taken == 2


def test_a_mode_that_is_set_in_time_and_weights_that_are_loaded_before_are_fine():
    net = Net()
    optimizer = made(net)
    net.load_state_dict(deepcopy(net.state_dict()))
    for rows, targets in optimizer.batches():
        net.train()
        net.body.eval()
        optimizer.step((net(rows) - targets) ** 2)
        net.train()
    assert optimizer.taken == 3


class OfTheBatch(nn.BatchNorm1d):
    """Takes the means of the batch in every mode."""

    def forward(self, rows):
        return rows - rows.mean(0)


def replaced(module):
    module.forward = lambda rows: rows - rows.mean(0)
    return module


@pytest.mark.parametrize(
    "module",
    [
        nn.BatchNorm1d(3, track_running_stats=False),
        OfTheBatch(3),
        replaced(nn.BatchNorm1d(3)),
        nn.InstanceNorm1d(3, track_running_stats=True),
        nn.LayerNorm(3),
    ],
    ids=["no statistics", "own class", "own forward", "instances", "layers"],
)
def test_what_may_mix_in_evaluation_mode_is_not_frozen(module):
    assert not can_be_frozen(module.eval().requires_grad_(False))


def test_frozen_means_evaluation_mode_and_nothing_trained():
    for module in (nn.BatchNorm2d(3), nn.SyncBatchNorm(3)):
        assert can_be_frozen(module)
        assert not is_frozen(module)
        assert not is_frozen(module.eval())
        assert is_frozen(module.requires_grad_(False))
        assert not is_frozen(module.train())
    assert is_frozen(nn.BatchNorm1d(3, affine=False).eval())


def test_a_model_without_any_is_always_well():
    found = FrozenStatistics(nn.Linear(2, 2))
    found.hold()
    found.check()
