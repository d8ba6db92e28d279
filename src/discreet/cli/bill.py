"""What an answer cost and what is left, as the last lines below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli import formatting
from discreet.privacy.decimals import below

if TYPE_CHECKING:
    from discreet.front.bill import Bill

__all__ = ["bill_lines"]


def bill_lines(bill: Bill) -> str:
    """Say what was paid, and what is left."""
    free = "nothing: answered from the store" if bill.stored else "nothing: it was paid before"
    rho = "" if bill.left_rho is None else f"rho {below(bill.left_rho)}, or "
    return formatting.as_table(
        {
            "paid": free if bill.paid is None else bill.paid,
            "left": f"{rho}a pure epsilon of {below(bill.left)}, or {bill.more:,} more of this cost",
        }
    )
