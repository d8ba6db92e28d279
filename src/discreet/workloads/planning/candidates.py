"""Which strategies suit which workload: what the planner compares."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import ParameterError
from discreet.mechanisms.calibration import least_error
from discreet.workloads.algebra.cache import remembered
from discreet.workloads.algebra.sine import sine_diagonal, sine_transform
from discreet.workloads.planning.optimizer import LARGEST_OPTIMIZED, optimize
from discreet.workloads.queries.base import LARGEST_DENSE
from discreet.workloads.queries.cells import Identity, Total
from discreet.workloads.queries.products import Product
from discreet.workloads.queries.ranges import AllRanges, Prefixes
from discreet.workloads.strategies.dense import DenseStrategy
from discreet.workloads.strategies.fourier import Fourier
from discreet.workloads.strategies.identity import MeasureCells
from discreet.workloads.strategies.kronecker import Kronecker
from discreet.workloads.strategies.p_identity import LARGEST_SEARCHED, p_identity
from discreet.workloads.strategies.square_root import SquareRoot
from discreet.workloads.strategies.wavelet import Wavelet
from discreet.workloads.strategies.weighted_queries import WeightedQueries, holds_few_queries
from discreet.workloads.strategies.weighted_tree import weighted_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from discreet.workloads.queries.base import Vector, Workload
    from discreet.workloads.strategies.base import Strategy

__all__ = ["LARGEST_ENTRY_BITS", "candidates", "normalized_root"]

LARGEST_AXIS = 2048
LARGEST_ENTRY_BITS = 33
"""So that 2^29 rows in one cell stay below 2^62, where measurements are folded."""
LEAST_BITS = 16
"""Of the implicit square root."""
_COARSE = 8
_SINGULAR = 1e-9
_LARGEST_KEPT = 512


def candidates(workload: Workload, norm: int, bits: int) -> Iterator[tuple[str, Callable[[], Strategy]]]:
    """Yield names and builders of strategies, the quick ones first.

    A builder raises `ParameterError` where integers of so few bits cannot hold the strategy.

    Parameters
    ----------
    workload : Workload
        The queries.
    norm : int
        1 for Laplace, 2 for Gaussian noise.
    bits : int
        About how large the norms of columns may be, in bits, so that noise stays within the sampler's range
        and measurements of ordinary data are not folded.
    """
    yield "cells", lambda: MeasureCells(workload.shape)
    if isinstance(workload, Product):
        yield "product", lambda: _product(workload, norm, bits)
        return
    if isinstance(workload, Identity):
        return
    ordered = len(workload.shape) == 1
    if ordered and (workload.size <= LARGEST_DENSE or isinstance(workload, AllRanges | Prefixes | Total)):
        yield "wavelet", lambda: _wavelet(workload, norm, bits)
        yield "tree", lambda: weighted_tree(workload, norm, bits=bits)
        if norm == 2:
            yield "Fourier", lambda: _fourier(workload, bits)
    if isinstance(workload, AllRanges | Prefixes):
        if norm == 2:
            yield "square root", lambda: _square_root(workload, bits)
    else:
        if holds_few_queries(workload):
            yield "weighted queries", lambda: WeightedQueries(workload, norm, min(20, bits))
        if norm == 2 and workload.size <= LARGEST_OPTIMIZED:
            yield "optimum", lambda: optimize(workload).strategy(min(16, bits), workload.shape)
    if norm == 1 and 1 < workload.size <= LARGEST_SEARCHED:
        yield "p-Identity", lambda: p_identity(workload, bits=min(16, bits))


def _square_root(workload: AllRanges | Prefixes, bits: int) -> Strategy:
    """Return the square root, implicit where it can have entries of 16 bits, else as a coarse table."""
    if bits < LEAST_BITS and workload.size <= LARGEST_AXIS:
        return normalized_root(workload, bits)
    return SquareRoot(workload, min(30 if workload.size <= LARGEST_DENSE else 28, bits))


def _fourier(workload: Workload, bits: int) -> Fourier:
    """Return the Fourier strategy, unless rounding its taps made it singular."""
    found = Fourier(workload, min(20, bits - isqrt(workload.size).bit_length()))
    magnitudes = np.abs(found.spectrum)
    if magnitudes.min() <= _SINGULAR * magnitudes.max():
        raise ParameterError("bits", "are too few to tell the cells apart", "more bits")
    return found


def _wavelet(workload: Workload, norm: int, bits: int) -> Wavelet:
    """Return the best wavelet, with weights divided where their sum is beyond 2^bits."""
    found = Wavelet.best(workload, norm)
    excess = max(0, found.column_norm1.bit_length() - max(bits, 0))
    return Wavelet(workload.size, [max(1, weight >> excess) for weight in found.weights]) if excess else found


def _product(workload: Product, norm: int, bits: int) -> Strategy:
    """Return the product of the best strategy found for each axis, with the bits shared among them.

    Axes may need fewer bits than their share: begin with more than they have, and go down.
    """
    shared = sum(not isinstance(factor, Identity) and factor.size > 1 for factor in workload.factors)
    share = min(16, bits // max(1, shared) + 2)
    while True:
        built: list[tuple[Workload, Strategy]] = []
        for factor in workload.factors:
            if not built and norm == 2 and share >= LEAST_BITS and _is_long(factor):
                built.append((factor, SquareRoot(factor, share)))  # type: ignore[arg-type]
                continue
            known = [made for own, made in built if own == factor and not isinstance(made, SquareRoot)]
            built.append((factor, known[0] if known else _axis(factor, norm, share)))
        product = Kronecker(*[strategy for _, strategy in built])
        largest = product.column_norm1 if norm == 1 else isqrt(product.squared_column_norm2)
        fits = product.largest_entry <= 1 << LARGEST_ENTRY_BITS and largest.bit_length() <= bits + 1
        if share <= 0 or fits:
            return product
        share -= 1


def _is_long(factor: Workload) -> bool:
    """Return whether an axis of ranges is too long for a table; at the first place it may be implicit."""
    return isinstance(factor, AllRanges | Prefixes) and factor.size > LARGEST_AXIS


def _axis(factor: Workload, norm: int, bits: int) -> Strategy:
    """Return the best strategy for one axis."""
    return (_kept_axis if factor.size <= _LARGEST_KEPT else _best_axis)(factor, norm, bits)


def _best_axis(factor: Workload, norm: int, bits: int) -> Strategy:
    def cost(strategy: Strategy) -> float:
        sensitivity = strategy.column_norm1**2 if norm == 1 else strategy.squared_column_norm2
        return strategy.trace(factor) * sensitivity

    return least_error(_axis_builders(factor, norm, bits), cost)


_kept_axis = remembered(16)(_best_axis)


def _axis_builders(factor: Workload, norm: int, bits: int) -> Iterator[Callable[[], Strategy]]:
    """Yield what suits an axis behind the first: the root as a table, and all but implicit transforms."""
    rooted = norm == 2 and isinstance(factor, AllRanges | Prefixes) and factor.size <= LARGEST_AXIS
    if rooted:
        yield lambda: normalized_root(factor, bits)  # type: ignore[arg-type]
    if not rooted or bits < _COARSE:
        for name, build in candidates(factor, norm, bits):
            if name not in ("Fourier", "square root"):
                yield build


def normalized_root(workload: AllRanges | Prefixes, bits: int) -> DenseStrategy:
    """Return G^(1/4) D^(-1/2) as a table of integers, for an axis of at most 2048 cells."""
    if isinstance(workload, AllRanges):
        roots = np.sqrt(workload.singular_values())
        fourth = sine_transform(roots * sine_transform(np.eye(workload.size)))
    else:
        values, vectors = np.linalg.eigh(workload.gram())
        fourth = (vectors * np.maximum(values, 0.0) ** 0.25) @ vectors.T
    normalized = fourth / np.sqrt(_transformed_diagonal(workload))
    return DenseStrategy.rounded(normalized, bits, workload.shape, name="the square root, rounded")


def _transformed_diagonal(workload: AllRanges | Prefixes) -> Vector:
    """Return the diagonal of G^(1/2) to the last bit as those tables have it that are in ledgers.

    Sines diagonalize the Gram matrix; for prefixes those of odd order on twice the domain, folded in the
    middle. A request is found again by the integers of its table, so that these floats may not change.
    """
    if isinstance(workload, AllRanges):
        return sine_diagonal(workload.singular_values())
    spectrum = np.zeros(2 * workload.size)
    spectrum[::2] = 2 * workload.singular_values()
    return sine_diagonal(spectrum)[: workload.size][::-1].copy()
