"""Private steps: what is released, recorded, kept and refused."""

from __future__ import annotations

import copy
import io
import math
import pickle
import warnings
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn import functional

import discreet as dp
from discreet.accounting.epsilon_and_delta import epsilon
from discreet.errors import ParameterError
from discreet.learning.deep.clipping import AdaptiveClipping
from discreet.learning.deep.optimizer import PrivateOptimizer
from discreet.noise import replay
from learning.deep.training_runs import linear_data, losses_of, small_run, train


def test_a_run_learns_and_keeps_its_promise():
    torch.manual_seed(6)
    optimizer, model = small_run(data=linear_data(2000), epsilon=8, batch=200, steps=60, physical=64)
    train(optimizer, model)
    assert (model.weight - 1).abs().max() < 0.3
    assert optimizer.taken == 60
    assert 7.9 < optimizer.epsilon() <= 8
    assert optimizer.event == optimizer.plan.event


def test_the_update_is_the_optimizers_on_the_noisy_mean():
    torch.manual_seed(7)
    data = linear_data(40)
    model = nn.Linear(3, 1)
    before = model.weight.detach().clone()
    with replay(1):
        optimizer, _ = small_run(model, data, batch=40, steps=1)
        gradients = []
        inner = optimizer._inner.step
        optimizer._inner.step = lambda: (gradients.append(model.weight.grad.clone()), inner())[1]
        train(optimizer, model)
    (gradient,) = gradients
    torch.testing.assert_close(model.weight.detach(), before - 0.1 * gradient)
    assert model.weight.grad is None


def test_several_batches_make_one_step():
    torch.manual_seed(8)
    data, results = linear_data(50), []
    for physical in (64, 7):
        model = nn.Linear(3, 1)
        nn.init.constant_(model.weight, 0.1)
        nn.init.constant_(model.bias, 0.0)
        with replay(2):
            optimizer, _ = small_run(model, data, batch=50, steps=2, physical=physical)
            updates = []
            for batch in optimizer.batches():
                optimizer.step(losses_of(model, batch))
                updates.append(optimizer.has_updated)
        results.append(model.weight.detach())
        assert sum(updates) == 2
        assert len(updates) == 2 * math.ceil(50 / physical)
    torch.testing.assert_close(*results, atol=1e-6, rtol=0)


def test_empty_steps_are_legal():
    optimizer, model = small_run(batch=1, population=20_000, steps=4)
    before = model.weight.detach().clone()
    train(optimizer, model)
    assert optimizer.taken == 4
    assert not torch.equal(model.weight, before)


def test_people_with_several_examples_are_bounded_together():
    people = torch.arange(200) // 4
    optimizer, model = small_run(people=people, examples_per_person=3, batch=10)
    train(optimizer, model)
    assert optimizer.plan.population == 50
    assert optimizer.plan.examples == 3
    assert optimizer.rate == 0.2


def test_examples_that_are_not_finite_are_named():
    rows, targets = linear_data(30)
    rows[11, 0] = math.inf
    rows[12, 1] = math.nan
    optimizer, model = small_run(data=(rows, targets), batch=30, steps=2)
    train(optimizer, model)
    assert sorted(set(optimizer.left_out)) == [11, 12]
    assert model.weight.isfinite().all()


def test_epsilon_grows_step_by_step_and_the_ladder_has_every_theorem():
    optimizer, model = small_run(steps=4)
    spent = [optimizer.epsilon()]
    for batch in optimizer.batches():
        optimizer.step(losses_of(model, batch))
        if optimizer.has_updated:
            spent.append(optimizer.epsilon())
    assert spent[0] == 0
    assert all(one < other for one, other in pairwise(spent))
    assert spent[2] == epsilon(optimizer.plan.event_of_charge * 2, delta=1e-5).upper
    rungs = {rung.name for rung in optimizer.ladder()}
    assert {"basic", "strong", "moments", "renyi", "tight"} <= rungs
    assert optimizer.epsilon(1e-3) < optimizer.epsilon(1e-6)
    assert "step 4 of 4" in repr(optimizer)


def test_replayed_noise_is_marked():
    with replay(3):
        optimizer, model = small_run()
        train(optimizer, model)
    assert optimizer.epsilon() == math.inf
    assert "NOT PRIVATE" in repr(optimizer)
    assert optimizer.state_dict()["privacy"]["is_private"] is False
    optimizer.close()
    other, _ = small_run(model)
    other.load_state_dict(optimizer.state_dict())
    assert other.epsilon() == math.inf


