"""Counts under several conditions, measured together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from discreet.curator import Draw
from discreet.data import Limits
from discreet.data.language.measures import Histogram
from discreet.errors import UnsupportedQuery
from discreet.queries.noise.joint_counts import JointCountOutput
from effort import releases
from queries.counts.surveys import HUGE, curator, survey
from significance import FALSE_ALARM

RANGES = (
    "SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE age < 18) AS young, "
    "COUNT(*) FILTER (WHERE age BETWEEN 18 AND 64) AS grown, "
    "SUM(CASE WHEN age >= 65 THEN 1 ELSE 0 END) AS old, "
    "COUNT(CASE WHEN age < 40 OR age IS NULL THEN 1 END) AS below, "
    "COUNT(*) FILTER (WHERE cost > 50) AS dear, COUNT(*) FILTER (WHERE NOT cost > 50) AS cheap FROM visits"
)


@pytest.fixture
def frame():
    return survey()


@pytest.fixture
def clinic(tmp_path, frame):
    return curator(tmp_path, frame)


def counted(frame):
    age, cost = frame["age"], frame["cost"]
    return {
        "n": len(frame),
        "young": (age < 18).sum(),
        "grown": age.between(18, 64).sum(),
        "old": (age >= 65).sum(),
        "below": (age < 40).sum(),
        "dear": (cost > 50).sum(),
        "cheap": (cost <= 50).sum(),
    }


def is_together(request):
    return all(isinstance(output, JointCountOutput) for output in request.outputs)


def test_counts_are_those_of_the_rows(clinic, frame):
    answer = clinic.ask(RANGES, epsilon=HUGE)
    assert is_together(answer.request)
    for name, exact in counted(frame).items():
        assert answer[name][0] == pytest.approx(exact, abs=3)
        assert answer[name].dtype.kind == "i"


def test_every_group_by_itself(clinic, frame):
    answer = clinic.ask(RANGES.replace("SELECT", "SELECT city,") + " GROUP BY city", epsilon=HUGE)
    assert is_together(answer.request)
    for place, city in enumerate(answer.keys["city"]):
        for name, exact in counted(frame[frame["city"] == city]).items():
            assert answer[name][place] == pytest.approx(exact, abs=3)
    decades = "SELECT FLOOR(age / 50) AS part, COUNT(*) AS n, COUNT(*) FILTER (WHERE age > 70) AS old "
    answer = clinic.ask(decades + "FROM visits GROUP BY FLOOR(age / 50)", epsilon=HUGE)
    assert is_together(answer.request)
    part = np.floor(frame["age"] / 50)
    for place, key in enumerate(answer.keys["part"]):
        assert answer["n"][place] == pytest.approx((part == key).sum(), abs=3)
        assert answer["old"][place] == pytest.approx(((part == key) & (frame["age"] > 70)).sum(), abs=3)


@pytest.mark.parametrize("offer", [{"epsilon": 1}, {"epsilon": 1, "delta": "1e-6"}])
@pytest.mark.parametrize("limits", [Limits(rows=4), Limits(groups=2, rows_per_group=2)])
def test_noise_covers_persons_and_errs_less_for_the_same_price(tmp_path, frame, offer, limits):
    clinic = curator(tmp_path, frame, limits)
    request = clinic.request(RANGES, **offer)
    (part,) = request.parts
    assert part.mechanism.covers(part.statistic)
    if request.event.pure_epsilon is not None:
        assert request.event.pure_epsilon <= 1
    together = clinic.preview(RANGES, **offer)
    alone = clinic.preview(RANGES, split=dict.fromkeys(counted(frame), 1), **offer)
    assert "measured together in" in str(together)
    assert "measured together" not in str(alone)
    squares = [sum(one.standard_deviation**2 for one in found.expectations) for found in (together, alone)]
    assert squares[0] < squares[1] / 4


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) AS n FROM visits",
        "SELECT COUNT(*) AS n, AVG(age) AS a FROM visits",
        "SELECT COUNT(*) AS n, COUNT(cost) AS k FROM visits",
        "SELECT COUNT(*) AS n, COUNT(DISTINCT city) AS k FROM visits",
        "SELECT COUNT(*) AS n, SUM(CASE WHEN age < 5 THEN 2 ELSE 0 END) AS k FROM visits",
    ],
)
def test_other_questions_are_answered_as_before(clinic, sql):
    assert not is_together(clinic.request(sql, epsilon=1))


def check_intervals(request, many, level):
    """Measure classes of made-up sizes again and again, and compare with the sums that counts stand for."""
    (part,) = request.parts
    histogram = part.measure
    assert isinstance(histogram, Histogram)
    exact = np.arange(histogram.width) * 37 + 20
    truths = np.array([[code >> place & 1 for code in histogram.values.values] for place in range(7)]) @ exact
    steps = np.concatenate([part.mechanism.release(exact) for _ in range(many)])
    draw = Draw(part=part, steps=steps)
    for output, true in zip(request.outputs, truths, strict=True):
        column = output.finish([draw], request.confidence)
        assert len(column.values) == many
        missed = int(((column.lower > true) | (true > column.upper)).sum())
        print(output.name, f"{1 - missed / many:.2%}")
        assert missed <= stats.binom.isf(FALSE_ALARM, many, 1 - level)


def test_intervals_hold_as_often_as_they_say(clinic):
    check_intervals(clinic.request(RANGES, epsilon=1, confidence=0.8), 400, 0.8)


@pytest.mark.few(0, slow=2)
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize(
    "offer", [{"epsilon": 1}, {"epsilon": "0.1", "delta": "1e-6"}, {"rho": "0.02"}], ids=str
)
def test_intervals_cover_in_many_releases(tmp_path, frame, offer, level):
    request = curator(tmp_path, frame).request(RANGES, confidence=level, **offer)
    assert is_together(request)
    check_intervals(request, releases(10_000), level)


def test_raising_negative_counts_to_zero_adds_no_more_than_is_said(clinic):
    """Classes without rows: the mean of the raised counts is their excess over 0.

    A mean of 400 draws is further from what is expected than 6.5 times the standard deviation of the noise,
    divided by 20, less often than `FALSE_ALARM`: raised counts spread less than the noise does.
    """
    request = clinic.request(RANGES, epsilon=1)
    (part,) = request.parts
    nothing = np.zeros(part.measure.width, np.int64)
    steps = np.concatenate([part.mechanism.release(nothing) for _ in range(400)])
    for output in request.outputs:
        column = output.finish([Draw(part=part, steps=steps)], request.confidence)
        raised, said = column.nonnegative().values, column.nonnegative().bias
        assert len(raised) == 400
        slack = 6.5 * output.expect(request.parts, request.confidence, 0).standard_deviation / 20
        assert raised.mean() - slack <= said <= (raised.mean() + slack) * 1.5 + 1
        assert (column.lower >= 0).all()


@pytest.mark.slow
def test_a_wanted_error_is_met_by_what_is_asked(clinic):
    found = clinic.preview(RANGES, error={"old": 40})
    assert found["old"].margin <= 40


def test_the_same_question_is_answered_once(clinic):
    first = clinic.ask(RANGES, epsilon=1)
    again = clinic.ask(RANGES.replace("AS old", "AS senior"), epsilon=1)
    assert again.stored
    assert again["senior"][0] == first["old"][0]


def test_it_cannot_be_averaged_and_says_so(clinic):
    with pytest.raises(UnsupportedQuery, match="cannot be averaged"):
        clinic.remeasure(clinic.ask(RANGES, epsilon=1), epsilon=1)


def test_having_and_order_see_integers(clinic):
    sql = "SELECT city, COUNT(*) AS n, COUNT(*) FILTER (WHERE age > 50) AS old FROM visits GROUP BY city"
    answer = clinic.ask(f"{sql} HAVING old > 10 ORDER BY n DESC LIMIT 2", epsilon=HUGE)
    assert len(answer["n"]) == 2
    assert answer["n"][0] >= answer["n"][1]


def test_it_is_explained(clinic):
    text = clinic.explain(RANGES, epsilon=1)
    assert "measured instead, because all counts together then have less error" in text
