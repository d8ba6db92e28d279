"""Whether the loss of an example is the same in other company, which gradients cannot tell.

A loss that is divided by a mean over the batch, detached, or weighted by how many of the batch have its label
has no gradient at other examples, and changes with them all the same. Where losses are a function, they are
computed again with blanks in place of some examples: all others must keep theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from copy import deepcopy
from typing import Any

import numpy as np
import torch
from torch import Tensor

from discreet.errors import ParameterError
from discreet.learning.deep.randomness.secret_randomness import generator_states, set_generators

__all__ = ["refuse_company", "with_blanks"]

_CLOSE = 2.0**-10
"""Two losses within this share of each other are the same, and within its square of the largest loss."""


def refuse_company(
    losses: Callable[[Any], Tensor], rows: Any, blanks: Callable[[], Any], weights: Tensor
) -> bool:
    """Refuse losses that change with the values of other examples, and return whether a batch could tell.

    Nothing is told by fewer than two examples, nor by losses that differ when they are computed twice, with
    the same numbers from PyTorch's generators.

    Parameters
    ----------
    losses : callable
        Takes a batch, to which it may write, and returns the loss of each example.
    rows : tree of tensors and arrays
        A batch.
    blanks : callable
        Returns a batch of blanks.
    weights : tensor
        0 for padding.
    """
    present = weights.cpu().nonzero()[:, 0]
    if len(present) < 2:
        return False
    states = generator_states()

    def compute(batch: Any) -> Tensor:
        set_generators(states)
        return losses(batch).detach().double().cpu()

    found = compute(deepcopy(rows))
    is_repeated = bool(_are_close(found, compute(deepcopy(rows))).all())
    for gone in (present[::2], present[1::2]) if is_repeated else ():
        chosen = torch.zeros(len(weights), dtype=torch.bool)
        chosen[gone] = True
        if not _are_close(found, compute(with_blanks(rows, blanks(), chosen)))[~chosen].all():
            raise ParameterError(
                "losses",
                "mix examples: the loss of one changes with the values of others",
                "losses of which each is computed from its own example: no statistics of the batch, also not "
                "detached, in inputs, weights or losses",
            )
    return is_repeated


def with_blanks(rows: Any, blanks: Any, chosen: Tensor) -> Any:
    """Return a copy of a batch with blanks in the chosen places.

    What does not have one entry for each example, in a batch and in that of blanks, is left as it is.
    """
    if isinstance(rows, Tensor) and isinstance(blanks, Tensor):
        if rows.shape != blanks.shape or len(rows.shape[:1]) == 0 or len(rows) != len(chosen):
            return rows.clone()
        mask = chosen.to(rows.device).reshape(-1, *[1] * (rows.dim() - 1))
        return torch.where(mask, blanks.to(rows.device), rows)
    if isinstance(rows, np.ndarray) and isinstance(blanks, np.ndarray):
        found = rows.copy()
        if rows.shape == blanks.shape and rows.shape[:1] == (len(chosen),):
            found[chosen.numpy()] = blanks[chosen.numpy()]
        return found
    if isinstance(rows, Mapping) and isinstance(blanks, Mapping) and rows.keys() == blanks.keys():
        copied = deepcopy(rows)
        parts = {name: with_blanks(rows[name], blanks[name], chosen) for name in rows}
        if not isinstance(copied, MutableMapping):
            return parts
        copied.update(parts)
        return copied
    if isinstance(rows, list | tuple) and isinstance(blanks, list | tuple) and len(rows) == len(blanks):
        if len(rows) == len(chosen) and not any(isinstance(row, Tensor | np.ndarray) for row in rows):
            parts_of = [blank if gone else row for row, blank, gone in zip(rows, blanks, chosen, strict=True)]
        else:
            parts_of = [with_blanks(row, blank, chosen) for row, blank in zip(rows, blanks, strict=True)]
        if isinstance(rows, list):
            return parts_of
        return type(rows)(*parts_of) if hasattr(rows, "_fields") else tuple(parts_of)
    return deepcopy(rows)


def _are_close(one: Tensor, other: Tensor) -> Tensor:
    """Say of each number whether it is the same, infinite or not a number included."""
    largest = float(one.nan_to_num(0.0, 0.0, 0.0).abs().amax())
    return torch.isclose(one, other, rtol=_CLOSE, atol=_CLOSE**2 * largest, equal_nan=True)
