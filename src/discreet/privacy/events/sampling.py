"""Events on a random part of the data, or on reports whose order is lost.

An adversary who does not know whether a unit was in the sample learns less about it. The
events here record how the sample was drawn, and what was released about it. They say nothing
about a loader that merely shuffles: that has another law, and no amplification is claimed for it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from discreet.errors import ParameterError
from discreet.privacy.directed import exp_interval, log_interval
from discreet.privacy.events.composition import MOST_DEPTH, Composed, Parallel, group
from discreet.privacy.events.event import Event, read_event, stored
from discreet.privacy.events.generic import Pure, ZeroConcentrated
from discreet.privacy.neighbors import Change, Neighbors
from discreet.privacy.rational import MOST_BITS, float_above, rational, show, whole

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from _typeshed import DataclassInstance

    from discreet.privacy.rational import Number

__all__ = ["PoissonSampled", "SampledWithReplacement", "SampledWithoutReplacement", "Shuffled"]

_MOST_EPSILON = 2000  # beyond it e^epsilon is out of reach, and amplification would gain nothing that matters


class _Wrapper(Event):
    """The shape that these events share: an inner event, given first, and how it was run."""

    __slots__ = ()
    inner: Event

    def _wrap(self, event: Event, change: Change, **values: object) -> None:
        if not isinstance(event, Event):
            raise ParameterError("event", "is no event", "an Event")
        relation = event.neighbors
        if relation is None or relation.change is not change:
            verb = "adds or removes" if change is Change.ADD_REMOVE else "replaces"
            raise ParameterError(
                "event",
                f"has a relation for which {type(self).__name__} says nothing",
                f"one that {verb} units",
            )
        if change is Change.REPLACE and relation.size > 1:
            raise ParameterError("event", "has a relation of several units", "under the relation of one unit")
        if _depth(event) >= MOST_DEPTH:
            raise ParameterError("event", "is nested too deeply", f"nested at most {MOST_DEPTH} deep")
        object.__setattr__(self, "inner", event)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def neighbors(self) -> Neighbors:
        """The relation of the inner event."""
        relation = self.inner.neighbors
        assert relation is not None  # noqa: S101 - checked when it was built
        return relation

    def _group(self, size: int) -> Event:
        relation = self.neighbors.group(size)
        if (epsilon := self.pure_epsilon) is not None:
            return Pure(epsilon=size * epsilon, neighbors=relation)
        if (rho := self.concentrated_rho) is not None:
            return ZeroConcentrated(rho=size**2 * rho, neighbors=relation)
        raise ParameterError(
            "event", "is sampled, with neither a pure epsilon nor a rho", "without such a part"
        )

    @classmethod
    def _from_object(cls, content: Mapping[str, object]) -> Self:
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
class PoissonSampled(_Wrapper):
    """A release about a sample into which every unit comes with probability `rate`, independently.

    The relation adds or removes a unit. (Were it replaced, the sample would change by a
    removal and an addition, of which an event under a replace relation says nothing.) For a
    relation of several units, `rate` is the probability that any of them is in the sample.

    Parameters
    ----------
    event : Event
        What was released about the sample, for whoever knows the sample.
    rate : number
        The probability of each unit, from 0 to 1.
    """

    inner: Event
    rate: Fraction

    def __init__(self, event: Event, /, *, rate: Number) -> None:
        exact = rational(rate, "rate")
        if not 0 <= exact <= 1:
            raise ParameterError("rate", "is out of range", "between 0 and 1")
        self._wrap(event, Change.ADD_REMOVE, rate=exact)

    @property
    def pure_epsilon(self) -> Fraction | None:
        """log(1 + rate (e^epsilon - 1)), rounded up, where the inner event has an epsilon."""
        return _amplified(self.inner.pure_epsilon, self.rate)

    @property
    def concentrated_rho(self) -> Fraction | None:
        """The inner event's, since a mixture is no easier to tell apart, or what the pure epsilon gives."""
        return _smaller_rho(self.pure_epsilon, self.inner.concentrated_rho)

    def _group(self, size: int) -> Event:
        # With probability (1 - rate)^size none of the units is in the sample; otherwise at most `size` are.
        if size * self.rate.denominator.bit_length() <= MOST_BITS:
            rate = 1 - (1 - self.rate) ** size
        else:
            rate = min(Fraction(1), Fraction(float_above(size * self.rate)))
        return PoissonSampled(group(self.inner, size), rate=rate)


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithoutReplacement(_Wrapper):
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
        return _amplified(self.inner.pure_epsilon, self.rate)

    @property
    def concentrated_rho(self) -> Fraction | None:
        """The inner event's, since a mixture is no easier to tell apart, or what the pure epsilon gives."""
        return _smaller_rho(self.pure_epsilon, self.inner.concentrated_rho)


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class SampledWithReplacement(_Wrapper):
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
        each = _amplified(self.inner.pure_epsilon, Fraction(1, self.population))
        return None if each is None else self.draws * each


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Shuffled(_Wrapper):
    """Local reports of several people, handed over in a random order and without names.

    Parameters
    ----------
    event : Event
        The report of one person: purely private, under a relation that replaces the person.
    people : int
        How many people report, at least 1; each report has at most the epsilon of `event`.
    """

    inner: Event
    people: int

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


def _amplified(epsilon: Fraction | None, rate: Fraction) -> Fraction | None:
    """Return log(1 + rate (e^epsilon - 1)), rounded up, and never above epsilon."""
    if epsilon is None or epsilon > _MOST_EPSILON or rate == 1:
        return epsilon
    excess = rate * (exp_interval(epsilon)[1] - 1)
    return min(epsilon, Fraction(float_above(log_interval(1 + excess)[1]))) if excess else Fraction(0)


def _smaller_rho(epsilon: Fraction | None, rho: Fraction | None) -> Fraction | None:
    known = [cost for cost in (rho, None if epsilon is None else epsilon**2 / 2) if cost is not None]
    return min(known, default=None)


def _depth(event: Event) -> int:
    if isinstance(event, _Wrapper):
        return 1 + _depth(event.inner)
    if isinstance(event, Composed | Parallel):
        return 1 + max((_depth(inner) for inner, _ in event.parts), default=0)
    return 0
