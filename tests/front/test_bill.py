"""What was paid and what is left, for programs."""

from __future__ import annotations

from fractions import Fraction

from discreet.front.bill import Bill


def test_the_bill_for_programs_rounds_what_is_left_down():
    new = Bill(stored=False, paid="epsilon 1", left=Fraction(1, 3), more=1234)
    assert new.to_object()["left"] == {"epsilon": float(Fraction(1, 3)), "more_of_this_cost": 1234}
    assert Fraction(new.to_object()["left"]["epsilon"]) <= Fraction(1, 3)
    assert new.to_object()["paid"] == "epsilon 1"
    assert Bill(stored=True, paid=None, left=Fraction(1), more=1).to_object()["paid"] == "nothing"


def test_what_is_left_is_written_as_people_write_it():
    """0.9 is read as nine tenths, so that 0.9 is what fits, and not the float below."""
    left = Bill(stored=False, paid="epsilon 0.1", left=Fraction(9, 10), more=9).to_object()["left"]
    assert left["epsilon"] == 0.9
