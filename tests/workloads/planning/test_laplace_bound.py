"""The lower bound for Laplace noise: its lemmas on random strategies, and that nothing found is below it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize

from discreet.workloads import AllRanges, Identity, Matrix, Prefixes, Product, RangesOfWidth, plan
from discreet.workloads.planning import laplace_bound as module
from discreet.workloads.planning.laplace_bound import laplace_bound, least_cube, wave_square
from discreet.workloads.planning.lower_bound import laplace_lower_bound, lower_bound

RANDOM = np.random.default_rng(20)


def normalized(matrix: np.ndarray) -> np.ndarray:
    return matrix / np.abs(matrix).sum(axis=0)


def total(matrix: np.ndarray, gram: np.ndarray) -> float:
    """The total variance of a strategy at L1 norm 1 and noise of variance 1."""
    scaled = matrix / np.abs(matrix).sum(axis=0).max()
    return float(np.trace(gram @ np.linalg.inv(scaled.T @ scaled)))


def workloads(size: int):
    yield AllRanges(size)
    yield Prefixes(size)
    yield Matrix(RANDOM.normal(size=(size + 2, size)))


@pytest.mark.parametrize("size", [2, 3, 5, 8, 13])
def test_no_random_strategy_is_below_the_bound(size):
    for workload in workloads(size):
        gram, bound = workload.gram(), laplace_bound(workload)
        assert bound > 0
        for rows in (size, 2 * size):
            for _ in range(30):
                sparse = RANDOM.normal(size=(rows, size)) * (RANDOM.random((rows, size)) < 0.6)
                blocks = np.concatenate([np.eye(size), sparse])
                assert total(normalized(blocks), gram) >= bound


def log_total(flat: np.ndarray, gram: np.ndarray) -> tuple[float, np.ndarray]:
    """The logarithm of the total variance of the matrix with normalized columns, and its gradient."""
    free = flat.reshape(-1, len(gram))
    norms = np.abs(free).sum(axis=0)
    matrix = free / norms
    inverse = np.linalg.inv(matrix.T @ matrix)
    found = float(np.trace(gram @ inverse))
    slope = -2 * matrix @ inverse @ gram @ inverse / found
    slope = (slope - np.sign(free) * (slope * matrix).sum(axis=0)) / norms
    return float(np.log(found)), slope.ravel()


def test_the_search_has_its_gradient():
    gram, start, change = AllRanges(3).gram(), RANDOM.normal(size=18), RANDOM.normal(size=18)
    ahead, back = (log_total(start + step * change, gram)[0] for step in (1e-6, -1e-6))
    assert (ahead - back) / 2e-6 == pytest.approx(log_total(start, gram)[1] @ change, rel=1e-5)


@pytest.mark.parametrize("size", [2, 4, pytest.param(8, marks=pytest.mark.slow)])
def test_no_strategy_that_a_search_finds_is_below_the_bound(size):
    """The best of several descents over all matrices with twice as many rows as cells."""
    for workload in (AllRanges(size), Prefixes(size)):
        gram = workload.gram()
        descents = (
            optimize.minimize(
                log_total, RANDOM.normal(size=2 * size * size), args=(gram,), jac=True, method="L-BFGS-B"
            )
            for _ in range(5)
        )
        assert np.exp(min(found.fun for found in descents)) >= laplace_bound(workload)


def test_leverages_are_shared_and_pay_for_the_error_of_their_scale():
    """The lemmas of the proof, on random strategies: each equation and each inequality."""
    size, ratio = 12, 2
    workload = AllRanges(size)
    gram = workload.gram()
    for _ in range(20):
        matrix = normalized(np.concatenate([np.eye(size), RANDOM.normal(size=(9, size))]))
        inner = matrix.T @ matrix
        chain = list(module._chain(size, ratio))
        inverses = []
        for starts in chain:
            blocks = np.zeros((size, len(starts)))
            blocks[np.arange(size), np.searchsorted(starts, np.arange(size), side="right") - 1] = 1
            inverses.append((blocks, blocks @ np.linalg.inv(blocks.T @ inner @ blocks) @ blocks.T))
        inverses.append((np.zeros((size, 0)), np.zeros((size, size))))
        shares, errors = np.zeros(len(matrix)), 0.0
        for (blocks, own), (coarser, next_own) in pairwise(inverses):
            part = own - next_own
            leverage = np.einsum("ri,ij,rj->r", matrix, part, matrix)
            assert leverage.min() >= -1e-9
            assert leverage.sum() == pytest.approx(blocks.shape[1] - coarser.shape[1])
            reach = np.diag(blocks @ np.linalg.inv(blocks.T @ gram @ blocks) @ blocks.T).max()
            spread = matrix @ part
            squares = np.einsum("ri,ij,rj->r", spread, gram, spread)
            errors += squares.sum()
            norms = np.abs(matrix).sum(axis=1)
            assert np.all(leverage <= norms * np.sqrt(squares * reach) + 1e-9)
            shares += leverage
        assert shares.max() <= 1 + 1e-9
        assert errors == pytest.approx(np.trace(gram @ np.linalg.inv(inner)))


def simplex(levels: int, parts: int) -> np.ndarray:
    """All rows of non-negative multiples of 1 / parts that add up to 1."""
    grid = np.indices((parts + 1,) * (levels - 1)).reshape(levels - 1, -1).T
    grid = grid[grid.sum(axis=1) <= parts]
    return np.column_stack([grid, parts - grid.sum(axis=1)]) / parts


@pytest.mark.parametrize("levels", [2, 3])
def test_the_least_cube_is_that_of_a_linear_program_over_rows(levels):
    rows = simplex(levels, {2: 2000, 3: 80}[levels])
    for _ in range(5):
        squares, leverages = 8.0 ** RANDOM.uniform(0, 3, levels), RANDOM.uniform(0.5, 9, levels)
        costs = np.cbrt(rows**2 @ squares)
        exact = optimize.linprog(costs, A_eq=rows.T, b_eq=leverages, method="highs").fun ** 3
        found = least_cube(squares, leverages)
        assert found <= exact * (1 + 1e-9)
        assert found >= exact * 0.98
    assert least_cube(np.array([4.0]), np.array([3.0])) == pytest.approx(4 * 27, rel=1e-3)


def test_prices_are_lowered_until_they_hold():
    rows = simplex(2, 5000)
    for _ in range(10):
        squares = 8.0 ** RANDOM.uniform(0, 3, 2)
        widths = np.cbrt(squares)
        sizes = np.geomspace(np.cbrt(1 / (1 / squares).sum()), widths.max(), 8000)
        costs = np.cbrt(rows**2 @ squares)
        too_high = widths * (costs / (rows @ widths)).min() * 1.03
        prices = module._proven(too_high, squares, sizes)
        ratio = (rows @ prices) / costs
        assert 0.99 < ratio.max() <= 1


def test_it_grows_beyond_the_bound_of_the_other_norm():
    """The certified gap of 256 ranges and of a distribution function of 601 values."""
    ranges = AllRanges(256)
    assert laplace_lower_bound(ranges).total > 2 * lower_bound(ranges).total
    assert "chain" in laplace_lower_bound(ranges).certificate
    chosen = plan(AllRanges(64), epsilon=1)
    assert 0 < chosen.gap < 0.38
    assert "chain" in chosen.certificate
    assert laplace_bound(Prefixes(601)) > 2.2 * lower_bound(Prefixes(601)).total


def test_what_it_does_not_know_is_left_to_the_other_bound():
    product = Product(AllRanges(4), AllRanges(4))
    assert laplace_bound(product) == laplace_bound(AllRanges(1)) == laplace_bound(RangesOfWidth(2000, 8)) == 0
    assert laplace_lower_bound(product) == lower_bound(product)
    windows = RangesOfWidth(64, 8)
    assert laplace_lower_bound(windows) == lower_bound(windows)
    singular = Matrix(np.array([[1.0, 1, 1, 1], [1, 1, 0, 0]]))
    found = plan(singular, epsilon=1).strategy
    assert 0 < laplace_bound(singular) <= found.trace(singular) * found.column_norm1**2
    assert laplace_lower_bound(Identity(8)).total == pytest.approx(8)
    assert laplace_bound(Matrix(np.zeros((2, 3)))) == 0


@pytest.mark.parametrize("scale", [2.0**-300, 1e-3, 2.0**300])
def test_it_is_in_proportion_to_the_squares_of_coefficients(scale):
    queries = np.array([[1.0, 2.0, 0.0], [3.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    plain = laplace_bound(Matrix(queries))
    assert plain > 0
    assert laplace_bound(Matrix(scale * queries)) / scale / scale == pytest.approx(plain, rel=1e-3)


def test_queries_of_very_different_sizes_have_a_bound_that_holds():
    for power in (3, 6, 9):
        queries = np.diag(10.0 ** np.linspace(0, power, 6))
        assert 0 <= laplace_bound(Matrix(queries)) <= float(np.square(queries).sum())


def waves(size: int, periods: int, ends: str) -> np.ndarray:
    """The space of the proof as columns: differences of waves, for prefixes of those that end at 0."""
    points = size + 1
    angles = 2 * np.pi * np.outer(np.arange(1, points + 1), np.arange(1, periods + 1)) / points
    columns = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    if ends == "prefixes":
        columns = columns - columns[-1]  # by a constant, which is a wave of no periods
    return columns[:-1] - columns[1:]


@pytest.mark.parametrize("size", [5, 8, 21])
@pytest.mark.parametrize("workload", [AllRanges, Prefixes])
def test_differences_of_waves_are_as_large_as_the_closed_form_says(size, workload):
    gram = workload(size).gram()
    if workload is Prefixes:
        gram = gram[::-1, ::-1]
    factor = size + 1 if workload is AllRanges else 1
    for periods in range(1, (size - 1) // 2 + 1):
        basis = waves(size, periods, "prefixes" if workload is Prefixes else "ranges")
        assert np.linalg.matrix_rank(basis) == 2 * periods
        largest = np.diag(basis @ np.linalg.inv(basis.T @ gram @ basis) @ basis.T) * factor
        assert largest.max() <= wave_square(periods, size + 1) * (1 + 1e-9)
        if workload is AllRanges:
            assert np.allclose(largest, wave_square(periods, size + 1))
    assert np.diag(np.linalg.inv(gram)).max() * factor == pytest.approx(2.0)


@pytest.mark.parametrize("points", [7, 1000, 5000])
def test_sums_of_squared_sines_are_rounded_up(points):
    for periods in (1, 2, 3, points // 1000, points // 1000 + 1, points // 3):
        if periods:
            exact = 2 / points * sum(4 * np.sin(np.pi * m / points) ** 2 for m in range(1, periods + 1))
            assert 1 - 1e-9 <= wave_square(periods, points) / exact <= 1 + 1e-5


def test_long_domains_have_a_bound_beyond_that_of_the_other_norm():
    for workload in (AllRanges(4096), Prefixes(4096)):
        assert laplace_bound(workload) > 1.5 * lower_bound(workload).total
        assert laplace_lower_bound(workload).total == laplace_bound(workload)
    assert laplace_bound(AllRanges(1000)) > 1.1 * module._by_blocks(AllRanges(1000).gram())
