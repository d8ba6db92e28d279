"""Any range of a column, from one measurement."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import discreet as dp
from discreet import accounting
from discreet.curator import Budget, Draw
from discreet.data import EACH_ROW, Bounds, Limits, Table, col
from discreet.errors import BudgetExceeded, DiscreetError, ParameterError, UndeclaredColumn, UnsupportedQuery
from discreet.front import Curator
from discreet.noise import is_private, replay
from discreet.workloads import AllRanges
from queries.counts.surveys import HUGE, curator, rounded_cost, survey


@pytest.fixture
def frame():
    return survey()


@pytest.fixture
def clinic(tmp_path, frame):
    return curator(tmp_path, frame)


def test_rows_in_groups_are_asked_for_by_their_columns(clinic):
    with pytest.raises(UnsupportedQuery, match=r"name the columns of the groups with by='…'"):
        dp.cdf(clinic.table("visits").group_by("ward"), "age")


def test_every_range_is_that_of_the_clipped_rows(clinic, frame):
    ages = clinic.ask(dp.ranges("visits", "age"), epsilon=HUGE)
    clipped = frame["age"].clip(0, 110)
    for low, high in ((0, 1), (0, 111), (20, 40), (109, 110), (110, 111), (None, 40), (65, None)):
        true = ((clipped >= (low if low is not None else -1)) & (clipped < (high or 1000))).sum()
        assert ages.count(low, high).value == pytest.approx(true, abs=1.5)
    assert ages.count().value == pytest.approx(len(frame), abs=1.5)
    assert str(ages.count(20, 40)).startswith("20 <= age < 40: ")


def test_the_release_is_a_table_of_its_cells(clinic, frame):
    ages = clinic.ask(dp.ranges("visits", "age"), epsilon=HUGE)
    cells = ages.to_pandas()
    assert list(cells) == ["age", "n", "n_lower", "n_upper"]
    assert list(cells["age"]) == list(range(111))
    exact = frame["age"].clip(0, 110).value_counts().reindex(range(111), fill_value=0)
    assert np.allclose(cells["n"], exact, atol=1.5)
    assert (cells["n_lower"] <= cells["n"]).all()
    assert ages.label["plan"].startswith("all rows together")


def test_values_are_rounded_and_missing_ones_left_out(clinic, frame):
    costs = clinic.ask(dp.ranges("visits", "cost", width=20), epsilon=HUGE)
    rounded = rounded_cost(frame)
    assert costs.axes[0].cells == 11
    for low, high in ((0, 20), (20, 60), (180, None), (200, None)):
        true = ((rounded >= low) & (rounded < (high or 1000))).sum()
        assert costs.count(low, high).value == pytest.approx(true, abs=1.5)
    assert costs.count().value == pytest.approx(rounded.notna().sum(), abs=1.5)


def test_groups_have_tables_of_their_own(clinic, frame):
    ages = clinic.ask(dp.ranges("visits", "age", by="city"), epsilon=HUGE)
    clipped = frame["age"].clip(0, 110)
    inside = (clipped >= 20) & (clipped < 40)
    for cities in (["Bern"], ["Bern", "Taipei"]):
        true = (inside & frame["city"].isin(cities)).sum()
        assert ages.count(20, 40, city=cities).value == pytest.approx(true, abs=3)
    listed = (inside & frame["city"].isin(["Bern", "Hamilton", "Taipei"])).sum()
    assert ages.count(20, 40).value == pytest.approx(listed, abs=3)
    assert ages.count(20, 40).variance == pytest.approx(3 * ages.count(20, 40, city="Bern").variance)
    assert len(ages.to_pandas()) == 3 * 111


def test_keys_that_nobody_declared_are_listed_by_who_asks(clinic, frame):
    with pytest.raises(UndeclaredColumn, match=re.escape("by={'ward': [...]}")):
        clinic.preview(dp.ranges("visits", "age", by="ward"), epsilon=1)
    ages = clinic.ask(dp.ranges("visits", "age", by={"ward": ["east", "north"]}), epsilon=HUGE)
    assert ages.count(ward="east").value == pytest.approx((frame["ward"] == "east").sum(), abs=3)
    assert ages.count(ward="north").value == pytest.approx(0, abs=3)


def test_a_column_called_as_the_counts_are(tmp_path, frame):
    renamed = frame[["age", "cost"]].rename(columns={"age": "n", "cost": "rows"})
    odd = Curator(
        {
            "visits": Table(
                renamed, person=EACH_ROW, columns={"n": Bounds(0, 110), "rows": Bounds(0, 200, step=1)}
            )
        },
        budget=Budget(epsilon=10 * HUGE),
        ledger=tmp_path / "odd.ledger",
    )
    ages = odd.ask(dp.ranges("visits", "n", width=10), epsilon=HUGE)
    assert list(ages.to_pandas()) == ["n", "rows", "rows_lower", "rows_upper"]
    both = odd.ask(dp.marginals("visits", ["n", "rows"], width=50), epsilon=HUGE)
    assert list(both.to_pandas())[:3] == ["table", "n", "rows"]
    assert both.count(n=(50, None)).value == pytest.approx(
        (frame["age"][frame["cost"].notna()] >= 50).sum(), abs=5
    )


def test_an_offer_with_delta_takes_no_more_than_other_questions(clinic):
    """Pure noise of this epsilon, or Gaussian noise that an accountant finds to be worth the offer."""
    for question in (dp.ranges("visits", "age"), dp.marginals("visits", ["city", "sex"])):
        request = clinic.request(question, epsilon="0.1", delta="0.01")
        pure = request.event.pure_epsilon
        assert (pure is not None and pure <= Fraction(1, 10)) or (
            0.1 - 1e-6 <= accounting.epsilon(request.event, delta="0.01").upper <= 0.1
        )


def test_replayed_noise_is_marked(clinic):
    with replay(7):
        ages = clinic.ask(dp.ranges("visits", "age", width=10), epsilon=1)
        tables = clinic.ask(dp.marginals("visits", ["city", "sex"]), epsilon=1)
    for values in (ages["n"], ages.released[0].cells, tables["n"], tables.table("city")["n"]):
        assert not is_private(values)
    assert not ages.label["private"]
    assert "not private" in str(ages)


def test_boxes_of_two_columns(clinic, frame):
    plane = clinic.ask(dp.ranges("visits", "age", "cost", width={"age": 10, "cost": 50}), epsilon=HUGE)
    age, cost = frame["age"].clip(0, 110), rounded_cost(frame)
    true = ((age >= 20) & (age < 50) & (cost >= 50) & (cost < 150)).sum()
    assert plane.count(age=(20, 50), cost=(50, 150)).value == pytest.approx(true, abs=3)
    assert plane.count(cost=(50, 150)).value == pytest.approx(((cost >= 50) & (cost < 150)).sum(), abs=3)
    with pytest.raises(ParameterError, match="which column it is for"):
        plane.count(20, 50)


def test_filtered_and_calculated_rows(clinic, frame):
    rows = clinic.table("visits").filter(col("city") == "Bern").derive(double=col("age") * 2)
    doubled = clinic.ask(dp.ranges(rows, "double", width=20), epsilon=HUGE)
    true = ((frame["city"] == "Bern") & (frame["age"] * 2 >= 40) & (frame["age"] * 2 < 80)).sum()
    assert doubled.count(40, 80).value == pytest.approx(true, abs=1.5)


@pytest.mark.parametrize("offer", [{"epsilon": 1}, {"epsilon": 1, "delta": "1e-6"}])
@pytest.mark.parametrize("limits", [Limits(rows=5), Limits(groups=2, rows_per_group=3)])
def test_a_request_costs_what_is_offered_and_covers_its_persons(tmp_path, frame, offer, limits):
    clinic = curator(tmp_path, frame, limits)
    for by, groups in (((), 1), ("city", 2 if limits.rows is None else 1)):
        request = clinic.request(dp.ranges("visits", "age", width=10, by=by), **offer)
        (part,) = request.parts
        rows = limits.rows or limits.rows_per_group
        strategy, event = part.mechanism.strategy, part.mechanism.event
        if hasattr(event, "scale"):
            assert event.sensitivity == groups * rows * strategy.column_norm1
            assert event.pure_epsilon <= 1
        else:
            assert event.squared_sensitivity == groups * rows**2 * strategy.squared_column_norm2
        assert part.mechanism.covers(part.statistic)


def test_asking_again_costs_nothing_and_says_the_same(clinic):
    question = dp.ranges("visits", "age")
    first = clinic.ask(question, epsilon=1)
    spent = clinic.spent.epsilon
    again = clinic.ask(question, epsilon=1)
    assert again.stored
    assert clinic.spent.epsilon == spent
    assert again.count(3, 70).value == first.count(3, 70).value
    assert clinic.preview(question, epsilon=1).answered
    assert not clinic.ask(dp.ranges("visits", "age", width=2), epsilon=1).stored


def test_a_finished_request_is_answered_alike(clinic):
    request = clinic.request(dp.ranges("visits", "age", width=5), epsilon=HUGE)
    assert clinic.ask(request).count(20, 40).value == pytest.approx(
        clinic.ask(dp.ranges("visits", "age", width=5), epsilon=HUGE).count(20, 40).value
    )


def test_what_does_not_fit_is_refused_before_anything_is_charged(tmp_path, frame):
    poor = Curator(
        {"visits": Table(frame, person=EACH_ROW, columns={"age": Bounds(0, 110)})},
        budget=Budget(epsilon=1),
        ledger=tmp_path / "poor.ledger",
    )
    with pytest.raises(BudgetExceeded):
        poor.ask(dp.ranges("visits", "age"), epsilon=2)
    assert poor.spent.requests == 0


def test_the_preview_is_what_repeated_draws_show(clinic, frame):
    request = clinic.request(dp.ranges("visits", "age", width=10), epsilon=1)
    expected = clinic.preview(request)["n"]
    counts = np.bincount(frame["age"].clip(0, 110) // 10, minlength=12)
    workload = AllRanges(12)
    (part,), (output,) = request.parts, request.outputs
    errors = []
    for _ in range(400):
        draw = Draw(part=part, steps=part.mechanism.release(counts))
        (released,) = output.released([draw])
        errors.append(np.square(released.answers(workload) - workload.answer(counts)).mean())
    rmse, spread = np.sqrt(np.mean(errors)), np.std(errors) / np.sqrt(len(errors))
    assert abs(rmse**2 - expected.standard_deviation**2) < 7 * spread


def test_a_wanted_error_finds_its_price(clinic):
    found = clinic.preview(dp.ranges("visits", "age", width=10), error={"n": 30})
    assert found["n"].margin <= 30
    cheaper = clinic.preview(dp.ranges("visits", "age", width=10), epsilon=found.epsilon * 0.97)
    assert cheaper["n"].margin > 30


def test_what_cannot_be_said_of_cells_is_refused_with_what_can(clinic):
    costs = clinic.ask(dp.ranges("visits", "cost", width=20), epsilon=1)
    with pytest.raises(ParameterError, match=re.escape("20 or 40")):
        costs.count(30, 60)
    with pytest.raises(ParameterError, match="holds nothing"):
        costs.count(60, 40)
    with pytest.raises(ParameterError, match="not a column of this answer"):
        costs.count(20, 40, town="Bern")
    groups = clinic.ask(dp.ranges("visits", "age", width=20, by="city"), epsilon=1)
    for city in ([], "Rome", ["Bern", "Rome"], 7):
        with pytest.raises(ParameterError, match="does not name a group"):
            groups.count(city=city)
    with pytest.raises(ParameterError, match=r"multiple of 0\.5"):
        clinic.preview(dp.ranges("visits", "cost", width="0.3"), epsilon=1)


@pytest.mark.parametrize(
    ("question", "error"),
    [
        (lambda: dp.ranges("visits", "city"), UndeclaredColumn),
        (lambda: dp.ranges("visits", "ward"), UndeclaredColumn),
        (lambda: dp.ranges("visits", "nothing"), DiscreetError),
        (lambda: dp.ranges("nowhere", "age"), UndeclaredColumn),
        (lambda: dp.ranges("visits", "person"), UndeclaredColumn),
        (lambda: dp.ranges("visits"), UnsupportedQuery),
        (lambda: dp.ranges("visits", "age", "age"), UnsupportedQuery),
        (lambda: dp.ranges("visits", "age", by="sexes"), DiscreetError),
        (lambda: dp.ranges("visits", "age", width={"cost": 1}), ParameterError),
        (lambda: dp.ranges(7, "age"), UnsupportedQuery),
    ],
)
def test_questions_without_an_answer(clinic, question, error):
    with pytest.raises(error):
        clinic.ask(question(), epsilon=1)
    assert clinic.spent.requests == 0


def test_a_table_that_is_too_large_is_refused_with_its_size(tmp_path, frame):
    fine = Curator(
        {
            "visits": Table(
                frame[["age", "cost"]],
                person=EACH_ROW,
                columns={"age": Bounds(0, 110), "cost": Bounds(0, 200, step="0.01")},
            )
        },
        budget=Budget(epsilon=1),
        ledger=tmp_path / "fine.ledger",
    )
    with pytest.raises(UnsupportedQuery, match=r"2,220,111 cells .*wider cells"):
        fine.preview(dp.ranges("visits", "age", "cost", width={"age": 1, "cost": "0.01"}), epsilon=1)
    assert fine.preview(dp.ranges("visits", "cost"), epsilon=1).fits == 1


def test_one_wide_cell_and_two(clinic):
    for width in (56, 111, 1000):
        ages = clinic.ask(dp.ranges("visits", "age", width=width), epsilon=HUGE)
        assert ages.axes[0].cells == (2 if width == 56 else 1)
        assert ages.count().value == pytest.approx(3000, abs=1)


def test_cells_without_negative_counts(clinic):
    ages = clinic.ask(dp.ranges("visits", "age", width=10), epsilon=0.05)
    (estimate,) = ages.nonnegative_cells()
    assert (estimate.constrained >= 0).all()
    assert np.allclose(estimate.unbiased, ages.released[0].cells)


def test_words_and_figures(clinic):
    pytest.importorskip("matplotlib").use("Agg")
    ages = clinic.ask(dp.ranges("visits", "age", by="city"), epsilon=1)
    assert "in each of 3 groups" in str(ages)
    assert "at most 2 rows per person counted" in str(ages)
    assert str(dp.ranges("visits", ["age", "cost"])) == str(dp.ranges("visits", "age", "cost"))
    assert "none is below" in str(ages)
    assert ages.plot().get_xlabel() == "age"
    wide = clinic.ask(dp.ranges("visits", "age", width=2), epsilon=1)
    assert wide.plot().get_lines()[0].get_xdata()[-1] == 111  # of 0 to 110 the last cell holds one number
    plane = clinic.ask(dp.ranges("visits", "age", "cost", width={"age": 10, "cost": 50}), epsilon=1)
    assert plane.plot().get_ylabel() == "cost"
    maps = dp.ranges("visits", "age", "cost", by="city", width={"age": 10, "cost": 50})
    with pytest.raises(ParameterError, match="3 maps"):
        clinic.ask(maps, epsilon=1).plot(ax=plane.plot())
    text = clinic.explain(dp.ranges("visits", "age"), epsilon=1, sql=True)
    assert "compared, by root mean square error" in text
    assert "SELECT" in text


def test_cells_of_several_numbers_say_where_they_begin(clinic):
    question = dp.ranges("visits", "age", width=30)
    words = "cells of 30 from the lower bound on: 0, 30, 60, 90"
    assert f"; age in {words})" in str(clinic.preview(question, epsilon=1))
    assert f", age rounded to 1 in {words}\n" in str(clinic.ask(question, epsilon=1))
    many = str(clinic.ask(dp.cdf("visits", "age", width=5), epsilon=1))
    assert "cells of 5 from the lower bound on: 0, 5, 10, 15, 20, 25, …" in many
    assert "lower bound" not in str(clinic.ask(dp.ranges("visits", "age"), epsilon=1))


def test_ranges_of_days_are_refused_with_what_gives_them(tmp_path):
    """What the refusal says to write counts the rows between two days."""
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=place % 366) for place in range(800)]
    frame = pd.DataFrame({"who": range(800), "day": days, "other": pd.to_datetime(days)})
    declared = {"day": dp.Dates("2024-01-01", "2024-12-31")}
    table = Table(frame, person="who", limits=Limits(rows=1), columns=declared)
    clinic = Curator({"visits": table}, budget=Budget(epsilon=10**9), ledger=tmp_path / "days")
    for column in ("day", "other"):
        with pytest.raises(UndeclaredColumn, match="days since the first") as caught:
            clinic.ask(dp.ranges("visits", column), epsilon=1)
        written = re.search(r"rows = (.*) and (dp\.ranges\(rows, 'since'\))", str(caught.value))
        names = {"clinic": clinic, "col": col, "date": datetime.date, "dp": dp}
        names["rows"] = eval(written[1], names)  # noqa: S307 - what the message says
        found = clinic.ask(eval(written[2], names), epsilon=HUGE).count(31, 60)  # noqa: S307
        expected = sum(datetime.date(2024, 2, 1) <= day < datetime.date(2024, 3, 1) for day in days)
        assert found.value == pytest.approx(expected, abs=1)
