"""Runs whose losses mix examples, alternate, or write to what they are given."""

from __future__ import annotations

import itertools
from collections import UserDict

import pytest
import torch
from torch import nn
from torch.utils.data import default_collate

from discreet.errors import ParameterError
from learning.deep.training_runs import linear_data, losses_of, small_run


def by_step(optimizer, losses):
    for rows, targets in optimizer.batches():
        optimizer.step(losses(rows, targets))


def by_run(optimizer, losses):
    assert list(optimizer.run(losses)) == list(range(1, optimizer.plan.steps + 1))


def by_compiled_run(optimizer, losses):
    assert list(optimizer.run(losses, compiler=lambda graph: graph))


WAYS = [by_step, by_run, by_compiled_run]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", [0, 1, 2, 3, 5, -2, -1])
def test_an_example_that_all_others_depend_on_is_seen_wherever_it_stands(place, way):
    optimizer, model = small_run(data=linear_data(8), batch=8, physical=8, steps=6)

    def losses(rows, targets):
        found = losses_of(model, (rows, targets))
        return found + found[place]

    with pytest.raises(ParameterError, match="mixes examples"):
        way(optimizer, losses)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", [0, 3, 4, -1])
def test_an_example_that_depends_on_all_others_is_seen_wherever_it_stands(place, way):
    optimizer, model = small_run(data=linear_data(8), batch=8, physical=8, steps=6)

    def losses(rows, targets):
        found = losses_of(model, (rows, targets))
        alone = torch.nn.functional.one_hot(torch.tensor(place % 8), 8)
        return found + alone * found.sum()

    with pytest.raises(ParameterError, match="mixes examples"):
        way(optimizer, losses)


@pytest.mark.parametrize("way", [by_step, by_run])
@pytest.mark.parametrize("first", [0, 1])
def test_losses_that_mix_examples_every_other_time_are_refused(first, way):
    optimizer, model = small_run(data=linear_data(40), batch=40, physical=64, steps=8)
    mixes = itertools.cycle([False, True])

    def losses(rows, targets):
        found = losses_of(model, (rows, targets))
        return found - found.mean() if next(mixes) else found

    for _ in range(first):
        next(mixes)
    with pytest.raises(ParameterError, match="mixes examples"):
        way(optimizer, losses)


class Carrying(nn.Module):
    """Writes its examples to a buffer, in a way that a second pass over them undoes."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        self.register_buffer("seen", torch.zeros(3, dtype=torch.int32))

    def forward(self, x):
        self.seen.data.bitwise_xor_((x.sum(0) * 1e6).int())
        return self.layer(x)


@pytest.mark.parametrize("way", [by_step, by_run])
def test_what_a_second_pass_undoes_is_seen_after_the_first(way):
    optimizer, model = small_run(Carrying(), data=linear_data(40), batch=40, physical=64)
    with pytest.raises(ParameterError, match="changes a buffer"):
        way(optimizer, lambda rows, targets: losses_of(model, (rows, targets)))


@pytest.mark.parametrize("kind", [dict, UserDict])
def test_losses_may_write_to_rows_and_take_them_apart(kind):
    data = [{"rows": row, "target": target} for row, target in zip(*linear_data(40), strict=True)]
    blank = {"rows": torch.zeros(3), "target": torch.tensor(0.0)}

    def collate(examples):
        return kind(default_collate(examples))

    optimizer, model = small_run(data=data, batch=40, physical=40, blank=blank, collate=collate)
    seen = []

    def losses(batch):
        targets = batch.pop("target")
        batch["rows"] /= 255
        seen.append(float(batch["rows"].abs().max()))
        return losses_of(model, (batch["rows"], targets))

    by_run(optimizer, losses)
    assert len(seen) == 3 + 4 + 4
    assert min(seen) > max(seen) / 100  # never divided twice; in other company the largest may be gone


@pytest.mark.parametrize("shape", [(), (4, 2)])
def test_losses_of_another_shape_are_refused_in_a_run(shape):
    optimizer, model = small_run()
    with pytest.raises(ParameterError, match="one loss for each example"):
        by_run(optimizer, lambda rows, targets: losses_of(model, (rows, targets)).sum() + torch.zeros(shape))


def test_processes_agree_on_what_a_run_tries_out(monkeypatch):
    """One that waited for the others, which do not try it out, would wait for ever."""
    optimizer, model = small_run(data=linear_data(40), batch=40, physical=64)
    asked = []

    def tried(weights):
        asked.append(len(weights))
        return torch.zeros_like(weights)

    monkeypatch.setattr(type(optimizer._shards), "tried", lambda self, weights: tried(weights))
    by_run(optimizer, lambda rows, targets: losses_of(model, (rows, targets)))
    assert asked == [64] * 3
    assert not optimizer._book.is_tried