def test_people_who_are_drawn_by_a_replay_mark_the_run_though_its_noise_is_private():
    optimizer, model = small_run(physical=256)
    batches = optimizer.batches()
    optimizer.step(losses_of(model, next(batches)))
    assert optimizer.epsilon() < math.inf
    with replay(4):
        batch = next(batches)
    optimizer.step(losses_of(model, batch))
    assert optimizer.epsilon() == math.inf


def test_a_step_is_recorded_before_anything_is_drawn_or_read():
    class Record:
        def __init__(self):
            self.events = []

        def charge(self, event):
            self.events.append(event)

    class Watched(torch.utils.data.Dataset):
        def __init__(self, record):
            self.record, self.reads = record, []

        def __len__(self):
            return 20

        def __getitem__(self, place):
            self.reads.append(len(self.record.events))
            return torch.ones(3), torch.tensor(1.0)

    record = Record()
    data = Watched(record)
    blank = (torch.zeros(3), torch.tensor(0.0))
    optimizer, model = small_run(data=data, blank=blank, batch=20, steps=2, record=record)
    assert data.reads == []
    train(optimizer, model)
    assert record.events == [optimizer.plan.event_of_charge] * 2
    assert sorted(set(data.reads)) == [1, 2]


def test_a_record_that_refuses_ends_the_run():
    class Refusing:
        def charge(self, event):
            raise ParameterError("budget", "is spent", "more")

    optimizer, model = small_run(record=Refusing())
    before = model.weight.detach().clone()
    with pytest.raises(ParameterError, match="spent"):
        train(optimizer, model)
    assert torch.equal(before, model.weight)


def test_a_run_goes_on_after_a_break_and_forgets_no_step(tmp_path):
    path = tmp_path / "run"
    optimizer, model = small_run(steps=5, record=path)
    saved = {}
    for batch in optimizer.batches():
        optimizer.step(losses_of(model, batch))
        if optimizer.has_updated and optimizer.taken == 1:
            torch.save(optimizer.state_dict(), tmp_path / "state")
            saved = dict(model.state_dict())
        if optimizer.taken == 3:
            break  # in the middle of the third step
    optimizer.close()
    again, other = small_run(nn.Linear(3, 1), steps=5, record=path)
    other.load_state_dict(saved)
    assert again.taken == 3
    again.load_state_dict(torch.load(tmp_path / "state", weights_only=True))
    assert again.taken == 3
    train(again, other)
    assert again.taken == 5
    again.close()


def test_a_checkpoint_holds_plain_values_and_the_inner_state():
    optimizer, model = small_run(optimizer=torch.optim.Adam, clip=AdaptiveClipping(0.5))
    train(optimizer, model)
    buffer = io.BytesIO()
    torch.save(optimizer.state_dict(), buffer)
    buffer.seek(0)
    state = torch.load(buffer, weights_only=True)
    optimizer.close()
    other, _ = small_run(model, optimizer=torch.optim.Adam, clip=AdaptiveClipping(0.5))
    other.load_state_dict(state)
    assert other.taken == 3
    assert other._bound == optimizer._bound != 0.5
    assert torch.equal(other.state[model.weight]["exp_avg"], optimizer.state[model.weight]["exp_avg"])


def test_schedulers_work():
    optimizer, model = small_run(steps=4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    for batch in optimizer.batches():
        optimizer.step(losses_of(model, batch))
        if optimizer.has_updated:
            schedule.step()
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0.1 / 16)


@pytest.mark.parametrize("reduce", [torch.mean, torch.sum])
def test_a_mean_or_a_sum_of_losses_is_refused(reduce):
    drawing, model = small_run()
    batch = next(iterator := drawing.batches())
    with pytest.raises(ParameterError, match='reduction="none"'):
        drawing.step(reduce(losses_of(model, batch)))
    del iterator


def test_losses_of_another_batch_are_refused():
    optimizer, model = small_run()
    batches = optimizer.batches()
    rows, targets = next(batches)
    with pytest.raises(ParameterError, match="not one for each example"):
        optimizer.step(losses_of(model, (rows[:5], targets[:5])))


def test_a_step_without_losses_or_without_a_batch_is_refused():
    optimizer, _model = small_run()
    with pytest.raises(ParameterError, match="without a batch"):
        optimizer.step(torch.ones(8))
    batches = optimizer.batches()
    next(batches)
    with pytest.raises(ParameterError, match="losses are missing"):
        optimizer.step()


def test_a_batch_is_for_one_step():
    """Neither a graph that was retained nor a second pass lets an example in twice."""
    optimizer, model = small_run(batch=100, physical=16)
    batches = optimizer.batches()
    batch = next(batches)
    losses = losses_of(model, batch)
    losses.sum().backward(retain_graph=True)
    optimizer.step(losses)
    with pytest.raises(ParameterError, match="twice"):
        optimizer.step(losses)
    with pytest.raises(ParameterError, match="twice"):
        optimizer.step(losses_of(model, batch))


