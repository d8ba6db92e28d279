"""Gradients of a matrix that are sums over positions, example by example: measured, and added as integers.

The gradient of an example is a product of two matrices of 16-bit floats, slopes and inputs, over its
positions. One program makes a tile of that product for one example after the other, rounds it, times the
example's coefficient, to integers, and adds these up in 32 bits. No gradient is written out, and no float is
ever a sum over two examples. Norms come from inner products of positions (Gram matrices).
"""

# mypy: allow-untyped-defs, allow-incomplete-defs
from __future__ import annotations

from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from discreet.learning.deep.accelerator.grid_sizes import block_count, next_power
from discreet.learning.deep.accelerator.noisy_sums import in_steps
from discreet.learning.deep.accelerator.product_kernels import tile_of_program
from discreet.learning.deep.accelerator.quick_launches import launched_quickly
from discreet.learning.deep.uses import LookupUse, OuterUse, Use

__all__ = [
    "MOST_EXAMPLES",
    "add_products",
    "common_short_kind",
    "in_short_floats",
    "look_up_squares_from_above",
    "short_rows",
    "shorten",
    "shortened",
    "squares_from_above",
    "write_products",
]

MOST_EXAMPLES = 2**9
"""Of one sum of 32 bits: an example adds less than 2^22 to a number."""
_TO_INTEGER = tl.constexpr(1.5 * 2.0**23)
"""Added to a float below 2^22, it rounds it to an integer k; the bits of the sum are its own, plus k."""
_BITS = tl.constexpr(0x4B400000)  # of it
_DOWN = 1 - 2.0**-22
"""More than a coefficient may grow when it becomes a float, and than products round (lemma 2)."""
_LOST_SQUARE = tl.constexpr(2.0**-70)
"""Added to squared lengths: far more than numbers below 2^-126 that are taken for 0 (lemma 1)."""
_ALIGNED = 8  # numbers of 16 bits, to a multiple of which rows are padded in memory
_BLOCK = 128
"""Positions, and columns, that are summed up in floats at once (assumption C)."""
_TOGETHER = 8  # tiles below each other, whose programs run at the same time
_PROGRAMS = 256  # that keep an accelerator busy
_LEAST_SHARE = 16
"""Examples of a program at least, where several share a tile: each adds to the total once."""


class ProductTiles(NamedTuple):
    """What one program makes, and with how many threads."""

    rows: int
    columns: int
    warps: int
    stages: int


def _tiles_for(depth: int) -> ProductTiles:
    """Return the tiles that were found to be fast on an H200, for so many positions at a time."""
    return ProductTiles(128, 128, 8, 3) if depth > 64 else ProductTiles(64, 128, 4, 3)


def shorten(slopes: Tensor, inputs: Tensor, *, may_share: bool) -> tuple[Tensor, Tensor]:
    """Return numbers in 16 bits, all of one kind, in rows that begin where an accelerator reads them best.

    Parameters
    ----------
    slopes, inputs : tensors (examples, positions, …)
        Floats that are longer, or of two kinds, are rounded to bfloat16.
    may_share : bool
        Whether numbers that are short already may stay where they are: nobody else will write to them.
    """
    kind = common_short_kind(slopes, inputs)
    return _aligned(slopes, kind, may_share=may_share), _aligned(inputs, kind, may_share=may_share)


def shortened(values: Tensor, *, may_share: bool) -> Tensor:
    """Return the same of numbers alone."""
    return _aligned(values, common_short_kind(values), may_share=may_share)


def common_short_kind(*values: Tensor) -> torch.dtype:
    """Return the floats of 16 bits that all are rounded to: bfloat16, unless all are of the other kind."""
    return torch.float16 if all(one.dtype == torch.float16 for one in values) else torch.bfloat16


def in_short_floats(use: Use) -> Use:
    """Return a use in the numbers that its form has, if these are floats of 16 bits, where they may be."""
    if isinstance(use, OuterUse) and use.positions > 1:
        kind = common_short_kind(use.left, use.right)
        return OuterUse(use.left.to(kind), use.right.to(kind))
    if isinstance(use, LookupUse):
        return LookupUse(use.index, use.slopes.to(common_short_kind(use.slopes)), use.rows)
    return use


def _aligned(values: Tensor, kind: torch.dtype, *, may_share: bool) -> Tensor:
    is_even = values.stride() == _steps(values.shape) and values.data_ptr() % 16 == 0
    if may_share and values.dtype == kind and is_even:
        return values
    return short_rows(values.shape, kind, values.device).copy_(values)


def short_rows(shape: tuple[int, ...], kind: torch.dtype, device: torch.device) -> Tensor:
    """Return room for numbers of 16 bits (examples, positions, …), in rows as `shorten` returns them."""
    return torch.empty_strided(shape, _steps(shape), dtype=kind, device=device)


def _steps(shape: tuple[int, ...]) -> tuple[int, ...]:
    wide = block_count(_ALIGNED, shape[2]) * _ALIGNED
    return shape[1] * wide, wide, 1


