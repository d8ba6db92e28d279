"""Checking a whole ledger: the chain, its answers, and an anchor kept elsewhere.

Entries are only appended, so a ledger can be read page by page, each in its own view, while others
write: the chain ties the pages together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from discreet.curator.ledger import messages
from discreet.curator.ledger.anchor_file import replace_file
from discreet.curator.ledger.chain import Fold, Position, beginning, follow, ignore, meet
from discreet.curator.ledger.entry import Anchor, Entry
from discreet.curator.ledger.store import Reader, Store
from discreet.errors import LedgerTampered, LedgerUnavailable
from discreet.records import dataclass

__all__ = [
    "ANSWER",
    "VerificationReport",
    "checked_answer",
    "checked_entries",
    "fold_all",
    "verify_export",
    "verify_store",
    "write_export",
]

State = TypeVar("State")

ANSWER = "answer"
"""The kind of entry that records the hash of a kept answer; written by `Ledger.keep_answer` alone."""

_PAGE = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class VerificationReport:
    """What was found when a whole ledger was verified.

    Parameters
    ----------
    entries, answers : int
        How many there are; all were recomputed.
    head : Anchor
        The last entry. Keep it outside the ledger.
    anchor : Anchor or None
        The older head with which the ledger was compared.
    first, last : str or None
        The times of the first and last entry.
    """

    entries: int
    answers: int
    head: Anchor
    anchor: Anchor | None
    first: str | None
    last: str | None

    def __str__(self) -> str:
        compared = "no anchor was given" if self.anchor is None else f"holds the anchor {self.anchor}"
        stored = f"what is stored for {self.answers} of them"  # the opening stores the ledger's secret
        return f"{self.entries} entries and {stored} are intact; {compared}; head {self.head}"


def checked_entries(store: Store) -> Iterator[Entry]:
    """Iterate over all entries of a store, checking the chain."""
    position = beginning(None)
    for page in _pages(store):
        position = follow(position, page, ignore)
        yield from page


def fold_all(
    store: Store, fold: Fold[State], initial: State, anchor: Anchor | None = None
) -> Position[State]:
    """Fold all entries of a store, checking the chain and an anchor.

    Raises
    ------
    LedgerTampered
        At the first entry where the chain breaks; at the end, if the anchor was not found.
    """
    position = beginning(initial)
    meet(anchor, position)
    for page in _pages(store):
        for entry in page:
            position = follow(position, [entry], fold)
            meet(anchor, position)
    meet(anchor, position, last=True)
    return position


def checked_answer(record: Entry, content: bytes | None) -> bytes:
    """Return an answer if it is the one that an entry records.

    Raises
    ------
    LedgerTampered
        If it is missing or changed.
    """
    body = record.body
    if content is None:
        raise LedgerTampered("the answer that it records is missing", record.sequence)
    if (
        record.key != str(body.get("charge"))
        or body.get("size") != len(content)
        or body.get("sha256") != hashlib.sha256(content).hexdigest()
    ):
        raise LedgerTampered("the answer is not the one that it records", record.sequence)
    return content


def verify_store(
    store: Store, anchor: Anchor | None, *, known: Iterable[Anchor | None] = ()
) -> VerificationReport:
    """Verify everything that a store keeps; see `Ledger.verify`.

    Parameters
    ----------
    store : Store
        What keeps the ledger.
    anchor : Anchor or None
        An earlier head that was kept elsewhere.
    known : iterable of Anchor or None
        Other heads that must be found: one that this process has seen, one of an anchor file.
    """
    store.check()
    position = beginning(None)
    answers, first = 0, None
    heads = [anchor, *known]

    def take(records: Reader, page: Iterable[Entry], position: Position[None]) -> Position[None]:
        nonlocal answers, first
        for entry in page:
            position = follow(position, [entry], ignore)
            for head in heads:
                meet(head, position)
            first = first or entry.time
            if entry.kind == ANSWER:
                checked_answer(entry, records.answer(_charge_of(entry)))
                answers += 1
        return position

    for head in heads:
        meet(head, position)
    while True:
        with store.snapshot() as records:
            page = records.entries(after=position.sequence, limit=_PAGE)
            position = take(records, page, position)
            if len(page) < _PAGE:
                if records.answers() != answers:
                    raise LedgerTampered("an answer is kept that no entry records")
                break
    for head in heads:
        meet(head, position, last=True)
    return _report(position, answers, first, anchor)


def write_export(entries: Iterable[Entry], path: Path) -> Anchor:
    """Write entries to a file, one line of JSON each; return the head."""
    lines, head = [], beginning(None).anchor
    for entry in entries:
        lines.append(f"{entry.to_json()}\n".encode("ascii"))
        head = entry.anchor
    try:
        replace_file(path, b"".join(lines))
    except OSError:
        raise LedgerUnavailable(messages.EXPORT) from None
    return head


def verify_export(path: str | Path, anchor: Anchor | None = None) -> VerificationReport:
    """Verify a file that `Ledger.export` wrote, without the ledger. Answers are counted, not checked.

    Raises
    ------
    LedgerTampered
        Naming the first entry where something is wrong.
    LedgerUnavailable
        If the file cannot be read.
    """
    try:
        lines = Path(path).read_text(encoding="ascii").splitlines()
    except UnicodeDecodeError:
        raise LedgerTampered("a line is not an entry") from None
    except OSError:
        raise LedgerUnavailable(messages.EXPORT) from None
    position = beginning(None)
    answers, first = 0, None
    keys = set()
    meet(anchor, position)
    for line in lines:
        entry = Entry.from_json(line)
        position = follow(position, [entry], ignore)
        meet(anchor, position)
        first = first or entry.time
        answers += entry.kind == ANSWER
        if entry.key is not None and (entry.kind, entry.key) in keys:
            raise LedgerTampered("it has the key of an earlier entry", entry.sequence)
        keys.add((entry.kind, entry.key))
    meet(anchor, position, last=True)
    return _report(position, answers, first, anchor)


def _pages(store: Store) -> Iterator[list[Entry]]:
    """Read a store page by page; a page is checked along the chain before the next is read."""
    after = 0
    while True:
        with store.snapshot() as records:
            page = records.entries(after=after, limit=_PAGE)
        yield page
        if len(page) < _PAGE:
            return
        after = page[-1].sequence


def _charge_of(record: Entry) -> int:
    charge = record.body.get("charge")
    if not isinstance(charge, int) or not 0 < charge < record.sequence:
        raise LedgerTampered("it does not name a charge", record.sequence)
    return charge


def _report(
    position: Position[None], answers: int, first: str | None, anchor: Anchor | None
) -> VerificationReport:
    return VerificationReport(
        entries=position.sequence,
        answers=answers,
        head=position.anchor,
        anchor=anchor,
        first=first,
        last=position.time if position.sequence else None,
    )
