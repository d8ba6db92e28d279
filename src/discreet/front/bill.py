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
    more : int
        How many more charges of the cost of this question fit.
    """

    stored: bool
    paid: str | None
    left: Fraction
    more: int

    def to_object(self) -> dict[str, object]:
        """Return the same for JSON; the epsilon that is left is rounded down."""
        return {
            "stored": self.stored,
            "paid": "nothing" if self.paid is None else self.paid,
            "left": {"epsilon": float_written(self.left, below=True), "more_of_this_cost": self.more},
        }


def bill_of(curator: Curator, release: Release, analyst: str, *, paid_before: bool) -> Bill:
    """Return the bill of an answer; `paid_before` if it was charged before this question."""
    account = curator.account()
    return Bill(
        stored=release.stored,
        paid=None if release.stored or paid_before else price(release.event),
        left=account.largest_epsilon(analyst),
        more=min(one.remaining(release.event) for _, one in account.filters(analyst)),
    )