def squares_from_above(slopes: Tensor, inputs: Tensor, share: float) -> Tensor:
    """Return parts of squared norms of sums over positions of slopes times inputs, from above.

    A part is the sum over some pairs of positions of two inner products, multiplied. Those on the diagonal
    have `share` times the number of positions added, which bounds the square of the sum of the lengths.

    Parameters
    ----------
    slopes, inputs : tensors of 16 bits (examples, positions, …)
        As returned by `shorten`.
    share : float

    Returns
    -------
    tensor of doubles (examples, parts)
    """
    return _squares(slopes, inputs, share, is_look_up=False)


def look_up_squares_from_above(slopes: Tensor, index: Tensor, share: float) -> Tensor:
    """Return the same of sums over positions of slopes, each in a row of a table.

    The inner product of two inputs is 1 if they are the same row, and else 0.

    Parameters
    ----------
    slopes : tensor of 16 bits (examples, positions, columns)
        As returned by `shortened`.
    index : tensor (examples, positions)
        Which row each is in, contiguous.
    share : float
    """
    return _squares(slopes, index, share, is_look_up=True)


def _squares(slopes: Tensor, inputs: Tensor, share: float, *, is_look_up: bool) -> Tensor:
    examples, positions, _ = slopes.shape
    if not slopes.numel():
        return torch.empty(examples, 0, dtype=torch.float64, device=slopes.device)
    tile = 64 if positions > 32 else 32 if positions > 16 else 16
    tiles = block_count(tile, positions)
    pairs = tiles * (tiles + 1) // 2  # of which the second is not before the first
    out = torch.empty(examples, pairs, dtype=torch.float64, device=slopes.device)
    _gram_kernel[(examples, pairs)](
        TensorDescriptor.from_tensor(slopes, [1, tile, _BLOCK]),
        inputs if is_look_up else TensorDescriptor.from_tensor(inputs, [1, tile, _BLOCK]),
        out,
        positions,
        slopes.shape[2],
        0 if is_look_up else inputs.shape[2],
        share * positions,
        operand=_operand(slopes),
        is_look_up=is_look_up,
        tile=tile,
        depth=_BLOCK,
        num_warps=4,
        num_stages=3,
    )
    return out


def add_products(total: Tensor, slopes: Tensor, inputs: Tensor, coefficients: Tensor, unit: int) -> None:
    """Add the integers nearest to coefficient times gradient over 2^unit, times 2^unit, to a total.

    Parameters
    ----------
    total : tensor of int64, as many as the product has
    slopes, inputs : tensors of 16 bits (examples, positions, …)
        As returned by `shorten`.
    coefficients : tensor of doubles (examples,)
        Products are less than (2^22 - 0.5) 2^unit. An example whose coefficient is 0 adds nothing, whatever
        it holds.
    unit : int
    """
    if slopes.numel():
        _multiply(total, slopes, inputs, coefficients, unit, 0)


def write_products(
    steps: Tensor, slopes: Tensor, inputs: Tensor, coefficients: Tensor, unit: int, shift: int
) -> None:
    """Write the sum of the same integers in grid steps of 2^shift, rounded and cut off.

    Parameters
    ----------
    steps : tensor of int32, as many as the product has
    slopes, inputs, coefficients, unit
        As for `add_products`, of at most `MOST_EXAMPLES` examples.
    shift : int
    """
    if len(slopes) > MOST_EXAMPLES:
        raise ValueError(f"{len(slopes)} examples in a sum of 32 bits, more than {MOST_EXAMPLES}")
    _multiply(steps, slopes, inputs, coefficients, unit, shift)


