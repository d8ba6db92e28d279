"""A run under a permit in numbers: priced once, as a whole, by a closed form; and resumed after a kill."""

from __future__ import annotations

import math
from fractions import Fraction
from unittest import mock

import pytest

from curator.doors import COUNT, Clock, clinic, entries, visits
from discreet.curator import Budget
from discreet.curator.permitted_run import PermittedRun
from discreet.errors import BudgetExceeded, LedgerMismatch, ParameterError
from discreet.privacy.events import Approximate, Gaussian, Pure, ZeroConcentrated
from discreet.privacy.neighbors import ADD_REMOVE_ROW, REPLACE_PERSON

CAPS = Budget(epsilon=3, delta="1e-5")


def normal_delta(epsilon, mu):
    """The delta of normal noise, by the closed form."""
    phi = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    return phi(mu / 2 - epsilon / mu) - math.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def normal_multiplier(epsilon, delta, steps):
    """The least noise multiplier of so many steps that keep (epsilon, delta)."""
    low, high = 0.1, 1e4
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (
            (middle, high) if normal_delta(epsilon, math.sqrt(steps) / middle) > delta else (low, middle)
        )
    return high


def steps_of(share, steps=20, epsilon=0.5, delta=1e-6):
    """One step of normal noise, of which so many have a share of the noise that (epsilon, delta) needs."""
    return Gaussian(noise_multiplier=share * normal_multiplier(epsilon, delta, steps))


@pytest.mark.parametrize("others", [None, Pure(epsilon=1), Pure(epsilon="1.5"), Pure(epsilon="2.49")])
def test_a_run_within_the_numbers_fits_whatever_others_spend(place, others):
    curator = clinic(place, budget=CAPS)
    step = steps_of(1.0001)
    with curator.permit("training", epsilon="0.5", delta="1e-6") as permit:
        if others is not None:
            with curator.permit("another", others) as other:
                other.charge(others)
        run = permit.begin(step * 20, epsilon="0.5", delta="1e-6")
        assert len(entries(curator, "use")) == (others is not None)  # nothing was charged yet
        for taken in range(20):
            run.charge(step)
            assert run.taken == taken + 1
        with pytest.raises(BudgetExceeded, match="not once more"):
            run.charge(step)
        with pytest.raises(BudgetExceeded, match="does not cover"):
            permit.charge(Pure(epsilon="1e-9"))
    account = clinic(place, budget=CAPS).account()  # read again
    assert account.filter_of().fits()
    assert account.spent_now()[0] <= 0.5 + float(0 if others is None else others.epsilon)


def test_a_run_beyond_the_numbers_is_refused_before_its_first_step(place):
    curator = clinic(place, budget=CAPS)
    with curator.permit("training", epsilon="0.5", delta="1e-6") as permit:
        for share in (0.999, 0.5, 0.1):
            with pytest.raises(BudgetExceeded, match=r"would have spent epsilon .* of 0\.5"):
                permit.begin(steps_of(share) * 20)
        with pytest.raises(BudgetExceeded):
            permit.begin(steps_of(0.999) * 20, epsilon="0.5", delta="1e-6")  # which it does not keep
        permit.begin(steps_of(1.0001) * 20)
    assert entries(curator, "use") == []
    assert curator.remaining.epsilon == 3


def test_steps_that_were_not_begun_as_a_run_are_added_up(place):
    curator = clinic(place, budget=CAPS)
    step = steps_of(1.0001)
    with curator.permit("training", epsilon="0.5", delta="1e-6") as permit:
        permit.charge(step * 3)
        with pytest.raises(BudgetExceeded, match="does not cover"):
            permit.charge(step * 17)


def test_several_runs_share_a_permit_by_their_numbers(place):
    curator = clinic(place, budget=CAPS)
    share = {"epsilon": Fraction(1, 3), "delta": Fraction(1, 3 * 10**6)}
    step = steps_of(1.0001, epsilon=1 / 3, delta=1e-6 / 3)
    with curator.permit("training", epsilon=1, delta="1e-6") as permit:
        runs = [permit.begin(step * 20, **share) for _ in range(4)]
        for run in runs[:3]:
            run.charge(step)
        with pytest.raises(BudgetExceeded, match="does not cover"):
            runs[3].charge(step)
        for run in runs[:3]:
            for _ in range(19):
                run.charge(step)
    counted = [entry.body["counted"] for entry in entries(curator, "use") if "counted" in entry.body]
    assert counted == [Approximate(**share).to_object()] * 3


