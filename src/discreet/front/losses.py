"""What a curator's own answers revealed about each person: for the owner alone, or bought as noisy counts.

Budgets promise what holds for the worst person in the worst data. The owner may ask what the answers at hand
revealed about the persons who are there: every answer whose plan can be computed again is charged to a person
with the shift that they caused, everything else in full (docs/proofs/per_instance.md, propositions 5 and 7).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.curator import Release, Request
from discreet.curator.budget.entries import CHARGE, RESERVE, SETTLE, USE
from discreet.curator.request.compound_request import CompoundRequest
from discreet.data import Table
from discreet.data.person_shifts import Shift, person_shifts
from discreet.errors import ParameterError
from discreet.front.alike import MOST_GROUPS, OwnShifts, charged_alike, moved_event
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.events import Event, compose
from discreet.privacy.rational import Number, probability, rational, show
from discreet.records import dataclass

if TYPE_CHECKING:
    from discreet.array_types import Floats
    from discreet.front.curator import Curator
    from discreet.stability.per_instance import PerInstanceReport

__all__ = ["Revealed", "RevealedCounts", "count_revealed", "revealed"]

_WARNING = "EXACT LOSSES, FOR THE OWNER ALONE: they are not protected; show them to no analyst"
_ALIKE = ", a bound for persons who moved about as much"
_COARSE_BITS = 5


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Revealed:
    """The privacy loss of each person by all answers of a ledger. Private: only for the owner.

    Attributes
    ----------
    losses : mapping of persons to floats
        The epsilon of each person whose rows an answer read, rounded up; private.
    others : float
        That of everyone else: what was charged without its answer being given here.
    promised : float
        What the ledger charged, which holds for everyone in any data; public.
    delta : Fraction
        At which all of these hold; public.
    exact : bool
        Whether each person's own shift was worked out. With more than 64 different contributions,
        persons who moved about as much share the loss of the most that any of them moved: a bound for each.
    """

    losses: Mapping[Hashable, float] = field(repr=False)
    others: float
    promised: float
    delta: Fraction
    exact: bool = True

    def of(self, person: Hashable) -> float:
        """Return the epsilon of one person."""
        return self.losses.get(person, self.others)

    @property
    def largest(self) -> float:
        """The largest epsilon of any person who is there. Private, as all losses are."""
        return max(self.losses.values(), default=self.others)

    def report(self) -> PerInstanceReport:
        """Return the losses without names, to be drawn as a histogram."""
        from discreet.stability.per_instance import PerInstanceReport

        return PerInstanceReport(losses=np.array([*self.losses.values()], dtype=float), delta=self.delta)

    def __str__(self) -> str:
        found = np.sort([*self.losses.values()] or [self.others])
        middle = float(found[len(found) // 2])
        return "\n".join(
            [
                _WARNING,
                f"{len(self.losses):,} persons are in what was asked; epsilon at delta {show(self.delta)}"
                f"{'' if self.exact else _ALIKE}:",
                f"  at most {self.largest:.6g}, for the middle one {middle:.6g}, least {float(found[0]):.6g}",
                f"  promised to everyone {self.promised:.6g}; to who has no row there {self.others:.6g}",
            ]
        )

    def __repr__(self) -> str:
        return f"Revealed(private, for the owner alone, delta={show(self.delta)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealedCounts:
    """How many persons lost how much, with noise. Public.

    Attributes
    ----------
    edges : tuple of floats
        Bin i holds losses above edges[i - 1] and up to edges[i]; the last bin all that is above.
    counts : tuple of ints
        The noisy number of persons in each bin.
    margin : float
        How far each count is from the exact one, with probability 0.95.
    delta : Fraction
        Of the losses.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    margin: float
    delta: Fraction


def revealed(curator: Curator, releases: Sequence[Release], *, delta: Number = 0) -> Revealed:
    """Return what the ledger's answers revealed about each person: for the owner alone.

    Nothing is charged and nothing recorded; no analyst may see it. For each answer that is given, the plan is
    computed again, and what removing each person would move goes through the law of the noise. Whatever
    else the ledger charged counts in full: answers that are not given, chosen keys, joins, tables of counts
    measured by a strategy, distinct values, and rows that the limits may have cut. With more than 64
    different contributions, persons who moved about as much share a bound, which holds for each.

    Parameters
    ----------
    releases : sequence of Release
        Answers of this ledger, about the tables as they are.
    delta : number
        At which epsilons are stated, from 0 to below 1. At 0, normal noise has none.
    """
    failure = probability(delta, "delta", one=False)
    _check_names(curator)
    people, noises, rest, whole = _moves(curator, releases)
    loss = _priced(failure)
    promised = loss(whole)
    own = charged_alike(people, noises)
    return Revealed(
        losses={person: min(loss(event + rest), promised) for person, event in own.items()},
        others=loss(rest),
        promised=promised,
        delta=failure,
        exact=len(set(people.values())) <= MOST_GROUPS,
    )


