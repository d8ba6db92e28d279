"""Distribution functions: shares and quantiles, and whether their intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import discreet as dp
from discreet.curator import Draw
from discreet.errors import ParameterError
from discreet.queries.linear import CumulativeRelease, shares
from queries.linear.surveys import HUGE, curator, rounded_cost, survey
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
    assert isinstance(costs, CumulativeRelease)
    for value in (0, 20, 59.5, 120, 199.5, 200, 1000):
        assert costs.at_most(value).value == pytest.approx((rounded <= value).mean(), abs=2e-3)
    for share in (0.1, 0.5, 0.9):
        found = costs.quantile(share)
        exact = np.sort(rounded)[int(np.ceil(share * len(rounded))) - 1]
        assert found.lower <= exact <= found.upper
        assert abs(found.value - exact) <= 1
    assert str(costs.at_most(20)).startswith("cost <= 20: 0.")


def test_groups_by_name(clinic, frame):
    costs = clinic.ask(dp.cdf("visits", "cost", width=5, by="city"), epsilon=HUGE)
    rounded = rounded_cost(frame)[frame["city"] == "Bern"].dropna()
    assert costs.at_most(59.5, city="Bern").value == pytest.approx((rounded <= 59.5).mean(), abs=5e-3)
    half = costs.quantile("1/2", city="Bern")
    assert half.lower <= np.median(rounded) < half.upper + 5
    with pytest.raises(ParameterError, match="no column of this answer"):
        costs.quantile("1/2", town="Bern")


def test_the_curve_never_falls(clinic):
    curve = clinic.ask(dp.cdf("visits", "cost"), epsilon=0.1).curve()
    assert (np.diff(curve.counts) >= 0).all()
    assert curve.counts[0] >= 0


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
    exact = {share: 10.0 * (np.sort(rounded)[rank - 1] // 10) for share, rank in ranks.items()}
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
        low, high = costs.at_most(59.5).interval()
        assert 0 <= low <= high <= 1


def test_words_and_figures(clinic):
    pytest.importorskip("matplotlib").use("Agg")
    costs = clinic.ask(dp.cdf("visits", "cost"), epsilon=1)
    assert str(costs).startswith("distribution function of cost")
    assert costs.plot().get_ylabel().startswith("share")
    preview = clinic.preview(dp.cdf("visits", "cost"), rho="0.1")
    assert "prefixes" in str(preview)
