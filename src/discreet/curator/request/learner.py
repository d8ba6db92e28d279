"""A learner: a mechanism that reads rows and draws the public numbers of a model.

Everything about it is known before rows are read. What it draws is kept as the answer of a fit, and the model
is rebuilt from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypeAlias

from numpy.typing import NDArray

from discreet.curator.ledger import JsonValue
from discreet.curator.request.request import Expectation
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee

__all__ = ["Drawn", "Learner"]

Drawn: TypeAlias = Mapping[str, Any]
"""What was drawn, as plain JSON values: numbers, and lists of them, by name."""


class Learner(ABC):
    """What a fit runs, made from public facts alone. Subclasses are frozen records.

    Guarantee
    ---------
    For any two sets of rows that differ by all rows of one person, at most `rows` of them, what `draw`
    returns is as private as `event` says, and keeps `guarantee`. Neither the event nor the shape or type of
    what is drawn, nor whether it is drawn, depends on the rows.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """Its name in stored identities, never changed once released."""

    @property
    @abstractmethod
    def event(self) -> Event:
        """The law of everything that is drawn: what the ledger records and the budget pays for."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What it promises to a person."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, JsonValue]:
        """All that the law and the meaning of what is drawn depend on, as plain JSON values."""

    @property
    @abstractmethod
    def words(self) -> str:
        """Which mechanism it runs, and why, in a sentence."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The columns of the rows that it reads: the features and then the target, if there is one."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows of a person it is made for."""

    @property
    def shards(self) -> int | None:
        """Into how many shards the rows are divided, all rows of a person into one; None if they are not."""
        return None

    @abstractmethod
    def draw(self, values: Sequence[NDArray[Any]]) -> Drawn:
        """Fit, and return what was drawn. The only function that reads rows; it does not fail on any.

        Parameters
        ----------
        values : sequence of arrays
            The columns, in the order of `columns`, all of the same length, with values of any type. With
            `shards`, their numbers are the last one.
        """

    @abstractmethod
    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return what the noise does, in public quantities, for a hypothetical number of rows."""
