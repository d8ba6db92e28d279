"""The plan of a private run before its data are read: from public numbers and the model alone."""

from __future__ import annotations

from typing import Any

from torch import nn

from discreet.errors import ParameterError
from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.beginning import device_of, size_of
from discreet.learning.deep.clipping import Clipping, stated_clipping
from discreet.learning.deep.one_word_plan import BeyondOneWord
from discreet.learning.deep.plan import TrainingPlan
from discreet.learning.deep.processor_plan import ProcessorPlan
from discreet.privacy.rational import Number

__all__ = ["training_plan"]


def training_plan(
    model: nn.Module,
    *,
    epsilon: Number,
    delta: Number,
    batch: Number,
    steps: int,
    population: int,
    clip: float | Clipping = 1.0,
    examples_per_person: int = 1,
) -> TrainingPlan:
    """Return the plan that `private` makes of the same numbers. No data are read.

    Its `event` prices the run, in a budget or for a permit of a curator; `noise_multiplier` says how much
    noise there will be.

    Parameters
    ----------
    model : nn.Module
        The model, where it will be trained: what is charged for rounding differs. Of its parameters only
        the number of those that are trained matters.
    population : int
        A public bound on the number of people. Give the same one to `private`.
    epsilon, delta, batch, steps, clip, examples_per_person
        As for `private`.

    Returns
    -------
    TrainingPlan
        Equal to the `plan` of the optimizer that `private` makes.

    Examples
    --------
    >>> import torch
    >>> from discreet.learning import training_plan
    >>> stated = {"epsilon": 2, "delta": 1e-5, "batch": 100, "steps": 10, "population": 1000}
    >>> plan = training_plan(torch.nn.Linear(3, 1), **stated)
    >>> round(plan.noise_multiplier, 2), plan.steps
    (1.19, 10)
    """
    if not isinstance(model, nn.Module):
        raise ParameterError("model", "is not a module", "a torch.nn.Module")
    stated: dict[str, Any] = {
        "batch": batch,
        "population": population,
        "examples": examples_per_person,
        "steps": steps,
        "epsilon": epsilon,
        "delta": delta,
        "size": size_of(model),
        "clipping": stated_clipping(clip),
    }
    if device_of(model).type == "cuda":
        return DevicePlan(**stated)
    try:
        return ProcessorPlan(**stated)
    except BeyondOneWord:
        return TrainingPlan(**stated)
