r"""An entry of the ledger, the hash that chains it to the one before, and the anchor of a head.

::

    hash = SHA-256("discreet ledger entry 1\n" + text)
    text = {"body":…,"key":…,"kind":…,"previous":…,"sequence":…,"time":…}

where the text is canonical JSON and `previous` is the hash of the entry before. An exported line
is the same object with its hash, so that anyone can recompute the chain with a few lines of
any language. The form of what is hashed never changes; a new form gets a new first line.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from discreet.curator.ledger.canonical_json import Body, JsonValue, canonical, check_body, read_canonical
from discreet.errors import LedgerTampered, ParameterError
from discreet.records import dataclass

__all__ = ["GENESIS", "NO_TIME", "Anchor", "Entry", "check_key", "check_kind", "seal"]

_DOMAIN = b"discreet ledger entry 1\n"
GENESIS = hashlib.sha256(b"discreet ledger genesis 1\n").hexdigest()
"""What the first entry has in place of a previous hash."""

NO_TIME = "0001-01-01T00:00:00.000000Z"
"""A time before that of any entry."""

MOST_KEY = 512

_KIND = re.compile(r"[a-z][a-z_]{0,31}")
_KEY = re.compile(rf"[^\x00-\x1f\x7f\ud800-\udfff]{{1,{MOST_KEY}}}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}")
_ANCHOR = re.compile(r"(0|[1-9][0-9]{0,17}) ([0-9a-f]{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The head of a ledger at some moment: how many entries it had, and the hash of the last.

    Kept anywhere outside the ledger (another disk, an e-mail, paper), an anchor shows later whether
    the ledger was cut short, rewritten or replaced by an old copy. Its text is ``sequence hash``.
    """

    sequence: int
    hash: str

    def __post_init__(self) -> None:
        if (
            not isinstance(self.sequence, int)
            or not isinstance(self.hash, str)
            or not _ANCHOR.fullmatch(str(self))
        ):
            raise ParameterError(
                "anchor", "is not an anchor", "a sequence from 0 and a hash of 64 hexadecimal digits"
            )

    def __str__(self) -> str:
        return f"{self.sequence} {self.hash}"

    @staticmethod
    def from_text(text: str) -> Anchor:
        """Read what ``str(anchor)`` wrote."""
        found = _ANCHOR.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise ParameterError(
                "anchor", "is not the text of an anchor", "a sequence and a hash, as in '17 3f…'"
            )
        return Anchor(sequence=int(found[1]), hash=found[2])


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One record of the ledger. Built by `seal`, or read back from a store.

    Parameters
    ----------
    sequence : int
        1, 2, 3 … without a gap.
    kind : str
        What it records, such as "charge" or "renew".
    key : str or None
        Under one kind, no two entries have the same key; a retry finds the entry by it.
    time : str
        Coordinated universal time of the writer's clock, or the time of the entry before, if that is later.
    text : str
        The body, as canonical JSON; `body` reads it.
    previous, hash : str
        The hash of the entry before, and of this one.
    """

    sequence: int
    kind: str
    key: str | None
    time: str
    text: str
    previous: str
    hash: str

    @property
    def body(self) -> dict[str, JsonValue]:
        """Its content, as a new dict."""
        return read_canonical(self.text)

    @property
    def anchor(self) -> Anchor:
        """The anchor of the ledger whose last entry this is."""
        return Anchor(sequence=self.sequence, hash=self.hash)

    def to_json(self) -> str:
        """Write the entry as one line of canonical JSON."""
        return canonical({**self._others(), "body": self.body, "hash": self.hash})

    @staticmethod
    def from_json(line: str) -> Entry:
        """Read an exported line, and check its hash.

        Raises
        ------
        LedgerTampered
            If it is not an entry, or its hash is not that of its content.
        """
        try:
            content = read_canonical(line.strip())
            body = content.pop("body")
            if not isinstance(body, dict):
                raise TypeError
            return Entry(text=canonical(body), **content).checked()  # type: ignore[arg-type]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise LedgerTampered("a line is not an entry") from None

    def checked(self) -> Entry:
        """Return the entry if its fields have their form and its hash is that of its content.

        Raises
        ------
        LedgerTampered
            Otherwise, naming the entry.
        """
        sequence = self.sequence if isinstance(self.sequence, int) else None
        try:
            formed = (
                type(self.sequence) is int
                and self.sequence > 0
                and _KIND.fullmatch(self.kind)
                and (self.key is None or _KEY.fullmatch(self.key))
                and _TIME.fullmatch(self.time)
                and _HASH.fullmatch(self.previous)
                and read_canonical(self.text) is not None
            )
        except (TypeError, ValueError):
            formed = False
        if not formed:
            raise LedgerTampered("it does not have the form of an entry", sequence)
        if self.hash != _hash_of(self.text, self._others()):
            raise LedgerTampered("its hash is not that of its content", sequence)
        return self

    def _others(self) -> dict[str, JsonValue]:
        """All that is hashed, except for the body."""
        return {
            "key": self.key,
            "kind": self.kind,
            "previous": self.previous,
            "sequence": self.sequence,
            "time": self.time,
        }


def seal(*, sequence: int, kind: str, key: str | None, time: str, body: Body, previous: str) -> Entry:
    """Make the entry that follows `previous`, with its hash."""
    check_kind(kind)
    check_key(key)
    blank = Entry(
        sequence=sequence, kind=kind, key=key, time=time, text=check_body(body), previous=previous, hash=""
    )
    return replace(blank, hash=_hash_of(blank.text, blank._others()))


def check_kind(kind: str) -> str:
    """Return a kind, if it may be one."""
    if not isinstance(kind, str) or not _KIND.fullmatch(kind):
        raise ParameterError("kind", "is not a kind of entry", "up to 32 lower-case letters and underscores")
    return kind


def check_key(key: str | None, parameter: str = "key") -> None:
    """Refuse what cannot be a key, or a name.

    Raises
    ------
    ParameterError
        Naming the parameter.
    """
    if key is not None and (not isinstance(key, str) or not _KEY.fullmatch(key)):
        raise ParameterError(
            parameter,
            f"is not a {parameter}",
            f"1 to {MOST_KEY} characters, none of them a control character",
        )


def _hash_of(body: str, others: dict[str, JsonValue]) -> str:
    """Hash the canonical text of both together; "body" is the first key, as keys are sorted."""
    text = f'{{"body":{body},{canonical(others)[1:]}'
    return hashlib.sha256(_DOMAIN + text.encode("ascii")).hexdigest()
