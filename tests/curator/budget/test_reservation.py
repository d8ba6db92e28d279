"""A reservation in numbers keeps them, and what keeps them is never refused, whatever others spend."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curator.accounts import Book
from discreet.curator import Budget
from discreet.curator.budget.account import Account
from discreet.curator.budget.entries import USE, last_use
from discreet.curator.budget.reservation import Reservation
from discreet.errors import BudgetExceeded, LedgerTampered
from discreet.privacy.events import (
    Approximate,
    DiscreteLaplace,
    Gaussian,
    PoissonSampled,
    Pure,
    ZeroConcentrated,
)
from effort import examples

CAPS = Budget(epsilon=3, delta="1e-5")
OTHERS = [
    Pure(epsilon="1.5"),
    Pure(epsilon="0.9"),
    Approximate(epsilon="1/5", delta="2e-6"),
    Gaussian(noise_multiplier=4),
    Gaussian(noise_multiplier=40) * 9,
    ZeroConcentrated(rho="1/40"),
    DiscreteLaplace(sensitivity=1, scale=20) * 7,
    PoissonSampled(Gaussian(noise_multiplier=1), rate="1/50") * 30,
]


def use(book, place, event):
    """Use a reservation as a permit does."""
    before = book.account.reserved[place]
    after = before.with_use(event, book.account.counted_as(before, event))
    after.check_numbers()
    book.account.check_covered(after)
    book.add(USE, "2026-03-05", reservation=place, **last_use(after))
    assert book.account.reserved[place] == after


def spend_by_others(book, others):
    for event in others:
        try:
            book.account.check("", event)
        except BudgetExceeded:
            continue
        book.charge(event)


def pieces(whole, shares):
    """Cut a number into parts in given proportions, exactly."""
    total = sum(shares)
    return [Fraction(share, total) * whole for share in shares]


SHARES = st.lists(st.integers(1, 9), min_size=1, max_size=5)


@settings(max_examples=examples(60), deadline=None)
@given(
    epsilon=st.sampled_from(["1/10", "1/2", "1"]),
    delta=st.sampled_from(["0", "1e-9", "1e-6", "5e-6"]),
    shares=SHARES,
    before=st.lists(st.sampled_from(OTHERS), max_size=3),
    between=st.lists(st.lists(st.sampled_from(OTHERS), max_size=4), min_size=5, max_size=5),
)
def test_every_part_of_what_was_reserved_is_admitted_whatever_others_do(
    epsilon, delta, shares, before, between
):
    """By sums of fractions alone: pairs that add up to the reservation fit, and one more does not."""
    book = Book(CAPS)
    spend_by_others(book, before)
    whole = (Fraction(epsilon), Fraction(delta))
    reserved = Approximate(epsilon=epsilon, delta=delta) if whole[1] else Pure(epsilon=epsilon)
    try:
        book.account.check("", reserved)
    except BudgetExceeded:
        return
    place = book.reserve(reserved)
    parts = zip(pieces(whole[0], shares), pieces(whole[1], shares), between, strict=False)
    for loss, failure, others in parts:
        spend_by_others(book, others)
        part = Approximate(epsilon=loss, delta=failure) if failure else Pure(epsilon=loss)
        use(book, place, part)
    with pytest.raises(BudgetExceeded, match="does not cover"):
        use(book, place, Pure(epsilon="1e-9"))
    assert book.account.filter_of().fits()
    book.settle(place)
    assert book.account.filter_of().fits()


@settings(max_examples=examples(40), deadline=None)
@given(shares=SHARES, others=st.lists(st.lists(st.sampled_from(OTHERS), max_size=4), min_size=5, max_size=5))
def test_every_part_of_a_rho_is_admitted_whatever_others_do(shares, others):
    book = Book(CAPS)
    place = book.reserve(ZeroConcentrated(rho="1/100"))
    for rho, between in zip(pieces(Fraction(1, 100), shares), others, strict=False):
        spend_by_others(book, between)
        use(book, place, ZeroConcentrated(rho=rho))
    with pytest.raises(BudgetExceeded, match="does not cover"):
        use(book, place, ZeroConcentrated(rho="1e-9"))
    book.settle(place)
    assert book.account.filter_of().fits()


def test_only_the_tight_count_is_left_and_a_rho_is_still_usable():
    book = Book(CAPS)
    place = book.reserve(ZeroConcentrated(rho="1/100"))
    spend_by_others(book, [Pure(epsilon="2.2")])
    assert [one.title for one in book.account.filter_of().alive] == ["tight"]
    use(book, place, ZeroConcentrated(rho="1/200"))
    use(book, place, ZeroConcentrated(rho="1/200"))
    held = book.account.filter_of()
    book.settle(place)
    assert book.account.filter_of().alive[0] == held.alive[0]  # a part of a rho counts as all of it here


@pytest.mark.parametrize(
    "event",
    [
        Gaussian(noise_multiplier=4),
        PoissonSampled(Gaussian(noise_multiplier=1), rate="1/50") * 30,
        DiscreteLaplace(sensitivity=1, scale=20) * 7,
        Pure(epsilon="1/100") * 40 + Approximate(epsilon="1/10", delta="1e-7"),
        PoissonSampled(Approximate(epsilon="1/2", delta="1e-6"), rate="1/3"),
    ],
)
def test_noise_of_any_kind_leaves_the_rest_of_the_numbers_usable(event):
    book = Book(CAPS)
    place = book.reserve(Approximate(epsilon=2, delta="3e-6"))
    before = book.account.reserved[place]
    price = before.price(event)
    epsilon, delta = price.epsilon, getattr(price, "delta", Fraction(0))
    use(book, place, event)
    book.charge(Pure(epsilon="0.9"))  # after which one way of counting is left
    use(book, place, Approximate(epsilon=2 - epsilon, delta=Fraction("3e-6") - delta))
    with pytest.raises(BudgetExceeded, match="does not cover"):
        use(book, place, Pure(epsilon="1e-9"))


HEAVY = PoissonSampled(Gaussian(noise_multiplier="0.6"), rate="1/10000") * 30
"""A run of epsilon 0.12 at a delta of 2.5e-7, of divergence 60 at the order of the budget."""


def with_normal_noise_of_others():
    """A reservation of (1, 1e-6), and so much normal noise of others that only an order counts on."""
    book = Book(CAPS)
    place = book.reserve(Approximate(epsilon=1, delta="1e-6"))
    spend_by_others(book, [Gaussian(noise_multiplier=25)] * 100)
    assert [one.title for one in book.account.filter_of().alive] == ["Rényi"]
    return book, place


def test_a_use_counts_as_its_numbers_where_a_way_of_counting_has_more_for_it(monkeypatch):
    book, place = with_normal_noise_of_others()
    use(book, place, HEAVY)
    price = Reservation(analyst="", event=Approximate(epsilon=1, delta="1e-6")).price(HEAVY)
    assert book.account.reserved[place].counted == (price,)
    assert book.account.reserved[place].used == (HEAVY,)
    use(book, place, Approximate(epsilon=1 - price.epsilon, delta=Fraction("1e-6") - price.delta))
    book, place = with_normal_noise_of_others()
    monkeypatch.setattr(Account, "counted_as", lambda self, reservation, event: event)  # the planted bug
    with pytest.raises(BudgetExceeded, match="does not cover"):
        use(book, place, HEAVY)


def test_a_use_counts_as_itself_where_no_way_of_counting_has_more_for_it():
    laplace = DiscreteLaplace(sensitivity=3, scale=20)
    for reserved in (Pure(epsilon=1), Approximate(epsilon=1, delta="1e-6")):
        held = Reservation(analyst="", event=reserved)
        assert Book(CAPS).account.counted_as(held, laplace) == laplace


STEP = Gaussian(noise_multiplier=8)


def test_a_run_counts_from_its_first_step_and_no_step_counts_twice():
    held = Reservation(analyst="", event=Approximate(epsilon=2, delta="1e-6"))
    price = Approximate(epsilon=1, delta="1e-6")
    one = held.with_step(STEP, run=STEP * 3, counted=price)
    two = one.with_step(STEP, run=STEP * 3, counted=price, first=0)
    assert one.counted == (price,)
    assert two.counted == (price,)
    assert two.used == (STEP, STEP)
    assert two.spent == STEP * 2
    assert not two.is_ended(two.runs[0])
    three = two.with_step(STEP, run=STEP * 3, counted=price, first=0)
    assert three.is_ended(three.runs[0])
    for wrong in (
        lambda: three.with_step(STEP, run=STEP * 3, counted=price, first=0),
        lambda: held.with_step(Gaussian(noise_multiplier=7), run=STEP * 3, counted=price),
    ):
        with pytest.raises(BudgetExceeded, match="does not have this step"):
            wrong()


def test_entries_of_steps_are_read_as_they_were_written():
    book = Book(CAPS)
    place = book.reserve(Approximate(epsilon=1, delta="1e-6"))
    price = Approximate(epsilon=1, delta="1e-6")
    after = book.account.reserved[place].with_step(STEP, run=STEP * 2, counted=price)
    assert last_use(after) == {
        "event": STEP.to_object(),
        "run": (STEP * 2).to_object(),
        "counted": price.to_object(),
    }
    book.add(USE, "2026-03-05", reservation=place, **last_use(after))
    again = after.with_step(STEP, run=STEP * 2, counted=price, first=0)
    assert last_use(again) == {"event": STEP.to_object(), "run": 0}
    book.add(USE, "2026-03-05", reservation=place, **last_use(again))
    assert book.account.reserved[place] == again
    assert again.counted == (price,)
    with pytest.raises(BudgetExceeded, match="does not have this step"):
        book.add(USE, "2026-03-05", reservation=place, event=STEP.to_object(), run=0)
    with pytest.raises(LedgerTampered):
        book.add(USE, "2026-03-05", reservation=place, event=STEP.to_object(), run=1)
    more = Approximate(epsilon="1.1", delta="1e-6").to_object()
    with pytest.raises(BudgetExceeded, match="does not cover"):
        book.add(USE, "2026-03-05", reservation=place, event=STEP.to_object(), counted=more)
