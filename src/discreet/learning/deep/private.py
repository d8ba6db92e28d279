"""One line around an optimizer: private training of any model."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.beginning import at_home, batch_reader, begin, opened_record
from discreet.learning.deep.clipped_sum import sums_in_doubles
from discreet.learning.deep.clipping import Clipping
from discreet.learning.deep.optimizer import PrivateOptimizer
from discreet.learning.deep.plan import TrainingPlan
from discreet.learning.deep.planning import training_plan
from discreet.learning.deep.step_parts import MakeSum, StepRecord
from discreet.privacy.rational import Number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = ["private"]


def private(
    optimizer: torch.optim.Optimizer,
    model: nn.Module,
    data: Any,
    *,
    epsilon: Number,
    delta: Number,
    batch: Number,
    steps: int,
    clip: float | Clipping = 1.0,
    people: ArrayLike | None = None,
    examples_per_person: int = 1,
    population: int | None = None,
    physical: int | None = None,
    collate: Callable[[list[Any]], Any] | None = None,
    blank: Any = None,
    record: str | os.PathLike[str] | StepRecord | None = None,
    group: Any = None,
) -> PrivateOptimizer:
    """Make an optimizer private: stochastic gradient descent with clipped gradients and exact noise.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer
        Any optimizer of the model's trained parameters, such as SGD or AdamW.
    model : nn.Module
        The model. It is neither wrapped nor changed.
    data : Dataset, or tuple or mapping of columns
        The examples: a data set with a length, or columns, which are tensors and numeric NumPy arrays with
        examples along the first axis. Of a mapping batches are mappings. A list is one of examples, not of
        columns; one of tensors is refused, since it may be either.
    epsilon, delta : number
        What the whole run promises.
    batch : number
        How many people take part in a step, on average: 1 or more, and not a share of them.
    steps : int
        How many steps there are.
    clip : float or Clipping, optional
        The longest gradient of an example; or `PerLayerClipping`, `AutomaticClipping`, `AdaptiveClipping`.
    people : array, optional
        Whose each example is, where people have several. By default each is someone else's.
    examples_per_person : int, optional
        How many examples of one person a step uses at most; their gradients are averaged.
    population : int, optional
        A public bound on the number of people. By default their number, which is then taken to be public; of
        several processes, that of each, where a bound is one for each process, too.
    physical : int, optional
        How many examples one forward pass takes: steps of any size fit into memory. A step always takes as
        many passes, with places for more examples than are drawn on average (`optimizer.plan.places`); which
        example is in which place is secret.
    collate : callable, optional
        Makes a batch of a list of examples, as for a DataLoader. Its batches must have the shapes and types
        that a batch of blanks has, whatever is in them: texts are padded to a fixed length, not to the
        longest of the batch, which would let one person decide how gradients of others are bounded.
    blank : example, optional
        A public, made-up example, which pads batches and says what shapes they have. Columns, a TensorDataset
        and a Subset of one need none: zeros of the shape of their rows.
    record : path or Permit, optional
        Where steps are recorded before they are taken: a file, so that no step of a run that was killed is
        forgotten, or a permit of a curator, whose ledger is charged; what to reserve: `training_plan`.
    group : ProcessGroup, optional
        Of `torch.distributed`, where several processes train one model, each with the examples of its own
        people. Their gradients are added up, and the first process draws the noise and keeps the record.
        DistributedDataParallel needs it. A model that `fully_shard` has cut up over these processes stays so:
        each keeps its shards.

    Returns
    -------
    PrivateOptimizer
        Its `batches` yields the examples, and its `step` takes their losses.

    Guarantee
    ---------
    (epsilon, delta) for adding or removing a person with all examples, for everything that is released: the
    weights after every step, and the states of the optimizer. It holds if (1) nothing else of the data is
    released, (2) the losses given to `step` are those of the batch that was drawn, each a function of its own
    example, with shapes that do not depend on examples, and no randomness but that of the generators that
    PyTorch, Python and NumPy have for everybody, which neither loop nor data seed, and (3) the framework
    computes what it computes for one example alike whatever other examples are in the batch; where in a batch
    an example is may matter (proof: docs/proofs/private_gradients.md).

    Finite precision
    ----------------
    Norms and sums are in doubles, or of few examples in floats, with proven bounds on their rounding; sums
    are rounded to integers, and the noise is an integer next to an ideal normal number, drawn exactly from
    the operating system's entropy. All rounding, and what the law of the noise differs by, is charged. On an
    accelerator gradients become integers, example by example, which are added up exactly, and the noise is
    drawn by a cipher under a key from that entropy (docs/proofs/integer_gradients.md).

    Error
    -----
    Every coordinate of a mean gradient has normal noise of deviation noise_multiplier * clip / batch.

    Examples
    --------
    >>> import torch
    >>> from discreet.learning import private
    >>> model, inputs = torch.nn.Linear(3, 1), torch.randn(1000, 3)
    >>> optimizer = private(
    ...     torch.optim.SGD(model.parameters(), lr=0.1), model, (inputs, inputs.sum(1)),
    ...     epsilon=2, delta=1e-5, batch=100, steps=10,
    ... )
    >>> for rows, targets in optimizer.batches():
    ...     optimizer.step((model(rows)[:, 0] - targets) ** 2)
    >>> optimizer.taken, 1.9 < optimizer.epsilon() <= 2
    (10, True)
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
    plan = training_plan(
        model,
        epsilon=epsilon,
        delta=delta,
        batch=batch,
        steps=steps,
        population=begun.population,
        clip=begun.clipping,
        examples_per_person=begun.examples,
    )
    rows, places = batch_reader(data, plan, begun.own, physical=physical, collate=collate, blank=blank)
    draw, release = at_home(
        lambda _: begun.sampler.draw(plan.rate), places, lambda total, bound, _: total.release(bound)
    )
    make_sum = _sums_of(plan, begun.device, is_alone=begun.processes.is_alone)
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


def _sums_of(plan: TrainingPlan, device: torch.device, *, is_alone: bool) -> MakeSum:
    """Return what adds gradients up: as floats on the processor, as integers on an accelerator."""
    if not isinstance(plan, DevicePlan):
        return sums_in_doubles(plan, is_alone=is_alone)
    from discreet.learning.deep.accelerator.device_noise import DeviceNoise
    from discreet.learning.deep.accelerator.integer_sum import IntegerSum

    noise, made = DeviceNoise(device), list[IntegerSum]()

    def make(parameters: list[torch.Tensor], groups: list[list[int]]) -> IntegerSum:
        if not made:
            made.append(IntegerSum(parameters, groups, plan, noise))
        return made[0].cleared()

    return make