def count_revealed(
    curator: Curator,
    releases: Sequence[Release],
    *,
    edges: Sequence[Number],
    epsilon: Number,
    delta: Number = 0,
    analyst: str = "",
) -> RevealedCounts:
    """Spend on how many persons lost how much. The answer is public.

    Each person is in one bin, by a loss that depends on their own rows alone, so that one person more or less
    moves one count by 1: epsilon-private with Laplace noise of scale 1 / epsilon.

    Parameters
    ----------
    releases : sequence of Release
        As for `revealed`.
    edges : sequence of numbers
        The upper ends of the bins, increasing; the last bin is what lies above. Public: not from the data.
    epsilon : number
        What to spend.
    delta : number
        At which losses are stated. Shifts are rounded up to five binary digits first.
    analyst : str
        Who pays.
    """
    ends = [rational(edge, "edges") for edge in edges]
    if not ends or sorted(set(ends)) != ends:
        raise ParameterError("edges", "do not increase", "the upper ends of bins, one after the other")
    failure = probability(delta, "delta", one=False)
    _check_names(curator)
    mechanism = Laplace(sensitivity=1, epsilon=epsilon, size=len(ends) + 1)
    with curator.permit("how many persons lost how much", mechanism.event, analyst=analyst) as permit:
        permit.charge(mechanism.event)
        ups = [float(end) for end in ends]
        counts = mechanism.release(_binned(curator, releases, ups, failure, besides=permit._place))
    return RevealedCounts(
        edges=tuple(map(float, ends)),
        counts=tuple(int(one) for one in np.asarray(counts)),
        margin=mechanism.error.quantile(0.95),
        delta=failure,
    )


def _check_names(curator: Curator) -> None:
    """Refuse tables whose persons have names of several types: one person would be two, 7 and "7"."""
    named = [one for one in curator.tables.values() if isinstance(one, Table) and isinstance(one.person, str)]
    if len({one.schema[one.person] for one in named}) > 1:  # type: ignore[index]
        raise ParameterError(
            "tables", "name persons by values of different types", "tables whose persons are of one type"
        )


def _binned(
    curator: Curator, releases: Sequence[Release], edges: Sequence[float], delta: Fraction, *, besides: int
) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    people, noises, rest, _ = _moves(curator, releases, besides=besides)
    loss = _priced(delta)
    events = [moved_event(_rounded_up(moves), noises) for moves in people.values()]
    losses: Floats = np.array([loss(event + rest) for event in events], dtype=float)
    places = np.searchsorted(edges, losses, side="left")
    return np.bincount(places, minlength=len(edges) + 1).astype(np.int64)


def _moves(
    curator: Curator, releases: Sequence[Release], *, besides: int | None = None
) -> tuple[dict[Hashable, OwnShifts], list[Event], Event, Event]:
    """Return what each person moved in the answers that are given, and by which noises they are hidden.

    With it, what counts in full for everyone, and all that was charged. The reservation of entry `besides` is
    left out: it pays for what is being computed.
    """
    charged, other = _charges(curator, besides)
    given: dict[int, Release] = {}
    for release in releases:
        place = _entry(release)
        if charged.get(place) != release.request.event:
            raise ParameterError(
                "releases", "hold an answer that this ledger did not charge", "its own answers"
            )
        given[place] = release
    whole = compose([*charged.values(), *other])
    people: dict[Hashable, OwnShifts] = {}
    noises: list[Event] = []
    full = [event for place, event in charged.items() if place not in given] + other
    for release in given.values():
        request = release.request
        if not isinstance(request, Request | CompoundRequest):
            full.append(request.event)
            continue
        for one in request.requests:
            shifts = _shifts_of(one, curator)
            if shifts is None:
                full.append(one.event)
                continue
            places = range(len(noises), len(noises) + len(one.parts))
            noises += [part.mechanism.event for part in one.parts]
            known = [isinstance(part.mechanism, Laplace | Gaussian) for part in one.parts]
            for person, moved in shifts.items():
                own = (shift if is_known else None for shift, is_known in zip(moved, known, strict=True))
                people[person] = (*people.get(person, ()), *zip(places, own, strict=True))
    return people, noises, compose(full), whole


def _priced(delta: Fraction) -> Callable[[Event], float]:
    """Return what an event costs; every curator has this file, and few need the accountant."""
    from discreet.accounting import epsilon

    return lru_cache(maxsize=None)(lambda event: epsilon(event, delta=delta).upper)


def _shifts_of(request: Request, curator: Curator) -> Mapping[Hashable, tuple[Shift | None, ...]] | None:
    tables = curator.tables
    try:
        request.check(tables)
    except ParameterError:
        return None  # it was of other rows, or under other declarations
    found = person_shifts(request.plan, tables)
    return None if found is None else found.moved


def _rounded_up(moves: OwnShifts) -> OwnShifts:
    return tuple(
        (place, None if shift is None else tuple(_few_digits(step) for step in shift))
        for place, shift in moves
    )


def _few_digits(step: int) -> int:
    spare = max(step.bit_length() - _COARSE_BITS, 0)
    return -(-step >> spare) << spare


def _charges(curator: Curator, besides: int | None) -> tuple[dict[int, Event], list[Event]]:
    """Return what was charged for answers, by entry, and what permits used; open ones count in full."""
    charged: dict[int, Event] = {}
    reserved: dict[int, Event] = {}
    used: dict[int, list[Event]] = {}
    settled: set[int] = set()
    for entry in curator.ledger.entries():
        if entry.kind == CHARGE:
            charged[entry.sequence] = Event.from_object(entry.body["event"])
        elif entry.kind == RESERVE and entry.sequence != besides:
            reserved[entry.sequence] = Event.from_object(entry.body["event"])
        elif entry.kind == USE:
            used.setdefault(cast("int", entry.body["reservation"]), []).append(
                Event.from_object(entry.body["event"])
            )
        elif entry.kind == SETTLE:
            settled.add(cast("int", entry.body["reservation"]))
    other = [
        one
        for place, event in reserved.items()
        for one in (used.get(place, []) if place in settled else [event])
    ]
    return charged, other


def _entry(release: Release) -> int:
    charge = release.label.get("charge") if isinstance(release, Release) else None
    if not isinstance(charge, Mapping):
        raise ParameterError("releases", "hold what is not an answer", "answers of this ledger")
    return int(cast("int", charge["entry"]))