def test_a_batch_that_is_left_out_is_refused():
    optimizer, _model = small_run()
    with pytest.raises(ParameterError, match="not used"):
        for _ in optimizer.batches():
            pass
    assert optimizer.taken == 1


def test_two_loops_at_once_are_refused():
    optimizer, _model = small_run()
    first, second = optimizer.batches(), optimizer.batches()
    next(first)
    with pytest.raises(ParameterError, match="one loop"):
        next(second)


def test_gradients_of_a_plain_backward_pass_are_never_used():
    torch.manual_seed(9)
    data = linear_data(40)
    weights = []
    for plain in (False, True):
        model = nn.Linear(3, 1)
        nn.init.zeros_(model.weight)
        nn.init.zeros_(model.bias)
        with replay(4):
            optimizer, _ = small_run(model, data, batch=40, steps=1, physical=64)
            for batch in optimizer.batches():
                losses = losses_of(model, batch)
                if plain:
                    (1e6 * losses.sum()).backward(retain_graph=True)
                optimizer.step(losses)
        weights.append(model.weight.detach())
    assert torch.equal(*weights)


def test_parameters_that_come_or_go_are_refused():
    optimizer, model = small_run()
    with pytest.raises(ParameterError, match="param_group"):
        optimizer.add_param_group({"params": [nn.Parameter(torch.zeros(1))]})
    batches = optimizer.batches()
    batch = next(batches)
    model.bias.requires_grad_(False)
    with pytest.raises(ParameterError, match="other trained parameters"):
        optimizer.step(losses_of(model, batch))


@pytest.mark.parametrize("name", ["rate", "plan", "taken", "batch", "steps"])
def test_the_plan_cannot_be_changed_in_mid_run(name):
    optimizer, _ = small_run()
    with pytest.raises(ParameterError, match="fixed when training starts"):
        setattr(optimizer, name, 1)


def test_a_checkpoint_of_other_noise_is_refused():
    optimizer, model = small_run(epsilon=2)
    optimizer.close()
    other, _ = small_run(model, epsilon=3)
    with pytest.raises(ParameterError, match="other noise"):
        other.load_state_dict(optimizer.state_dict())
    with pytest.raises(ParameterError, match="no account"):
        other.load_state_dict({"state": {}, "param_groups": []})
    batches = other.batches()
    next(batches)
    with pytest.raises(ParameterError, match="middle of a step"):
        other.load_state_dict(other.state_dict())


def write(model, mean):
    model.mean.add_(mean)


def assign(model, mean):
    model.mean = model.mean + mean


def point_elsewhere(model, mean):
    model.mean.data = model.mean + mean


def add_another(model, mean):
    model.register_buffer("last", mean)


def write_frozen(model, mean):
    with torch.no_grad():
        model.center.add_(mean)


def assign_frozen(model, mean):
    model.center = nn.Parameter(mean, requires_grad=False)


def write_trained(model, mean):
    with torch.no_grad():
        model.layer.weight.add_(mean)


@pytest.mark.parametrize(
    "keep", [write, assign, point_elsewhere, add_another, write_frozen, assign_frozen, write_trained]
)
def test_a_model_that_keeps_examples_is_refused(keep):
    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(3, 1)
            self.center = nn.Parameter(torch.zeros(3), requires_grad=False)
            self.register_buffer("mean", torch.zeros(3))

        def forward(self, x):
            found = self.layer(x.clone())
            keep(self, x.detach().mean(0))
            return found

    optimizer, model = small_run(Counting())
    with pytest.raises(ParameterError, match="buffer"):
        train(optimizer, model)


def test_evaluation_between_steps_is_not_recorded():
    optimizer, model = small_run()
    for batch in optimizer.batches():
        with torch.no_grad():
            model(torch.randn(5, 3))
        model(torch.randn(4, 3)).sum().backward()
        optimizer.step(losses_of(model, batch))
    assert isinstance(optimizer, PrivateOptimizer)


def test_a_language_model_trains():
    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = nn.Embedding(9, 8), nn.Linear(8, 9, bias=False)
            self.head.weight = self.table.weight

        def forward(self, words):
            return self.head(self.table(words))

    texts = torch.randint(0, 9, (60, 5))
    optimizer, model = small_run(Words(), (texts,), optimizer=torch.optim.AdamW)
    for (words,) in optimizer.batches():
        scores = model(words[:, :-1]).transpose(1, 2)
        optimizer.step(functional.cross_entropy(scores, words[:, 1:], reduction="none").mean(1))
    assert optimizer.taken == 3


