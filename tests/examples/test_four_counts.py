"""The worked example of four counts: computed and measured errors agree, in arrays and in SQL."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from examples import four_counts


@pytest.mark.statistical
def test_four_counts_cost_128_together_32_and_disjoint_cells_12():
    epsilon = 0.1
    results = four_counts.squared_errors(epsilon, runs=40_000)
    units = {words: computed * epsilon**2 for words, (computed, _) in results.items()}
    # Continuous noise of scale 4 / epsilon gives 128 / epsilon^2; integers give a hair less.
    assert units["one by one"] == pytest.approx(4 * 2 * 4**2, rel=1e-3)
    assert units["together"] == pytest.approx(4 * 2 * 2**2, rel=1e-3)
    assert units["together, replace-one"] == pytest.approx(4 * 2 * 4**2, rel=1e-3)
    assert units["from cells"] == pytest.approx(2 + 4 + 2 + 4, rel=1e-3)
    assert units["from cells, replace-one"] == pytest.approx(4 * (2 + 4 + 2 + 4), rel=1e-3)
    for computed, measured in results.values():
        assert measured == pytest.approx(computed, rel=0.06)


def test_the_sensitivity_of_the_four_counts_is_two_or_four_by_search():
    """Over all tables of up to three people of the four kinds, and all that one person may change."""

    def counts(people):
        man = [kind in (0, 1) for kind in people]
        light = [kind in (0, 2) for kind in people]
        pairs = list(zip(man, light, strict=True))
        return np.array(
            [
                sum(m and one for m, one in pairs),
                sum(man),
                sum(not m and one for m, one in pairs),
                sum(not m for m in man),
            ]
        )

    added = replaced = 0
    for people in product(range(4), repeat=3):
        for first, second in product(range(4), repeat=2):
            added = max(added, np.abs(counts([*people, first]) - counts(people)).sum())
            replaced = max(replaced, np.abs(counts([*people, first]) - counts([*people, second])).sum())
        cells = np.bincount(people, minlength=4)
        assert (four_counts.WORKLOAD @ cells).tolist() == counts(people).tolist()
    assert (added, replaced) == four_counts.sensitivities() == (2, 4)


def test_sql_measures_the_cells(tmp_path):
    total, answer = four_counts.in_sql(0.1, tmp_path)
    assert total * 0.1**2 == pytest.approx(12, rel=1e-3)
    people = four_counts.made_up_people()
    light = people["weight"] / people["height"] ** 2 < 25
    man = people["sex"] == "man"
    exact = [(man & light).sum(), man.sum(), (~man & light).sum(), (~man).sum()]
    assert (four_counts.WORKLOAD @ four_counts.cells(people)).tolist() == exact
    for name, true in zip(("light_men", "men", "light_women", "women"), exact, strict=True):
        assert abs(float(answer[name][0]) - true) < 500  # scale 10 or 20: beyond by chance once in 10^10


@pytest.mark.statistical
@pytest.mark.parametrize(
    "runs", [pytest.param(50, marks=pytest.mark.slow), pytest.param(150, marks=pytest.mark.exhaustive)]
)
def test_answers_in_sql_are_as_wrong_as_the_cells_say(tmp_path, runs):
    """The mean of the total squared errors is near 12 / epsilon^2, and so far below 32."""
    exact = four_counts.WORKLOAD @ four_counts.cells(four_counts.made_up_people())
    totals = []
    for run in range(runs):
        (tmp_path / str(run)).mkdir()
        _, answer = four_counts.in_sql(0.1, tmp_path / str(run))
        found = [float(answer[name][0]) for name in ("light_men", "men", "light_women", "women")]
        totals.append(float(np.square(found - exact).sum()) * 0.1**2)
    # One total has a deviation of about 1.2 times its mean; this is 7 standard errors.
    assert np.mean(totals) == pytest.approx(12, rel=8.5 / runs**0.5)


def test_it_prints_and_draws(capsys, tmp_path):
    four_counts.main(str(tmp_path))
    printed = capsys.readouterr().out
    assert "128.0" in printed
    assert "in SQL" in printed
    assert (tmp_path / "four_counts.png").exists()
