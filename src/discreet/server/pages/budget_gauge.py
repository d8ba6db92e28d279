"""How full a budget is: what was spent of a cap, as a share that can be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.records import dataclass

__all__ = ["Gauge", "gauge_of", "gauges_of_analysts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauge:
    """What was spent of a cap.

    Attributes
    ----------
    name : str
        Whose.
    unit : str
        "epsilon" or "rho".
    spent : float or None
        How much; None if it cannot be said in this unit.
    cap : float or None
        Of how much; None if there is no cap.
    """

    name: str
    unit: str
    spent: float | None
    cap: float | None

    @property
    def percent(self) -> float:
        """How full it is, from 0 to 100; full if what was spent is not known."""
        if self.cap is None:
            return 0.0
        return 100.0 if self.spent is None else min(100.0, 100 * self.spent / self.cap)


def gauge_of(spent: Mapping[str, Any]) -> Gauge:
    """Return the gauge of all, for what ``/v1/spent`` says."""
    unit, cap = _cap(spent["caps"])
    return Gauge(name="all", unit=unit, spent=_number(spent[unit]), cap=cap)


def gauges_of_analysts(spent: Mapping[str, Any]) -> list[Gauge]:
    """Return a gauge for each analyst whose spending the reader may see: their own, or everyone's.

    Without a cap for each analyst, they are shown as parts of the cap of all.
    """
    caps = spent["caps"]
    unit, cap = _cap(caps["per_analyst"] or caps)
    shown = spent.get("analysts", [spent["own"]])
    return [
        Gauge(name=one["name"], unit="epsilon", spent=one["epsilon"], cap=cap if unit == "epsilon" else None)
        for one in shown
    ]


def _cap(caps: Mapping[str, Any]) -> tuple[str, float]:
    unit = "epsilon" if caps["epsilon"] is not None else "rho"
    return unit, float(Fraction(caps[unit]))


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
