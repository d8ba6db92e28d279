"""The plan that is made beforehand, from public numbers, is the plan that training has."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import discreet as dp
from discreet.errors import BudgetExceeded, ParameterError
from discreet.learning import AdaptiveClipping, PerLayerClipping, private, training_plan
from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.plan import TrainingPlan
from discreet.learning.deep.processor_plan import ProcessorPlan

STATED = {"epsilon": 1, "delta": 1e-6, "batch": 20, "steps": 4}


def model_with_frozen_parts():
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    model[0].weight.requires_grad_(False)
    return model


def optimizer_of(model, length=200, **stated):
    data = (torch.zeros(length, 3), torch.zeros(length).long())
    trained = [value for value in model.parameters() if value.requires_grad]
    return private(torch.optim.SGD(trained, lr=0.1), model, data, **stated)


@pytest.mark.parametrize(
    "more",
    [
        {"population": 200},
        {"population": 5000},
        {"population": 200, "clip": 0.3},
        {"population": 200, "clip": AdaptiveClipping()},
        {"population": 200, "clip": PerLayerClipping(2.0)},
    ],
)
@pytest.mark.parametrize("make", [model_with_frozen_parts, lambda: nn.Linear(3, 2)])
def test_the_plan_made_beforehand_is_that_of_the_optimizer(make, more):
    model = make()
    plan = training_plan(model, **STATED, **more)
    optimizer = optimizer_of(model, **STATED, **more)
    assert optimizer.plan == plan
    assert optimizer.plan.event == plan.event
    assert type(plan) is ProcessorPlan


def test_examples_of_people_are_part_of_the_plan():
    stated = STATED | {"population": 120, "examples_per_person": 2}
    model = nn.Linear(3, 2)
    people = [place // 2 for place in range(200)]
    assert (
        optimizer_of(model, people=people, **stated).plan
        == training_plan(model, **stated)
        != training_plan(model, **STATED, population=120)
    )


def test_noise_beyond_one_word_has_a_plan_of_any_deviation():
    stated = STATED | {"epsilon": 40, "steps": 1, "population": 200}
    assert type(training_plan(nn.Linear(3, 2), **stated)) is TrainingPlan


def test_an_accelerator_has_a_plan_of_its_own(monkeypatch):
    monkeypatch.setattr("discreet.learning.deep.planning.device_of", lambda model: torch.device("cuda"))
    assert type(training_plan(nn.Linear(3, 2), **STATED, population=200)) is DevicePlan


def test_what_is_no_model_is_refused():
    with pytest.raises(ParameterError, match="model"):
        training_plan([1.0], **STATED, population=200)
    with pytest.raises(ParameterError, match="population"):
        training_plan(nn.Linear(3, 2), **STATED, population=0)


def clinic_of(path):
    table = dp.Table(
        {"id": list(range(200)), "x": [0.0] * 200}, person="id", limits=dp.Limits(rows=1), columns={}
    )
    return dp.Curator({"people": table}, budget=dp.Budget(epsilon=3, delta=1e-5), ledger=path / "ledger")


def train(optimizer, model, most=100):
    for rows, targets in optimizer.batches():
        optimizer.step(nn.functional.cross_entropy(model(rows), targets, reduction="none"))
        if optimizer.taken == most:
            return


@pytest.mark.parametrize("kind", ["event", "numbers"])
def test_a_run_under_a_permit_is_killed_and_goes_on(tmp_path, kind):
    stated = STATED | {"population": 200}
    model = nn.Linear(3, 2)
    most = (
        {"most": training_plan(model, **stated).event} if kind == "event" else {"epsilon": 1, "delta": 1e-6}
    )
    clinic = clinic_of(tmp_path)
    killed = clinic.permit("training", **most)
    optimizer = optimizer_of(model, record=killed, **stated)
    train(optimizer, model, 1)
    state = optimizer.state_dict()
    train(optimizer, model, 2)  # a step that is charged, and lost
    model = nn.Linear(3, 2)
    again = clinic_of(tmp_path)
    with again.reopen("training") as permit:
        with pytest.raises(BudgetExceeded):
            optimizer_of(nn.Linear(3, 2), record=permit, **stated | {"epsilon": 2})
        resumed = optimizer_of(model, record=permit, **stated)
        resumed.load_state_dict(state)
        assert resumed.taken == 2
        train(resumed, model)
        assert resumed.taken == 4
    uses = [entry for entry in again.ledger.entries() if entry.kind == "use"]
    assert len(uses) == 4
    assert again.account().reserved == {}
    assert again.spent.epsilon <= 1.2
