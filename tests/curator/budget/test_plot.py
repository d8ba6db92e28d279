"""The budget over time: every charge is a step, and the last one is what the account says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot

from curator.doors import COUNT, Clock, clinic
from discreet.curator import Budget
from discreet.curator.budget.plot import spent_over_time
from discreet.errors import ParameterError


@pytest.fixture(autouse=True)
def _closed():
    yield
    pyplot.close("all")


def test_every_charge_is_a_step_and_the_last_is_what_was_spent(place):
    clock = Clock(2025, 1, 1)
    curator = clinic(place, budget=Budget(epsilon=3, per_analyst=Budget(epsilon=2)), clock=clock)
    for number, analyst in enumerate(["ana", "ben", "ana"]):
        clock.moment += timedelta(days=1)
        curator.ask(f"{COUNT} AND age < {number + 1}", epsilon="1/4", analyst=analyst)
    account = curator.account()
    moments = spent_over_time(account)
    assert [moment.spent for moment in moments] == [0.25, 0.5, 0.75]
    assert [moment.time.day for moment in moments] == [2, 3, 4]
    assert moments[-1].spent == curator.spent.epsilon
    assert [moment.spent for moment in spent_over_time(account, analyst="ana")] == [0.25, 0.5]
    axes = curator.spent.plot()
    assert curator.spent.plot("ana", ax=axes, label="Ana") is axes
    series = [line for line in axes.get_lines() if line.get_gid() == "discreet series"]
    assert [list(line.get_ydata()) for line in series] == [[0.25, 0.5, 0.75], [0.25, 0.5]]
    assert len({line.get_color() for line in series}) == 2
    shown = [text.get_text() for text in axes.get_legend().get_texts()]
    assert shown == ["spent", "at most epsilon 3", "Ana", "each analyst: at most epsilon 2"]
    with pytest.raises(ParameterError, match="no charge"):
        curator.spent.plot("nobody")


def test_a_period_starts_again_from_nothing(place):
    clock = Clock(2025, 1, 30)
    curator = clinic(place, budget=Budget(rho=1, renews="monthly"), clock=clock)
    for number in range(4):
        clock.moment += timedelta(days=1)
        curator.ask(f"{COUNT} AND age < {number + 1}", rho="1/10")
    assert [moment.spent for moment in spent_over_time(curator.account())] == pytest.approx(
        [0.1, 0.1, 0.2, 0.3]
    )
    assert "monthly" in curator.spent.plot().get_ylabel()
    assert clock.moment > datetime(2025, 2, 1, tzinfo=UTC)
