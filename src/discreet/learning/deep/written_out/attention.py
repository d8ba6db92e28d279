"""Attention with several heads, written out: linear layers around a product of queries, keys and values.

Masks of dropout are those of the one pass that there is: nothing is run again.
"""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from discreet.learning.deep.layers import linear_uses
from discreet.learning.deep.uses import Use
from discreet.learning.deep.written_out.linear_parts import LinearParts

__all__ = ["write_attention"]

_PACKED = ("in_proj_weight", "in_proj_bias")


def write_attention(
    parts: LinearParts, module: Any, query: Tensor, key: Tensor, value: Tensor, *options: Any
) -> Any:
    """Return what `nn.MultiheadAttention` returns; None for what is no batch, or has more keys than given.

    Parameters
    ----------
    parts : LinearParts
    module : nn.MultiheadAttention
    query, key, value : tensors
    options
        All other arguments of its call, in their order.
    """
    padding, need_weights, given_mask, is_averaged, is_causal = options
    is_other = module.add_zero_attn or module.bias_k is not None or not module.batch_first
    if is_other or query.dim() != 3 or (is_causal and given_mask is None):
        return None
    heads = module.num_heads
    queries, keys, values = (
        one.unflatten(2, (heads, -1)).transpose(1, 2) for one in _projected(parts, module, query, key, value)
    )
    is_hinted = is_causal and padding is None and not need_weights
    mask = None if is_hinted else _mask(given_mask, padding, queries, heads)
    dropout = module.dropout if module.training else 0.0
    weights = None
    if need_weights:
        scores = (queries / sqrt(queries.shape[3])) @ keys.transpose(2, 3)
        weights = torch.softmax(scores if mask is None else scores + mask, 3)
        weights = functional.dropout(weights, dropout)
        found = weights @ values
        weights = weights.mean(1) if is_averaged else weights
    else:
        found = functional.scaled_dot_product_attention(queries, keys, values, mask, dropout, is_hinted)
    joined = found.transpose(1, 2).flatten(2)
    return parts.linear(joined, "out_proj.weight", "out_proj.bias"), weights


def _projected(
    parts: LinearParts, module: Any, query: Tensor, key: Tensor, value: Tensor
) -> tuple[Tensor, ...]:
    """Return queries, keys and values, with all heads next to each other."""
    weight, bias = (parts.value(name) for name in _PACKED)
    if weight is not None and query is key is value:
        return parts.linear(query, *_PACKED).chunk(3, 2)
    weights = [parts.value(f"{kind}_proj_weight") for kind in "qkv"] if weight is None else weight.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    found = []
    for place, given in enumerate((query, key, value)):
        names = parts.named(_PACKED[0] if weight is not None else f"{'qkv'[place]}_proj_weight", _PACKED[1])
        rule = partial(_third, place, is_packed=weight is not None)
        returned = functional.linear(given, weights[place], biases[place])
        found.append(parts.seen(given, returned, names, rule))
    return tuple(found)


def _third(place: int, module: Any, given: Tensor, slopes: Tensor, *, is_packed: bool) -> dict[str, Use]:
    """Return the uses of parameters of which this layer reads a third; all other slopes are 0."""
    width = slopes.shape[2]
    padded = functional.pad(slopes, (place * width, (2 - place) * width))
    uses = linear_uses(module, given, padded)
    return uses if is_packed else {**uses, "weight": linear_uses(module, given, slopes)["weight"]}


def _mask(mask: Tensor | None, padding: Tensor | None, queries: Tensor, heads: int) -> Tensor | None:
    """Return what is added to products of queries and keys, for each example and head."""
    examples = len(queries)
    added = []
    if mask is not None:
        own = _as_numbers(mask, queries)
        added.append(own.unflatten(0, (examples, heads)) if own.dim() == 3 else own)
    if padding is not None:
        added.append(_as_numbers(padding, queries)[:, None, None, :])
    return sum(added[1:], added[0]) if added else None


def _as_numbers(mask: Tensor, like: Tensor) -> Tensor:
    """Return a mask of truth values as numbers: minus infinity for what is left out."""
    if mask.dtype != torch.bool:
        return mask.to(like.dtype)
    return like.new_zeros(mask.shape).masked_fill(mask, -torch.inf)
