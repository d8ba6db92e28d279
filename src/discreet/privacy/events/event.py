"""The base of all events: composition, JSON, and the promise that stored events stay readable.

An event records the law that was drawn, and nothing about what it cost. A ledger keeps
events; any accountant, today's or a later one, computes the cost from them.

The promise
-----------
A stored event stays readable, and keeps its meaning, forever:

- the name of an event and the name and meaning of its fields are never removed,
  renamed or re-interpreted; a new law gets a new name;
- a field that is added later has a default under which every stored event means what it
  meant, and is left out of the JSON while it has that default, so that the stored text
  (and any hash of it) is the canonical text still.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from discreet.errors import ParameterError
from discreet.privacy.neighbors import Neighbors, Related

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import DataclassInstance

__all__ = ["Event", "stored"]

_registry: dict[str, type[Event]] = {}

EventClass = TypeVar("EventClass", bound="type[Event]")


def stored(event_class: EventClass) -> EventClass:
    """Register an event class under its name, so that `Event.from_json` can read it back.

    The class is a dataclass whose fields are fractions, integers, None, a neighbor relation,
    or, in a class that reads them itself, other events.
    """
    name = event_class.__name__
    if name in _registry:
        raise ParameterError("event", f"is registered already under the name {name}", "a new name")
    _registry[name] = event_class
    return event_class


class Event(Related, ABC):
    """A frozen record of a law that was drawn.

    Events add up: ``a + b`` is the composition of both, ``a * 3`` runs a three times. The sum
    is a multiset: neither the order nor the grouping of terms matters. All events of a sum
    have the same neighbor relation. A mechanism that is added counts as one release: its event.
    """

    __slots__ = ()
    __array_ufunc__ = None  # so that a NumPy integer times an event is left to the event

    @property
    @abstractmethod
    def neighbors(self) -> Neighbors | None:
        """The relation for which the record holds; None only where nothing was released."""

    @property
    def pure_epsilon(self) -> Fraction | None:
        """An epsilon for which the event is purely differentially private; None if none is known."""
        return None

    @property
    def concentrated_rho(self) -> Fraction | None:
        """A rho for which the event is zero-concentrated private; None if none is known.

        A pure epsilon gives rho = epsilon^2 / 2 (Bun & Steinke 2016, Proposition 1.4).
        """
        epsilon = self.pure_epsilon
        return None if epsilon is None else epsilon**2 / 2

    @abstractmethod
    def _group(self, size: int) -> Event:
        """Return the event of a group of `size` >= 2; see `group`."""

    def __add__(self, other: Event | HasEvent) -> Event:
        event = _event_of(other)
        if event is None:
            return NotImplemented
        from discreet.privacy.events.composition import added

        return added(self, event)

    def __radd__(self, other: int | HasEvent) -> Event:
        """Let ``sum(events)`` start from its 0, and a mechanism stand on the left."""
        event = _event_of(other)
        if event is not None:
            return event + self
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, times: int) -> Event:
        from discreet.privacy.events.composition import repeat

        return repeat(self, times)

    __rmul__ = __mul__

    def to_json(self) -> str:
        """Write the event as canonical JSON: one text for each event, keys sorted, fractions as "p/q"."""
        return json.dumps(self.to_object(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @staticmethod
    def from_json(text: str) -> Event:
        """Read an event that `to_json` wrote, in this version or any earlier one.

        Raises
        ------
        ParameterError
            If the text is not JSON, names an event or a field that is unknown, lacks a
            field, or holds a value out of range.
        """
        if not isinstance(text, str):
            raise ParameterError("text", f"is a {type(text).__name__}", "a string, " + _ALLOWED)
        try:
            content = json.loads(text, object_pairs_hook=_without_duplicates)
        except ParameterError:
            raise
        except (ValueError, RecursionError):
            raise _no_json() from None
        return Event.from_object(content)

    def to_object(self) -> dict[str, Any]:
        """Return what `to_json` writes, as plain JSON values, with sorted keys throughout."""
        content: dict[str, object] = {"event": type(self).__name__}
        for field in fields(cast("DataclassInstance", self)):
            content[field.name] = _plain(getattr(self, field.name))
        return dict(sorted(content.items()))

    @staticmethod
    def from_object(content: object) -> Event:
        """Build the event of plain values that `to_object` returned; refuses what `from_json` refuses."""
        try:
            _check_plain(content)
            return read_event(content)
        except ParameterError:
            raise
        except (TypeError, ValueError, RecursionError):
            raise _no_json() from None

    @classmethod
    def _from_fields(cls, content: Mapping[str, object]) -> Event:
        values = dict(content)
        if "neighbors" in values:
            values["neighbors"] = Neighbors.from_text(cast("str", values["neighbors"]))
        return cast("Callable[..., Event]", cls)(**values)


class HasEvent(Protocol):
    """What releases by a law that it records, such as a mechanism: it adds up like its event."""

    @property
    def event(self) -> Event:
        """The law that a release draws."""
        ...


def _event_of(value: object) -> Event | None:
    """Return an event, or the event of a mechanism; None for anything else."""
    found = value if isinstance(value, Event) else getattr(value, "event", None)
    return found if isinstance(found, Event) else None


_ALLOWED = "what Event.to_json wrote"


def read_event(content: object) -> Event:
    """Build the event of plain values that were checked before: `Event.from_object` does."""
    if not isinstance(content, dict):
        raise ParameterError("text", "is not an object", _ALLOWED)
    values = dict(content)
    name = values.pop("event", None)
    event_class = _registry.get(name) if isinstance(name, str) else None
    if name is None:
        raise ParameterError("event", "is missing", _ALLOWED)
    if event_class is None:
        raise ParameterError("event", f"has the unknown name {_quoted(name)}", f"one of {sorted(_registry)}")
    known = {field.name: field for field in fields(cast("DataclassInstance", event_class))}
    for key in values:
        if key not in known:
            raise ParameterError(f"{name}.{_quoted(key)}", "is an unknown field", f"one of {sorted(known)}")
    for key, field in known.items():
        if key not in values and field.default is MISSING:
            raise ParameterError(f"{name}.{key}", "is missing", "given")
    return event_class._from_fields(values)


def _plain(value: object) -> object:
    if isinstance(value, Fraction | Neighbors):
        return str(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, Event):
        return value.to_object()
    return value


def _check_plain(value: object) -> None:
    """Refuse what no text of `to_json` holds; a float would pass for the decimal that it prints as."""
    if isinstance(value, dict):
        for part in value.values():
            _check_plain(part)
    elif isinstance(value, list):
        for part in value:
            _check_plain(part)
    elif isinstance(value, float):
        raise ParameterError("text", "holds a number that is not an integer", _ALLOWED)
    elif not (value is None or isinstance(value, str | int)):
        raise TypeError


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ParameterError("text", "names a field twice", _ALLOWED)
    return content


def _no_json() -> ParameterError:
    return ParameterError("text", "is not JSON of moderate depth", _ALLOWED)


def _quoted(name: object) -> str:
    return repr(name[:40]) if isinstance(name, str) else "of a wrong type"
