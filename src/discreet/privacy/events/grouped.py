"""The event of a group whose own law is not known: what one unit faces, and the size of the group."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import ParameterError
from discreet.privacy.events.event import Event, read_event, stored
from discreet.privacy.events.generic import Pure, ZeroConcentrated
from discreet.privacy.neighbors import Neighbors
from discreet.privacy.rational import whole
from discreet.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Grouped"]


@stored
@dataclass(frozen=True, slots=True, init=False, repr=False)
class Grouped(Event):
    """A release for tables that differ in up to `size` units, where only its law for one unit is known.

    Of a sample, some of the group may be in and others not, so that no multiple of the sensitivity says what
    the group faces. Accountants follow the guarantee of one unit along the chain of tables between, and take
    the best of what a pure epsilon, a rho, a Rényi curve and pairs (epsilon, delta) give.
    Made by `group`.

    Parameters
    ----------
    event : Event
        What was released, under the relation of one change.
    size : int
        How many changes, at least 2.
    """

    inner: Event
    size: int

    def __init__(self, event: Event, /, *, size: int) -> None:
        if not isinstance(event, Event) or event.neighbors is None:
            raise ParameterError("event", "is not an event that releases something", "an Event")
        self._set(inner=event, size=whole(size, "size", least=2))
        event.neighbors.group(self.size)  # refuses sizes that no relation can hold

    @property
    def neighbors(self) -> Neighbors:
        """The relation in which this many changes of the inner event's happen at once."""
        relation = self.inner.neighbors
        assert relation is not None  # noqa: S101 - checked when it was built
        return relation.group(self.size)

    @property
    def pure_epsilon(self) -> Fraction | None:
        """The inner event's, `size` times."""
        epsilon = self.inner.pure_epsilon
        return None if epsilon is None else self.size * epsilon

    @property
    def concentrated_rho(self) -> Fraction | None:
        """The inner event's, `size`^2 times (`privacy.grouping.chain`), or what the pure epsilon gives."""
        epsilon, rho = self.pure_epsilon, self.inner.concentrated_rho
        known = [None if epsilon is None else epsilon**2 / 2, None if rho is None else self.size**2 * rho]
        return min((cost for cost in known if cost is not None), default=None)

    @property
    def simple(self) -> Event | None:
        """The generic event of its pure epsilon, or else of its rho; None if it has neither."""
        if (epsilon := self.pure_epsilon) is not None:
            return Pure(epsilon=epsilon, neighbors=self.neighbors)
        rho = self.concentrated_rho
        return None if rho is None else ZeroConcentrated(rho=rho, neighbors=self.neighbors)

    def _group(self, size: int) -> Event:
        return Grouped(self.inner, size=self.size * size)

    @classmethod
    def _from_fields(cls, content: Mapping[str, object]) -> Event:
        size = whole(content["size"], "size", least=2)
        return cls(read_event(content["inner"]), size=size)

    def __repr__(self) -> str:
        return f"Grouped({self.inner!r}, size={self.size})"
