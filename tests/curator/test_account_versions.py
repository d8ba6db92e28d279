"""What one version admitted, every version reads: bounds differ by a little, and caps are held."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from curator.accounts import Book
from discreet.accounting.filters import base as filters
from discreet.accounting.filters import tight as tight_filter
from discreet.accounting.filters.cost import cost_of, pure_rate
from discreet.accounting.filters.renyi import RenyiRate
from discreet.accounting.filters.tight import tight_cost
from discreet.curator import Budget
from discreet.errors import BudgetExceeded
from discreet.privacy.events import Approximate, Gaussian, Laplace, Pure, ZeroConcentrated
from effort import sizes

DRIFT = Fraction(1, 140)
"""Two versions differ by less than 1/64 then."""
EVENTS = [
    Pure(epsilon="1/10"),
    Pure(epsilon="1/3"),
    ZeroConcentrated(rho="1/100"),
    ZeroConcentrated(rho="1/30"),
    Gaussian(noise_multiplier=5),
    Gaussian(noise_multiplier=8),
    Gaussian(noise_multiplier=8) * 4,
    Approximate(epsilon="1/4", delta="1e-8"),
    Laplace(epsilon="1/20"),
    Laplace(epsilon="1/20") * 40,
]


def of_a_single_order():
    """A budget as ledgers recorded it before there were members."""
    body = dict(Budget(epsilon=2, delta="1e-6").to_body())
    del body["members"]
    return Budget.from_body({**body, "renyi": ["10", "1"]})


def become(monkeypatch, version):
    """Take the bounds of another version: each price that is not exact differs by a factor of its own."""

    def factor(event, way):
        draw = random.Random(f"{version} {event!r} {way}").randint(-1000, 1000)
        return 1 + DRIFT * Fraction(draw, 1000)

    def priced(event, rate, width):
        found = cost_of(event, rate, width)
        if not isinstance(rate, RenyiRate):
            return found
        by = factor(event, rate.orders)
        return *(None if one is None else one * by for one in found[:-1]), found[-1]

    def tight(event, epsilon, delta):
        found = tight_cost(event, epsilon, delta)
        if found == cost_of(event, pure_rate, 2):
            return found
        return tuple(None if one is None else one * factor(event, "tight") for one in found)

    monkeypatch.setattr(filters, "cost_of", priced)
    monkeypatch.setattr(tight_filter, "tight_cost", tight)


def admitted(budget, seed):
    """Charge, reserve, use and settle at random, as far as this version admits it; return the entries."""
    draws, book, written = random.Random(seed), Book(budget), []
    for _ in range(40):
        event, analyst = draws.choice(EVENTS), draws.choice("ab")
        places = list(book.account.reserved)
        step = draws.choice(["charge", "charge", "reserve", *["use", "use", "settle"][: 3 * bool(places)]])
        try:
            if step in ("charge", "reserve"):
                book.account.check(analyst, event)
                line = (step, (event,), {"analyst": analyst})
            else:
                place = draws.choice(places)
                held = book.account.reserved[place]
                if step == "use":
                    book.account.check_covered(held.with_use(event))
                line = (step, (place, event) if step == "use" else (place,), {})
        except BudgetExceeded:
            continue
        getattr(book, line[0])(*line[1], **line[2])
        written.append(line)
    return written


@pytest.mark.parametrize(
    "budget",
    [
        Budget(epsilon=1, delta="1e-6"),
        Budget(epsilon=2, delta="1e-6", per_analyst=Budget(epsilon=1, delta="1e-7")),
        of_a_single_order(),
    ],
    ids=["union", "shares", "single order"],
)
@pytest.mark.parametrize("seeds", sizes(range(8), range(8, 40)))
def test_what_one_version_admitted_every_version_reads(budget, seeds, monkeypatch):
    for seed in seeds:
        become(monkeypatch, f"{seed} then")
        written = admitted(budget, seed)
        become(monkeypatch, f"{seed} now")
        book = Book(budget)
        for step, places, names in written:
            getattr(book, step)(*places, **names)
        book.amend(budget)  # tables may be amended, whatever bounds say


def test_a_member_that_lacks_little_stays_beside_one_that_holds():
    """A later entry may have been admitted by the one that lacks little, and by no other."""
    budget = Budget(epsilon=1, delta="1e-6")
    order = budget.filter().alive[2]
    (limit, _), (size,) = order.limits.values(), order.orders
    normal, small = ZeroConcentrated(rho=limit * Fraction(1009, 1000) / size), ZeroConcentrated(rho="1e-5")
    book = Book(budget)
    assert [one.title for one in book.account.filter_of().spend(normal).alive] == ["tight"]
    book.charge(normal)
    for _ in range(10):
        book.charge(small)
    assert book.account.filter_of().members[2] is not None
    with pytest.raises(BudgetExceeded):  # nothing new by a member that is above its limit
        book.account.check("", small)


def test_what_was_used_by_slightly_lower_prices_is_read_and_not_written():
    reserved, used = ZeroConcentrated(rho="1/100"), ZeroConcentrated(rho="101/10000")
    book = Book(Budget(epsilon=3, delta="1e-6"))
    place = book.reserve(reserved)
    with pytest.raises(BudgetExceeded, match="does not cover"):
        book.account.check_covered(book.account.reserved[place].with_use(used))
    before = book.account.filter_of().alive[1].spent
    book.use(place, used)
    after = book.account.filter_of().alive[1].spent
    assert all(after[name] > before[name] for name in list(before)[:1])  # counted by what was used
    with pytest.raises(BudgetExceeded):
        book.use(place, ZeroConcentrated(rho="2/10000"))


def test_exact_prices_have_no_room():
    book = Book(Budget(epsilon=1))
    with pytest.raises(BudgetExceeded):
        book.charge(Pure(epsilon="1.001"))
    book = Book(Budget(rho="1/10"))
    place = book.reserve(ZeroConcentrated(rho="1/20"))
    with pytest.raises(BudgetExceeded):
        book.use(place, ZeroConcentrated(rho="0.0501"))
