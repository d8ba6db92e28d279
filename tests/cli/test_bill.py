"""What was paid and what is left, in words."""

from __future__ import annotations

from fractions import Fraction

from discreet.cli.bill import bill_lines
from discreet.front.bill import Bill


def test_paid_stored_and_paid_before():
    new = Bill(stored=False, paid="epsilon 1", left=Fraction(1, 3), more=1234)
    assert bill_lines(new).splitlines() == [
        "paid  epsilon 1",
        "left  a pure epsilon of 0.333333, or 1,234 more of this cost",
    ]
    stored = Bill(stored=True, paid=None, left=Fraction(1), more=1)
    assert bill_lines(stored).startswith("paid  nothing: answered from the store")
    assert bill_lines(Bill(stored=False, paid=None, left=Fraction(1), more=1)).startswith(
        "paid  nothing: it was paid before"
    )
