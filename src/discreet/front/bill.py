"""What an answer cost, and what is left for the one who asked."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.curator.release.about import price
from discreet.privacy.rational import float_written
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.curator import Release
    from discreet.front.curator import Curator

__all__ = ["Bill", "bill_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """What was paid for an answer, and what is left for its analyst.

    Attributes
    ----------
    stored : bool
        Whether the answer came from the store.
    paid : str or None
        What this question cost now; None if nothing.
    left : Fraction
        The largest pure epsilon that still fits.
    left_rho : Fraction or None
        The largest rho that still fits, where the budget counts rho.
    more : int
        How many more charges of the cost of this question fit.
    """

    stored: bool
    paid: str | None
    left: Fraction
    more: int
    left_rho: Fraction | None = None

    def to_object(self) -> dict[str, object]:
        """Return the same for JSON; what is left is rounded down."""
        rho = {} if self.left_rho is None else {"rho": float_written(self.left_rho, below=True)}
        left = {**rho, "epsilon": float_written(self.left, below=True), "more_of_this_cost": self.more}
        return {
            "stored": self.stored,
            "paid": "nothing" if self.paid is None else self.paid,
            "left": left,
        }


def bill_of(curator: Curator, release: Release, analyst: str, *, paid_before: bool) -> Bill:
    """Return the bill of an answer; `paid_before` if it was charged before this question."""
    account = curator.account()
    return Bill(
        stored=release.stored,
        paid=None if release.stored or paid_before else price(release.event),
        left=account.largest_epsilon(analyst),
        left_rho=account.largest_rho(analyst),
        more=min(one.remaining(release.event) for _, one in account.filters(analyst)),
    )
