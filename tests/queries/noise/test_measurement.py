"""A strategy at the door: what it covers, what it draws, and how one person moves it."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from math import isqrt

import numpy as np
import pytest

from discreet.audit import check_mechanism
from discreet.curator import Part
from discreet.data import Axis, Bounds, ContingencyTable, Limits, Statistic
from discreet.data.statistics import joint_sensitivity
from discreet.errors import ParameterError
from discreet.mechanisms import Gaussian, Laplace
from discreet.queries.noise.measurement import StrategyMeasurement
from discreet.workloads import (
    AllRanges,
    Hierarchy,
    Marginals,
    Matrix,
    MeasureCells,
    ResidualBasis,
    SquareRoot,
    p_identity,
    plan,
)
from discreet.workloads.strategies.residual_part import ResidualPart

STRATEGIES = [
    MeasureCells(3),
    Hierarchy(3, 2),
    SquareRoot(AllRanges(3), 16),
    p_identity(AllRanges(3)),
    *ResidualBasis(Marginals((3, 2), ways=1)).parts()[:1],
]


def table_of(width):
    return ContingencyTable(axes=(Axis(column="x", values=Bounds(0, width - 1)),))


def statistic_of(width, limits, cells):
    measure = table_of(width)
    bound = joint_sensitivity([measure], cells, limits)
    groups = min(limits.rows or limits.groups, cells)
    return Statistic(measure=measure, sensitivity=bound, step=1, center=0, groups=groups)


def persons(width, cells, limits):
    """All ways in which one person's bounded rows may lie in the cells of all groups."""
    if limits.rows is not None:
        for places in combinations_with_replacement(range(width * cells), limits.rows):
            yield np.bincount(places, minlength=width * cells)
        return
    in_one = [
        np.bincount(places, minlength=width)
        for places in combinations_with_replacement(range(width), limits.rows_per_group)
    ]
    for filled in product([None, *in_one], repeat=cells):
        if sum(one is not None for one in filled) <= limits.groups:
            yield np.concatenate([np.zeros(width, int) if one is None else one for one in filled])


@pytest.mark.parametrize(
    "limits",
    [Limits(rows=1), Limits(rows=2), Limits(groups=1, rows_per_group=2), Limits(groups=2, rows_per_group=1)],
)
@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda one: type(one).__name__)
def test_one_person_moves_measurements_no_further_than_is_charged(strategy, limits):
    """Brute force over all persons, two groups; the bounds are attained."""
    width, cells = strategy.size, 2
    bound = statistic_of(width, limits, cells).sensitivity
    farthest, squared = 0, 0
    for moved in persons(width, cells, limits):
        change = np.concatenate([strategy.measure(table) for table in moved.reshape(cells, width)])
        farthest = max(farthest, int(np.abs(change).sum()))
        squared = max(squared, int((change.astype(object) ** 2).sum()))
    assert farthest == strategy.column_norm1 * bound.l1
    assert squared == strategy.squared_column_norm2 * bound.squared_l2


@pytest.mark.parametrize("limits", [Limits(rows=2), Limits(groups=2, rows_per_group=2)])
def test_noise_for_less_is_not_accepted(limits):
    """The mutants: noise for one row, for one group, for the unrounded matrix."""
    strategy = SquareRoot(AllRanges(5), 16)
    statistic = statistic_of(5, limits, 3)
    bound, size = statistic.sensitivity, 3 * strategy.measurements
    needed = strategy.sensitivity(int(bound.linf), groups=int(bound.squared_l2 / bound.linf**2))
    smaller = {Gaussian: isqrt(int(needed.squared_l2)) - 1, Laplace: int(needed.l1) - 1}
    offers = {Gaussian: {"rho": 1}, Laplace: {"epsilon": 1}}
    for kind, offer in offers.items():
        right = StrategyMeasurement(
            strategy=strategy, noise=kind(sensitivity=needed, size=size, **offer), cells=3
        )
        assert Part(statistic=statistic, mechanism=right).mechanism is right
        for wrong in (strategy.sensitivity(), smaller[kind]):
            noise = kind(sensitivity=wrong, size=size, **offer)
            with pytest.raises(ParameterError, match="does not cover"):
                Part(
                    statistic=statistic,
                    mechanism=StrategyMeasurement(strategy=strategy, noise=noise, cells=3),
                )


