"""Periods begin at midnight UTC of their first day, and later ones never compare as earlier."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import groupby, pairwise

import pytest

from discreet.curator import Period
from discreet.errors import ParameterError

DAYS = [date(2023, 12, 1) + timedelta(days=n) for n in range(6 * 366)]
SAME = {
    Period.DAILY: lambda day: day,
    Period.WEEKLY: lambda day: day.isocalendar()[:2],
    Period.MONTHLY: lambda day: (day.year, day.month),
    Period.QUARTERLY: lambda day: (day.year, (day.month - 1) // 3),
    Period.YEARLY: lambda day: day.year,
}
MOMENTS = ("00:00:00.000000Z", "12:34:56.789012Z", "23:59:59.999999Z")


@pytest.mark.parametrize("period", Period)
def test_a_period_is_known_by_its_first_day(period):
    for days in [list(days) for _, days in groupby(DAYS, SAME[period])][1:]:
        found = {period.of(f"{day}T{moment}") for day in days for moment in MOMENTS}
        assert found == {days[0].isoformat()}


@pytest.mark.parametrize("period", Period)
def test_periods_never_go_back(period):
    assert all(period.of(f"{a}T{MOMENTS[2]}") <= period.of(f"{b}T{MOMENTS[0]}") for a, b in pairwise(DAYS))


def test_the_first_days_of_the_calendar_have_periods():
    assert {period.of("0001-01-01T00:00:00.000000Z") for period in Period} == {"0001-01-01"}


@pytest.mark.parametrize("name", ["hourly", "Daily", "", None, 7])
def test_other_names_are_refused(name):
    with pytest.raises(ParameterError, match="daily, weekly"):
        Period.named(name)