def test_an_unused_run_costs_nothing_and_a_begun_one_counts_whole(place):
    curator = clinic(place, budget=CAPS)
    step = steps_of(1.0001)
    with curator.permit("training", epsilon="0.5", delta="1e-6") as permit:
        permit.begin(step * 20)
    assert curator.remaining.epsilon == 3
    with curator.permit("training", epsilon="0.9", delta="2e-6") as permit:
        permit.begin(step * 20, epsilon="0.5", delta="1e-6").charge(step)
    assert curator.remaining.epsilon == 2.5


def test_a_run_under_an_event_is_charged_by_its_steps(place):
    curator = clinic(place, budget=CAPS)
    step = steps_of(1.0001)
    with curator.permit("training", step * 20) as permit:
        with pytest.raises(BudgetExceeded):
            permit.begin(Pure(epsilon=2))
        run = permit.begin(step * 20)
        assert isinstance(run, PermittedRun)
        for _ in range(20):
            run.charge(step)
        with pytest.raises(BudgetExceeded):
            run.charge(step)
    for wrong in (None, 3):
        with curator.permit("training", epsilon=1) as permit:
            with pytest.raises(ParameterError, match="run"):
                permit.begin(wrong)
            with pytest.raises(ParameterError, match="event"):
                permit.begin(Pure(epsilon=1)).charge(wrong)
    with pytest.raises(ParameterError, match="closed"):
        permit.begin(step)
    with pytest.raises(ParameterError, match="closed"):
        run.charge(step)


def test_a_rho_is_what_its_uses_add_up_to(place):
    curator = clinic(place, budget=CAPS)
    with curator.permit("training", rho="1/50") as permit:
        permit.begin(Gaussian(noise_multiplier=50) * 100)
        with pytest.raises(BudgetExceeded, match=r"rho 0\.0202 of 0\.02"):
            permit.begin(Gaussian(noise_multiplier=50) * 101)
        with pytest.raises(BudgetExceeded):
            permit.begin(Approximate(epsilon=0, delta="1e-9"))
        permit.charge(ZeroConcentrated(rho="1/50"))


@pytest.mark.parametrize("reserved", ["numbers", "event"])
def test_after_a_kill_a_permit_goes_on_where_it_was(place, reserved):
    step = steps_of(1.0001)
    numbers = {"epsilon": "0.5", "delta": "1e-6"}
    killed = clinic(place, budget=CAPS)
    most = {"most": step * 20} if reserved == "event" else numbers
    run = killed.permit("nightly", **most, analyst="ana").begin(step * 20, **numbers)
    for _ in range(7):
        run.charge(step)
    left = killed.remaining.epsilon
    curator = clinic(place, budget=CAPS)
    with curator.reopen("nightly", analyst="ana") as permit:
        assert curator.remaining.epsilon == left
        assert permit.rows("visits").num_rows
        again = permit.begin(step * 20, **numbers)
        assert again.taken == 7
        for _ in range(13):
            again.charge(step)
        with pytest.raises(BudgetExceeded):
            again.charge(step)
        with pytest.raises(BudgetExceeded):  # of the program that was taken for dead
            run.charge(step)
    assert len(entries(curator, "reserve")) == len(entries(curator, "settle")) == 1
    assert curator.remaining.epsilon >= left
    curator.ledger.verify()
    with pytest.raises(ParameterError, match="closed"):
        run.charge(step)


