"""What every private run begins with: a model and an optimizer that fit, people, batches, and a record."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from discreet.array_types import Floats, Integers
from discreet.errors import ParameterError
from discreet.learning.deep.clipping import Clipping, stated_clipping
from discreet.learning.deep.epoch_plan import EpochPlan
from discreet.learning.deep.example_rows import ExampleRows, has_repeats, length_of
from discreet.learning.deep.home_process import HomeProcess
from discreet.learning.deep.journal import Journal
from discreet.learning.deep.optimizer import PrivateOptimizer
from discreet.learning.deep.plan import TrainingPlan, places_of
from discreet.learning.deep.processes import Processes
from discreet.learning.deep.sampling import PeopleSampler, SecretPlaces
from discreet.learning.deep.sharded_parameters import ShardedParameters
from discreet.learning.deep.step_parts import DrawStep, ReleaseStep, StepRecord
from discreet.learning.deep.watching.mixing import check_modules
from discreet.privacy.rational import whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["Beginning", "at_home", "batch_reader", "begin", "device_of", "opened_record", "size_of"]

_MOST_BATCHES = 2**20  # of one step, for which the rounding of their sum is proven


@dataclass(frozen=True, eq=False)
class Beginning:
    """What a plan is made from."""

    processes: Processes
    shards: ShardedParameters
    sampler: PeopleSampler
    population: int
    own: int
    """A public bound on the number of people of this process."""
    examples: int
    size: int
    clipping: Clipping
    device: torch.device
    """Where all parameters are; the processor if they are in several places."""


def begin(
    optimizer: torch.optim.Optimizer,
    model: nn.Module,
    data: Any,
    *,
    people: ArrayLike | None,
    examples: int,
    population: int | None,
    clip: float | Clipping,
    group: Any,
) -> Beginning:
    """Check what was given to `private` or `private_epochs`."""
    if not isinstance(model, nn.Module):
        raise ParameterError("model", "is not a module", "a torch.nn.Module")
    if group is None and any(isinstance(part, DistributedDataParallel) for part in model.modules()):
        raise ParameterError(
            "group",
            "is missing: the model is one of DistributedDataParallel, and each process would train its own",
            "group=torch.distributed.group.WORLD",
        )
    processes = Processes(group)
    shards = ShardedParameters(model, processes)
    _check_optimizer(optimizer, model)
    check_modules(model)
    length = length_of(data)
    clipping = stated_clipping(clip)
    held = whole(examples, "examples_per_person", least=1)
    if people is None and held > 1:
        raise ParameterError("people", "are missing", "whose each example is, with examples_per_person")
    if people is None and has_repeats(data):
        raise ParameterError(
            "people",
            "are missing: a Subset names an example twice, which would be two people's",
            "whose each example is, or a Subset of different examples",
        )
    sampler = PeopleSampler(length, people, held)
    everybody = processes.total(sampler.people)
    if everybody == 0:
        raise ParameterError(
            "people", "are nobody's ids: none tells a person by its value", "strings or integers"
        )
    if population is not None and everybody > whole(population, "population", least=1):
        raise ParameterError("population", "is less than the number of people", "a bound on it")
    return Beginning(
        processes=processes,
        shards=shards,
        sampler=sampler,
        population=everybody if population is None else population,
        own=sampler.people if population is None else population,
        examples=held,
        size=size_of(model),
        clipping=clipping,
        device=device_of(model),
    )


def size_of(model: nn.Module) -> int:
    """Return how many numbers of a model are trained."""
    return sum(value.numel() for value in model.parameters() if value.requires_grad)


def device_of(model: nn.Module) -> torch.device:
    """Return where all trained parameters are; the processor if they are in several places."""
    found = {value.device for value in model.parameters() if value.requires_grad}
    return found.pop() if len(found) == 1 else torch.device("cpu")


def batch_reader(
    data: Any,
    plan: TrainingPlan | EpochPlan,
    people: int,
    *,
    physical: int | None,
    collate: Callable[[list[Any]], Any] | None,
    blank: Any,
) -> tuple[ExampleRows, SecretPlaces]:
    """Return the reader of batches, and the places of a step in them, which are for so many people.

    The size of a batch, unless it is stated, is one with which as few batches as a usual size allows have
    hardly more places than are needed.
    """
    places = places_of(people, plan.examples, plan.rate, plan.overflow)
    usual = min(512, max(32, 8 * round(float(plan.batch) * plan.examples / 32)))
    batches = max(1, -(-places // usual))
    fitting = max(8, 8 * -(-places // (8 * batches)))
    size = fitting if physical is None else whole(physical, "physical", least=2)
    if plan.population * plan.examples > size * _MOST_BATCHES:
        raise ParameterError("physical", "is so small that a step may have over 2^20 batches", "larger")
    return ExampleRows(data, size, collate, blank), SecretPlaces(places, size)


@contextmanager
def opened_record(
    record: Any, plan: TrainingPlan | EpochPlan, processes: Processes
) -> Iterator[tuple[StepRecord | None, int]]:
    """Lend where steps are recorded, by the first process, and how many are there already.

    A journal stays open for the run that is made of it, and is closed if none is.
    """
    found, taken = _opened(record, plan) if processes.is_first else (None, 0)
    try:
        yield found, int(processes.shared(taken))
    except BaseException:
        if isinstance(found, Journal):
            found.close()
        raise


def at_home(draw: DrawStep, places: SecretPlaces, release: ReleaseStep) -> tuple[DrawStep, ReleaseStep]:
    """Return a draw, with the places of its examples, and a release, both for this process alone.

    They are refused in a fork of it, which would go on from a copy.
    """
    home = HomeProcess()

    @wraps(draw)
    def draw_here(step: int) -> tuple[Integers, Floats]:
        home.check()
        return places.put(*draw(step))

    @wraps(release)
    def release_here(total: Any, bound: float, step: int) -> tuple[list[Tensor], float, bool]:
        home.check()
        return release(total, bound, step)

    return draw_here, release_here


def _opened(record: Any, plan: TrainingPlan | EpochPlan) -> tuple[StepRecord | None, int]:
    if isinstance(record, str | os.PathLike):
        journal = Journal(record, plan.event_of_charge)
        return journal, journal.taken * plan.steps_per_charge
    begin = getattr(record, "begin", None)  # of a permit, which counts a run that is fixed in advance as one
    if callable(begin):
        run = begin(plan.event, epsilon=plan.epsilon, delta=plan.delta)
        return run, run.taken * plan.steps_per_charge
    if record is not None and not callable(getattr(record, "charge", None)):
        raise ParameterError("record", "cannot be charged", "a path, or a permit of a curator")
    return record, 0


def _check_optimizer(optimizer: object, model: nn.Module) -> None:
    if isinstance(optimizer, PrivateOptimizer):
        raise ParameterError("optimizer", "is private already", "the optimizer that it was made from")
    if not isinstance(optimizer, torch.optim.Optimizer):
        raise ParameterError(
            "optimizer", "is not an optimizer", "such as torch.optim.AdamW(model.parameters())"
        )
    if isinstance(optimizer, torch.optim.LBFGS):
        raise ParameterError("optimizer", "looks at the data several times a step", "such as SGD or AdamW")
    given = {
        id(value) for group in optimizer.param_groups for value in group["params"] if value.requires_grad
    }
    trained = {id(value) for value in model.parameters() if value.requires_grad}
    if given - trained:
        raise ParameterError("optimizer", "has parameters that are not the model's", "those of the model")
    if trained - given:
        raise ParameterError(
            "optimizer",
            "lacks parameters of the model",
            "all of them, or freeze the rest with requires_grad_(False)",
        )
    if not trained:
        raise ParameterError("model", "has no parameters to train", "one that has")
    if any(value.is_complex() for value in model.parameters() if value.requires_grad):
        raise ParameterError(
            "model",
            "has complex parameters to train",
            "real ones: keep torch.view_as_real(value), and use torch.view_as_complex of it",
        )
