"""What every private run begins with."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import distributed, nn
from torch.utils.data import Subset, TensorDataset

from discreet.errors import ParameterError
from discreet.learning.deep.beginning import batch_reader, begin, opened_record
from discreet.learning.deep.clipping import FlatClipping
from discreet.learning.deep.plan import TrainingPlan


def begun(data=None, model=None, **options):
    model = model or nn.Linear(3, 1)
    stated = {"people": None, "examples": 1, "population": None, "clip": 1.0, "group": None} | options
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    return begin(optimizer, model, data or (torch.zeros(10, 3),), **stated)


def test_public_numbers_come_from_what_was_given():
    found = begun(people=[1, 1, 2, 2, 3, 3, 4, 4, 5, None], examples=2)
    assert (found.population, found.examples, found.size, found.clipping.bound) == (5, 2, 4, 1.0)
    assert begun(population=100).population == 100


@pytest.mark.parametrize(
    ("wrong", "name"), [({"examples": 2}, "people"), ({"population": 9}, "population"), ({"clip": 0}, "clip")]
)
def test_numbers_that_do_not_fit_are_refused(wrong, name):
    with pytest.raises(ParameterError) as caught:
        begun(**wrong)
    assert caught.value.parameter == name


def test_an_example_that_is_named_twice_needs_an_owner():
    twice = Subset(TensorDataset(torch.zeros(10, 3)), [0, 1, 2, 0])
    with pytest.raises(ParameterError, match="people are missing"):
        begun(twice)
    assert begun(twice, people=[7, 8, 9, 7]).population == 3


@pytest.fixture
def connected(tmp_path):
    distributed.init_process_group(
        "gloo", store=distributed.FileStore(str(tmp_path / "store"), 1), rank=0, world_size=1
    )
    yield distributed.group.WORLD
    distributed.destroy_process_group()


def test_a_model_of_several_processes_needs_their_group(connected):
    for model in (
        nn.parallel.DistributedDataParallel(nn.Linear(3, 1)),
        nn.Sequential(nn.Linear(3, 3), nn.parallel.DistributedDataParallel(nn.Linear(3, 1))),
    ):
        with pytest.raises(ParameterError, match=r"group=torch.distributed.group.WORLD"):
            begun(model=model)
        assert not begun(model=model, group=connected).processes.is_alone


def test_a_process_among_others_may_train_alone(connected):
    assert begun().processes.is_alone


@pytest.mark.parametrize("make", [object, lambda: torch.zeros(1), lambda: None])
def test_ids_that_name_nobody_are_refused_with_a_mend(make):
    people = [make() for _ in range(10)]
    with pytest.raises(ParameterError, match="strings or integers"):
        begun(people=people, population=20)
    assert begun(people=[*people[:9], "somebody"]).population == 1


def read_in(reader):
    """How many batches a step without anybody has, and of which size."""
    rows, places = reader
    found = list(rows.batches(*places.put(np.zeros(0, np.int64), np.zeros(0))))
    return len(found), len(found[0].weights)


@pytest.mark.parametrize(
    ("batch", "population", "examples", "expected"),
    [
        (256, 60_000, 1, (6, 64)),
        (64, 60_000, 1, (4, 32)),
        (4096, 10**6, 1, (9, 512)),
        (100, 1000, 4, (8, 88)),
    ],
)
def test_batches_have_hardly_more_places_than_are_needed(batch, population, examples, expected):
    plan = TrainingPlan(
        batch=batch,
        population=population,
        steps=2000,
        epsilon=3,
        delta=1e-5,
        size=10,
        clipping=FlatClipping(1.0),
        examples=examples,
    )
    data = (torch.zeros(10, 3),)
    stated = {"physical": None, "collate": None, "blank": None}
    batches, size = read_in(batch_reader(data, plan, population, **stated))
    assert plan.places <= batches * size < plan.places + 8 * batches
    assert (batches, size) == expected


def test_people_of_a_process_are_those_it_has_unless_a_bound_is_stated():
    assert begun().own == 10
    assert begun(population=100).own == 100


def test_batches_suit_the_plan():
    found = begun()
    plan = TrainingPlan(
        batch=5,
        population=10,
        steps=2,
        epsilon=1,
        delta=1e-5,
        size=found.size,
        clipping=found.clipping,
    )
    data = (torch.zeros(10, 3),)
    stated = {"physical": None, "collate": None, "blank": None}
    assert read_in(batch_reader(data, plan, 10, **stated)) == (1, 16)
    assert read_in(batch_reader(data, plan, 10, **stated | {"physical": 3})) == (4, 3)
    assert read_in(batch_reader(data, plan, 0, **stated)) == (1, 8)
    with pytest.raises(ParameterError, match="charged"):
        opened_record(7, plan, found.processes).__enter__()
    with opened_record(None, plan, found.processes) as opened:
        assert opened == (None, 0)