def test_other_tables_are_not_covered():
    strategy = MeasureCells(4)
    mechanism = StrategyMeasurement(
        strategy=strategy, noise=Laplace(sensitivity=strategy.sensitivity(), epsilon=1, size=4)
    )
    assert mechanism.covers(statistic_of(4, Limits(rows=1), 1))
    assert not mechanism.covers(statistic_of(5, Limits(rows=1), 1))
    with pytest.raises(ParameterError, match="another number of values"):
        StrategyMeasurement(strategy=strategy, noise=Laplace(sensitivity=1, epsilon=1, size=5))


@pytest.mark.slow
def test_it_is_as_private_as_it_says():
    strategy = Hierarchy(2, 2)
    mechanism = StrategyMeasurement(
        strategy=strategy, noise=Laplace(sensitivity=strategy.sensitivity(), epsilon=1, size=3)
    )
    report = check_mechanism(mechanism.noise)
    assert report.passed
    assert mechanism.event.pure_epsilon == 1


def test_another_matrix_is_another_request():
    def digest(strategy):
        noise = Laplace(sensitivity=strategy.sensitivity(), epsilon=1, size=strategy.measurements)
        return StrategyMeasurement(strategy=strategy, noise=noise).identity

    assert digest(Hierarchy(8, 2)) == digest(Hierarchy(8, 2))
    assert digest(Hierarchy(8, 2)) != digest(Hierarchy(8, 2, [1, 1, 1, 2]))
    assert digest(Hierarchy(8, 2)) != digest(MeasureCells(8))


def test_parts_of_the_residual_basis_are_the_whole():
    workload = Marginals((3, 1, 4), ways=2)
    basis = ResidualBasis(workload)
    counts = np.random.default_rng(3).integers(0, 9, (3, 1, 4))
    tables = {chosen: counts.sum(axis=tuple({0, 1, 2} - set(chosen))) for chosen in workload.sets}
    measured = {part.chosen: part.measure(tables[part.chosen]) for part in basis.parts()}
    assert (basis.gathered(measured) == basis.measure(tables)).all()
    assert sum(part.column_norm1 for part in basis.parts()) == basis.column_norm1
    assert sum(part.squared_column_norm2 for part in basis.parts()) == basis.squared_column_norm2
    assert all(isinstance(part, ResidualPart) and part.weights for part in basis.parts())


def test_a_part_that_claims_less_than_it_measures_is_refused():
    for weights in ({(): 10**6, (0,): -500_000}, {}, {(1,): 3}, {(): 0}):
        with pytest.raises(ParameterError):
            ResidualPart(chosen=(0,), shape=(2,), weights=weights)
    part = ResidualPart(chosen=(0,), shape=(2,), weights={(): 1})
    with pytest.raises(TypeError):
        part.weights[()] = 10**6

    noise = Laplace(sensitivity=1, epsilon=1, size=1)
    with pytest.raises(ParameterError, match="norms are proven"):
        StrategyMeasurement(strategy=object(), noise=noise)
    with pytest.raises(ParameterError, match="another type"):
        StrategyMeasurement(strategy=part, noise=object())


def test_nobody_writes_to_a_strategy_that_is_shared():
    design = plan(Matrix(np.array([[1.0, 1, 0, 0], [0, 1, 1, 0], [1, 1, 1, 1]])), epsilon=1)
    noise = Laplace(sensitivity=design.strategy.sensitivity(), epsilon=1, size=design.strategy.measurements)
    StrategyMeasurement(strategy=design.strategy, noise=noise)
    for name in design.strategy.__slots__:
        value = getattr(design.strategy, name)
        for array in (value, getattr(value, "entries", None)):
            if isinstance(array, np.ndarray):
                with pytest.raises(ValueError, match="read-only"):
                    array[...] = 0
