"""Trials that tell nothing do not count, no two places stay together, and trials end."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.watching.arriving_slopes import run_once
from discreet.learning.deep.watching.book import Book
from discreet.learning.deep.watching.layer_calls import WatchedLayer
from discreet.learning.deep.watching.trials import mixing_trials
from discreet.learning.deep.watching.trials.mixing_trials import MixingTrials
from discreet.noise import replay
from learning.deep.training_runs import linear_data, small_run


def halves(counts, trials=None):
    """Which of so many examples are chosen, in trials that tell of a layer."""
    trials = MixingTrials() if trials is None else trials
    found = []
    for count in counts:
        found.append(trials._half(count).numpy())
        trials._note({"layer"})
    return found


@pytest.mark.parametrize("count", [2, 3, 4, 7, 64])
def test_everybody_is_chosen_in_one_trial_of_a_pair_and_left_out_in_the_other(count):
    one, other = halves([count, count])
    assert (one ^ other).all()
    assert 0 < one.sum() < count
    longer, shorter = halves([count + 9, count])
    assert (longer[:count] ^ shorter).all()  # batches with other numbers of examples


def test_any_two_places_are_told_apart_half_of_the_time_or_always():
    """With fixed patterns some two places of eight never were."""
    with replay(5):
        trials = MixingTrials()
        found = np.array([halves([8, 8], trials)[0] for _ in range(400)])
    apart = (found[:, :, None] != found[:, None, :]).mean(0)
    neighbors = [(place, place ^ 1) for place in range(8)]
    assert all(apart[pair] == 1 for pair in neighbors)
    rest = [apart[one, two] for one in range(8) for two in range(8) if one // 2 != two // 2]
    assert all(0.35 < share < 0.65 for share in rest)  # six standard deviations


def test_halves_are_secret_and_differ_between_runs():
    assert len({halves([256])[0].tobytes() for _ in range(8)}) == 8


def made(trials, slopes_of, count=4, step=True):
    """One trial of layers whose slopes are stated, one number for each example."""
    if step:
        trials.begin_step()
    calls, terms = [], torch.zeros(count)
    for name, slopes in slopes_of.items():
        output = torch.zeros(count, 1, requires_grad=True)
        layer = WatchedLayer(name, nn.Linear(1, 1), None, {})
        calls.append((layer, [torch.autograd.graph.get_gradient_edge(output)]))
        terms = terms + output[:, 0] * torch.as_tensor(slopes)
    weights = torch.ones(count)
    is_due = trials.is_due(weights)
    if is_due:
        trials.try_out(calls, terms, weights, set(range(len(calls))), run_once)
    return is_due


def steps_tried(slopes_of, steps):
    """Of steps with two batches and more, those in which some are tried out, and the one that suffices."""
    trials, tried, enough = MixingTrials(), [], None
    for step in range(1, steps + 1):
        slopes = slopes_of(step)
        if made(trials, slopes):
            assert made(trials, slopes, step=False)
            tried.append(step)
        assert not made(trials, slopes, step=False) or not any(np.any(value) for value in slopes.values())
        enough = step if enough is None and trials.is_enough else enough
    return tried, enough


def test_layers_that_are_told_of_at_once_are_tried_before_and_after_an_update_and_then_ever_more_seldom():
    tried, enough = steps_tried(lambda step: {"one": [1.0] * 4, "two": [2.0] * 4}, 70)
    assert enough == 2
    assert tried == [1, 2, 4, 8, 16, 32, 64]


def test_a_layer_that_one_half_alone_tells_of_is_tried_further():
    _, enough = steps_tried(lambda step: {"one": [1.0] * 4, "two": [0.0, 0, 0, 1]}, 20)
    assert enough == mixing_trials._MOST_PAIRS


def test_a_layer_below_zeros_is_tried_once_it_has_slopes():
    tried, enough = steps_tried(lambda step: {"head": [1.0] * 4, "body": [float(step > 5)] * 4}, 8)
    assert tried == [1, 2, 3, 4, 5, 6, 7, 8]
    assert enough == 7


def test_slopes_that_are_not_finite_tell_nothing():
    for odd in (torch.nan, torch.inf):
        _, enough = steps_tried(lambda step, odd=odd: {"one": [1.0] * 4, "two": [odd] * 4}, 10)
        assert enough is None


def test_a_dead_layer_ends_trials_after_a_public_number():
    tried, enough = steps_tried(lambda step: {"one": [1.0] * 4, "dead": [0.0] * 4}, 70)
    assert enough == mixing_trials._MOST_PAIRS
    assert tried == [*range(1, 17), 32, 64]


def test_a_batch_that_tells_of_nothing_is_followed_by_another_trial_in_its_step():
    trials = MixingTrials()
    trials.begin_step()
    for _ in range(4):
        assert made(trials, {"one": [torch.nan] * 4}, step=False)
    assert [made(trials, {"one": [1.0] * 4}, step=False) for _ in range(4)] == [True, True, False, False]


def test_slopes_are_looked_at_to_the_last_block(monkeypatch):
    monkeypatch.setattr(mixing_trials, "_AT_ONCE", 4)
    slopes = torch.zeros(5, 2)
    slopes[4, 1], slopes[2, 0], slopes[0, 0], slopes[1, 1] = 1e-30, torch.nan, -1.0, torch.inf
    has_numbers, is_finite = mixing_trials._looked_at(slopes)
    assert has_numbers.tolist() == [True, True, False, False, True]
    assert is_finite.tolist() == [True, False, False, True, True]


def test_processes_that_go_on_together_agree():
    trials = MixingTrials(lambda is_so: False)
    for _ in range(3):
        made(trials, {"one": [1.0] * 4})
        made(trials, {"one": [1.0] * 4}, step=False)
    assert not trials.is_enough


class Centered(nn.Module):
    """Mixes examples below a last layer that begins with zeros."""

    def __init__(self):
        super().__init__()
        self.one, self.last = nn.Linear(3, 4), nn.Linear(4, 1)
        nn.init.zeros_(self.last.weight)

    def forward(self, x):
        seen = self.one(x)
        return self.last(torch.tanh(seen - seen.mean(0)))


class Gated(nn.Module):
    """Mixes examples behind a gate that is closed at first, of layers that have slopes past it."""

    def __init__(self):
        super().__init__()
        self.one, self.gate, self.last = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 1)
        nn.init.zeros_(self.gate.weight)

    def forward(self, x):
        seen = self.one(x)
        return self.last(torch.tanh(seen + self.gate(seen.mean(0).expand_as(seen))))


class Undefined(nn.Module):
    """Mixes examples, among which one is not a number in the first batches."""

    def __init__(self):
        super().__init__()
        self.one, self.last, self.calls = nn.Linear(3, 4), nn.Linear(4, 1), 0

    def forward(self, x):
        self.calls += 1
        seen = self.one(x)
        if self.calls <= 4:
            seen = seen * torch.tensor([torch.nan] + [1.0] * (len(x) - 1))[:, None]
        return self.last(torch.tanh(seen - seen.mean(0)))


def by_step(optimizer, losses):
    for rows, targets in optimizer.batches():
        optimizer.step(losses(rows, targets))


def by_run(optimizer, losses):
    list(optimizer.run(losses))


@pytest.mark.parametrize("way", [by_step, by_run])
@pytest.mark.parametrize("physical", [8, 64])
@pytest.mark.parametrize("make", [Centered, Gated, Undefined])
def test_mixing_that_trials_cannot_see_at_first_is_refused(make, physical, way, monkeypatch):
    """In a step there may be eight batches before the first update, or one."""
    monkeypatch.setattr("discreet.learning.deep.watching.traced_batch.refuse_company", lambda *_: True)
    optimizer, model = small_run(make(), data=linear_data(64), batch=64, physical=physical, steps=6)
    with pytest.raises(ParameterError, match="mixes examples"):
        way(optimizer, lambda rows, targets: (model(rows)[:, 0] - targets) ** 2)
    optimizer.close()


@pytest.mark.parametrize("way", [by_step, by_run])
def test_mixing_of_two_places_that_fixed_patterns_never_told_apart_is_refused(way):
    """Places 0 and 4 of 16 are both even, both in the same half, and both first in their pairs of pairs."""
    refused = 0
    for _ in range(24):
        optimizer, model = small_run(data=linear_data(16), batch=16, physical=16, steps=4)

        def losses(rows, targets, model=model):
            found = (model(rows)[:, 0] - targets) ** 2
            return found + nn.functional.one_hot(torch.tensor(4), 16) * found[0]

        try:
            way(optimizer, losses)
        except ParameterError as error:
            refused += "mixes examples" in str(error) or "mix examples" in str(error)
        optimizer.close()
    assert refused >= 8  # three of four on average; below 8 once in a million times


def test_a_run_with_a_dead_layer_has_tried_enough_in_bounded_time():
    class Dead(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.dead = nn.Linear(3, 1), nn.Linear(3, 1)

        def forward(self, x):
            return self.one(x) + 0 * self.dead(x)

    optimizer, model = small_run(Dead(), data=linear_data(8), batch=8, physical=8, steps=20)
    by_run(optimizer, lambda rows, targets: (model(rows)[:, 0] - targets) ** 2)
    assert optimizer._book.is_tried
    assert optimizer._book._trials._pairs == mixing_trials._MOST_PAIRS


def test_a_layer_that_losses_do_not_read_is_not_waited_for():
    class Unread(nn.Module):
        def __init__(self):
            super().__init__()
            self.one, self.unread = nn.Linear(3, 1), nn.Linear(3, 1)

        def forward(self, x):
            self.unread(x)
            return self.one(x)

    model = Unread()
    book = Book(model, list(model.parameters()))
    for _ in range(2):
        book.begin_step()
        book.try_out(lambda: model(torch.randn(4, 3)).square().sum(1), torch.ones(4))
    assert book.is_tried
    book.close()
