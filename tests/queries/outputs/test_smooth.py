"""Smooth quantiles and trimmed means as an analyst asks for them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow
import pytest

import discreet as dp
from discreet.errors import RequestRefused
from discreet.queries.outputs.smooth import NO_INTERVAL

COSTS = dp.Bounds(0, 100_000, step=10)


def clinic(tmp_path, limits=None, size=1000, seed=5):
    random = np.random.default_rng(seed)
    rows = pyarrow.table(
        {
            "who": np.arange(size) // 2,
            "cost": random.normal(3000, 200, size),
            "city": random.choice(["a", "b"], size),
        }
    )
    table = dp.Table(
        rows,
        person="who",
        limits=limits or dp.Limits(rows=2),
        columns={"cost": COSTS, "city": dp.Keys(["a", "b"])},
    )
    budget = dp.Budget(epsilon=1000, delta=1e-6)
    return dp.Curator({"visits": table}, budget=budget, ledger=tmp_path / f"ledger {limits}"), rows


def values(answer, name):
    return answer.to_pandas()[name].to_numpy()


@pytest.mark.few(1)
@pytest.mark.parametrize("offer", [{"epsilon": 4}, {"epsilon": 4, "delta": 1e-6}, {"rho": 2}])
def test_trimmed_means_and_smooth_medians_are_near_the_truth(tmp_path, offer):
    curator, rows = clinic(tmp_path)
    answer = curator.ask(
        "SELECT SMOOTH_MEDIAN(cost) AS m, SMOOTH_QUANTILE(cost, 0.75) AS q, TRIMMED_MEAN(cost, 0.1) AS t "
        "FROM visits",
        **offer,
    )
    costs = np.sort(rows["cost"].to_numpy())
    truth = {"m": np.median(costs), "q": np.quantile(costs, 0.75), "t": costs[100:-100].mean()}
    for name, expected in truth.items():
        assert abs(values(answer, name)[0] - expected) < 1500
    assert NO_INTERVAL in str(answer)
    assert "m_lower" not in answer.to_pandas()


@pytest.mark.slow
def test_noise_is_far_below_that_of_the_mean(tmp_path):
    """Bounds are wide and values close together: the mean pays for the bounds, the trimmed mean does not."""
    curator, rows = clinic(tmp_path)
    truth = {"t": np.sort(rows["cost"].to_numpy())[100:-100].mean(), "a": rows["cost"].to_numpy().mean()}
    errors = {"t": [], "a": []}
    for number in range(20):
        sql = "SELECT TRIMMED_MEAN(cost, 0.1) AS t, AVG(cost) AS a FROM visits"
        answer = curator.ask(sql, epsilon=2, confidence=0.9 + number / 1000)
        for name, found in errors.items():
            found.append(abs(values(answer, name)[0] - truth[name]))
    assert 3 * np.median(errors["t"]) < np.median(errors["a"])


def test_frames_and_sql_ask_the_same(tmp_path):
    curator, _ = clinic(tmp_path)
    visits = curator.table("visits").group_by("city")
    cost = dp.col("cost")
    for sql, aggregate in (
        ("TRIMMED_MEAN(cost, 0.1)", cost.trimmed_mean(0.1)),
        ("SMOOTH_MEDIAN(cost)", cost.smooth_median()),
        ("SMOOTH_QUANTILE(cost, 0.9)", cost.smooth_quantile(0.9)),
    ):
        first = curator.ask(f"SELECT city, {sql} AS x FROM visits GROUP BY city", epsilon=1)  # noqa: S608
        again = curator.ask(visits.agg(x=aggregate), epsilon=1)
        assert again.stored
        assert values(first, "x").tolist() == values(again, "x").tolist()


def test_every_group_that_a_person_may_be_in_is_paid_for(tmp_path):
    """With two rows a person may be in both cities, and each city shows him with a loss of its own."""
    curator, _ = clinic(tmp_path)
    preview = curator.preview(
        "SELECT city, TRIMMED_MEAN(cost, 0.1) AS t FROM visits GROUP BY city", epsilon=1
    )
    explained = curator.explain(
        "SELECT city, TRIMMED_MEAN(cost, 0.1) AS t FROM visits GROUP BY city", epsilon=1
    )
    assert "Pure(epsilon=0.5)" in explained
    assert "rows=2" in explained
    assert "in each of 2 groups" in explained
    assert preview["t"].margin > 0
    other, _ = clinic(tmp_path, dp.Limits(groups=1, rows_per_group=2))
    explained = other.explain(
        "SELECT city, TRIMMED_MEAN(cost, 0.1) AS t FROM visits GROUP BY city", epsilon=1
    )
    assert "Pure(epsilon=1)" in explained


def test_medians_beside_each_other_share_the_budget(tmp_path):
    curator, _ = clinic(tmp_path)
    answer = curator.ask(
        "SELECT MEDIAN(cost) AS m, SMOOTH_MEDIAN(cost) AS s, TRIMMED_MEAN(cost, 0.1) AS t FROM visits",
        epsilon=6,
    )
    assert Fraction(answer.label["loss"]["epsilon"]) == 6
    assert abs(values(answer, "m")[0] - 3000) < 500


@pytest.mark.parametrize(
    "select",
    [
        "TRIMMED_MEAN(cost)",
        "TRIMMED_MEAN(cost, 0.5)",
        "TRIMMED_MEAN(cost, 0.12345)",
        "TRIMMED_MEAN(cost, cost)",
        "SMOOTH_MEDIAN(cost, 0.5)",
        "SMOOTH_QUANTILE(cost)",
        "SMOOTH_QUANTILE(cost, 2)",
        "SMOOTH_MEDIAN(who)",
        "SMOOTH_MEDIAN(city)",
    ],
)
def test_what_has_no_meaning_is_refused(tmp_path, select):
    curator, _ = clinic(tmp_path)
    with pytest.raises(RequestRefused):
        curator.preview(f"SELECT {select} AS x FROM visits", epsilon=1)  # noqa: S608


def test_no_values_and_too_many_groups(tmp_path):
    curator, _ = clinic(tmp_path)
    answer = curator.ask("SELECT TRIMMED_MEAN(cost, 0.1) AS t FROM visits WHERE cost < 0", epsilon=1)
    assert 0 <= values(answer, "t")[0] <= 100_000
    numbers = pyarrow.table({"who": [1], "x": [1], "key": [1]})
    columns = {"x": dp.Bounds(0, 9), "key": dp.Keys(range(3000))}
    table = dp.Table(numbers, person="who", limits=dp.Limits(rows=1), columns=columns)
    crowded = dp.Curator({"t": table}, budget=dp.Budget(epsilon=1), ledger=tmp_path / "crowded")
    with pytest.raises(RequestRefused, match="group by fewer"):
        crowded.preview("SELECT key, SMOOTH_MEDIAN(x) FROM t GROUP BY key", epsilon=1)


@pytest.mark.parametrize("offer", [{"epsilon": 1e-9}, {"epsilon": 1e-13}, {"rho": 1e-25}, {"rho": 1e-30}])
def test_a_budget_that_is_too_small_is_refused_in_words_of_the_query(tmp_path, offer):
    curator, _ = clinic(tmp_path)
    with pytest.raises(RequestRefused, match="the budget for each group is too small") as refused:
        curator.preview("SELECT SMOOTH_MEDIAN(cost) AS m FROM visits", **offer)
    assert "decay" not in str(refused.value)


@pytest.mark.parametrize("offer", [{"epsilon": 1e5}, {"epsilon": 1e9}, {"rho": 1e8}])
def test_a_budget_without_measure_has_an_answer(tmp_path, offer):
    curator, _ = clinic(tmp_path)
    preview = curator.preview("SELECT SMOOTH_MEDIAN(cost) AS m FROM visits", **offer)
    assert preview["m"].margin >= 0


def test_a_budget_beyond_measure_is_refused(tmp_path):
    curator, _ = clinic(tmp_path)
    with pytest.raises(RequestRefused, match="too large"):
        curator.preview("SELECT SMOOTH_MEDIAN(cost) AS m FROM visits", epsilon=1e12)


def test_small_budgets_forget_no_slower_than_a_public_rate(tmp_path):
    """So that data cannot be made up for which an answer takes minutes."""
    for rows, epsilon, decay in ((1, 0.007, "0.001"), (200, 0.1, "0.02")):
        curator, _ = clinic(tmp_path, dp.Limits(groups=1, rows_per_group=rows))
        explained = curator.explain("SELECT SMOOTH_QUANTILE(cost, 0.9) AS m FROM visits", epsilon=epsilon)
        assert f"decay={decay}" in explained
