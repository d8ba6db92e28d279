"""Exact eigenvalues and quadratic forms against high precision."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.stability.eigenvalue import gram, quadratic_form, smallest_eigenvalue


def designs(count):
    source = np.random.default_rng(11)
    for index in range(count):
        width, rows = int(source.integers(1, 6)), int(source.integers(0, 9))
        top = (6, 1000, 2**20)[index % 3]
        yield source.integers(-top, top + 1, size=(rows, width)), top


def test_the_integer_part_is_that_of_the_smallest_eigenvalue():
    with mpmath.workdps(60):
        for design, top in designs(300):
            matrix = gram(design, 3 * top)
            true = min(mpmath.eigsy(mpmath.matrix(matrix), eigvals_only=True))
            found = smallest_eigenvalue(matrix)
            assert found <= true + mpmath.mpf("1e-30")
            assert found + 1 > true - mpmath.mpf("1e-30")


def test_integers_are_their_own_eigenvalues():
    assert smallest_eigenvalue([[5, 0], [0, 3]]) == 3
    assert smallest_eigenvalue([[1, 1], [1, 1]]) == 0
    assert smallest_eigenvalue([[2, 1], [1, 2]]) == 1
    assert smallest_eigenvalue([]) == 0
    large = 10**30
    assert smallest_eigenvalue([[large + 1, large], [large, large + 1]]) == 1


@pytest.mark.parametrize("removed", [1, 2])
def test_rows_lower_the_integer_part_by_no_more_than_their_squared_lengths(removed):
    for design, top in designs(150):
        before = smallest_eigenvalue(gram(design, 3 * top))
        kept, gone = design[removed:], design[:removed]
        after = smallest_eigenvalue(gram(kept, 3 * top))
        assert after <= before <= after + int((gone.astype(object) ** 2).sum())


def test_quadratic_forms_are_exact():
    with mpmath.workdps(60):
        for design, top in designs(100):
            matrix = gram(design, 3 * top)
            point = [Fraction(int(row) + 1, 3) for row in range(design.shape[1])]
            found = quadratic_form(matrix, Fraction(1, 7), point)
            held = mpmath.matrix(matrix) + mpmath.eye(design.shape[1]) / 7
            place = mpmath.matrix([mpmath.mpf(p.numerator) / p.denominator for p in point])
            true = (place.T * mpmath.lu_solve(held, place))[0]
            assert mpmath.almosteq(mpmath.mpf(found.numerator) / found.denominator, true, rel_eps=1e-25)


def test_sums_beyond_64_bits_are_exact():
    design = np.full((4, 1), 2**31)
    assert gram(design, 2**31) == [[2**64]]
