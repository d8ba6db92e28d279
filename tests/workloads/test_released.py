"""Any query from one release, with exact variance and an interval."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.workloads import AllRanges, Product, plan


def test_ranges_prefixes_cells_and_totals_are_sums_of_cells():
    released = plan(AllRanges(20), rho=0.5).release(np.arange(20))
    assert released.range(3, 7).value == pytest.approx(released.cells[3:8].sum())
    assert released.prefix(4).value == pytest.approx(released.cells[:5].sum())
    assert released.cell(9).value == pytest.approx(released.cells[9])
    assert released.total().value == pytest.approx(released.cells.sum())
    assert float(released.total()) == released.total().value


def test_boxes_of_a_map():
    chosen = plan(Product(AllRanges(6), AllRanges(5)), rho=0.5)
    released = chosen.release(np.arange(30).reshape(6, 5))
    box = released.range((1, 2), (3, 4))
    assert box.value == pytest.approx(released.cells[1:4, 2:5].sum())
    row = np.zeros((6, 5))
    row[1:4, 2:5] = 1
    assert box.variance == pytest.approx(
        chosen.strategy.variance(row.reshape(-1)) * chosen.mechanism.error.variance
    )


@pytest.mark.statistical
@pytest.mark.parametrize("budget", [{"rho": 0.5}, {"epsilon": 1}], ids=str)
def test_intervals_cover_and_variances_are_right(budget):
    chosen = plan(AllRanges(16), **budget)
    x = np.arange(16) * 5
    answers = [chosen.release(x).range(2, 11) for _ in range(2000)]
    truth = x[2:12].sum()
    errors = np.array([answer.value - truth for answer in answers])
    assert errors.mean() == pytest.approx(0, abs=6.5 * answers[0].standard_error / np.sqrt(2000))
    assert np.mean(errors**2) == pytest.approx(answers[0].variance, rel=8 * np.sqrt(5 / 2000))
    covered = np.mean([low <= truth <= high for low, high in (answer.interval(0.9) for answer in answers)])
    assert covered >= 0.9 - 6.5 * np.sqrt(0.09 / 2000)


@pytest.mark.parametrize(
    ("ask", "named"),
    [
        (lambda r: r.range(5, 4), "last"),
        (lambda r: r.range(0, 8), "last"),
        (lambda r: r.range(-1, 3), "first"),
        (lambda r: r.cell((1, 2)), "first"),
        (lambda r: r.query(np.ones(7)), "coefficients"),
        (lambda r: r.query(np.full(8, np.nan)), "coefficients"),
        (lambda r: r.answers(AllRanges(9)), "strategy"),
        (lambda r: r.total().interval(1), "confidence"),
    ],
)
def test_bad_questions_are_refused(ask, named):
    released = plan(AllRanges(8), rho=0.5).release(np.zeros(8, int))
    with pytest.raises(ParameterError) as refused:
        ask(released)
    assert refused.value.parameter == named
