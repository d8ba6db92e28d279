"""One batch as a single flat graph for a compiler: the forward pass, and the backward pass to the layers.

Tracing runs the losses once on tensors that have shapes and no values, and notes every operation: what comes
out does not depend on anybody's examples, and a batch whose values would decide about it cannot be traced.
The graph is a function of parameters, buffers and rows. It returns what each layer was given and the gradient
of what it returned, which are the numbers that gradients of examples are made from (docs/proofs/
private_gradients.md): a compiler may round otherwise on the way to them, and the guarantee begins after it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.utils._pytree import tree_flatten, tree_unflatten

from discreet.errors import ParameterError
from discreet.learning.deep.uses import Use
from discreet.learning.deep.watching.book import Book, LayerCall

__all__ = ["BatchReader", "Compiler", "TracedBatch"]

Compiler: TypeAlias = Callable[[nn.Module], Callable[..., Any]]
"""Makes a faster function of a module that does the same, such as `torch.compile`."""

_RETURNED = object()
"""Stands for a tensor that the graph returns."""


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
    ) -> None:
        self._whole, self._book = _Whole(model, losses), book
        leaves, self._shape = tree_flatten(rows)
        if not all(isinstance(leaf, Tensor) for leaf in leaves):
            raise ParameterError(
                "compiler",
                "needs batches of tensors",
                "tensors in tuples, lists and mappings, or no compiler",
            )
        self._calls: list[tuple[Any, list[Any], Any]] = []
        self._examples, self.device, self._names = 0, torch.device("cpu"), list(self._held())
        self._compiled = compiler(self._traced(leaves))

    def uses(self, rows: Any) -> list[list[Use]]:
        """Return the uses of every parameter, as `Book.read` does of the same losses."""
        held = self._held()
        if list(held) != self._names:
            raise ParameterError(
                "model", "has other parameters or buffers than before", "those it began with"
            )
        with torch.no_grad(), torch.autocast(self.device.type, enabled=False):  # which the graph has inside
            found = iter(self._compiled(*held.values(), *tree_flatten(rows)[0]))
        calls = []
        for watched, leaves, shape in self._calls:
            own = [next(found) if leaf is _RETURNED else leaf for leaf in leaves]
            calls.append(LayerCall(watched, *tree_unflatten(own, shape)))
        return self._book.uses(calls, self._examples)

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
                return trace(*held.values(), *leaves)
        except RuntimeError as error:
            raise ParameterError(
                "losses",
                "cannot be traced: what they do depends on values of a batch, or is outside of PyTorch",
                "operations on tensors alone; or optimizer.run without a compiler",
            ) from error
        finally:
            self._book.stop()

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
        self._calls, returned = [], []
        for call in calls:
            parts, shape = tree_flatten((call.given, call.slopes))
            returned += [part for part in parts if isinstance(part, Tensor)]
            kept = [_RETURNED if isinstance(part, Tensor) else part for part in parts]
            self._calls.append((call.watched, kept, shape))
        return returned


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

    def begin(self, rows: Any) -> bool:
        """Compile batches of these shapes, and return whether this begins now.

        All batches of a step are to be read alike: else who is drawn would decide how others are rounded.
        """
        if self._compiler is None or self.traced is not None:
            return False
        self.traced = TracedBatch(self._model, self._book, self._losses, rows, self._compiler)
        return True

    def losses(self, rows: Any) -> Tensor:
        """Return the losses of a batch, not compiled."""
        return _called(self._losses, rows)

    def uses(self, rows: Any, kept: Callable[[Use], Any]) -> list[list[Any]]:
        """Return the uses of every parameter by a batch, or what is kept of them."""
        if self.traced is not None:
            return [[kept(use) for use in found] for found in self.traced.uses(rows)]
        self._book.open()
        return self._book.read(self.losses(rows), kept)


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
