"""Events made of events: composition, parallel parts, and the rules for groups and post-processing."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.privacy.events.event import Event, read_event, stored
from discreet.privacy.events.generic import Pure, ZeroConcentrated
from discreet.privacy.neighbors import Change, Neighbors
from discreet.privacy.rational import whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Composed", "Nothing", "Parallel", "compose", "group", "post_process", "repeat"]

MOST_TIMES = 10**18
MOST_DEPTH = 50

Parts = tuple[tuple[Event, int], ...]


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Composed(Event):
    """Several releases on the same data, each allowed to depend on the answers before it.

    A multiset in canonical form: no part is itself composed, equal parts are counted, parts
    are sorted by their JSON. Equal compositions are therefore equal records, however they were
    added up. Built by ``+``, ``*`` and `compose`.

    Parameters
    ----------
    parts : pairs (event, times)
        None, or more than one event in all; one event run once is that event itself.
    """

    parts: Parts

    def __init__(self, *, parts: Iterable[tuple[Event, int]]) -> None:
        canonical = _flattened(parts)
        if sum(times for _, times in canonical) == 1:
            raise ParameterError("parts", "hold one event, run once", "none, or more; use the event itself")
        self._set(parts=canonical)

    @property
    def neighbors(self) -> Neighbors | None:
        """The relation that all parts share; None for the empty composition."""
        return self.parts[0][0].neighbors if self.parts else None

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The sum over the parts (basic composition), where each has one."""
        return _total((event.pure_epsilon, times) for event, times in self.parts)

    @property
    def concentrated_rho(self) -> Fraction | None:
        """The sum over the parts, where each has one."""
        return _total((event.concentrated_rho, times) for event, times in self.parts)

    def _group(self, size: int) -> Event:
        return _composition((event._group(size), times) for event, times in self.parts)

    @classmethod
    def _from_fields(cls, content: Mapping[str, object]) -> Event:
        return _composition(_read_parts(content["parts"], "Composed.parts"))

    def __repr__(self) -> str:
        terms = (f"{event!r}" if times == 1 else f"{event!r} * {times}" for event, times in self.parts)
        return " + ".join(terms) or "Nothing"


@stored
@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class Parallel(Event):
    """Releases on disjoint parts of the data, where public rules put each unit into one part.

    The part of a unit depends on that unit and public facts alone, among them answers given before; in
    another release, even an equal one, it may be another part. Each part's event must hold for
    anything that the relation can do to that part: under add/remove, one unit comes or goes;
    under replace, one unit comes, goes or changes. Under add/remove one part is touched; under
    replace a unit may leave one part for another, and two are.

    A canonical multiset like `Composed`; parts of parts are parts, and parts that release nothing
    are left out.

    Parameters
    ----------
    *parts : Event
        One event for each part of the data; at least one releases something.
    """

    parts: Parts

    def __init__(self, *parts: Event) -> None:
        self._set(parts=_side_by_side((event, 1) for event in parts))

    @property
    def neighbors(self) -> Neighbors:
        """The relation that all parts share."""
        relation = self.parts[0][0].neighbors
        assert relation is not None  # noqa: S101 - parts that release nothing were left out
        return relation

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The largest of the parts' under add/remove; the sum of the two largest under replace."""
        return self._costliest([(event.pure_epsilon, times) for event, times in self.parts])

    @property
    def concentrated_rho(self) -> Fraction | None:
        """The largest of the parts' under add/remove; the sum of the two largest under replace."""
        return self._costliest([(event.concentrated_rho, times) for event, times in self.parts])

    def _costliest(self, costs: list[tuple[Fraction | None, int]]) -> Fraction | None:
        # A relation of several units may touch a part, or two, for each of them.
        touched = (1 if self.neighbors.change is Change.ADD_REMOVE else 2) * self.neighbors.size
        total = Fraction(0)
        for cost, times in sorted(costs, key=lambda pair: -1 if pair[0] is None else pair[0], reverse=True):
            if cost is None:
                return None
            total += cost * min(times, touched)
            touched -= min(times, touched)
        return total

    def _group(self, size: int) -> Event:
        relation = self.neighbors.group(size)
        if (epsilon := self.pure_epsilon) is not None:
            return Pure(epsilon=size * epsilon, neighbors=relation)
        if (rho := self.concentrated_rho) is not None:
            return ZeroConcentrated(rho=size**2 * rho, neighbors=relation)
        raise ParameterError(
            "event", "has a parallel part with neither a pure epsilon nor a rho", "without such a part"
        )

    @classmethod
    def _from_fields(cls, content: Mapping[str, object]) -> Event:
        return cls._made(parts=_side_by_side(_read_parts(content["parts"], "Parallel.parts")))

    def __repr__(self) -> str:
        shown = [f"{event!r}" + (f", … {times} alike" if times > 1 else "") for event, times in self.parts]
        return f"Parallel({', '.join(shown)})"


