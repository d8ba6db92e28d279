"""The ledger: decisions, one after another, each durable before anyone sees it.

A ledger knows nothing about budgets. It folds its entries into a state, by a given function, and lets a rule
read the state and either say what to record or refuse. State, decision and record are one exclusive
transaction, so that no two decisions are made on the same state.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from discreet.curator.ledger import messages
from discreet.curator.ledger.anchor_file import AnchorFile
from discreet.curator.ledger.canonical_json import Body
from discreet.curator.ledger.chain import Fold, Position, follow, meet
from discreet.curator.ledger.entry import Anchor, Entry, check_key, check_kind, seal
from discreet.curator.ledger.store import Reader, Store, Writer
from discreet.curator.ledger.verification import (
    ANSWER,
    VerificationReport,
    checked_answer,
    checked_entries,
    fold_all,
    verify_store,
    write_export,
)
from discreet.errors import LedgerTampered, LedgerUnavailable, ParameterError

__all__ = ["MOST_BYTES", "Decided", "Found", "Ledger"]

State = TypeVar("State")
Other = TypeVar("Other")

MOST_BYTES = 1 << 28
"""The longest answer."""


class Decided(NamedTuple, Generic[State]):
    """An entry that is durable, the state of all entries up to it or later, and whether it is new."""

    entry: Entry
    state: State
    new: bool


class Found(NamedTuple, Generic[State]):
    """What one view shows: an entry and its answer, if they are there, and the state of all entries."""

    entry: Entry | None
    answer: bytes | None
    state: State


def _system_clock() -> datetime:
    return datetime.now(UTC)


def _nothing(point: str) -> None:
    """Pass a point where a test might fail."""


class Ledger(Generic[State]):
    """An append-only, hash-chained log of decisions.

    Guarantee
    ---------
    Let a caller compute an answer only after `decide` returned a charge, and release only what `keep_answer`,
    `answer` or `look` returned. Then every answer that was ever released has a durable charge, that charge
    was allowed by the rule on the state of all entries before it, and no charge has two different answers:
    for any crashes, at any time, in any number of processes (proof: ledger).

    Parameters
    ----------
    store : Store
        What keeps it; see `open_store`.
    fold : callable
        ``fold(state, entry) -> state``, pure. If it raises at a new entry, the entry is not recorded.
    initial : State
        The state of an empty ledger. Never changed in place.
    anchor : str, Path or None
        A file that remembers the head, outside the ledger. Checked here and before each decision, advanced
        after each commit; created if it is missing here.
    clock : callable or None
        Returns the current time, aware of its zone; None: that of the system.
    reached : callable
        Called with the name of each point that is passed: "locked", "decided", "appended", "committed",
        "anchored". A test fails or stops there.

    Raises
    ------
    LedgerTampered
        If the chain is broken, or ends before its anchor.
    LedgerUnavailable
        If it cannot be read.
    """

    def __init__(
        self,
        store: Store,
        fold: Fold[State],
        initial: State,
        *,
        anchor: str | Path | None = None,
        clock: Callable[[], datetime] | None = None,
        reached: Callable[[str], None] = _nothing,
    ) -> None:
        self._store = store
        self._fold = fold
        self._anchor_file = None if anchor is None else AnchorFile(anchor)
        self._clock = clock or _system_clock
        self._reached = reached
        # The anchor is read first: a commit between both readings must not look like an end that was cut off.
        kept = None if self._anchor_file is None else self._anchor_file.read()
        self._position = fold_all(store, fold, initial, kept)
        self._advance_anchor(self._position)

    def decide(self, kind: str, rule: Callable[[State, str], Body], *, key: str | None = None) -> Entry:
        """Record what a rule says, if it says anything, as the next entry.

        Parameters
        ----------
        kind : str
            The kind of entry, such as "charge"; all but "answer".
        rule : callable
            ``rule(state, time) -> body``. It sees the state of all entries so far and the time of the one to
            come, and returns what to record, or raises to refuse. Pure and quick: all others wait for it.
        key : str or None
            If there is an entry of this kind with this key, it is returned, and the rule is not asked.

        Returns
        -------
        Entry
            The entry. It is durable.

        Raises
        ------
        Exception
            Anything that the rule or the fold raises; then nothing is recorded.
        LedgerUnavailable
            If it is not certain that the entry is durable. It may be; asking again with the
            same key shows it.
        """
        return self.decision(kind, rule, key=key).entry

    def decision(
        self, kind: str, rule: Callable[[State, str], Body], *, key: str | None = None
    ) -> Decided[State]:
        """Do what `decide` does; return with the entry what was known when it was recorded, or found."""
        check_key(key)
        if check_kind(kind) == ANSWER:
            raise ParameterError("kind", "is that of answers", "any other; answers are kept by keep_answer")
        with self._store.transaction() as records:
            position = self._catch_up(records)
            self._check_anchor(records, position)
            self._reached("locked")
            entry = None if key is None else self._find(records, kind, key, position)
            new = entry is None
            if entry is None:
                time = self._time(position)
                body = rule(position.state, time)
                self._reached("decided")
                entry, position = self._append(records, position, kind=kind, key=key, time=time, body=body)
        self._after_commit(position)
        return Decided(entry, position.state, new)

    def keep_answer(self, charge: Entry, content: bytes) -> bytes:
        """Keep the answer of a charge, unless it has one; return the one that is kept.

        Only what is returned may be released. When two processes answer the same charge, the first wins
        and both release the same.

        Parameters
        ----------
        charge : Entry
            What `decide` returned.
        content : bytes
            The answer, with its noise.

        Raises
        ------
        LedgerTampered
            If the charge is not in the ledger, or its answer is not what was kept.
        """
        if not isinstance(content, bytes) or len(content) > MOST_BYTES:
            raise ParameterError("content", "is not an answer", f"at most {MOST_BYTES} bytes")
        self.state()  # what others wrote while it was computed is folded before others wait
        with self._store.transaction() as records:
            position = self._catch_up(records)
            self._check_anchor(records, position)
            kept = self._answer(records, charge, position)
            if kept is None:
                kept, time = content, self._time(position)
                body: Body = {
                    "charge": charge.sequence,
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "size": len(content),
                }
                records.keep_answer(charge.sequence, content)
                _, position = self._append(
                    records, position, kind=ANSWER, key=str(charge.sequence), time=time, body=body
                )
        self._after_commit(position)
        return kept

    def answer(self, charge: Entry) -> bytes | None:
        """Return the answer that is kept for a charge, or None.

        Raises
        ------
        LedgerTampered
            If the charge is not in the ledger, or its answer is not what was kept.
        """
        with self._store.snapshot() as records:
            return self._answer(records, charge, self._catch_up(records))

    def find(self, kind: str, key: str) -> Entry | None:
        """Return the entry of a kind with a key, or None."""
        check_kind(kind)
        check_key(key)
        with self._store.snapshot() as records:
            return self._find(records, kind, key, self._catch_up(records))

    def look(self, kind: str, key: str) -> Found[State]:
        """Return the entry of a kind with a key, its answer and the state, of one view.

        Raises
        ------
        LedgerTampered
            If the answer is not what was kept.
        """
        check_kind(kind)
        check_key(key)
        with self._store.snapshot() as records:
            position = self._catch_up(records)
            entry = self._find(records, kind, key, position)
            answer = None if entry is None else self._answer(records, entry, position)
            return Found(entry, answer, position.state)

    def state(self) -> State:
        """Return the state of all entries that are committed now."""
        with self._store.snapshot() as records:
            return self._catch_up(records).state

    def time(self) -> str:
        """Return the time that the next entry would have."""
        with self._store.snapshot() as records:
            return self._time(self._catch_up(records))

    def anchor(self) -> Anchor:
        """Return the head, which should be kept outside the ledger."""
        with self._store.snapshot() as records:
            return self._catch_up(records).anchor

    def entries(self) -> Iterator[Entry]:
        """Iterate over all entries, checking the chain."""
        return checked_entries(self._store)

    def replay(self, fold: Fold[Other], initial: Other) -> Other:
        """Fold all entries by another function, from the first on."""
        return fold_all(self._store, fold, initial).state

    def export(self, path: str | Path) -> Anchor:
        """Write all entries to a file, one line of JSON each; return the head that was written.

        Answers are not written; their hashes are. `verify_export` checks such a file without the ledger.
        """
        return write_export(self.entries(), Path(path))

    def verify(self, anchor: Anchor | None = None) -> VerificationReport:
        """Recompute every hash, of entries and of answers, from the first on.

        Parameters
        ----------
        anchor : Anchor or None
            An earlier head, kept elsewhere. Without one, a ledger that was cut short or replaced by an old
            copy before this object was made looks like a shorter one.

        Raises
        ------
        LedgerTampered
            Naming the first entry where something is wrong.
        """
        kept = None if self._anchor_file is None else self._anchor_file.read()
        return verify_store(self._store, anchor, known=[self._position.anchor, kept])

    def close(self) -> None:
        """Close the connections of the store."""
        self._store.close()

    def _catch_up(self, records: Reader) -> Position[State]:
        """Continue from where this object was to the head of a view.

        The known position is read before the view is first used, so that the view is never the older one.
        """
        known = self._position
        fresh = records.entries(after=max(known.sequence - 1, 0))
        if known.sequence:
            if not fresh or fresh[0].sequence != known.sequence:
                raise LedgerTampered(
                    "it was there and is now missing: the end was cut off, or an old copy was restored",
                    known.sequence,
                )
            if fresh[0].hash != known.hash:
                raise LedgerTampered("it is another entry than before", known.sequence)
            del fresh[0]
        position = follow(known, fresh, self._fold)
        self._publish(position)
        return position

    def _find(self, records: Reader, kind: str, key: str, position: Position[State]) -> Entry | None:
        entry = records.find(kind, key)
        if entry is None:
            return None
        if (entry.checked().kind, entry.key) != (kind, key) or entry.sequence > position.sequence:
            raise LedgerTampered("it was found under a key that is not its own", entry.sequence)
        return entry

    def _answer(self, records: Reader, charge: Entry, position: Position[State]) -> bytes | None:
        if records.entries(after=charge.sequence - 1, limit=1) != [charge] or charge.kind == ANSWER:
            raise LedgerTampered("the charge is not an entry of this ledger", charge.sequence)
        record = self._find(records, ANSWER, str(charge.sequence), position)
        content = records.answer(charge.sequence)
        if record is not None:
            return checked_answer(record, content)
        if content is not None:
            raise LedgerTampered("no entry records its answer", charge.sequence)
        return None

    def _append(
        self, records: Writer, position: Position[State], *, kind: str, key: str | None, time: str, body: Body
    ) -> tuple[Entry, Position[State]]:
        """Append an entry; fold it first, so that what cannot be folded is never recorded."""
        entry = seal(
            sequence=position.sequence + 1, kind=kind, key=key, time=time, body=body, previous=position.hash
        )
        after = follow(position, [entry], self._fold)
        records.append(entry)
        self._reached("appended")
        return entry, after

    def _after_commit(self, position: Position[State]) -> None:
        self._reached("committed")
        self._publish(position)
        self._advance_anchor(position)
        self._reached("anchored")

    def _publish(self, position: Position[State]) -> None:
        """Remember the latest position. Any older one would do as well, so that threads need no lock."""
        if position.sequence > self._position.sequence:
            self._position = position

    def _advance_anchor(self, position: Position[State]) -> None:
        """Write the head to the file. If the file has a later one, this store must have its entry, too."""
        if self._anchor_file is not None and self._anchor_file.advance(position.anchor) != position.anchor:
            kept = self._anchor_file.read()  # before the view: a commit in between must not look like a cut
            with self._store.snapshot() as records:
                _check_holds(records, self._catch_up(records), kept)

    def _check_anchor(self, records: Reader, position: Position[State]) -> None:
        """Refuse to continue from a store that does not have the entry that its anchor names.

        Inside the only writing transaction no one else commits, and anchors are written after their commit:
        an honest store always has what the file names.
        """
        if self._anchor_file is not None:
            _check_holds(records, position, self._anchor_file.read())
            self._anchor_file.check_writable()  # else the entry would be durable, and its answer withheld

    def _time(self, position: Position[State]) -> str:
        """Return the time of the next entry: never before the last, even if the clock is."""
        now = self._clock()
        if now.tzinfo is None:
            raise ParameterError("clock", "returned a time without a zone", "datetime.now(UTC)")
        return max(position.time, f"{now.astimezone(UTC).isoformat(timespec='microseconds')[:26]}Z")


def _check_holds(records: Reader, position: Position[State], anchor: Anchor | None) -> None:
    """Refuse a store that does not hold an anchored entry, at its head or before it.

    Raises
    ------
    LedgerTampered
        If it ends before the anchor, or has another entry there.
    LedgerUnavailable
        If the anchor is gone. It was there when the ledger was opened.
    """
    if anchor is None:
        raise LedgerUnavailable(messages.ANCHOR)
    meet(anchor, position, last=True)
    if 0 < anchor.sequence < position.sequence:
        found = records.entries(after=anchor.sequence - 1, limit=1)
        if not found or found[0].anchor != anchor:
            raise LedgerTampered("it is another entry than the anchor names", anchor.sequence)
