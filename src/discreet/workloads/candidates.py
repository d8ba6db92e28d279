"""Which strategies suit which workload: what the planner compares."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.workloads.cells import Identity
from discreet.workloads.dense import DenseStrategy
from discreet.workloads.fourier import Fourier
from discreet.workloads.identity import MeasureCells
from discreet.workloads.kronecker import Kronecker
from discreet.workloads.optimizer import LARGEST_OPTIMIZED, optimize
from discreet.workloads.p_identity import LARGEST_SEARCHED, p_identity
from discreet.workloads.products import Product
from discreet.workloads.ranges import AllRanges, Prefixes
from discreet.workloads.sine import sine_transform
from discreet.workloads.square_root import SquareRoot
from discreet.workloads.wavelet import Wavelet
from discreet.workloads.weighted_tree import weighted_tree
from discreet.workloads.workload import LARGEST_DENSE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from discreet.workloads.strategy import Strategy
    from discreet.workloads.workload import Workload

__all__ = ["candidates", "normalized_root"]

LARGEST_AXIS = 2048


def candidates(workload: Workload, norm: int, bits: int) -> Iterator[tuple[str, Callable[[], Strategy]]]:
    """Yield names and builders of strategies, the quick ones first.

    Parameters
    ----------
    workload : Workload
        The queries.
    norm : int
        1 for Laplace, 2 for Gaussian noise.
    bits : int
        About how large entries of rounded matrices may be, so that noise stays within the sampler's range.
    """
    yield "cells", lambda: MeasureCells(workload.shape)
    if isinstance(workload, Product):
        yield "product", lambda: _product(workload, norm, bits)
        return
    ordered = len(workload.shape) == 1
    if ordered and (workload.size <= LARGEST_DENSE or isinstance(workload, AllRanges | Prefixes)):
        yield "wavelet", lambda: Wavelet.best(workload, norm)
        yield "tree", lambda: weighted_tree(workload, norm)
        if norm == 2:
            yield "Fourier", lambda: Fourier(workload, min(20, bits))
    if norm == 2:
        if isinstance(workload, AllRanges | Prefixes):
            size_limit = 30 if workload.size <= LARGEST_DENSE else 28
            yield "square root", lambda: SquareRoot(workload, min(size_limit, bits))
        elif workload.size <= LARGEST_OPTIMIZED and not isinstance(workload, Identity):
            yield "optimum", lambda: optimize(workload).strategy(min(16, bits), workload.shape)
    elif 1 < workload.size <= LARGEST_SEARCHED and not isinstance(workload, Identity):
        yield "p-Identity", lambda: p_identity(workload)


def _product(workload: Product, norm: int, bits: int) -> Strategy:
    """Return the product of the best strategy found for each axis, with the bits shared among them."""
    share = max(6, min(16, bits // len(workload.factors)))
    return Kronecker(*[_axis(factor, norm, share) for factor in workload.factors])


def _axis(factor: Workload, norm: int, bits: int) -> Strategy:
    if norm == 2 and isinstance(factor, AllRanges | Prefixes) and factor.size <= LARGEST_AXIS:
        return normalized_root(factor, bits)
    best: tuple[float, Strategy] | None = None
    for name, build in candidates(factor, norm, bits):
        if name in ("Fourier", "square root"):
            continue
        strategy = build()
        sensitivity = strategy.column_norm1**2 if norm == 1 else strategy.squared_column_norm2
        cost = strategy.trace(factor) * sensitivity
        if best is None or cost < best[0]:
            best = cost, strategy
    assert best is not None  # noqa: S101  # cells are always a candidate
    return best[1]


def normalized_root(workload: AllRanges | Prefixes, bits: int) -> DenseStrategy:
    """Return G^(1/4) D^(-1/2) as a table of integers, for an axis of at most 2048 cells."""
    if isinstance(workload, AllRanges):
        roots = np.sqrt(workload.singular_values())
        fourth = sine_transform(roots * sine_transform(np.eye(workload.size)))
    else:
        values, vectors = np.linalg.eigh(workload.gram())
        fourth = (vectors * np.maximum(values, 0.0) ** 0.25) @ vectors.T
    return DenseStrategy.rounded(
        fourth / np.sqrt(workload.root_diagonal()), bits, workload.shape, name="the square root, rounded"
    )