@pytest.mark.parametrize("physical", [8, 64])
def test_a_run_is_the_loop_over_its_batches(physical):
    """With the same replayed samples and noise, on the processor."""
    found = []
    for by_run in (False, True):
        torch.manual_seed(2)
        model, inputs = nn.Linear(4, 2), torch.randn(60, 4)
        labels = (inputs[:, 0] > 0).long()
        with replay(9):
            optimizer = dp.learning.private(
                torch.optim.SGD(model.parameters(), lr=0.3),
                model,
                (inputs, labels),
                epsilon=3,
                delta=1e-4,
                batch=20,
                steps=6,
                physical=physical,
            )

            def losses(rows, targets, model=model):
                return functional.cross_entropy(model(rows), targets, reduction="none")

            if by_run:
                assert list(optimizer.run(losses)) == [1, 2, 3, 4, 5, 6]
            else:
                for rows, targets in optimizer.batches():
                    optimizer.step(losses(rows, targets))
        found.append(model.weight.detach())
    assert torch.equal(*found)


def test_a_loop_after_the_last_step_is_warned_of():
    optimizer, model = small_run(steps=2)
    train(optimizer, model)
    with pytest.warns(UserWarning, match="all 2 steps were taken before"):
        train(optimizer, model)
    assert optimizer.taken == 2


@pytest.mark.parametrize("way", ["loop", "run"])
def test_schedulers_follow_steps_without_a_warning(way):
    optimizer, model = small_run(steps=3)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if way == "run":
            for _ in optimizer.run(lambda *batch: losses_of(model, batch)):
                scheduler.step()
        else:
            for batch in optimizer.batches():
                optimizer.step(losses_of(model, batch))
                if optimizer.has_updated:
                    scheduler.step()
    assert optimizer.param_groups[0]["lr"] == 0.1 / 8


def test_losses_that_were_passed_backward_are_refused():
    optimizer, model = small_run()
    batches = optimizer.batches()
    losses = losses_of(model, next(batches))
    losses.mean().backward()
    with pytest.raises(ParameterError, match=r"passed backward before.*without backward"):
        optimizer.step(losses)


def test_steps_of_a_checkpoint_from_before_the_journal_are_recorded_in_it(tmp_path):
    optimizer, model = small_run(steps=9)
    batches = optimizer.batches()
    while optimizer.taken < 5 or not optimizer.has_updated:
        optimizer.step(losses_of(model, next(batches)))
    batches.close()
    state = optimizer.state_dict()
    optimizer.close()
    for expected in (5, 7):  # killed after two steps more, then loaded again
        again, model = small_run(model, steps=9, record=tmp_path / "journal")
        again.load_state_dict(state)
        assert again.taken == expected
        batches = again.batches()
        while again.taken < expected + 2 or not again.has_updated:
            again.step(losses_of(model, next(batches)))
        batches.close()
        again.close()
    last, _ = small_run(model, steps=9, record=tmp_path / "journal")
    assert last.taken == 9


def test_only_noisy_gradients_are_used():
    """What a plain backward pass has left in a frozen parameter, or in one that is unfrozen, is not."""
    model = nn.Sequential(nn.Linear(3, 2), nn.Linear(2, 1))
    data = linear_data()
    losses_of(model, data).sum().backward()
    model[0].requires_grad_(False)
    before = model[0].weight.detach().clone()
    optimizer, _ = small_run(model, data)
    for batch in optimizer.batches():
        optimizer.step(losses_of(model, batch))
    assert all(parameter.grad is None for parameter in model.parameters())
    assert torch.equal(model[0].weight, before)


@pytest.mark.parametrize("compiler", [None, lambda graph: graph])
def test_a_run_that_was_closed_takes_no_more_steps(tmp_path, compiler):
    optimizer, model = small_run(steps=9, record=tmp_path / "journal")
    steps = optimizer.run(lambda *batch: losses_of(model, batch), compiler=compiler)
    assert [next(steps) for _ in range(4)] == [1, 2, 3, 4]
    optimizer.close()
    with pytest.raises(ParameterError, match="after close"):
        next(steps)
    again, _ = small_run(model, steps=9, record=tmp_path / "journal")
    assert again.taken == optimizer.taken == 4


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_an_optimizer_is_not_copied_and_goes_on(copied):
    optimizer, model = small_run()
    with pytest.raises(TypeError, match="cannot be copied"):
        copied(optimizer)
    train(optimizer, model)
    assert optimizer.taken == 3