def _multiply(
    target: Tensor, slopes: Tensor, inputs: Tensor, coefficients: Tensor, unit: int, shift: int
) -> None:
    (examples, positions, rows), columns = slopes.shape, inputs.shape[2]
    depth = min(_BLOCK, max(16, next_power(positions)))
    tiles = _tiles_for(depth)
    matrix = block_count(tiles.rows, rows) * block_count(tiles.columns, columns)
    shares = 1
    if target.dtype == torch.int64:  # programs may share the examples of a tile
        shares = min(block_count(_LEAST_SHARE, examples), _PROGRAMS // matrix)
        shares = max(shares, block_count(MOST_EXAMPLES, examples))
    each = block_count(shares, examples)
    _product_kernel[(matrix, block_count(each, examples))](
        TensorDescriptor.from_tensor(slopes, [1, depth, tiles.rows]),
        TensorDescriptor.from_tensor(inputs, [1, depth, tiles.columns]),
        coefficients,
        target,
        examples,
        each,
        rows,
        columns,
        unit,
        shift,
        2.0**-unit * _DOWN,
        operand=_operand(slopes),
        blocks=block_count(depth, positions),
        tile_rows=tiles.rows,
        tile_columns=tiles.columns,
        depth=depth,
        together=_TOGETHER,
        num_warps=tiles.warps,
        num_stages=tiles.stages,
    )


def _operand(values: Tensor) -> tl.dtype:
    """Return the type of numbers in products: NumPy, which interprets them, has none of 16 bits."""
    kinds = {torch.float16: tl.float16, torch.bfloat16: tl.bfloat16}
    return kinds[values.dtype] if values.is_cuda else tl.float32


@launched_quickly
@triton.jit(do_not_specialize=["share"])
def _gram_kernel(
    slopes,
    inputs,
    out,
    positions,
    rows,
    columns,
    share,
    operand: tl.constexpr,
    is_look_up: tl.constexpr,
    tile: tl.constexpr,
    depth: tl.constexpr,
):
    example = tl.program_id(0)
    second = ((tl.sqrt(8.0 * tl.program_id(1).to(tl.float32) + 1.0) - 1.0) / 2.0).to(tl.int32)
    second = tl.where(second * (second + 1) // 2 > tl.program_id(1), second - 1, second)
    second = tl.where((second + 1) * (second + 2) // 2 <= tl.program_id(1), second + 1, second)
    first = tl.program_id(1) - second * (second + 1) // 2
    one = _inner_products(slopes, example, first * tile, second * tile, rows, operand, tile, depth)
    place = tl.arange(0, tile)
    if is_look_up:
        inputs += example.to(tl.int64) * positions
        here, there = first * tile + place, second * tile + place
        here = tl.load(inputs + here, mask=here < positions, other=-1)
        there = tl.load(inputs + there, mask=there < positions, other=-1)
        other = (here[:, None] == there[None, :]).to(tl.float32)
    else:
        other = _inner_products(inputs, example, first * tile, second * tile, columns, operand, tile, depth)
    total = tl.sum(tl.sum(one.to(tl.float64) * other.to(tl.float64), 1), 0)
    is_diagonal = (place[:, None] == place[None, :]) & (first == second)
    one = tl.sum(tl.where(is_diagonal, one, 0.0), 1).to(tl.float64)
    other = tl.sum(tl.where(is_diagonal, other, 0.0), 1).to(tl.float64)
    lengths = tl.sum((one + _LOST_SQUARE) * (other + _LOST_SQUARE), 0) * share
    total = tl.where(first == second, total + lengths, 2 * total)
    tl.store(out + example.to(tl.int64) * tl.num_programs(1) + tl.program_id(1), total)


@triton.jit
def _inner_products(
    values, example, here, there, columns, operand: tl.constexpr, tile: tl.constexpr, depth: tl.constexpr
):
    """Return the inner products of some positions with others: what is read beyond them is 0."""
    found = tl.zeros((tile, tile), tl.float32)
    for start in range(0, columns, depth):
        left = values.load([example, here, start]).reshape(tile, depth).to(operand)
        right = values.load([example, there, start]).reshape(tile, depth).to(operand)
        # Blocks are added by an addition of their own: the bound is for them (lemma 1).
        found += tl.dot(left, right.T, max_num_imprecise_acc=depth)
    return found


@launched_quickly
@triton.jit(do_not_specialize=["smaller"])
def _product_kernel(
    slopes,
    inputs,
    coefficients,
    target,
    examples,
    each,
    rows,
    columns,
    unit,
    shift,
    smaller,
    operand: tl.constexpr,
    blocks: tl.constexpr,
    tile_rows: tl.constexpr,
    tile_columns: tl.constexpr,
    depth: tl.constexpr,
    together: tl.constexpr,
):
    first_row, first_column = tile_of_program(rows, columns, tile_rows, tile_columns, together)
    total = tl.zeros((tile_rows, tile_columns), tl.int32)
    found = tl.zeros((tile_rows, tile_columns), tl.float32)
    first = tl.program_id(1) * each
    many = tl.minimum(each, examples - first)
    for turn in range(0, many * blocks):
        example, start = first + turn // blocks, turn % blocks * depth
        left = slopes.load([example, start, first_row]).reshape(depth, tile_rows).to(operand)
        right = inputs.load([example, start, first_column]).reshape(depth, tile_columns).to(operand)
        # Blocks of positions are added by an addition of their own, as above.
        product = tl.dot(left.T, right, max_num_imprecise_acc=depth)
        factor = (tl.load(coefficients + example) * smaller).to(tl.float32)
        if blocks == 1:
            total += _nearest(product, factor)
        else:
            found += product
            if turn % blocks == blocks - 1:
                total += _nearest(found, factor)
                found = tl.zeros((tile_rows, tile_columns), tl.float32)
    total -= many * _BITS
    row = first_row + tl.arange(0, tile_rows)
    column = first_column + tl.arange(0, tile_columns)
    place = target + row.to(tl.int64)[:, None] * columns + column[None, :]
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    if target.dtype.element_ty == tl.int64:
        tl.atomic_add(place, total.to(tl.int64) << unit, mask=inside)
    else:
        tl.store(place, in_steps(total, unit, shift), mask=inside)


@triton.jit
def _nearest(product, factor):
    """Return the integers nearest to factor times product, plus the bits of what was added to round them.

    If the factor is 0, the product may be anything, and the integers are zeros.
    """
    near = tl.fma(product, tl.zeros_like(product) + factor, tl.zeros_like(product) + _TO_INTEGER)
    return tl.where(factor != 0, near.to(tl.int32, bitcast=True), _BITS)
