"""What an accountant answers: an interval that contains the true number, and how it was found."""

from __future__ import annotations

from discreet.privacy.decimals import float_text_above, float_text_below
from discreet.privacy.neighbors import Neighbors
from discreet.records import dataclass

__all__ = ["Interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Bounds on an epsilon or a delta. As a float it is its upper end, which is safe to promise.

    Attributes
    ----------
    lower, upper : float
        The true number lies between them. `lower` is 0 where only an upper bound is known.
    method : str
        How the upper bound was found.
    neighbors : Neighbors or None
        The relation for which it holds; None if nothing was released.
    certified : bool
        Whether every error of the computation, truncation and rounding included, is bounded
        and inside the interval.
    assumption : str
        What the events assume about sampling, empty if nothing.
    """

    lower: float
    upper: float
    method: str
    neighbors: Neighbors | None
    certified: bool
    assumption: str = ""

    def __float__(self) -> float:
        return self.upper

    def __str__(self) -> str:
        most, least = float_text_above(self.upper), float_text_below(self.lower)
        known = f"at most {most}" + (f" and at least {least}" if 0 < self.lower < self.upper else "")
        sure = "certified" if self.certified else "only the upper bound is certain"
        about = (self.method, sure, str(self.neighbors or ""), self.assumption)
        return f"{known} ({'; '.join(filter(None, about))})"

    @property
    def width(self) -> float:
        """The distance of the bounds."""
        return self.upper - self.lower
