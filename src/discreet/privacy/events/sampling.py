"""Events on a random part of the data, or on reports whose order is lost.

An adversary who does not know whether a unit was in the sample learns less about it. The
events here record how the sample was drawn, and what was released about it; each says in its
`assumption` what must be true of the drawing. Every run, and every step of a sum, draws again.

A loader that shuffles the table and cuts it into batches is none of these: each unit is in exactly one
batch of an epoch, and batches depend on one another. No amplification is claimed for it. With a public
number of units, one epoch touches a replaced unit in one batch only, so it costs what one step costs:
record ``step * epochs``, where `step` is the release about one batch, not sampled, under a
relation that replaces a unit (docs/proofs/sampling_amplification.md, proposition 4).
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, cast

from discreet.errors import ParameterError
from discreet.privacy.directed import exp_interval, log_interval
from discreet.privacy.events.composition import MOST_DEPTH, Composed, Parallel
from discreet.privacy.events.event import Event, read_event, stored
from discreet.privacy.events.grouped import Grouped
from discreet.privacy.neighbors import Change, Neighbors
from discreet.privacy.rational import float_above, probability, show, whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from _typeshed import DataclassInstance

    from discreet.privacy.rational import Number

__all__ = [
    "PoissonSampled",
    "SampledWithReplacement",
    "SampledWithoutReplacement",
    "Shuffled",
    "Wrapper",
    "amplified_epsilon",
    "sampling_assumption",
    "smaller_rho",
]

_MOST_EPSILON = 2000  # beyond it e^epsilon is out of reach, and amplification would gain nothing that matters


class Wrapper(Event):
    """The shape that these events share: an inner event, given first, and how it was run."""

    __slots__ = ()
    inner: Event
    assumption: ClassVar[str]
    """What must be true of the sampling or shuffling, in one sentence."""

    def _wrap(self, event: Event, change: Change, **values: object) -> None:
        if not isinstance(event, Event):
            raise ParameterError("event", "is not an event", "an Event")
        relation = event.neighbors
        if relation is None or relation.change is not change:
            verb = "adds or removes" if change is Change.ADD_REMOVE else "replaces"
            raise ParameterError(
                "event",
                f"has a relation for which {type(self).__name__} says nothing",
                f"one that {verb} units",
            )
        if relation.size > 1:
            raise ParameterError("event", "has a relation of several units", "under the relation of one unit")
        if _depth(event) >= MOST_DEPTH:
            raise ParameterError("event", "is nested too deeply", f"nested at most {MOST_DEPTH} deep")
        self._set(inner=event, **values)

    @property
    def neighbors(self) -> Neighbors:
        """The relation of the inner event."""
        relation = self.inner.neighbors
        assert relation is not None  # noqa: S101 - checked when it was built
        return relation

    def _group(self, size: int) -> Event:
        return Grouped(self, size=size)

    @classmethod
    def _from_fields(cls, content: Mapping[str, object]) -> Self:
        values = dict(content)
        return cls(read_event(values.pop("inner")), **values)  # type: ignore[call-arg]

    def __repr__(self) -> str:
        shown = [repr(self.inner)]
        for field in fields(cast("DataclassInstance", self))[1:]:
            value = getattr(self, field.name)
            shown.append(f"{field.name}={show(value) if isinstance(value, Fraction) else value}")
        return f"{type(self).__name__}({', '.join(shown)})"


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class PoissonSampled(Wrapper):
    """A release about a sample into which every unit comes with probability `rate`, independently.

    The relation adds or removes one unit. (Were it replaced, the sample would change by a
    removal and an addition, of which an event under a replace relation says nothing. Of several units
    some may come and others go, which neither direction of a sampled pair covers.)

    Parameters
    ----------
    event : Event
        What was released about the sample, for someone who knows the sample.
    rate : number
        The probability of each unit, from 0 to 1.
    """

    inner: Event
    rate: Fraction
    assumption: ClassVar[str] = (
        "Poisson sampling: at every step each unit is in the sample with the recorded rate, "
        "independently of all other units and of all other steps"
    )

    def __init__(self, event: Event, /, *, rate: Number) -> None:
        self._wrap(event, Change.ADD_REMOVE, rate=probability(rate, "rate"))

    @property
    def pure_epsilon(self) -> Fraction | None:
        """log(1 + rate (e^epsilon - 1)), rounded up, where the inner event has an epsilon."""
        return amplified_epsilon(self.inner.pure_epsilon, self.rate)

    @property
    def concentrated_rho(self) -> Fraction | None:
        """The inner event's, since a mixture is no easier to tell apart, or what the pure epsilon gives."""
        return smaller_rho(self.pure_epsilon, self.inner.concentrated_rho)


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithoutReplacement(Wrapper):
    """A release about `batch` different units, all sets alike, of a public number `population`.

    Parameters
    ----------
    event : Event
        What was released about the batch, under a relation that replaces a unit.
    batch : int
        The size of the batch, from 0 to `population`.
    population : int
        The number of units, at least 1.
    """

    inner: Event
    batch: int
    population: int
    assumption: ClassVar[str] = (
        "samples of fixed size without replacement: at every step all sets of the recorded size are equally "
        "likely, independently of all other steps, and the number of units is public"
    )

    def __init__(self, event: Event, /, *, batch: int, population: int) -> None:
        units = whole(population, "population", least=1)
        self._wrap(event, Change.REPLACE, batch=whole(batch, "batch", least=0, most=units), population=units)

    @property
    def rate(self) -> Fraction:
        """The probability that a unit is in the batch."""
        return Fraction(self.batch, self.population)

    @property
    def pure_epsilon(self) -> Fraction | None:
        """log(1 + rate (e^epsilon - 1)), rounded up, where the inner event has an epsilon."""
        return amplified_epsilon(self.inner.pure_epsilon, self.rate)

    @property
    def concentrated_rho(self) -> Fraction | None:
        """The inner event's, since a mixture is no easier to tell apart, or what the pure epsilon gives."""
        return smaller_rho(self.pure_epsilon, self.inner.concentrated_rho)


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithReplacement(Wrapper):
    """A release about `draws` units, each drawn alike and independently: one may be drawn several times.

    Parameters
    ----------
    event : Event
        What was released about the drawn list, under a relation that replaces one entry of it.
    draws : int
        The length of the list, 0 or greater.
    population : int
        The number of units, at least 1.
    """

    inner: Event
    draws: int
    population: int
    assumption: ClassVar[str] = (
        "samples of fixed size with replacement: every draw of every step takes each unit with the same "
        "probability, independently of all other draws, and the number of units is public"
    )

    def __init__(self, event: Event, /, *, draws: int, population: int) -> None:
        self._wrap(
            event,
            Change.REPLACE,
            draws=whole(draws, "draws", least=0),
            population=whole(population, "population", least=1),
        )

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The sum over draws of log(1 + (e^epsilon - 1) / population), rounded up: each samples one unit."""
        each = amplified_epsilon(self.inner.pure_epsilon, Fraction(1, self.population))
        return None if each is None else self.draws * each


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Shuffled(Wrapper):
    """Local reports of several people, handed over in a random order and without names.

    All people use the same randomizer: reports that show whose they are hide no one.

    Parameters
    ----------
    event : Event
        The report of one person: purely private, under a relation that replaces the person.
    people : int
        How many people report, at least 1.
    """

    inner: Event
    people: int
    assumption: ClassVar[str] = (
        "an honest shuffler: all people report by the same randomizer, with coins of their own, and nothing "
        "is seen but the reports in a uniformly random order"
    )

    def __init__(self, event: Event, /, *, people: int) -> None:
        self._wrap(event, Change.REPLACE, people=whole(people, "people", least=1))
        if event.pure_epsilon is None:
            raise ParameterError("event", "has no pure epsilon", "a local report that is purely private")

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The report's own: shuffling is post-processing."""
        return self.inner.pure_epsilon

    @property
    def concentrated_rho(self) -> Fraction | None:
        """The report's own."""
        return self.inner.concentrated_rho


