"""One line around an optimizer, for data in a fixed order: private training with correlated noise."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from discreet.learning.deep.beginning import at_home, batch_reader, begin, opened_record
from discreet.learning.deep.clipped_sum import sums_in_doubles
from discreet.learning.deep.clipping import Clipping
from discreet.learning.deep.correlated_noise import CorrelatedNoise
from discreet.learning.deep.epoch_plan import EpochPlan
from discreet.learning.deep.optimizer import PrivateOptimizer
from discreet.learning.deep.sampling import SlotSampler
from discreet.learning.deep.step_parts import StepRecord
from discreet.privacy.rational import Number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["private_epochs"]


def private_epochs(
    optimizer: torch.optim.Optimizer,
    model: nn.Module,
    data: Any,
    *,
    epsilon: Number,
    delta: Number,
    epochs: int,
    steps: int,
    clip: float | Clipping = 1.0,
    band: int | None = None,
    people: ArrayLike | None = None,
    examples_per_person: int = 1,
    population: int | None = None,
    physical: int | None = None,
    collate: Callable[[list[Any]], Any] | None = None,
    blank: Any = None,
    record: str | os.PathLike[str] | StepRecord | None = None,
    group: Any = None,
) -> PrivateOptimizer:
    """Make an optimizer private without secret samples: everybody takes part once in every epoch.

    The noise of a step is taken back in the steps after it, so that sums of gradients have little of it
    (follow-the-regularized-leader, matrix factorization). Where the order of the data cannot be kept secret,
    or batches are large, this errs less than independent noise; where samples are secret and small, `private`
    does.

    Parameters
    ----------
    optimizer, model, data, clip, people, examples_per_person, population, physical, collate, blank, group
        As for `private`; `clip` is not adaptive.
    epsilon, delta : number
        What the whole run promises.
    epochs, steps : int
        How many epochs there are, and how many steps each has.
    band : int, optional
        In how many steps the noise of one returns, at most `steps`. By default the power of two with the
        least noise in sums of gradients. The last `band` gradients are kept in memory, twice.
    record : path or Permit, optional
        Where epochs are recorded before they begin. A run that was killed goes on with the next epoch.

    Returns
    -------
    PrivateOptimizer
        Its `batches` yields the examples, and its `step` takes their losses.

    Guarantee
    ---------
    (epsilon, delta) for adding or removing a person with all examples, for the weights after every step,
    under the conditions of `private` (proof: docs/proofs/correlated_gradients.md). Who takes part in which
    step need not be secret; where examples stand in batches is.

    Finite precision
    ----------------
    As for `private`: coefficients and gradients are integers, and so is what is released.

    Error
    -----
    `optimizer.plan.gain` is by how much independent noise would be wider in sums of gradients.

    Examples
    --------
    >>> import torch
    >>> from discreet.learning import private_epochs
    >>> model, inputs = torch.nn.Linear(3, 1), torch.randn(1000, 3)
    >>> optimizer = private_epochs(
    ...     torch.optim.SGD(model.parameters(), lr=0.1), model, (inputs, inputs.sum(1)),
    ...     epsilon=2, delta=1e-5, epochs=2, steps=20,
    ... )
    >>> for rows, targets in optimizer.batches():
    ...     optimizer.step((model(rows)[:, 0] - targets) ** 2)
    >>> optimizer.taken, 1.9 < optimizer.epsilon() <= 2, optimizer.plan.gain > 1.5
    (40, True, True)
    """
    begun = begin(
        optimizer,
        model,
        data,
        people=people,
        examples=examples_per_person,
        population=population,
        clip=clip,
        group=group,
    )
    plan = EpochPlan(
        epochs=epochs,
        steps_per_epoch=steps,
        population=begun.population,
        examples=begun.examples,
        epsilon=epsilon,
        delta=delta,
        size=begun.size,
        clipping=begun.clipping,
        band=band,
    )
    rows, places = batch_reader(data, plan, begun.own, physical=physical, collate=collate, blank=blank)
    draw, release = at_home(
        SlotSampler(begun.sampler, plan.steps_per_epoch).draw, places, CorrelatedNoise(plan).release
    )
    make_sum = sums_in_doubles(plan)
    with opened_record(record, plan, begun.processes) as (kept, taken):  # last: a refusal locks no file
        return PrivateOptimizer(
            optimizer,
            model,
            plan=plan,
            draw=draw,
            make_sum=make_sum,
            release=release,
            rows=rows,
            shards=begun.shards,
            record=kept,
            taken=taken,
            processes=begun.processes,
        )
