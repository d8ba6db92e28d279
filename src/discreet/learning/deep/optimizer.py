"""The private optimizer: it samples people, shortens their gradients, adds noise, and keeps the account."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, NoReturn, cast
from warnings import warn

import torch
from torch import Tensor, nn

from discreet.accounting.epsilon_and_delta import epsilon as tight_epsilon
from discreet.accounting.ladder import Ladder, ladder
from discreet.errors import ParameterError
from discreet.learning.deep.accelerator.captured_batch import can_be_captured
from discreet.learning.deep.accelerator.device_plan import DevicePlan
from discreet.learning.deep.accelerator.recorded_steps import RecordedSteps
from discreet.learning.deep.clipping import AdaptiveClipping, norm_groups
from discreet.learning.deep.epoch_plan import EpochPlan
from discreet.learning.deep.example_rows import ExampleRows, PhysicalBatch
from discreet.learning.deep.plan import TrainingPlan
from discreet.learning.deep.processes import Processes
from discreet.learning.deep.randomness.secret_randomness import SecretRandomness
from discreet.learning.deep.sharded_parameters import ShardedParameters
from discreet.learning.deep.step_parts import (
    DeviceSum,
    DrawStep,
    GradientSum,
    MakeSum,
    ReleaseStep,
    StepRecord,
)
from discreet.learning.deep.watching.book import Book
from discreet.learning.deep.watching.left_out import LeftOut
from discreet.learning.deep.watching.traced_batch import BatchReader, Compiler
from discreet.learning.deep.watching.trials.held_model import HeldModel
from discreet.noise import current, is_private
from discreet.privacy.events import Event
from discreet.privacy.rational import Number

__all__ = ["PrivateOptimizer"]

_BATCHES_BEFORE_CAPTURE = 3  # in which libraries of the accelerator set themselves up
_PLAN = "is fixed when training starts: the noise was chosen for it"


class PrivateOptimizer(torch.optim.Optimizer):
    """Made by `private` and `private_epochs`: an optimizer whose steps are differentially private.

    Use `batches` for the examples, and `step` with their losses, one loss for each example. All else is as
    with the optimizer inside: parameter groups, schedulers, states.

    Attributes
    ----------
    has_updated : bool
        Whether the last call of `step` changed the model: the last batch of a step does.
    """

    def __init__(
        self,
        inner: torch.optim.Optimizer,
        model: nn.Module,
        *,
        plan: TrainingPlan | EpochPlan,
        draw: DrawStep,
        make_sum: MakeSum,
        release: ReleaseStep,
        rows: ExampleRows,
        shards: ShardedParameters,
        record: StepRecord | None,
        taken: int,
        processes: Processes,
    ) -> None:
        self._inner, self._model = inner, model
        self._plan, self._draw, self._rows, self._record = plan, draw, rows, record
        self._make_sum, self._release = make_sum, release
        self._parameters = [value for value in model.parameters() if value.requires_grad]
        self._groups = norm_groups(model, self._parameters, per_layer=plan.clipping.per_layer)
        self._book = Book(model, self._parameters, shards)
        self._processes, self._shards = processes, shards
        processes.check_same(json.dumps(plan.to_object(), sort_keys=True))
        with torch.no_grad():
            processes.share(shards.whole_everywhere(model))
        self._taken, self._bound = taken, plan.clipping.bound
        self._is_private = _draws_privately()  # slots of epochs have been drawn
        self._sum: GradientSum | None = None
        self._batch: PhysicalBatch | None = None
        self._held = HeldModel(model, self._parameters, shards)
        self._is_drawing = self._is_closed = self.has_updated = False
        self._randomness = SecretRandomness()
        self._left_out = LeftOut()

    @property
    def param_groups(self) -> Any:
        """Those of the optimizer inside."""
        return self._inner.param_groups

    @property
    def state(self) -> Any:
        """That of the optimizer inside."""
        return self._inner.state

    @property
    def defaults(self) -> Any:
        """Those of the optimizer inside."""
        return self._inner.defaults

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget gradients, as usual; private ones are never kept from one step to the next."""
        self._inner.zero_grad(set_to_none)

    def add_param_group(self, param_group: Any) -> NoReturn:
        """Refuse: the noise was chosen for the parameters that were there."""
        raise ParameterError("param_group", "is added to a run that has started", "dp.learning.private again")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a private optimizer cannot be copied: both would take the steps of one record")

    def __repr__(self) -> str:
        plan, spent = self._plan, self._taken
        note = "" if self._is_private else ", NOT PRIVATE: its noise was replayed"
        return (
            f"PrivateOptimizer({type(self._inner).__name__}, step {spent} of {plan.steps}, "
            f"epsilon {self.epsilon():.4g} at delta {float(plan.delta):.3g}, "
            f"noise {plan.noise_multiplier:.4g}, rate {float(plan.rate):.4g}{note})"
        )

    @property
    def plan(self) -> TrainingPlan | EpochPlan:
        """The public numbers of the run."""
        return self._plan

    @property
    def taken(self) -> int:
        """How many steps have been recorded."""
        return self._taken

    @property
    def rate(self) -> float:
        """The share of people who take part in a step, on average."""
        return float(self._plan.rate)

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("plan", "rate", "taken", "batch", "steps"):
            raise ParameterError(name, _PLAN, "dp.learning.private again, for another run")
        super().__setattr__(name, value)

    @property
    def event(self) -> Event:
        """What has been released so far."""
        return self._plan.event_of_charge * -(-self._taken // self._plan.steps_per_charge)

    def epsilon(self, delta: Number | None = None) -> float:
        """Return an upper bound on epsilon so far, at the plan's delta or another; infinite for replays."""
        if not self._is_private:
            return inf
        if self._taken == 0:
            return 0.0
        return tight_epsilon(self.event, delta=self._plan.delta if delta is None else delta).upper

    def ladder(self) -> Ladder:
        """Return what the theorems say about all steps so far, from the loosest to the tightest."""
        return ladder(self.event, float(self._plan.delta))

    def batches(self) -> Iterator[Any]:
        """Yield batches of examples until all steps are taken.

        Each step draws its people anew, and takes as many batches as any other, which all have the same size:
        examples are in secret places, and elsewhere are zeros, which count for nothing. Each batch is for one
        call of `step`. A step is recorded before its people are drawn. Until `step` PyTorch's generators have
        a secret state, for masks of dropout and the like: do not seed them in the loop.
        """
        if self._is_drawing:
            raise ParameterError("batches", "are being drawn already", "one loop over them at a time")
        if self._taken >= self._plan.steps:
            warn(f"all {self._taken} steps were taken before: the model does not change", stacklevel=2)
        self._is_drawing = self._randomness.meets_users = True
        try:
            while self._taken < self._plan.steps:
                if self._is_closed:
                    raise ParameterError("batches", "are drawn after close()", "dp.learning.private again")
                if self._record is not None and self._taken % self._plan.steps_per_charge == 0:
                    self._record.charge(self._plan.event_of_charge)
                self._taken += 1
                self._book.begin_step()
                self._sum = self._make_sum(self._parameters, self._groups)
                drawn = self._draw(self._taken - 1)
                self._randomness.renew()
                self._is_private = self._is_private and _draws_privately()
                least = self._shards.batches(self._rows.count(drawn[0]))
                for batch in self._rows.batches(*drawn, least):
                    self._batch = batch
                    self._held.hold()
                    self._book.open()
                    yield batch.rows
                    if self._batch is not None:
                        raise ParameterError(
                            "batches",
                            "were drawn and not used: no step was taken with the last one",
                            "optimizer.step(losses) for every batch",
                        )
                    if not batch.is_last:
                        self._randomness.enter()
        finally:
            self._randomness.leave()
            self._is_drawing, self._batch, self._sum = False, None, None

    def step(self, losses: Tensor | None = None) -> None:
        """Take the losses of the examples of the last batch; with the last batch of a step, change the model.

        Parameters
        ----------
        losses : tensor
            One number for each example of the batch, padding included, each computed from its example alone:
            ``functional.cross_entropy(model(inputs), labels, reduction="none")``.
        """
        self._add(losses, self._shards.tried(self._held_batch()[0].weights))

    def _add(self, losses: Tensor | None, tried: Tensor | None = None) -> None:
        """Take the losses of a batch, and try it out by some weights."""
        batch, total = self._held_batch()
        found = batch.checked(losses)
        self._held.check()
        uses = self._book.read(found, total.keep, tried)
        self._finish(batch, total, total.add(uses, batch.weights_on(found.device), self._bound))

    def run(self, losses: Callable[..., Tensor], *, compiler: Compiler | None = None) -> Iterator[int]:
        """Take all steps, and yield the number of each when the model has changed.

        Parameters
        ----------
        losses : callable
            Takes what a batch holds, such as inputs and labels, and returns the loss of each example.
        compiler : callable, optional
            Such as `torch.compile`. After the first step the forward pass, and the backward pass to the
            layers, are traced without values as one graph, which it compiles. Batches must be tensors.

        Losses of the first batches are also computed to try out that no examples are mixed. On an
        accelerator one batch is recorded after them, and repeated for all others, which saves the time of
        starting its parts. So `losses` must do the same for every batch: what it does besides is done a few
        times only, and a model that is switched to another mode, or gets other layers, goes on as recorded.
        Masks of dropout are drawn anew. The guarantee is that of `private` if examples are computed alike.
        """
        if compiler is not None and self._shards.is_any:
            raise ParameterError("compiler", "cannot trace a model that is sharded", "run without a compiler")
        reader = BatchReader(self._model, self._book, losses, compiler)
        recorded = RecordedSteps(reader.uses, self._bound, self._randomness.meet_users)
        # Only what stays where it is can be repeated: the sum, the weights, and a bound that does not move.
        is_moving = isinstance(self._plan.clipping, AdaptiveClipping) or self._shards.is_any
        is_fixed = isinstance(self._plan, DevicePlan) and not is_moving
        tried = 0
        for rows in self.batches():
            if self.has_updated and tried > 0 and reader.begin(rows, self._held_batch()[1].shortened):
                recorded.clear()
                tried = 0
            is_ready = tried >= _BATCHES_BEFORE_CAPTURE and self._book.is_tried
            if is_fixed and is_ready and can_be_captured(rows):
                self._randomness.meets_users = not self._rows.are_columns
                self._repeat(recorded, rows)
            else:
                self._randomness.meet_users()
                tried += 1
                self._take(reader, rows)
            if self.has_updated:
                yield self._taken

    def _take(self, reader: BatchReader, rows: Any) -> None:
        """Take a batch as in a loop; what is tried out has a forward pass of its own."""
        batch, total = self._held_batch()
        if not self._book.is_tried:

            def compute() -> Tensor:
                losses = batch.checked(reader.losses_of_copy(rows))
                self._held.check()
                return losses

            self._book.try_out(compute, self._shards.tried(batch.weights))
            if self._processes.is_alone:
                reader.compare(rows, self._rows.blanks, batch.weights)
            self._book.open()
        if reader.traced is None:
            self._add(reader.losses(rows))
            return
        self._book.stop()
        weights = batch.weights_on(reader.traced.device)
        counted = total.add(reader.uses(rows, total.keep), weights, self._bound)
        self._held.check()
        self._finish(batch, total, counted)

    def _repeat(self, recorded: RecordedSteps, rows: Any) -> None:
        """Take a batch by repeating what was recorded."""
        batch, total = self._held_batch()
        self._book.stop()
        given = cast("DeviceSum", total), rows, batch.weights, self._held.places
        if not (batch.is_only and self._processes.is_alone):
            counted = recorded.add(*given)
            self._held.check()
            self._finish(batch, total, counted)
            return
        counted, means, is_private = recorded.release(*given)
        self._held.check()
        self._end_batch(batch, counted)
        self._change_model(means, is_private=is_private)

    def _held_batch(self) -> tuple[PhysicalBatch, GradientSum]:
        if self._batch is None or self._sum is None:
            raise ParameterError(
                "step",
                "is taken without a batch, or twice with one",
                "one step for each of optimizer.batches()",
            )
        return self._batch, self._sum

    def _finish(self, batch: PhysicalBatch, total: GradientSum, counted: Tensor) -> None:
        """Note which examples of a batch count; with the last batch of a step, change the model."""
        self._end_batch(batch, counted)
        if batch.is_last:
            self._update(total)

    def _end_batch(self, batch: PhysicalBatch, counted: Tensor) -> None:
        self._left_out.note(batch.places, counted)
        self._randomness.leave()
        self._batch, self.has_updated = None, batch.is_last

    @property
    def left_out(self) -> list[int]:
        """Which examples had gradients that are not finite, and counted as zero. Private."""
        return self._left_out.places()

    def _update(self, total: GradientSum) -> None:
        total.add_up(self._processes)
        if self._processes.is_first:
            means, self._bound, is_private = self._release(total, self._bound, self._taken - 1)
        else:
            means, is_private = total.zeros(), True  # others draw people alone
        self._processes.share(means)
        self._bound = self._processes.shared(self._bound)
        self._change_model(means, is_private=is_private)

    def _change_model(self, means: list[Tensor], *, is_private: bool) -> None:
        # Every process adds to the total, whatever it knows already: one that did not would keep all waiting.
        self._is_private = self._processes.total(int(not (self._is_private and is_private))) == 0
        self._shards.let_go()
        for parameter in (one for group in self._inner.param_groups for one in group["params"]):
            parameter.grad = None  # what else has a gradient would learn without noise
        for parameter, mean in zip(self._parameters, means, strict=True):
            parameter.grad = self._shards.shard(mean, parameter)
        self._inner.step()
        for parameter in self._parameters:
            parameter.grad = None
        self._sum, self._opt_called = None, True  # which schedulers of `run` look for

    def close(self) -> None:
        """End the run: remove the hooks from the model, and close the journal."""
        self._book.close()
        if hasattr(self._record, "close") and not hasattr(self._record, "rows"):  # a permit's owner closes it
            self._record.close()  # type: ignore[union-attr]
        self._record, self._is_closed = None, True

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the optimizer inside, and the account in plain numbers and text."""
        account = {
            "plan": json.dumps(self._plan.to_object(), sort_keys=True),
            "taken": self._taken,
            "bound": self._bound,
            "is_private": self._is_private,
        }
        return {"optimizer": self._inner.state_dict(), "privacy": account}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a checkpoint of the same plan. Steps that were recorded since stay recorded.

        A run in epochs goes on with the next epoch.
        """
        account = state_dict.get("privacy")
        if not isinstance(account, dict) or account.keys() != self.state_dict()["privacy"].keys():
            raise ParameterError(
                "state_dict", "has no account", "what state_dict of a private optimizer returned"
            )
        if account["plan"] != json.dumps(self._plan.to_object(), sort_keys=True):
            raise ParameterError(
                "state_dict", "is of a run with another plan: other noise, rate, or promise", "the same plan"
            )
        if self._is_drawing:
            raise ParameterError("state_dict", "is loaded in the middle of a step", "loaded before batches()")
        self._inner.load_state_dict(state_dict["optimizer"])
        charges = -(-int(account["taken"]) // self._plan.steps_per_charge)
        recorded = getattr(self._record, "taken", charges)  # by a journal; the ledger of a permit has its own
        for _ in range(charges - recorded):
            self._record.charge(self._plan.event_of_charge)  # type: ignore[union-attr]
        self._taken = max(self._taken, charges * self._plan.steps_per_charge)
        self._bound = float(account["bound"])
        self._is_private = self._is_private and bool(account["is_private"])


def _draws_privately() -> bool:
    """Whether what is drawn now comes from the operating system, and is not replayed."""
    return is_private(current().mark(0))
