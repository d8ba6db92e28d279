"""What was paid and what is left, in words and for programs."""

from __future__ import annotations

from fractions import Fraction

from discreet.cli.bill import Bill


def test_paid_stored_and_paid_before():
    new = Bill(stored=False, paid="epsilon 1", left=Fraction(1, 3), more=1234)
    assert str(new).splitlines() == [
        "paid  epsilon 1",
        "left  a pure epsilon of 0.333333, or 1,234 more of this cost",
    ]
    assert new.to_object()["left"] == {"epsilon": float(Fraction(1, 3)), "more_of_this_cost": 1234}
    assert Fraction(new.to_object()["left"]["epsilon"]) <= Fraction(1, 3)
    stored = Bill(stored=True, paid=None, left=Fraction(1), more=1)
    assert str(stored).startswith("paid  nothing: answered from the store")
    assert stored.to_object()["paid"] == "nothing"
    assert str(Bill(stored=False, paid=None, left=Fraction(1), more=1)).startswith(
        "paid  nothing: it was paid before"
    )
