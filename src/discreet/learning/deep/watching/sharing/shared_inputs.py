"""Layers that are given what all examples share: places of words, distances between them, tables.

What such a layer is given must be nobody's, which its values show: it is held by the model, or it is integers
that count places. What was found of the first batch stays so; where later batches may be looked at, it must
be the same in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from discreet.errors import ParameterError
from discreet.learning.deep.layers import adds_up_positions
from discreet.learning.deep.watching.layer_calls import NotedCall, WatchedLayer

__all__ = ["NO_STAND_INS", "CallKey", "SharedInputs", "StandIns", "counts_places", "given_to"]

CallKey: TypeAlias = tuple[bool, str, int]
"""Whether the model is in training mode, the name of a layer, and how often it was called before."""

StandIns: TypeAlias = Mapping[int, Tensor]
"""Of the identities of tensors that stand for parameters, which parameter each stands for."""

NO_STAND_INS: StandIns = MappingProxyType({})

_FACTOR = "[factor]"  # which no layer is called


class SharedInputs:
    """Says which calls are given nothing of examples, whatever the length of their first axis.

    Parameters
    ----------
    model : nn.Module
    watched : list of WatchedLayer
        The modules whose calls are noted, each before its parts, for `owner`.
    """

    def __init__(self, model: nn.Module, watched: list[WatchedLayer]) -> None:
        self._model, self._stand_ins = model, NO_STAND_INS
        self._owners = {id(value): (one, name) for one in watched for name, value in one.trained.items()}
        self._first: dict[CallKey, Tensor | None] = {}
        self._is_compared, self._factors = False, 0

    def begin(self, stand_ins: StandIns = NO_STAND_INS, *, is_compared: bool) -> None:
        """Begin a batch.

        Parameters
        ----------
        stand_ins : StandIns, optional
        is_compared : bool
            Whether values of this batch are compared with the first, which waits for an accelerator.
        """
        self._stand_ins, self._is_compared, self._factors = stand_ins, is_compared, 0

    def owner(self, leaf: Tensor) -> tuple[WatchedLayer, str] | None:
        """Return the innermost module that has a trained parameter, and its name there; or None."""
        return self._owners.get(id(self._stand_ins.get(id(leaf), leaf)))

    def candidates(self, calls: list[NotedCall]) -> dict[NotedCall, CallKey]:
        """Return such calls, each with what it is known by in other batches."""
        found, times = dict[NotedCall, CallKey](), Counter[str]()
        for call in calls:
            if call.before or not adds_up_positions(call.watched.rule):
                continue
            key = self._model.training, call.watched.name, times[call.watched.name]
            times[call.watched.name] += 1
            given = given_to(call.given)
            if self._is_new(key):
                self._first[key] = given.clone() if self._is_public(given) else None
            if self._first.get(key) is not None:
                found[call] = key
        return found

    def check(self, call: NotedCall, key: CallKey) -> None:
        """Refuse a call that is given something else than in the first batch."""
        known = self._first[key]
        if self._is_compared and known is not None and not torch.equal(known, given_to(call.given)):
            raise _changed(f"its {call.watched.title}")

    def is_public_factor(self, values: Tensor) -> bool:
        """Whether an index or a mask, by which a shared tensor is read, is shared, too.

        All of a batch come in one order. Masks of dropout are others in every batch.
        """
        key = self._model.training, _FACTOR, self._factors
        self._factors += 1
        if self._is_new(key):
            self._first[key] = values.detach().clone() if self._is_public(values) or _drops(values) else None
        known = self._first.get(key)
        if known is None or not self._is_compared or _drops(known):
            return known is not None
        if not torch.equal(known, values):
            raise _changed("an index or a mask")
        return True

    def _is_new(self, key: CallKey) -> bool:
        """Whether a tensor is to be looked at: while a batch is traced there are no values to see."""
        return key not in self._first and not self._stand_ins

    def _is_public(self, given: Tensor) -> bool:
        """Whether a tensor is a part of what the model holds, or counts places."""
        if counts_places(given):
            return True
        held = (*self._model.buffers(), *self._model.parameters())
        return _storage(given) in {
            _storage(value) for value in held if not is_traceable_wrapper_subclass(value)
        }


def _drops(values: Tensor) -> bool:
    """Whether numbers are those of a mask of dropout: some are 0, and all others are one number above 1."""
    if not values.is_floating_point() or values.numel() < 2:
        return False
    scale = values.max()
    return bool((scale > 1) & ((values == 0) | (values == scale)).all())


def _changed(title: str) -> ParameterError:
    return ParameterError(
        "model",
        f"gives {title} other places than in the first batch, which one example could decide",
        "places that are the same in every batch",
    )


def given_to(given: tuple[Any, Any]) -> Tensor:
    """Return the one tensor that a layer with a rule was given."""
    args, kwargs = given
    return args[0] if args else next(iter(kwargs.values()))


def counts_places(values: Tensor) -> bool:
    """Whether integers are consecutive, or a table of which entries depend on the distance of places alone.

    Both are of at least two places. A mask of later words is a table, one number everywhere is none.
    """
    if values.is_floating_point() or values.is_complex() or values.dim() == 0 or values.shape[-1] < 2:
        return False
    if values.numel() == values.shape[-1]:
        return values.dtype != torch.bool and bool((values.diff(dim=-1) == 1).all())
    is_table = values.shape[-2] > 1 and bool((values != values.flatten()[0]).any())
    return is_table and bool((values[..., 1:, 1:] == values[..., :-1, :-1]).all())


def _storage(value: Tensor) -> int:
    return value.untyped_storage().data_ptr()
