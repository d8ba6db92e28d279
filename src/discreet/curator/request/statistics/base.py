"""A statistic of a table under its neighbor relation, with the mechanism that releases it.

Everything here is public: which statistic, under which declaration, with which noise. The exact value exists
inside `draw` alone, which the door calls after the ledger was charged.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, TypeAlias

from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.data.tables.related_table import RelatedTable
from discreet.errors import ParameterError
from discreet.privacy.events import Event
from discreet.privacy.offer import Offer

__all__ = [
    "AnswerKeys",
    "DrawnNumbers",
    "ReleasedStatistic",
    "offer_object",
    "offered_epsilon",
    "offered_with_delta",
]

DrawnNumbers: TypeAlias = "list[int | float | None]"
"""What was drawn, as the ledger keeps it: numbers; None for no answer."""

AnswerKeys: TypeAlias = "Mapping[str, Sequence[object]]"


class ReleasedStatistic(ABC):
    """A statistic and its mechanism, made for one declaration. Subclasses are frozen dataclasses.

    Guarantee
    ---------
    For any two tables that are neighbors under the relation of a table that it `fits`, what `draw` returns is
    as private as `event` says (proof: docs/proofs/other_relations.md).
    """

    __slots__ = ()

    kind: ClassVar[str]
    """Its name in stored identities, never changed once released."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the output."""

    @property
    @abstractmethod
    def event(self) -> Event:
        """The law of what is drawn: what the ledger records and the budget pays for."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, object]:
        """What makes it differ from others of its kind, as plain JSON values."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is computed and how it is released, in words."""

    @abstractmethod
    def fits(self, table: RelatedTable) -> bool:
        """Return whether it was made for what a table declares."""

    @abstractmethod
    def draw(self, table: RelatedTable, confidence: Fraction) -> DrawnNumbers:
        """Compute the statistic and release it. The only function that reads rows."""

    @abstractmethod
    def may_have_drawn(self, drawn: Sequence[object]) -> bool:
        """Return whether a stored list can be what `draw` returned."""

    @abstractmethod
    def finish(self, drawn: DrawnNumbers, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the keys and the column of the answer, by public arithmetic."""

    @abstractmethod
    def expect(self, confidence: Fraction) -> Expectation:
        """Return how wrong the answer will be, from public facts alone."""


def offer_object(offer: Offer) -> dict[str, object]:
    """Return an offer as plain JSON values."""
    numbers = {"epsilon": offer.epsilon, "delta": offer.delta, "rho": offer.rho}
    return {name: str(number) for name, number in numbers.items() if number is not None}


def offered_epsilon(offer: Offer, what: str) -> Fraction:
    """Return the epsilon of an offer of epsilon alone, or refuse another one."""
    if offer.epsilon is None or offer.delta is not None:
        raise ParameterError("offer", f"is not epsilon alone, which is all that {what} needs", "epsilon=…")
    return offer.epsilon


def offered_with_delta(offer: Offer, what: str) -> tuple[Fraction, Fraction]:
    """Return epsilon and delta of an offer of both, or refuse another one."""
    if offer.epsilon is None or offer.delta is None:
        raise ParameterError(
            "offer", f"lacks epsilon or delta, both of which {what} needs", "epsilon=…, delta=…"
        )
    return offer.epsilon, offer.delta
