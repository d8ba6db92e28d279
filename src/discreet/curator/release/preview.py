"""What a request would cost and how wrong its answer would be: from public facts, at no cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from html import escape

from discreet.accounting.filters import Odometer
from discreet.curator.budget.account import Account
from discreet.curator.budget.wording import Amount, amounts, largest
from discreet.curator.release.about import counted, counted_groups, with_stated_bounds
from discreet.curator.release.left_out import left_out
from discreet.curator.request.compound_request import CompoundRequest
from discreet.curator.request.counted_keys_request import CountedKeysRequest
from discreet.curator.request.fit_request import FitRequest
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.request import Expectation, Request
from discreet.curator.request.statistic_request import StatisticRequest
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import Table
from discreet.privacy.decimals import percent_above, percent_below, show_above, show_below
from discreet.privacy.events import Event, compose
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import float_above
from discreet.records import dataclass
from discreet.visible import visible

__all__ = ["MANY_GROUPS", "Preview", "about_many_groups", "including", "preview"]

MANY_GROUPS = 10_000
"""From how many groups on an answer is called long: more lines than anyone reads, most of them noise on 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyExpectation:
    """How many persons a key must have to be shown, where keys are chosen privately.

    Attributes
    ----------
    column : str
        The key.
    half, most : int
        A key with this many of them is shown with a probability of one half, and of 95 %.
    unit : str
        What is counted: persons, or rows.
    """

    column: str
    half: int
    most: int
    unit: str = "persons"

    def __str__(self) -> str:
        return (
            f"keys of {self.column} are chosen: shown with probability 50% at {self.half:,} {self.unit}, "
            f"95% at {self.most:,}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The cost of a request, the error to expect, and what is left.

    Attributes
    ----------
    event : Event
        What would be charged.
    costs : tuple of (name, cost, left, limit)
        What it takes of each limit of the cap (None if that cannot count its noise), what is left of it
        now, and the limit. If the cap counts in several ways: by the one that fits the most.
    left : Fraction
        The largest pure epsilon that a request may cost now.
    expectations : tuple of Expectation
        For every output, how wrong it will be.
    confidence : Fraction
        Of the intervals.
    fits : int
        How many such requests fit the budget now.
    answered : bool
        Whether it was answered before: then asking again costs nothing.
    keys : tuple of KeyExpectation
        The undeclared keys, which will be chosen.
    cap : str
        The cap that fits the fewest of them, in words: the budget, or the analyst's share of it.
    bought : tuple of str
        The limits and bounds that are bought first, in words; their cost is included.
    remark : str
        What else there is to say about how it is measured.
    counted : str
        At most how many rows of each person are counted, and within which bounds, in words.
    groups : str
        How many groups are answered, in words; empty where their keys are still to be chosen.
    """

    event: Event
    costs: tuple[Amount, ...]
    left: Fraction
    expectations: tuple[Expectation, ...]
    confidence: Fraction
    fits: int
    answered: bool
    keys: tuple[KeyExpectation, ...] = ()
    cap: str = "the budget"
    bought: tuple[str, ...] = ()
    remark: str = ""
    counted: str = ""
    groups: str = ""

    @property
    def epsilon(self) -> float | None:
        """The pure epsilon that it costs, rounded up; None if its noise has none."""
        pure = self.event.pure_epsilon
        return None if pure is None else float_above(pure)

    def __getitem__(self, name: str) -> Expectation:
        """Return what to expect of an output."""
        for expectation in self.expectations:
            if expectation.name == name:
                return expectation
        names = ", ".join(one.name for one in self.expectations)
        raise KeyError(f"there is no output {name!r}; the question has {names}")

    def __str__(self) -> str:
        level = f"{float(self.confidence):.0%}"
        lines = [f"{'output':<20} {'± at ' + level:>14} {'std. deviation':>15}"]
        for one in self.expectations:
            note = f"  ({one.note})" if one.note else ""
            lines.append(f"{one.name:<20} {one.margin:>14.6g} {one.standard_deviation:>15.6g}{note}")
        lines += [*filter(None, [self._about()]), *self.bought, *(str(one) for one in self.keys)]
        lines += [self.remark] if self.remark else []
        lines.append(self._price())
        return "\n".join(map(visible, lines))

    __repr__ = __str__

    def _about(self) -> str:
        return "; ".join(words for words in (self.groups, self.counted) if words)

    def _price(self) -> str:
        if self.answered:
            return "answered before: asking again costs nothing"
        asked = largest(self.costs)
        if asked is None:
            return f"{self.cap} cannot count this kind of noise: does not fit"
        name, cost, left, limit = asked
        if limit == 0 and name == "delta" and cost:
            return f"{self.cap} counts pure epsilon and has no delta to spend: does not fit"
        loss = _loss(self.event)
        charged = [_rest(*one) for one in self.costs if one[1]]
        if len(charged) > 1:
            # A share of one limit alone would say nothing about the others, of which more may be spent.
            return (
                f"costs {loss or 'a part'} of {self.cap}, of which {' and '.join(charged)} are left for such "
                f"requests: {_times(self.fits)}"
            )
        takes, rest = percent_above(cost, limit), percent_below(left, limit)
        return (
            f"costs {takes} of {self.cap}{f' ({loss})' if loss else ''}, of which {rest} is left "
            f"({_rest(*asked)}): {_times(self.fits)}"
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{_html(one.name)}</td><td>± {one.margin:.6g}</td><td>{_html(one.note)}</td></tr>"
            for one in self.expectations
        )
        said = "; ".join(words for words in (self._about(), self.remark, self._price()) if words)
        price = f"<caption>{_html(said)}</caption>"
        return f"<table>{price}<tr><th>output</th><th>error</th><th></th></tr>{rows}</table>"


def preview(
    request: Request
    | CountedKeysRequest
    | CompoundRequest
    | StatisticRequest
    | TabulatedRequest
    | FitRequest,
    account: Account,
    analyst: str,
    rows: int,
    tables: Mapping[str, Table],
    *,
    answered: bool,
    chosen: Sequence[KeyRequest] = (),
) -> Preview:
    """Return what a request would cost an analyst and how wrong its answer would be.

    Parameters
    ----------
    request : Request
        What would be asked.
    account : Account
        What was spent so far.
    analyst : str
        Who would ask.
    rows : int
        A hypothetical number of rows in a group, for outputs whose error depends on it.
    tables : mapping
        The declared tables.
    answered : bool
        Whether there is an answer already.
    chosen : sequence of KeyRequest
        How its keys are chosen first.
    """
    parts = [*(one.event for one in chosen), request.event]
    costs, fewest, cap = _price_of(parts, account, analyst)
    return Preview(
        event=compose(parts),
        cap=cap,
        costs=costs,
        left=account.largest_epsilon(analyst),
        expectations=request.expectations(rows),
        confidence=request.confidence,
        fits=fewest,
        answered=answered,
        remark="; ".join([*filter(None, [_remark(request)]), *left_out(request, tables)]),
        counted=with_stated_bounds(counted(request, tables), request),
        groups="" if chosen else counted_groups(request),
        keys=tuple(
            KeyExpectation(
                column=one.plan.column,
                half=one.mechanism.size_for(0.5),
                most=one.mechanism.size_for(0.95),
                unit="rows" if isinstance(one, CountedKeysRequest) and one.plan.rows > 1 else "persons",
            )
            for one in (*chosen, *([request] if isinstance(request, CountedKeysRequest) else ()))
        ),
    )


def including(
    found: Preview,
    events: Sequence[Event],
    words: Sequence[str],
    account: Account,
    analyst: str,
    *,
    answered: bool,
) -> Preview:
    """Return the preview of a question together with what is bought for it first."""
    parts = [*events, found.event]
    costs, fewest, cap = _price_of(parts, account, analyst)
    return replace(
        found,
        event=compose(parts),
        costs=costs,
        fits=fewest,
        cap=cap,
        answered=answered,
        bought=tuple(words),
    )


def _price_of(parts: Sequence[Event], account: Account, analyst: str) -> tuple[tuple[Amount, ...], int, str]:
    """Return what events cost together, how often they fit, and the cap that they fit the fewest times."""
    fits = [(current.remaining(*parts), words, current) for words, current in account.filters(analyst)]
    fewest, cap, current = min(fits, key=lambda one: one[0])
    return amounts(current, *parts), fewest, cap


def _remark(
    request: Request
    | CountedKeysRequest
    | CompoundRequest
    | StatisticRequest
    | TabulatedRequest
    | FitRequest,
) -> str:
    if isinstance(request, TabulatedRequest):
        return request.remark
    if isinstance(request, CountedKeysRequest | StatisticRequest):
        return ""
    groups = about_many_groups(request.plan.cells if isinstance(request, Request) else 0)
    return "; ".join(words for words in (request.remark, groups) if words)


def about_many_groups(groups: int) -> str:
    """Say what an answer of many groups means, and what helps; nothing if there are not many."""
    if groups <= MANY_GROUPS:
        return ""
    return (
        f"{groups:,} groups are answered, empty ones too, each with this noise; where only counts are asked, "
        "keys='chosen' with an offer of delta shows only groups that enough persons have; or narrow the keys "
        "by conditions, or group by fewer columns"
    )


def _loss(event: Event) -> str:
    """Return the loss of an event by itself: its epsilon, or else its rho, with the delta; empty without."""
    alone = Odometer(neighbors=event.neighbors or ADD_REMOVE_PERSON).add(event)
    first = ("rho", alone.rho) if alone.epsilon is None else ("epsilon", alone.epsilon)
    named: list[tuple[str, Fraction | None]] = [first, ("delta", alone.delta or None)]
    return " and ".join(f"{name} {show_above(value)}" for name, value in named if value is not None)


def _rest(name: str, cost: Fraction | None, left: Fraction, limit: Fraction) -> str:
    """Say how much is left of a limit, in its own measure: another one would tell another share."""
    del cost
    return f"{show_below(left)} of {show_below(limit)} in {name}"


def _html(text: str) -> str:
    return escape(visible(text))


def _times(count: int) -> str:
    return {0: "does not fit", 1: "fits once"}.get(count, f"fits {count:,} times")
