"""Following the chain: each entry is checked against the one before, then folded into a state.

Pure functions over entries from any source: a store, or an exported file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from discreet.curator.ledger.entry import GENESIS, NO_TIME, Anchor, Entry
from discreet.errors import LedgerTampered
from discreet.records import dataclass

__all__ = ["Fold", "Position", "beginning", "follow", "ignore", "meet"]

State = TypeVar("State")

Fold = Callable[[State, Entry], State]
"""A pure function that takes a state and the next entry to the next state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position(Generic[State]):
    """A position in the chain, and the state after the entries up to it."""

    sequence: int
    hash: str
    time: str
    state: State

    @property
    def anchor(self) -> Anchor:
        """The anchor of this position."""
        return Anchor(sequence=self.sequence, hash=self.hash)


def beginning(state: State) -> Position[State]:
    """Return the position before the first entry."""
    return Position(sequence=0, hash=GENESIS, time=NO_TIME, state=state)


def follow(position: Position[State], entries: Iterable[Entry], fold: Fold[State]) -> Position[State]:
    """Continue from a position over the entries that follow it.

    Raises
    ------
    LedgerTampered
        At the first entry that is missing, out of order, changed, or earlier than the one before.
    """
    for entry in entries:
        expected = position.sequence + 1
        if entry.sequence != expected:
            raise LedgerTampered("it is missing, or other entries are in its place", expected)
        entry.checked()
        if entry.previous != position.hash:
            raise LedgerTampered("it does not follow the entry before it", expected)
        if entry.time < position.time:
            raise LedgerTampered("it is earlier than the entry before it", expected)
        position = Position(
            sequence=expected, hash=entry.hash, time=entry.time, state=fold(position.state, entry)
        )
    return position


def meet(anchor: Anchor | None, position: Position[State], *, last: bool = False) -> None:
    """Compare an anchor with a position; by the last position, it must have been found.

    Raises
    ------
    LedgerTampered
        If the ledger ends before the anchor, or has another entry there.
    """
    if anchor is None:
        return
    if anchor.sequence == position.sequence and anchor.hash != position.hash:
        raise LedgerTampered("it is another entry than the anchor names", anchor.sequence)
    if last and anchor.sequence > position.sequence:
        raise LedgerTampered(
            f"it ends at entry {position.sequence}, before its anchor at entry {anchor.sequence}: "
            "the end was cut off, or an old copy was restored"
        )


def ignore(state: State, entry: Entry) -> State:
    """Fold nothing: for callers who only follow the chain."""
    return state