def sampling_assumption(event: Event) -> str:
    """Return what an event assume about sampling and shuffling; empty if nothing.

    Sums, parallel parts and samples assume what any event inside them does, each sentence once,
    joined by semicolons in alphabetical order.
    """
    if not isinstance(event, Event):
        raise ParameterError("event", "is not an event", "an Event")
    return "; ".join(sorted(_assumptions(event)))


def _assumptions(event: Event) -> set[str]:
    own = {text} if (text := getattr(event, "assumption", "")) else set()
    if isinstance(event, Wrapper | Grouped):
        return own | _assumptions(event.inner)
    if isinstance(event, Composed | Parallel):
        return own.union(*(_assumptions(part) for part, _ in event.parts))
    return own


def amplified_epsilon(epsilon: Fraction | None, rate: Fraction) -> Fraction | None:
    """Return log(1 + rate (e^epsilon - 1)), rounded up, and never above epsilon; None for None."""
    if epsilon is None or epsilon > _MOST_EPSILON or rate == 1:
        return epsilon
    excess = rate * (exp_interval(epsilon)[1] - 1)
    return min(epsilon, Fraction(float_above(log_interval(1 + excess)[1]))) if excess else Fraction(0)


def smaller_rho(epsilon: Fraction | None, rho: Fraction | None) -> Fraction | None:
    """Return the smaller of a rho and of what a pure epsilon gives, None where neither is known."""
    known = [cost for cost in (rho, None if epsilon is None else epsilon**2 / 2) if cost is not None]
    return min(known, default=None)


def _depth(event: Event) -> int:
    if isinstance(event, Wrapper | Grouped):
        return 1 + _depth(event.inner)
    if isinstance(event, Composed | Parallel):
        return 1 + max((_depth(inner) for inner, _ in event.parts), default=0)
    return 0
