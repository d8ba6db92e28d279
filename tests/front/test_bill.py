"""What was paid and what is left, for programs."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd

import discreet as dp
from discreet.cli.bill import bill_lines
from discreet.front.bill import Bill, bill_of


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


def test_of_a_budget_of_rho_what_is_left_is_rho(place):
    """The footer said a pure epsilon alone, after rho was paid from rho."""
    frame = pd.DataFrame({"who": range(40)})
    table = dp.Table(frame, person="who", limits=dp.Limits(rows=1))
    counted = "SELECT COUNT(*) AS n FROM visits"
    of_rho = dp.Curator({"visits": table}, budget=dp.Budget(rho=0.5), ledger=place / "rho")
    answer = of_rho.ask(counted, rho=0.05)
    assert str(answer).splitlines()[-1].startswith("paid rho 0.05; left: rho 0.45, or a pure epsilon of 0.9")
    assert of_rho.account().largest_rho("") == Fraction(9, 20)
    bill = bill_of(of_rho, answer, "", paid_before=False)
    assert bill.to_object()["left"]["rho"] == 0.45
    assert "left  rho 0.45, or a pure epsilon of 0.9" in bill_lines(bill)
    for budget in (dp.Budget(epsilon=1, delta=1e-6), dp.Budget(rho=1, per_analyst=dp.Budget(epsilon=1))):
        other = dp.Curator({"visits": table}, budget=budget, ledger=place / str(budget.epsilon))
        said = other.ask(counted, epsilon=0.5)
        assert "left: a pure epsilon of" in str(said)
        assert "left_rho" not in said.label