def compose(events: Iterable[Event]) -> Event:
    """Return the composition of events: faster than adding them one by one, and equal."""
    return _composition((event, 1) for event in events)


def added(one: Event, other: Event) -> Event:
    """Return the composition of two events, which is what ``one + other`` means.

    An event joins a canonical sum at the one place where its JSON belongs, so that a sum of n terms is
    built in n log n looks at terms.
    """
    for total, event in ((one, other), (other, one)):
        if isinstance(total, Composed) and total.parts and not isinstance(event, Composed):
            return _joined(total, event) or _composition([(one, 1), (other, 1)])
    return _composition([(one, 1), (other, 1)])


def _joined(total: Composed, event: Event) -> Event | None:
    """Return a sum with one more event; None if the rules of sums have something to refuse."""
    if event.neighbors != total.neighbors or _depth(event) >= MOST_DEPTH:
        return None
    parts = total.parts
    place = bisect_left(parts, event.to_json(), key=lambda part: part[0].to_json())
    times, after = 1, place
    if place < len(parts) and parts[place][0] == event:
        times, after = parts[place][1] + 1, place + 1
    if times > MOST_TIMES:
        return None
    return Composed._made(parts=(*parts[:place], (event, times), *parts[after:]))


def repeat(event: Event, times: int) -> Event:
    """Return the composition of `times` runs of an event, which is what ``event * times`` means."""
    return _composition([(event, whole(times, "times", least=0, most=MOST_TIMES))])


def group(event: Event, size: int) -> Event:
    """Return the event that a group of `size` units faces (group privacy).

    Guarantee
    ---------
    Every bound that holds for the result, under its relation, holds for the release that `event`
    records and tables that differ in up to `size` units.

    - Added noise moves `size` times as far: the sensitivity (Laplace: epsilon; Gaussian: the
      reciprocal of the noise multiplier) is multiplied.
    - A pure epsilon is multiplied; an (epsilon, delta), a rho and a Rényi curve follow
      `privacy.grouping`; the bounded range of an exponential choice is multiplied.
    - Samples and random contributions keep what one unit faces: `Grouped`.
    - A composition is composed of its parts' groups: each part's bound holds for every pair of
      tables at that distance, and composition never uses what the relation is.
    - Parallel parts: the group may sit in one part or in many, so no part's own law
      dominates. But the parts together are one release with a pure epsilon (or a rho): the
      largest under add/remove, the two largest together under replace. Group privacy of
      that release gives `size` epsilon (or `size`^2 rho). Parts without either are refused.

    Parameters
    ----------
    event : Event
        What was released, under the relation of one unit.
    size : int
        How many units, at least 1.

    Returns
    -------
    Event
        Under the relation ``event.neighbors.group(size)``, so that it cannot be mixed with
        events about one unit.
    """
    if not isinstance(event, Event):
        raise ParameterError("event", "is not an event", "an Event")
    size = whole(size, "size", least=1)
    return event if size == 1 else event._group(size)


