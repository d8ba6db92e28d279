"""Training with correlated noise: what is charged, kept and refused."""

from __future__ import annotations

import math
from itertools import chain

import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.clipping import AdaptiveClipping
from discreet.learning.deep.private_epochs import private_epochs
from discreet.noise import replay
from learning.deep.training_runs import linear_data, losses_of, train


def epochs_run(model=None, data=None, **options):
    model = model or nn.Linear(3, 1)
    stated = {"epsilon": 2, "delta": 1e-5, "epochs": 2, "steps": 4, "physical": 8} | options
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return private_epochs(optimizer, model, linear_data() if data is None else data, **stated), model


def test_a_run_learns_and_keeps_its_promise():
    torch.manual_seed(6)
    optimizer, model = epochs_run(data=linear_data(3000), epsilon=8, epochs=4, steps=15, physical=64)
    train(optimizer, model)
    assert (model.weight - 1).abs().max() < 0.4
    assert optimizer.taken == 60
    assert 7.9 < optimizer.epsilon() <= 8
    assert optimizer.event == optimizer.plan.event
    assert "step 60 of 60" in repr(optimizer)


def test_everybody_takes_part_once_in_every_epoch():
    data = torch.arange(40.0)[:, None].expand(40, 3).clone(), torch.zeros(40)
    optimizer, model = epochs_run(data=data, epochs=3, steps=4)
    seen = [[] for _ in range(12)]
    for rows, targets in optimizer.batches():
        seen[optimizer.taken - 1] += rows[:, 0][optimizer._batch.weights > 0].tolist()
        optimizer.step(losses_of(model, (rows, targets)))
    epochs = [sorted(chain(*seen[start : start + 4])) for start in (0, 4, 8)]
    assert epochs == [[float(number) for number in range(40)]] * 3
    assert [sorted(one) for one in seen[:4]] == [sorted(one) for one in seen[4:8]]


def test_slots_that_are_replayed_mark_the_run():
    """With a known seed slots belong to places: without the first person, others have other slots."""
    rows, targets = linear_data(60)
    with replay(3):
        optimizer, model = epochs_run(data=(rows, targets), population=60)
        fewer, _ = epochs_run(data=(rows[1:], targets[1:]), population=60)
    before, after = (one._draw.__wrapped__.__self__._slots for one in (optimizer, fewer))
    assert (before[1:] != after).any()
    train(optimizer, model)
    assert optimizer.epsilon() == math.inf


class Record:
    """Remembers what was charged."""

    def __init__(self):
        self.events = []

    def charge(self, event):
        self.events.append(event)


def test_an_epoch_is_charged_before_its_first_step():
    record = Record()
    optimizer, model = epochs_run(record=record)
    charged = []
    for batch in optimizer.batches():
        charged.append((optimizer.taken, len(record.events)))
        optimizer.step(losses_of(model, batch))
    assert {step: events for step, events in charged} == {step: 1 + (step > 4) for step in range(1, 9)}  # noqa: C416
    assert record.events == [optimizer.plan.event_of_charge] * 2


def test_part_of_an_epoch_costs_all_of_it():
    optimizer, model = epochs_run()
    for batch in optimizer.batches():
        optimizer.step(losses_of(model, batch))
        if optimizer.taken == 5:
            break
    assert optimizer.event == optimizer.plan.event


def test_a_run_that_was_killed_goes_on_with_the_next_epoch(tmp_path):
    path = tmp_path / "journal"
    optimizer, model = epochs_run(epochs=3, record=path)
    for batch in optimizer.batches():
        optimizer.step(losses_of(model, batch))
        if optimizer.taken == 2 and optimizer.has_updated:
            break
    state = optimizer.state_dict()
    optimizer.close()
    again, model = epochs_run(epochs=3, record=path)
    assert again.taken == 4
    again.load_state_dict(state)
    assert again.taken == 4
    train(again, model)
    assert again.taken == 12
    again.close()
    ended, _ = epochs_run(epochs=3, record=path)
    assert ended.taken == 12
    with pytest.warns(UserWarning, match="all 12 steps were taken before"):
        assert list(ended.batches()) == []
    ended.close()


def test_what_does_not_fit_is_refused():
    with pytest.raises(ParameterError, match="adaptive"):
        epochs_run(clip=AdaptiveClipping())
    with pytest.raises(ParameterError, match="band"):
        epochs_run(band=5)
    with pytest.raises(ParameterError, match="epochs"):
        epochs_run(epochs=0)
