"""The book: what every layer was given, and the gradient of what it returned, from one backward pass.

Hooks watch the forward pass; the model is neither wrapped nor changed. The backward pass asks for the
gradients of the layers' outputs alone, so that no summed gradient of a parameter is ever computed. From the
pairs of input and output gradient come the gradients of each example (`layers`), mostly without writing them
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any
from weakref import WeakSet

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_map

from discreet.errors import ParameterError
from discreet.learning.deep.layers import cast_by_autocast, rule_of
from discreet.learning.deep.sharded_parameters import UNSHARDED, ShardedParameters
from discreet.learning.deep.uses import Use
from discreet.learning.deep.watching.arriving_slopes import (
    first_places,
    hand_over_slopes,
    run_once,
)
from discreet.learning.deep.watching.beside_layers import chosen_calls
from discreet.learning.deep.watching.compiled_regions import (
    compiler_is_loaded,
    first_of_two_passes,
    uncompiled,
)
from discreet.learning.deep.watching.first_axis import refused_axis
from discreet.learning.deep.watching.layer_calls import (
    Keep,
    Kept,
    LayerCall,
    NotedCall,
    WatchedLayer,
    keep_all,
    noted_call,
    seen_alone,
)
from discreet.learning.deep.watching.loose_parameters import loose_parameters
from discreet.learning.deep.watching.model_hooks import ModelHook
from discreet.learning.deep.watching.passed_parameters import refuse_passed_parameters
from discreet.learning.deep.watching.trials.call_sequence import CallSequence
from discreet.learning.deep.watching.trials.mixing_trials import MixingTrials
from discreet.learning.deep.watching.trials.separate_examples import are_kept_apart
from discreet.learning.deep.watching.whole_modules import (
    refuse_mixing_inside,
    tensors_of,
    uses_of_whole,
)
from discreet.learning.deep.watching.written_calls import CallWriter, is_recomputed, writer_of

__all__ = ["Book"]

CalledLayers = list[tuple[WatchedLayer, list[Any]]]
"""Layers that were called, and where the gradients of their outputs arrive."""

_watched: WeakSet[nn.Module] = WeakSet()

_TRIALS_OF_A_BATCH = 2  # where losses are computed for them: so losses that alternate are all seen


class Book:
    """Records the calls of a model's layers, and turns losses into the gradients of each example.

    Parameters
    ----------
    model : nn.Module
    parameters : list of tensors
        Those that are trained.
    shards : ShardedParameters, optional
        Of this model.
    """

    def __init__(
        self, model: nn.Module, parameters: list[Tensor], shards: ShardedParameters = UNSHARDED
    ) -> None:
        if any(module in _watched for module in model.modules()):
            raise ParameterError(
                "model",
                "is trained by another private optimizer",
                "one optimizer; optimizer.close() ends one",
            )
        self._model, self._shards = model, shards
        self._trained = {id(parameter) for parameter in parameters}
        self._places = {id(parameter): place for place, parameter in enumerate(parameters)}
        self._is_open, self._trials = False, MixingTrials(shards.agreed)
        self._calls: list[NotedCall] = []
        self._sequence = CallSequence()
        watched = list(self._watch(model, "", set()))
        reached = {id(value) for one in watched for value in one.trained.values()}
        if reached != self._trained:
            raise ParameterError("optimizer", "has parameters that are not the model's", "those of the model")
        self._trained |= {id(shards.gathered(parameter)) for parameter in parameters}
        self._writers = [writer_of(one) for one in watched]
        self._records = [self._recorder(*one) for one in zip(watched, self._writers, strict=True)]
        self._hidden: list[Callable[..., Any]] = []
        self._handles = [
            one.module.register_forward_hook(self._watcher(place), prepend=True, with_kwargs=True)
            for place, one in enumerate(watched)
        ]
        self._handles += [
            one.module.register_forward_pre_hook(self._caster(cast))
            for one in watched
            if (cast := cast_by_autocast(one.rule)) is not None
        ]
        _watched.update(model.modules())

    def close(self) -> None:
        """Remove the hooks."""
        for handle in self._handles:
            handle.remove()
        self.stop()
        self._handles = []
        for module in self._model.modules():
            _watched.discard(module)

    def _watch(self, module: nn.Module, name: str, seen: set[nn.Module]) -> Iterator[WatchedLayer]:
        """Find the modules that own parameters: those with a rule, and the outermost of all others.

        Of these others, layers inside are found, too, if they may be enough (`beside_layers`).
        """
        if module in seen:
            return
        seen.add(module)
        rule = rule_of(module)
        own = self._trained_of(loose_parameters(module))
        if own and (rule is None or any("." in part for part in own)):
            self._shards.refuse_sharded(module, name)
            every = self._trained_of(module.named_parameters())
            is_divisible = not self._shards.is_any and not hasattr(module, "parametrizations")
            yield WatchedLayer(name, module, None, every, is_divisible)
            if not is_divisible:
                seen.update(module.modules())
                return
        elif own:
            yield WatchedLayer(name, module, rule, own)
        for part, child in module.named_children():
            yield from self._watch(child, f"{name}.{part}" if name else part, seen)

    def _trained_of(self, named: Iterable[tuple[str, Tensor]]) -> dict[str, Tensor]:
        return {name: value for name, value in named if id(value) in self._trained}

    def _recorder(self, watched: WatchedLayer, writer: CallWriter | None) -> Callable[..., Any]:
        def record(args: Any, kwargs: Any, returned: Any) -> Any:
            outputs = tensors_of(returned)
            if not any(value.requires_grad for value in outputs):
                return None
            if writer is not None and (found := writer(args, kwargs)) is not None:
                replaced, calls = found
                self._calls += calls if self._is_open else []
                return replaced
            if not self._is_open:
                return None
            replaced = None
            if watched.rule is None and len(outputs) > 1:
                # One output may be made from another: so that slopes are those of what leaves the module.
                replaced = tree_map(seen_alone, returned)
                outputs = tensors_of(replaced)
            self._calls.append(noted_call(watched, args, kwargs, outputs))
            return replaced

        return record

    def _watcher(self, place: int) -> Callable[..., Any]:
        def watch(module: nn.Module, args: Any, kwargs: Any, returned: Any) -> Any:
            if not self._is_open and (self._writers[place] is None or not is_recomputed()):
                return None
            records = (torch.compiler.is_compiling() and self._hidden) or self._records
            return records[place](args, kwargs, returned)

        return ModelHook(watch)

    def _caster(self, cast: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
        def give(module: nn.Module, args: Any) -> Any:
            is_one = self._is_open and len(args) == 1 and isinstance(args[0], Tensor)
            return (cast(args[0]),) if is_one else None

        return ModelHook(give)

    @property
    def is_tried(self) -> bool:
        """Whether enough has been tried out for batches that are all computed in the same way."""
        return self._trials.is_enough

    def begin_step(self) -> None:
        """Note that the parameters may have changed since the last batch."""
        self._trials.begin_step()

    def open(self) -> None:
        """Start to record the calls of one forward pass."""
        if not self._hidden and compiler_is_loaded():
            self._hidden = [uncompiled(record) for record in self._records]
        self._calls, self._is_open = [], True

    def stop(self) -> None:
        """Record no more calls, and forget those that were."""
        self._calls, self._is_open = [], False

    def read(
        self,
        losses: Tensor,
        keep: Keep[Kept] = keep_all,
        weights: Tensor | None = None,
    ) -> list[list[Kept]]:
        """Return the uses of every parameter, from the losses of the examples, and close the book.

        The gradient of example i is that of its loss. That no loss depends on another example is read from
        the graph of every batch that has weights (`separate_examples`), where that is known of its
        operations, and tried out in some batches that have two examples (`mixing_trials`). That no parameter
        reaches a loss past the book is read from all graphs. A batch that is tried out takes two backward
        passes over what its forward pass has left, which all stays in memory for the second: so on an
        accelerator nothing is tried out that the graph proves. Where losses can be computed twice, `try_out`
        takes less.

        Parameters
        ----------
        losses : tensor
        keep : callable, optional
            Is given the uses of a call, as soon as its slopes are there.
        weights : tensor, optional
            0 for padding, which tells nothing of how examples are mixed. None: that is not looked at.
        """
        calls, _ = self._recorded(losses)
        edges = [call.edges for call in calls]
        asked = _asked(edges, losses)
        if weights is not None:
            self._look(calls, losses, weights, asked)
        refuse_passed_parameters(edges, [call.before for call in calls], losses, self._trained)
        self._sequence.check(self._model, calls)
        return self._arriving(calls, losses, asked, keep)

    def _look(self, calls: list[NotedCall], losses: Tensor, weights: Tensor, asked: set[int]) -> None:
        """Look at whether losses mix examples: at their graph, and in some batches by trials."""
        is_proven = are_kept_apart(calls, losses)
        if not self._trials.is_due(weights, is_proven=is_proven):
            return
        if is_proven and not _has_room(losses):
            self._trials.note_proof({call.watched.name for call in calls})
            return
        refuse_mixing_inside(calls, len(losses), self._shards.whole)
        self._trials.try_out(_edges_of(calls), losses, weights, asked, first_of_two_passes)

    def _arriving(
        self, calls: list[NotedCall], losses: Tensor, asked: set[int], keep: Keep[Kept]
    ) -> list[list[Kept]]:
        """Return what is kept of the uses of every parameter, in the order of calls."""
        found: dict[int, dict[str, Kept]] = {}
        edges: list[list[Any]] = [call.edges for call in calls]
        waiting: list[NotedCall | None] = [*calls]
        calls.clear()  # what a layer was given is let go with its slopes

        def take(place: int, slopes: list[Tensor | None]) -> None:
            call, waiting[place] = waiting[place], None
            assert call is not None  # noqa: S101 - slopes arrive once
            call.check_unchanged()
            left = LayerCall(call.watched, call.given, slopes)
            found[place] = keep(self.uses_of(left, len(losses)))

        watched = [call.watched for call in waiting if call is not None]
        hand_over_slopes(edges, losses.sum(), asked, take)
        if not found:
            raise _not_of_the_model()
        return self.by_parameter((watched[place], found[place]) for place in sorted(found))

    def try_out(self, compute: Callable[[], Tensor], weights: Tensor) -> None:
        """Only look at whether losses mix examples or pass layers, as `read` does; the book is closed then.

        Parameters
        ----------
        compute : callable
            Returns losses, from a forward pass of their own. It is not called for a batch that tells nothing.
        weights : tensor
        """
        for _ in range(_TRIALS_OF_A_BATCH):
            self.stop()
            if not self._trials.is_due(weights):
                return
            self.open()
            losses = compute()
            calls, _ = self._recorded(losses)
            self._sequence.check(self._model, calls)
            refuse_mixing_inside(calls, len(losses), self._shards.whole)
            layers, before = _edges_of(calls), [call.before for call in calls]
            edges = [own for _, own in layers]
            calls.clear()  # what layers were given is let go in the backward pass
            self._trials.try_out(layers, losses, weights, _asked(edges, losses), run_once)
            refuse_passed_parameters(edges, before, losses, self._trained)

    def check_calls(self, losses: Tensor) -> None:
        """Only look at whether losses call layers as those of the first batch did, and close the book."""
        calls, _ = self._recorded(losses)
        self._sequence.check(self._model, calls)

    def trace(self, losses: Tensor) -> list[LayerCall]:
        """Return what `read` makes uses of, and close the book.

        Nothing is tried out: layers must be called as in a batch that was read.
        """
        if not self._sequence.is_known(self._model):
            raise ParameterError("losses", "were not read before", "a batch that was read")
        calls, edges = self._recorded(losses)
        self._sequence.check(self._model, calls)
        return _sloped(calls, edges, losses)

    def by_parameter(self, calls: Iterable[tuple[WatchedLayer, dict[str, Kept]]]) -> list[list[Kept]]:
        """Return for every parameter what calls have for it by name, in the order of calls."""
        found: list[list[Kept]] = [[] for _ in self._places]
        for watched, named in calls:
            for name, parameter in watched.trained.items():
                found[self._places[id(parameter)]].append(named[name])
        return found

    def _recorded(self, losses: Tensor) -> tuple[list[NotedCall], list[Any]]:
        """Close the book, and return its calls, and where gradients arrive."""
        calls = self._calls
        self.stop()
        if losses.requires_grad:
            calls = chosen_calls(calls, losses)
        edges = [edge for call in calls for edge in call.edges if edge is not None]
        if not edges or not losses.requires_grad:
            raise _not_of_the_model()
        return calls, edges

    @torch.no_grad()
    def uses_of(self, call: LayerCall, batch: int) -> dict[str, Use]:
        """Return the uses of a layer's trained parameters by name."""
        watched, slopes = call.watched, call.slopes
        if any(slope is not None and (slope.dim() == 0 or len(slope) != batch) for slope in slopes):
            raise refused_axis(watched, "first axis is not that of the examples")
        if watched.rule is None:
            module, trained, whole = watched.module, watched.trained, self._shards.whole
            return uses_of_whole(module, trained, call.given, slopes, whole=whole, name=watched.name)
        (slope,), (args, kwargs) = slopes, call.given
        given = args[0] if args else next(iter(kwargs.values()))
        if len(given) != batch:
            raise refused_axis(watched, "input is not that of the examples")
        with _without_autocast(given.device.type):
            found = watched.rule(watched.module, given, slope)
        return {name: found[name] for name in watched.trained}