def post_process(event: Event) -> Event:
    """Return the event of anything computed from a release alone: the release's own.

    If M satisfies a guarantee and f is any function, random or not, that does not read the
    data, then f(M(x)) satisfies the same guarantee. For f a function,
    P(f(M(x)) ∈ S) = P(M(x) ∈ f⁻¹(S)), a probability that the guarantee of M bounds already; a
    random f is a mixture of functions, drawn ahead of the data. Rényi divergences do not grow
    by the data-processing inequality. Computing from releases spends nothing.

    Parameters
    ----------
    event : Event
        The event of the release.

    Returns
    -------
    Event
        The same event.
    """
    if not isinstance(event, Event):
        raise ParameterError("event", "is not an event", "an Event")
    return event


def _composition(parts: Iterable[tuple[Event, int]]) -> Event:
    canonical = _flattened(parts)
    if len(canonical) == 1 and canonical[0][1] == 1:
        return canonical[0][0]
    return Composed._made(parts=canonical)


def _flattened(parts: Iterable[tuple[Event, int]]) -> Parts:
    flat: list[tuple[Event, int]] = []
    for event, times in parts:
        if isinstance(event, Composed):
            flat.extend((inner, count * times) for inner, count in event.parts)
        else:
            flat.append((event, times))
    return _counted(flat)


def _side_by_side(parts: Iterable[tuple[Event, int]]) -> Parts:
    """Return the canonical parts of a `Parallel`."""
    flat: list[tuple[Event, int]] = []
    for event, times in parts:
        if isinstance(event, Parallel):
            flat.extend((inner, count * times) for inner, count in event.parts)
        else:
            flat.append((event, times))
    canonical = _counted((event, times) for event, times in flat if event != Nothing)
    if not canonical:
        raise ParameterError("parts", "release nothing", "events, at least one that releases something")
    return canonical


def _counted(parts: Iterable[tuple[Event, int]]) -> Parts:
    counts: Counter[Event] = Counter()
    for event, times in parts:
        if not isinstance(event, Event):
            raise ParameterError("parts", "hold something that is not an event", "events")
        if _depth(event) >= MOST_DEPTH:
            raise ParameterError("parts", "are nested too deeply", f"nested at most {MOST_DEPTH} deep")
        counts[event] += whole(times, "times", least=0)
    kept = {event: times for event, times in counts.items() if times}
    if any(times > MOST_TIMES for times in kept.values()):
        raise ParameterError("times", "is out of range", f"at most {MOST_TIMES} for each event")
    relations = sorted({str(event.neighbors) for event in kept})
    if len(relations) > 1:
        raise ParameterError(
            "neighbors",
            f"differ between parts ({', '.join(relations)}): relations do not mix",
            "the same in all; build every mechanism with the same neighbors",
        )
    return tuple(sorted(kept.items(), key=lambda part: part[0].to_json()))


def _depth(event: Event) -> int:
    if isinstance(event, Composed | Parallel):
        return 1 + max((_depth(inner) for inner, _ in event.parts), default=0)
    return 0


def _read_parts(content: object, name: str) -> list[tuple[Event, int]]:
    allowed = "a list of pairs [event, times]"
    if not isinstance(content, list):
        raise ParameterError(name, "is not a list", allowed)
    parts = []
    for pair in content:
        if not isinstance(pair, list) or len(pair) != 2:
            raise ParameterError(name, "holds something that is not a pair", allowed)
        parts.append((read_event(pair[0]), whole(pair[1], "times", least=1)))
    return parts


def _total(costs: Iterable[tuple[Fraction | None, int]]) -> Fraction | None:
    total = Fraction(0)
    for cost, times in costs:
        if cost is None:
            return None
        total += cost * times
    return total


Nothing = Composed(parts=())
"""The empty composition: nothing was released. It has no relation, and adds to any event."""
