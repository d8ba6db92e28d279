"""One batch as a single flat graph for a compiler: the forward pass, and the backward pass to the layers.

Tracing runs the losses once on tensors that have shapes and no values, and notes every operation: what comes
out does not depend on anybody's examples, and a batch whose values would decide about it cannot be traced.
The graph is a function of parameters, buffers and rows. It returns the numbers that gradients of examples are
made from (docs/proofs/private_gradients.md): a compiler may round otherwise on the way to them, and the
guarantee begins after it. These are uses of parameters; of layers whose uses are not made in a graph, what
each was given and the gradient of what it returned.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import fields
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._pytree import register_pytree_node, tree_flatten, tree_unflatten

from discreet.errors import ParameterError
from discreet.learning.deep.layers import as_read_by_kernels, is_traceable
from discreet.learning.deep.uses import LookupUse, OuterUse, RowsUse, Use
from discreet.learning.deep.watching.book import Book
from discreet.learning.deep.watching.channels_last import laid_channels_last
from discreet.learning.deep.watching.layer_calls import Keep, Kept, LayerCall, keep_all
from discreet.learning.deep.watching.released_inputs import release_inputs
from discreet.learning.deep.watching.shared_statistics import share_statistics
from discreet.learning.deep.watching.trials.other_company import refuse_company
from discreet.learning.deep.watching.written_graphs import without_writes

__all__ = ["BatchReader", "Compiler", "TracedBatch"]

Compiler: TypeAlias = Callable[[nn.Module], Callable[..., Any]]
"""Makes a faster function of a module that does the same, such as `torch.compile`."""

_RETURNED = object()
"""Stands for a tensor that the graph returns."""


def _as_it_is(use: Use) -> Use:
    return use


def _fields(record: Any) -> tuple[list[Any], Any]:
    return [getattr(record, field.name) for field in fields(record)], type(record)


for _kind in (LayerCall, LookupUse, OuterUse, RowsUse):
    register_pytree_node(_kind, _fields, lambda values, kind: kind(*values))


class TracedBatch:
    """The uses of all parameters by a batch, from one compiled graph.

    Parameters
    ----------
    model : nn.Module
    book : Book
        Of this model. It has read a batch, so that the losses were tried out.
    losses : callable
        Takes what a batch holds, and returns the loss of each example. What it reads besides, such as modes
        of modules and tensors that are not the model's, is read once.
    rows : tree of tensors
        A batch, for its shapes and types.
    compiler : callable
        Such as `torch.compile`.
    shortened : callable, optional
        Turns a use into what is needed of it: the same with shorter numbers.

    Attributes
    ----------
    device : torch.device
        Where the losses are.
    """

    def __init__(
        self,
        model: nn.Module,
        book: Book,
        losses: Callable[..., Tensor],
        rows: Any,
        compiler: Compiler,
        *,
        shortened: Callable[[Use], Use] = _as_it_is,
    ) -> None:
        self._whole, self._book = _Whole(model, losses), book
        leaves, self._shape = tree_flatten(rows)
        if not all(isinstance(leaf, Tensor) for leaf in leaves):
            raise ParameterError(
                "compiler",
                "needs batches of tensors",
                "tensors in tuples, lists and mappings, or no compiler",
            )
        self._shortened = shortened
        self._left: list[tuple[Any, list[Any], Any]] = []
        self._examples, self.device, self._names = 0, torch.device("cpu"), list(self._held())
        self._compiled = compiler(self._traced(leaves))

    def uses(self, rows: Any, keep: Keep[Kept] = keep_all) -> list[list[Kept]]:
        """Return the uses of every parameter, or what is kept of them, as `Book.read` does of the losses."""
        held = self._held()
        if list(held) != self._names:
            raise ParameterError(
                "model", "has other parameters or buffers than before", "those it began with"
            )
        with torch.no_grad(), torch.autocast(self.device.type, enabled=False):  # which the graph has inside
            found = list(self._compiled(*held.values(), *tree_flatten(rows)[0]))
        calls = []
        for watched, leaves, shape in reversed(self._left):  # what a layer has left is let go with its uses
            own = [found.pop() if leaf is _RETURNED else leaf for leaf in reversed(leaves)]
            left = tree_unflatten(own[::-1], shape)
            calls.append((watched, keep(self._uses_of(left))))
            del own, left
        return self._book.by_parameter(reversed(calls))

    def _uses_of(self, left: LayerCall | dict[str, Use]) -> dict[str, Use]:
        return left if isinstance(left, dict) else self._book.uses_of(left, self._examples)

    def _held(self) -> dict[str, Tensor]:
        return {**dict(self._whole.named_parameters()), **dict(self._whole.named_buffers())}

    def _traced(self, leaves: list[Tensor]) -> nn.Module:
        """Return the graph, and note which of its outputs belong to which call."""
        held = self._held()

        def flat(*given: Tensor) -> list[Tensor]:
            named = dict(zip(held, given[: len(held)], strict=True))
            return self._flat(named, list(given[len(held) :]))

        import torch._dynamo  # a compiler takes a second to load
        from torch.fx.experimental.proxy_tensor import make_fx

        trace = make_fx(flat, tracing_mode="fake", _allow_non_fake_inputs=True)
        try:
            with torch._dynamo.config.patch(error_on_nested_fx_trace=False):  # parts may be compiled already
                graph = trace(*held.values(), *leaves)
        except RuntimeError as error:
            raise ParameterError(
                "losses",
                "cannot be traced: what they do depends on values of a batch, or is outside of PyTorch",
                "operations on tensors alone; or optimizer.run without a compiler",
            ) from error
        finally:
            self._book.stop()
        given = [*held.values(), *leaves]
        try:
            graph = without_writes(graph, given)
        except RuntimeError:
            return graph  # of which nothing can be rewritten
        share_statistics(graph)
        if self.device.type == "cuda":
            graph = laid_channels_last(graph, given)
            release_inputs(graph)
        return graph

    def _flat(self, held: dict[str, Tensor], leaves: list[Tensor]) -> list[Tensor]:
        """Return all tensors that the calls of layers leave, one after another."""
        versions = [value._version for value in held.values()]
        self._book.open()
        losses = functional_call(self._whole, held, (tree_unflatten(leaves, self._shape),))
        calls = self._book.trace(losses)
        if versions != [value._version for value in held.values()]:
            raise ParameterError(
                "model", "changes a buffer or parameter in its forward pass", "modules that keep nothing"
            )
        self._examples, self.device = len(losses), losses.device
        self._left, returned = [], []
        for call in calls:
            parts, shape = tree_flatten(self._left_of(call))
            returned += [part for part in parts if isinstance(part, Tensor)]
            kept = [_RETURNED if isinstance(part, Tensor) else part for part in parts]
            self._left.append((call.watched, kept, shape))
        return returned

    def _left_of(self, call: LayerCall) -> LayerCall | dict[str, Use]:
        """Return what the graph leaves of a call: its uses, or what they are made from."""
        rule = call.watched.rule
        if is_traceable(rule):
            uses = self._book.uses_of(call, self._examples)
            return {name: self._shortened(use) for name, use in uses.items()}
        (args, kwargs), slopes = call.given, call.slopes
        if rule is not None and len(args) == 1 and slopes[0] is not None:
            given, slope = as_read_by_kernels(rule, args[0], slopes[0])
            args, slopes = (given,), [slope]
        return LayerCall(call.watched, (args, kwargs), slopes)


class BatchReader:
    """Reads the uses of batches: by the losses as they are, and from `begin` on by a compiled graph.

    Parameters
    ----------
    model, book, losses
        As for `TracedBatch`.
    compiler : callable or None
        None never begins.
    """

    def __init__(
        self, model: nn.Module, book: Book, losses: Callable[..., Tensor], compiler: Compiler | None
    ) -> None:
        self._model, self._book, self._losses, self._compiler = model, book, losses, compiler
        self.traced: TracedBatch | None = None
        self._is_compared = False

    def compare(self, rows: Any, blanks: Callable[[], Any], weights: Tensor) -> None:
        """Refuse losses that change with the values of other examples, by the first batch that can tell.

        The calls of layers must not change with them either.
        """

        def losses(given: Any) -> Tensor:
            self._book.open()
            found = self.losses(given)
            self._book.check_calls(found)
            return found

        if not self._is_compared:
            self._is_compared = refuse_company(losses, rows, blanks, weights)

    def begin(self, rows: Any, shortened: Callable[[Use], Use]) -> bool:
        """Compile batches of these shapes, and return whether this begins now; parameters as `TracedBatch`.

        All batches of a step are to be read alike: else who is drawn would decide how others are rounded.
        """
        if self._compiler is None or self.traced is not None:
            return False
        self.traced = TracedBatch(
            self._model, self._book, self._losses, rows, self._compiler, shortened=shortened
        )
        return True

    def losses(self, rows: Any) -> Tensor:
        """Return the losses of a batch, not compiled."""
        return _called(self._losses, rows)

    def losses_of_copy(self, rows: Any) -> Tensor:
        """Return the same, from a copy of the batch: losses may write to what they are given."""
        return self.losses(deepcopy(rows))

    def uses(self, rows: Any, keep: Keep[Any]) -> list[list[Any]]:
        """Return the uses of every parameter by a batch, or what is kept of them."""
        if self.traced is not None:
            return self.traced.uses(rows, keep)
        self._book.open()
        return self._book.read(self.losses(rows), keep)


def _called(losses: Callable[..., Tensor], rows: Any) -> Tensor:
    return losses(*rows) if isinstance(rows, list | tuple) else losses(rows)


class _Whole(nn.Module):
    """The losses as a module that has the model as its part, so that parameters can be given to it."""

    def __init__(self, model: nn.Module, losses: Callable[..., Tensor]) -> None:
        super().__init__()
        self.model = model
        self._losses = (losses,)  # which is never a part, even if it is a module itself

    def forward(self, rows: Any) -> Tensor:
        """Return the losses of a batch."""
        (losses,) = self._losses
        return _called(losses, rows)