def test_another_run_of_a_reopened_permit_begins_anew(place):
    step, other = steps_of(1.0001, epsilon=0.25, delta=5e-7), Gaussian(noise_multiplier=1000)
    half = {"epsilon": "0.25", "delta": "5e-7"}
    killed = clinic(place, budget=CAPS).permit("nightly", epsilon="0.5", delta="1e-6")
    killed.begin(step * 20, **half).charge(step)
    permit = clinic(place, budget=CAPS).reopen("nightly")
    assert permit.begin(other * 2, epsilon="0.1", delta="1e-7").taken == 0
    assert permit.begin(step * 20, **half).taken == 1
    assert permit.begin(step * 20, **half).taken == 0  # the same plan once more
    assert killed.begin(step * 20, **half).taken == 0  # it was never opened again


def test_a_reopened_permit_frees_what_was_never_charged(place):
    clock = Clock(2026, 3, 5)
    budget = Budget(epsilon=10, renews="daily")
    clinic(place, budget=budget, clock=clock).permit("training", epsilon=4).charge(Pure(epsilon=1))
    curator = clinic(place, budget=budget, clock=clock)
    assert curator.remaining.epsilon == 6
    curator.reopen("training").close()
    assert curator.remaining.epsilon == 9
    assert curator.account().lifetime.epsilon == 1
    curator.ask(COUNT, epsilon=9)


def test_only_an_open_permit_of_the_same_analyst_is_opened_again(place):
    curator = clinic(place)
    curator.permit("training", epsilon=1, analyst="ana")
    with pytest.raises(ParameterError, match="names no open permit"):
        curator.reopen("another", analyst="ana")
    for analyst in ("", "bo"):
        with pytest.raises(ParameterError, match="analyst"):
            curator.reopen("training", analyst=analyst)
    with pytest.raises(ParameterError):
        curator.reopen("training", "ana")
    curator.reopen(3, analyst="ana").close()
    with pytest.raises(ParameterError, match="names no open permit"):
        curator.reopen("training", analyst="ana")
    lost = curator.permit("training", epsilon=1)
    curator.abandon("training", reason="lost")
    with pytest.raises(ParameterError, match="names no open permit"):
        curator.reopen("training")
    lost.close()
    curator.permit("training", epsilon=1)
    clinic(place).amend(reason="other tables", tables={"visits": visits(person="household")})
    with pytest.raises(LedgerMismatch):
        curator.reopen("training")


def test_a_first_step_that_was_not_recorded_is_still_the_first(place):
    curator = clinic(place, budget=CAPS)
    step = steps_of(1.0001)
    permit = curator.permit("training", epsilon="0.5", delta="1e-6")
    run = permit.begin(step * 2)
    with (
        mock.patch.object(curator.ledger, "decide", side_effect=ParameterError("time", "is bad", "another")),
        pytest.raises(ParameterError),
    ):
        run.charge(step)
    assert run.taken == 0
    run.charge(step)
    run.charge(step)
    assert [sorted(entry.body) for entry in entries(curator, "use")] == [
        ["counted", "event", "reservation", "run"],
        ["event", "reservation", "run"],
    ]


@pytest.mark.parametrize("stated", [{}, {"epsilon": "0.8", "delta": "2e-6"}])
@pytest.mark.parametrize("relation", [ADD_REMOVE_ROW, REPLACE_PERSON])
def test_a_run_of_another_relation_is_refused(place, relation, stated):
    curator = clinic(place, budget=Budget(epsilon=3, delta=1e-5))
    step = Gaussian(noise_multiplier=30, neighbors=relation)
    permit = curator.permit("t", epsilon="0.9", delta="2e-6")
    for use in (lambda: permit.charge(step), lambda: permit.begin(step * 20, **stated)):
        with pytest.raises(ParameterError, match="relations do not mix"):
            use()
    permit.close()
    assert curator.spent.epsilon == 0


def test_what_is_charged_and_closed_in_a_new_period_counts_there(place):
    clock = Clock(2026, 1, 5)
    curator = clinic(place, budget=Budget(epsilon=1, renews="daily"), clock=clock)
    permit = curator.permit("t", epsilon=1)
    clock.set(2026, 1, 6)
    permit.charge(Pure(epsilon=1))
    permit.close()
    assert [entry.kind for entry in entries(curator)][-2:] == ["renew", "settle"]
    with pytest.raises(BudgetExceeded):
        curator.ask(COUNT, epsilon="0.5")
