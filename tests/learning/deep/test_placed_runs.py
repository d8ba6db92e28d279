"""A framework may compute an example by its place in a batch: places are secret, and tell nothing of anybody.

On some processors the place of a row decides in which direction a product is rounded. Where everybody stands
in the order of the data, a person who is gone moves all others by a place, and rows on the kink of a
rectifier turn a last bit into half of a gradient.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from discreet.learning.deep import beginning, sampling
from discreet.learning.deep.private import private
from discreet.learning.deep.private_epochs import private_epochs
from learning.deep.training_runs import linear_data, losses_of, small_run, train

PEOPLE = 1000
RUNS = 18
"""Of each kind. With an epsilon of 0.1 an answer is yes to all of one and no to all of the other with a
probability of (p (1 - e^-0.1 p))^18 at most, up to deltas: below 1e-10 for every p."""


class RoundsByPlace(nn.Module):
    """Adds a last bit in even places of a batch, and takes one away in odd ones."""

    def forward(self, x):
        sides = 1.0 - 2.0 * (torch.arange(len(x)) % 2)
        return x + 2.0**-21 * sides[:, None]


def score(first, *, epochs):
    """One private step with crafted rows, without those before the first: how far the weight has moved."""
    model = nn.Sequential(nn.Linear(1, 1), RoundsByPlace(), nn.ReLU())
    nn.init.constant_(model[0].weight, 1.0)
    nn.init.constant_(model[0].bias, -1.0)  # rows of 1 are on the kink
    signs = 1.0 - 2.0 * (torch.arange(PEOPLE) % 2)
    data = torch.ones(PEOPLE, 1)[first:], signs[first:]
    inner = torch.optim.SGD(model.parameters(), lr=1.0)
    stated = {"epsilon": 0.1, "delta": 1e-5, "population": PEOPLE, "physical": PEOPLE}
    if epochs:
        optimizer = private_epochs(inner, model, data, epochs=1, steps=1, **stated)
    else:
        optimizer = private(inner, model, data, batch=PEOPLE, steps=1, **stated)
    for rows, targets in optimizer.batches():
        optimizer.step(-targets * model(rows)[:, 0])
    return float(model[0].weight.detach()) - 1


def is_told_apart(**kind):
    """Whether the sign of the score tells everybody from everybody but the first, every time."""
    return all(score(0, **kind) > 0 for _ in range(RUNS)) and not any(
        score(1, **kind) > 0 for _ in range(RUNS)
    )


@pytest.mark.statistical
@pytest.mark.parametrize("epochs", [False, True])
def test_rounding_by_place_tells_nobody_from_another(epochs):
    assert not is_told_apart(epochs=epochs)


@pytest.mark.parametrize("epochs", [False, True])
def test_in_the_order_of_the_data_rounding_by_place_would_tell(epochs, monkeypatch):
    monkeypatch.setattr(sampling, "_order", np.arange)
    assert is_told_apart(epochs=epochs)


@pytest.mark.parametrize("physical", [None, 8, 7])
def test_every_step_has_the_same_number_of_batches(physical):
    """However many people were drawn, which differs from step to step."""
    optimizer, model = small_run(batch=20, steps=12, physical=physical)
    batches, drawn = np.zeros(12, int), np.zeros(12, int)
    for batch in optimizer.batches():
        batches[optimizer.taken - 1] += 1
        drawn[optimizer.taken - 1] += int((optimizer._batch.places >= 0).sum())
        size = len(batch[0])
        optimizer.step(losses_of(model, batch))
    assert set(batches) == {-(-optimizer.plan.places // size)}
    assert len(set(drawn)) > 1
    assert optimizer.plan.places == 50


def test_places_of_a_step_differ_from_those_of_the_next():
    optimizer, model = small_run(data=linear_data(40), batch=40, steps=4, physical=40)
    seen = []
    for batch in optimizer.batches():
        seen.append(optimizer._batch.places.tolist())
        optimizer.step(losses_of(model, batch))
    assert len({tuple(places) for places in seen}) == 4
    assert {tuple(sorted(places)) for places in seen} == {tuple(range(40))}


def test_a_step_with_more_examples_than_places_takes_more_batches_and_loses_nobody(monkeypatch):
    monkeypatch.setattr(beginning, "places_of", lambda *_: 3)
    rows, targets = torch.arange(30.0)[:, None].expand(30, 3), torch.zeros(30)
    optimizer, model = small_run(data=(rows, targets), batch=30, steps=2, physical=4)
    seen = []
    for batch in optimizer.batches():
        seen += batch[0][:, 0][optimizer._batch.weights > 0].tolist()
        optimizer.step(losses_of(model, batch))
    assert sorted(seen) == sorted([*range(30), *range(30)])
    assert optimizer.taken == 2


def test_people_with_several_examples_have_a_place_for_each():
    people = torch.arange(200) // 4
    optimizer, model = small_run(people=people, examples_per_person=3, batch=50, physical=16)
    train(optimizer, model)
    assert optimizer.plan.places == 150


def test_a_bound_on_people_gives_places_for_as_many():
    """Else the number of batches would tell how many there are."""
    counts = []
    for people in (100, 200):
        optimizer, model = small_run(data=linear_data(people), batch=20, population=400, steps=1)
        counts.append(0)
        for batch in optimizer.batches():
            counts[-1] += 1
            optimizer.step(losses_of(model, batch))
    assert counts[0] == counts[1] == -(-optimizer.plan.places // 8)
