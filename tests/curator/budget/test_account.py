"""What an account counts: charges, reservations, shares of analysts, periods, and caps that change."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.accounts import Book, at
from discreet import accounting
from discreet.curator import Budget
from discreet.curator.budget.account import Account
from discreet.errors import BudgetExceeded, LedgerError
from discreet.privacy.events import Approximate, Gaussian, PoissonSampled, Pure, ZeroConcentrated, compose

ANALYSTS = st.sampled_from(["ana", "bo", ""])
AMOUNTS = st.fractions(0, 2, max_denominator=12)


@given(st.lists(st.tuples(ANALYSTS, AMOUNTS), max_size=30), AMOUNTS, st.none() | AMOUNTS)
def test_no_order_of_requests_exceeds_the_cap_for_all_or_for_each(requests, cap, share):
    each = None if share is None else Budget(epsilon=share)
    book = Book(Budget(epsilon=cap, per_analyst=each))
    spent = []
    for analyst, amount in requests:
        own = sum(one for name, one in spent if name == analyst)
        fits = sum(one for _, one in spent) + amount <= cap and (share is None or own + amount <= share)
        try:
            book.charge(Pure(epsilon=amount), analyst=analyst)
        except BudgetExceeded:
            assert not fits
        else:
            assert fits
            spent.append((analyst, amount))
    assert book.left() == cap - sum(one for _, one in spent)
    assert book.account.charges == len(spent)
    assert book.account.lifetime.epsilon == sum(one for _, one in spent)


def test_a_share_never_raises_the_cap_for_all():
    book = Book(Budget(epsilon=1, per_analyst=Budget(epsilon=5)))
    with pytest.raises(BudgetExceeded, match="of the budget"):
        book.charge(Pure(epsilon=2), analyst="ana")
    book = Book(Budget(epsilon=5, per_analyst=Budget(epsilon=1)))
    book.charge(Pure(epsilon=1), analyst="ana")
    with pytest.raises(BudgetExceeded, match="this analyst's share"):
        book.charge(Pure(epsilon="1e-9"), analyst="ana")
    book.charge(Pure(epsilon=1), analyst="bo")


def test_shares_may_be_counted_by_another_measure():
    book = Book(Budget(epsilon=3, per_analyst=Budget(rho="1/2")))
    book.charge(Pure(epsilon=1), analyst="ana")
    with pytest.raises(BudgetExceeded, match="share"):
        book.charge(Pure(epsilon="0.1"), analyst="ana")


def test_a_period_that_has_begun_is_due_once():
    book = Book(Budget(epsilon=1, renews="monthly"), day="2026-03-05")
    assert book.account.period == "2026-03-01"
    assert book.account.due(at("2026-03-31", 23)) is None
    assert book.account.due(at("2026-02-01")) is None
    assert book.account.due(at("2026-04-01", 0)) == "2026-04-01"
    assert book.account.due(at("2027-01-31")) == "2027-01-01"
    book.charge(Pure(epsilon=1))
    book.renew("2026-04-01")
    assert book.account.due(at("2026-04-30")) is None
    assert book.left() == 1
    assert book.account.current.epsilon == 0
    assert book.account.lifetime.epsilon == 1


def test_without_renewal_nothing_is_ever_due():
    book = Book(Budget(epsilon=1))
    assert book.account.period == ""
    assert book.account.due(at("9999-12-31")) is None


def test_reservations_count_until_they_are_settled():
    book = Book(Budget(epsilon=3, per_analyst=Budget(epsilon=2)))
    place = book.reserve(Pure(epsilon=2), analyst="ana")
    assert (book.left(), book.left("ana"), book.left("bo")) == (1, 0, 2)
    with pytest.raises(BudgetExceeded):
        book.charge(Pure(epsilon="1.1"), analyst="bo")
    with pytest.raises(BudgetExceeded):
        book.reserve(Pure(epsilon="0.1"), analyst="ana")
    book.use(place, Pure(epsilon="0.5"))
    assert book.left() == 1
    book.use(place, Pure(epsilon="1.5"))
    with pytest.raises(BudgetExceeded, match="does not cover"):
        book.use(place, Pure(epsilon="1e-9"))
    book.settle(place)
    assert (book.left(), book.left("ana")) == (1, 0)
    assert book.account.charges == 1


def test_what_was_never_used_is_freed():
    book = Book(Budget(epsilon=3))
    unused, used = book.reserve(Pure(epsilon=1)), book.reserve(Pure(epsilon=2))
    book.use(used, Pure(epsilon="0.25"))
    book.settle(unused)
    book.settle(used)
    assert book.left() == Fraction("2.75")
    assert book.account.lifetime.epsilon == Fraction(1, 4)
    assert book.account.charges == 1


def test_open_reservations_are_part_of_every_reading_and_of_every_period():
    book = Book(Budget(epsilon=3, renews="daily"))
    book.charge(Pure(epsilon=1))
    book.reserve(Pure(epsilon=2))
    assert book.account.counted(book.account.lifetime).epsilon == 3
    book.renew("2026-03-06")
    assert book.left() == 1
    assert book.account.counted(book.account.current).epsilon == 2
    assert book.account.counted(book.account.lifetime).epsilon == 3


def test_a_use_is_covered_by_every_measure():
    """A pure epsilon is reserved; normal noise of a small rho has no pure epsilon at all."""
    book = Book(Budget(epsilon=3, delta="1e-6", per_analyst=Budget(epsilon=3)))
    place = book.reserve(Pure(epsilon=1))
    with pytest.raises(BudgetExceeded, match="does not cover"):
        book.use(place, ZeroConcentrated(rho="1e-6"))
    book.use(place, Pure(epsilon=1))


def test_a_run_that_was_reserved_may_be_run_step_by_step():
    """By sums of its steps it would not fit; as a run fixed in advance it does, and nothing else."""
    step = PoissonSampled(Gaussian(noise_multiplier=2), rate="1/20")
    budget = Budget(epsilon=1.03 * accounting.epsilon(step * 800, delta=1e-5).upper, delta="1e-5")
    book = Book(budget)
    place = book.reserve(step * 800)
    assert not budget.filter().fits(*[step * 200] * 4)
    held = book.account.filter_of()
    book.use(place, step * 400)
    book.use(place, step)
    assert book.account.filter_of() == held
    with pytest.raises(BudgetExceeded, match="does not cover"):
        book.use(place, step * 400)
    with pytest.raises(BudgetExceeded, match="does not cover"):
        book.use(place, Pure(epsilon="1e-9"))
    book.settle(place)
    # What was run stays counted as the whole run; by an order half of it is half, and that one is back.
    assert book.account.filter_of().alive[0] == held.alive[0]
    assert len(book.account.filter_of().alive) > len(held.alive) == 1
    assert 0 < book.account.spent_now()[0] <= budget.epsilon


@pytest.mark.parametrize(
    "event",
    [
        Gaussian(noise_multiplier=3),
        ZeroConcentrated(rho="1/50"),
        ZeroConcentrated(rho="1e-7"),
        Approximate(epsilon=1, delta="1e-6"),
        Pure(epsilon="1/10") * 5 + Gaussian(noise_multiplier=9),
    ],
)
def test_what_was_reserved_may_be_used_and_costs_as_much(event):
    book = Book(Budget(epsilon=2, delta="1e-5"))
    place = book.reserve(event)
    held = book.account.filter_of()
    book.use(place, event)
    assert book.account.filter_of() == held
    book.settle(place)
    assert book.account.filter_of() == held


def test_a_refusal_for_delta_says_how_much_of_it_may_be_asked():
    book = Book(Budget(epsilon=3, delta="1e-5"))
    with pytest.raises(
        BudgetExceeded, match=r"at most 7\.3e-6 of the delta 1e-05 .* delta 7\.3e-6 is left: ask"
    ):
        book.account.check("", Approximate(epsilon="1/10", delta="9e-6"))
    book.account.check("", Approximate(epsilon="1/10", delta="7.3e-6"))
    book.charge(Approximate(epsilon=1, delta="1e-7"))
    for _ in range(60):
        book.charge(Gaussian(noise_multiplier=30))
    with pytest.raises(
        BudgetExceeded, match=r"at most 1\.3e-6 of the delta 1e-05 .* delta 1\.2e-6 is left: ask"
    ):
        book.account.check("", Approximate(epsilon="1/10", delta="2e-6"))
    book.account.check("", Approximate(epsilon="1/10", delta="1.2e-6"))


KINDS = st.sampled_from([None, "daily", "weekly", "monthly", "quarterly", "yearly"])
DAYS = st.integers(0, 500).map(lambda n: f"{2026 + n // 360}-{n // 30 % 12 + 1:02}-{n % 30 % 28 + 1:02}")


@given(
    st.lists(st.tuples(DAYS, AMOUNTS, ANALYSTS), max_size=15),
    st.tuples(KINDS, KINDS),
    AMOUNTS,
    st.none() | AMOUNTS,
)
def test_new_caps_count_all_charges_of_the_period_they_are_in(charges, kinds, cap, share):
    before, after = kinds
    book = Book(Budget(epsilon=100, renews=before), day="2026-01-01")
    charges = sorted(charges)
    for day, amount, analyst in charges:
        due = book.account.due(at(day))
        if due:
            book.renew(due, day=day)
        book.charge(Pure(epsilon=amount), day=day, analyst=analyst)
    last = charges[-1][0] if charges else "2026-01-01"
    budget = Budget(epsilon=cap, renews=after, per_analyst=None if share is None else Budget(epsilon=share))
    period = "" if after is None else budget.renews.of(at(last))
    counted = [
        (amount, analyst)
        for day, amount, analyst in charges
        if after is None or budget.renews.of(at(day)) == period
    ]
    spent = sum(amount for amount, _ in counted)
    shares = {name: sum(amount for amount, analyst in counted if analyst == name) for _, name in counted}
    fits = spent <= cap and (share is None or all(one <= share for one in shares.values()))
    try:
        book.amend(budget, day=last)
    except BudgetExceeded:
        assert not fits
        assert book.account.caps.epsilon == 100
    else:
        assert fits
        assert book.left() == cap - spent
        assert book.account.period == period
        if share is not None:
            assert all(book.left(name) == share - one for name, one in shares.items())
    assert book.account.lifetime.epsilon == sum(amount for _, amount, _ in charges)
    assert book.account.charges == len(charges)


def test_new_caps_must_hold_open_reservations():
    book = Book(Budget(epsilon=3, per_analyst=Budget(epsilon=3)))
    book.reserve(Pure(epsilon=2), analyst="ana")
    for lower in (
        Budget(epsilon="1.9", per_analyst=Budget(epsilon=3)),
        Budget(epsilon=3, per_analyst=Budget(epsilon="1.9")),
    ):
        with pytest.raises(BudgetExceeded):
            book.amend(lower)
    book.amend(Budget(epsilon=2, per_analyst=Budget(epsilon=2)))
    assert book.left() == book.left("ana") == 0


def test_caps_of_another_measure_must_still_cover_what_was_used():
    """By the order of the first budget the use is covered; as rho it is more than was reserved."""
    book = Book(Budget(epsilon=1, delta="1e-6"))
    place = book.reserve(ZeroConcentrated(rho="1/100"))
    book.use(place, Pure(epsilon="0.3"))
    with pytest.raises(BudgetExceeded, match="does not cover"):
        book.amend(Budget(rho=100))
    book.settle(place)
    book.amend(Budget(rho=100))
    assert book.left() == 100 - Fraction("0.045")


def test_charges_that_new_caps_cannot_count_keep_the_old_ones():
    book = Book(Budget(rho=1))
    book.charge(ZeroConcentrated(rho="0.1"))
    with pytest.raises(BudgetExceeded, match="no pure epsilon"):
        book.amend(Budget(epsilon=1000))


def test_a_long_history_is_no_burden():
    book = Book(Budget(epsilon=1))
    for _ in range(3000):
        book.charge(Pure(epsilon="1/3000"))
    assert book.left() == 0
    assert "3000" in repr(book.account)
    assert book.account == book.account.amended({}, Budget(epsilon=1), at("2026-03-05")).amended(
        book.account.tables, Budget(epsilon=1), at("2026-03-05")
    )


def test_an_account_that_was_not_opened_promises_nothing():
    with pytest.raises(LedgerError):
        Account().check("", Pure(epsilon=0))
    with pytest.raises(LedgerError, match="no such cap"):
        Book(Budget(epsilon=1)).account.filter_of("ana")


@pytest.mark.parametrize(
    ("budget", "event", "words"),
    [
        (Budget(epsilon=1), Pure(epsilon=2), ("200.00% of the budget", "100.00% is left", "at most 1 would")),
        (Budget(epsilon=0), Pure(epsilon=2), ("over 1000%", "0.00% is left", "at most 0 would")),
        (Budget(epsilon="1e-900"), Pure(epsilon=2), ("over 1000%", "at most 1e-900")),
        (Budget(epsilon=1), ZeroConcentrated(rho=1), ("counts pure epsilon", "at most 1 would")),
        (
            Budget(epsilon=1),
            Approximate(epsilon="0.1", delta="0.1"),
            ("has no delta to spend", "needs delta 0.1", "offer epsilon alone", "at most 1 would fit"),
        ),
        (
            Budget(epsilon=3, delta="1e-6"),
            Pure(epsilon="3.3"),
            (
                "epsilon 3.3 by the pure count, 110.00% of the budget",
                "epsilon 3, 100.00% is left",
                "at most 3 would fit",
            ),
        ),
        (
            Budget(epsilon=3, delta="1e-6"),
            Approximate(epsilon="0.1", delta="1e-6"),
            (
                "delta 1e-6 by the tight count, which leaves at most 7.3e-7 of the delta 1e-06 of the budget",
                "delta 7.3e-7 is left: ask for no more of it",
            ),
        ),
        (Budget(rho=1), ZeroConcentrated(rho="1.5"), ("150.00%", "at most 1.41421 would")),
        (Budget(epsilon=1), compose([Pure(epsilon=1), Pure(epsilon=1)]), ("200.00%",)),
    ],
)
def test_refusals_say_what_is_left_and_what_would_fit(budget, event, words):
    with pytest.raises(BudgetExceeded) as refusal:
        Book(budget).charge(event)
    assert all(word in str(refusal.value) for word in words)


def test_a_reading_is_never_above_a_cap_that_holds():
    """Many small pure requests beside a little normal noise: by rho alone they read as 3.6 of 3."""
    book = Book(Budget(epsilon=3, delta="1e-6"))
    book.charge(ZeroConcentrated(rho="1/1000"))
    for number in range(200):
        event = Pure(epsilon=Fraction(10 + number % 7, 100))
        if not book.account.filter_of().fits(event):
            break
        book.charge(event)
        epsilon, delta = book.account.spent_now()
        assert epsilon <= 3
        assert delta <= Fraction(1, 10**6)
    assert book.account.lifetime.read("1e-6").epsilon > 3
    sums = Book(Budget(epsilon=3, delta="1e-6"))
    for _ in range(3):
        sums.charge(Pure(epsilon="0.5"))
    assert sums.account.spent_now() == (1.5, 0)  # pure sums stay sums
