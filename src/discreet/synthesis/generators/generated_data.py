"""A synthetic table of a generator, and what was asked for it. All of it is public."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.curator.ledger import JsonValue
from discreet.privacy.events import Event
from discreet.privacy.guarantees import ApproximateDP
from discreet.synthesis.release.synthetic_data import SyntheticData

__all__ = ["GeneratedData"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneratedData(SyntheticData):
    """A synthetic table whose model is a network.

    Attributes
    ----------
    guarantee : ApproximateDP
        What the whole run promises, also if it was cut short.
    event : Event
        The law of what was really drawn: of the columns, and of the rounds that were paid.
    rounds, planned : int
        How many rounds of votes were answered, and how many there were to be.
    """

    guarantee: ApproximateDP
    event: Event = field(repr=False)
    rounds: int
    planned: int

    @property
    def label(self) -> dict[str, JsonValue]:
        """A machine-readable statement of the guarantee. Nothing in it depends on votes."""
        return {
            "method": self.method,
            "guarantee": {
                "epsilon": str(self.guarantee.epsilon),
                "delta": str(self.guarantee.delta),
                "neighbors": str(self.guarantee.neighbors),
            },
            "event": self.event.to_object(),
            "rounds": self.rounds,
            "planned_rounds": self.planned,
            "private": self.private,
        }

    def __repr__(self) -> str:
        return (
            f"GeneratedData({self.method}: {len(self.domain.columns)} columns, {self.rounds} of "
            f"{self.planned} rounds of votes, {self.guarantee!r})"
        )
