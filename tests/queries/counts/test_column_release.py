"""Distribution functions: shares and quantiles, and whether their intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import discreet as dp
from discreet.curator import Draw
from discreet.errors import ParameterError
from discreet.queries.counts import ColumnRelease, shares
from queries.counts.surveys import HUGE, curator, rounded_cost, survey
from significance import FALSE_ALARM


@pytest.fixture
def frame():
    return survey()


@pytest.fixture
def clinic(tmp_path, frame):
    return curator(tmp_path, frame)


def test_shares_and_quantiles_are_those_of_the_rows(clinic, frame):
    costs = clinic.ask(dp.cdf("visits", "cost"), epsilon=HUGE)
    rounded = rounded_cost(frame).dropna()
    assert isinstance(costs, ColumnRelease)
    for value in (0, 20, 59.5, 120, 199.5, 200, 1000):
        assert costs.at_most(value).value == pytest.approx((rounded <= value).mean(), abs=2e-3)
    for share in (0.1, 0.5, 0.9):
        found = costs.quantile(share)
        exact = np.sort(rounded)[int(np.ceil(share * len(rounded))) - 1]
        assert found.lower <= exact <= found.upper
        assert abs(found.value - exact) <= 1
        assert costs.below(20).value == pytest.approx((rounded < 20).mean(), abs=2e-3)
    assert costs.at_most(200).interval() == costs.share().interval() == (1.0, 1.0)
    assert str(costs.at_most(20)).startswith("cost <= 20: 0.")


def test_groups_by_name(clinic, frame):
    costs = clinic.ask(dp.cdf("visits", "cost", width=5, by="city"), epsilon=HUGE)
    rounded = rounded_cost(frame)[frame["city"] == "Bern"].dropna()
    assert costs.at_most(59.5, city="Bern").value == pytest.approx((rounded <= 59.5).mean(), abs=5e-3)
    half = costs.quantile("1/2", city="Bern")
    assert half.lower <= np.median(rounded) <= half.upper
    assert str(half).startswith("0.5 quantile of cost and city = Bern: ")
    with pytest.raises(ParameterError, match="not a column of this answer"):
        costs.quantile("1/2", town="Bern")


def test_the_curve_never_falls(clinic):
    costs = clinic.ask(dp.cdf("visits", "cost", width=5), epsilon=0.5)
    curve = costs.curve().to_pandas()
    assert list(curve) == ["cost", "share", "share_lower", "share_upper"]
    assert list(curve["cost"][[0, 1, 40]]) == [4.5, 9.5, 200.0]
    assert (np.diff(curve["share"]) >= 0).all()
    for place in (0, 7, 39, 40):
        low, high = costs.at_most(curve["cost"][place]).interval()
        assert curve["share_lower"][place] <= low + 1e-9
        assert curve["share_upper"][place] >= high - 1e-9


def test_values_inside_of_cells_and_beyond_bounds(clinic):
    costs = clinic.ask(dp.cdf("visits", "cost", width=20), epsilon=1)
    with pytest.raises(ParameterError, match=r"19\.5 or 39\.5"):
        costs.at_most(30)
    with pytest.raises(ParameterError, match="below the bounds"):
        costs.at_most(-1)
    for share in (0, 1, 2, "x"):
        with pytest.raises(ParameterError):
            costs.quantile(share)


@pytest.mark.parametrize("offer", [{"epsilon": 1}, {"epsilon": 1, "delta": "1e-6"}])
def test_intervals_hold_as_often_as_they_say(clinic, frame, offer):
    """400 releases; each interval fails at most as often as chance allows at 80 %."""
    request = clinic.request(dp.cdf("visits", "cost", width=10), **offer)
    rounded = rounded_cost(frame).dropna()
    counts = np.bincount((rounded // 10).astype(int), minlength=21)
    (part,), (output,) = request.parts, request.outputs
    ranks = {share: int(np.ceil(share * len(rounded))) for share in (0.1, 0.5, 0.97)}
    exact = {share: np.sort(rounded)[rank - 1] for share, rank in ranks.items()}
    misses = dict.fromkeys(["share", *ranks], 0)
    for _ in range(400):
        draw = Draw(part=part, steps=part.mechanism.release(counts))
        costs = output.release(request, [draw], {"private": True}, stored=False)
        low, high = costs.at_most(59.5).interval(0.8)
        misses["share"] += not low <= (rounded < 60).mean() <= high
        for share in ranks:
            found = costs.quantile(share, confidence=0.8)
            misses[share] += not found.lower <= exact[share] <= found.upper
    allowed = stats.binom.isf(FALSE_ALARM, 400, 0.2)
    assert all(missed <= allowed for missed in misses.values()), misses


def test_intervals_that_are_too_narrow_are_noticed(clinic, frame, monkeypatch):
    """The test above can fail: with a quarter of the margins it does."""
    honest = shares.half_width
    monkeypatch.setattr(shares, "half_width", lambda *given: honest(*given) / 4)
    with pytest.raises(AssertionError):
        test_intervals_hold_as_often_as_they_say(clinic, frame, {"epsilon": 1})


def test_an_empty_table_has_no_quantile_but_the_whole_range(clinic):
    request = clinic.request(dp.cdf("visits", "cost", width=10), epsilon=0.1)
    (part,), (output,) = request.parts, request.outputs
    for _ in range(20):
        draw = Draw(part=part, steps=part.mechanism.release(np.zeros(21, np.int64)))
        costs = output.release(request, [draw], {"private": True}, stored=False)
        found = costs.quantile(0.5)
        assert 0 <= found.lower <= found.value <= found.upper <= 200
        assert str(costs.below(60))
        assert str(found)
        low, high = costs.at_most(59.5).interval()
        assert 0 <= low <= high <= 1


def test_words_and_figures(clinic):
    pytest.importorskip("matplotlib").use("Agg")
    costs = clinic.ask(dp.cdf("visits", "cost"), epsilon=1)
    assert str(costs).startswith("distribution function of cost")
    assert costs.plot().get_ylabel().startswith("share")
    drawn = costs.plot().lines[0].get_data()
    assert drawn[1][0] == 0.0
    assert drawn[1][-1] == pytest.approx(1.0)
    preview = clinic.preview(dp.cdf("visits", "cost"), rho="0.1")
    assert "prefixes" in str(preview)


def test_ranges_of_one_column_tell_shares_and_quantiles_too(clinic, frame):
    ages = clinic.ask(dp.ranges("visits", "age"), epsilon=HUGE)
    assert ages.quantile(0.5).lower <= np.median(frame["age"].clip(0, 110)) <= ages.quantile(0.5).upper
    assert str(ages).startswith("ranges of age (111 cells)")


def test_the_confidence_of_the_question_is_that_of_its_answers(clinic):
    sure, unsure = (
        clinic.ask(dp.ranges("visits", "age", width=20), epsilon=1, confidence=level) for level in (0.99, 0.5)
    )
    for low, high in zip(sure.count(0, 20).interval(), unsure.count(0, 20).interval(), strict=True):
        assert low != high
    assert np.ptp(sure.count(0, 20).interval()) > 1.5 * np.ptp(unsure.count(0, 20).interval())
    assert np.ptp(sure.share(0, 20).interval()) > 1.5 * np.ptp(unsure.share(0, 20).interval())
    assert sure.count(0, 20).interval(0.5) != sure.count(0, 20).interval()
