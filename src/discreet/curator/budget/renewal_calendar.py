"""Periods of the calendar, in UTC, by which a budget may renew."""

from __future__ import annotations

from datetime import date, timedelta
from enum import Enum

from discreet.errors import ParameterError

__all__ = ["Period", "PeriodBegan"]


class Period(Enum):
    """How often a budget renews."""

    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    QUARTERLY = "quarterly"
    YEARLY = "yearly"

    @classmethod
    def named(cls, name: str) -> Period:
        """Return the period with a name."""
        for period in cls:
            if period.value == name:
                return period
        raise ParameterError("renews", "is not a period", ", ".join(period.value for period in cls))

    def of(self, time: str) -> str:
        """Return the first day of the period that a UTC time lies in.

        Days compare in the order of time, even if the length of periods was changed in between.

        >>> Period.QUARTERLY.of("2026-11-15T10:00:00.000000Z")
        '2026-10-01'
        """
        day = date.fromisoformat(time[:10])
        if self is Period.DAILY:
            return day.isoformat()
        if self is Period.WEEKLY:
            return (day - timedelta(days=day.weekday())).isoformat()
        months = {Period.MONTHLY: 1, Period.QUARTERLY: 3, Period.YEARLY: 12}[self]
        return day.replace(month=day.month - (day.month - 1) % months, day=1).isoformat()


class PeriodBegan(Exception):
    """A new period has begun, and the caps must be renewed before anything is charged."""

    def __init__(self, period: str) -> None:
        super().__init__(period)
        self.period = period