def _edges_of(calls: list[NotedCall]) -> CalledLayers:
    """Return the layers that were called, and where the gradients of their outputs arrive."""
    return [(call.watched, call.edges) for call in calls]


def _asked(edges: list[list[Any]], losses: Tensor) -> set[int]:
    """Return the calls whose slopes are asked for, and not handed over: on the processor, all.

    What is let go there in the middle of a pass costs more time than it saves room: three times as many pages
    of memory are taken anew, by measurement.
    """
    return first_places(edges, losses) if losses.is_cuda else set(range(len(edges)))


def _has_room(losses: Tensor) -> bool:
    """Whether the memory of a second backward pass is there: an accelerator's may be just enough for one."""
    return not losses.is_cuda


def _without_autocast(kind: str) -> AbstractContextManager[object]:
    """Let numbers be as long as they are: autocast is for the model alone."""
    return torch.autocast(kind, enabled=False) if torch.is_autocast_enabled(kind) else nullcontext()


def _sloped(calls: list[NotedCall], edges: list[Any], losses: Tensor) -> list[LayerCall]:
    """Run backward to the layers, and return the calls that the losses depend on."""
    slopes = torch.autograd.grad(losses.sum(), edges, allow_unused=True)
    if all(slope is None for slope in slopes):
        raise _not_of_the_model()
    rest, found = iter(slopes), []
    for call in calls:
        own = [next(rest) if edge is not None else None for edge in call.edges]
        if any(slope is not None for slope in own):
            call.check_unchanged()
            found.append(LayerCall(call.watched, call.given, own))
    return found


def _not_of_the_model() -> ParameterError:
    return ParameterError(
        "losses",
        "do not come from the model",
        "the losses of this batch, from model(…); and torch.compiler.reset() if it was compiled and called "
        "before it was made private",
    )
