"""Keys: who may use a server, and for what.

A key is 256 random bits. It is shown once, when it is created; what is kept is its SHA-256, the name and role
of its owner, what it may do and until when. Keys are lines of a file beside the declaration, which is only
ever appended to: a key that was revoked stays on the record. Every process that reads the file sees a new
line at the next request.

Why a plain hash suffices: a slow one, as for passwords, makes guessing dear where there are few candidates.
Here there are 2^256 of them, all as likely, so that one who has the hash guesses in vain at any speed; and a
slow hash would let anyone make the server work for half a second by sending nonsense.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from base64 import b32encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from discreet.errors import LedgerUnavailable, ParameterError
from discreet.noise.entropy import System
from discreet.records import dataclass

__all__ = ["ROLES", "SCOPES", "AccessKey", "KeyFile", "keys_beside"]

SCOPES = ("tables", "preview", "explain", "ask", "spent", "ledger", "metrics", "keys", "check", "amend")
"""What a key may be for: the words of a server."""

ROLES = {
    "owner": SCOPES,
    "analyst": ("tables", "preview", "explain", "ask", "spent"),
    "auditor": ("tables", "spent", "ledger", "metrics"),
}
"""What each role may do. An analyst does not read the ledger, an auditor asks nothing."""

_FORM = re.compile(r"discreet_([a-z2-7]{8})_[A-Za-z0-9_-]{43}")
_LONGEST_REASON = 1000
_MOST_DAYS = 3660
_NOBODY = hashlib.sha256(b"").hexdigest()
_DAMAGED = "the file of keys cannot be read: nobody is let in; restore it, or create the keys anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessKey:
    """What is kept of a key.

    Attributes
    ----------
    prefix : str
        Its public part, by which it is found and listed.
    name : str
        Whose it is. Charges are made in this name; two keys of one name share its cap.
    role : str
        One of `ROLES`.
    scopes : tuple of str
        What it may do; all that its role may, or less.
    digest : str
        The SHA-256 of the whole key.
    created, expires : str
        In UTC.
    revoked : str
        Since when; empty if it is not.
    maker : str or None
        The prefix of the key that made it over the network; empty if it was made on the machine, and None if
        its line is from before this was noted.
    """

    prefix: str
    name: str
    role: str
    scopes: tuple[str, ...]
    digest: str
    created: str
    expires: str
    revoked: str = ""
    maker: str | None = None

    def is_valid(self, time: str) -> bool:
        """Return whether it opens anything at a time."""
        return not self.revoked and time < self.expires

    def to_object(self) -> dict[str, object]:
        """Return what may be told of it: all but its hash."""
        shown = ("prefix", "name", "role", "created", "expires", "revoked")
        return {**{name: getattr(self, name) for name in shown}, "scopes": list(self.scopes)}


def keys_beside(declaration: str | Path) -> Path:
    """Return the file of the keys for a declaration: ``clinic.keys`` for ``clinic.toml``."""
    return Path(declaration).absolute().with_suffix(".keys")


class KeyFile:
    """The keys of a server, in a file that is appended to.

    Whoever may write this file may let themselves in: it is created for its owner alone.

    Parameters
    ----------
    path : Path
        The file; it is created with the first key.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[int, int, int] | None = None
        self._keys: dict[str, AccessKey] = {}
        self._latest = ""

    def create(
        self,
        name: str,
        *,
        role: str,
        days: int = 365,
        scopes: Sequence[str] | None = None,
        maker: str = "",
    ) -> tuple[AccessKey, str]:
        """Create a key, durably; return what is kept of it, and the key, which is not.

        Parameters
        ----------
        name : str
            Whose it is.
        role : str
            One of `ROLES`.
        days : int
            For how long it is valid.
        scopes : sequence of str, optional
            What it may do, if that is less than its role may.
        maker : str
            The prefix of the key by means of which it is made.
        """
        from discreet.curator.budget.checks import check_analyst

        check_analyst(name)
        if not name.strip():
            raise ParameterError("name", "is empty", "the name of a person or a program")
        if role not in ROLES:
            raise ParameterError("role", "is not a role", ", ".join(ROLES))
        if not 1 <= days <= _MOST_DAYS:
            raise ParameterError("days", "is not a time for a key", f"1 to {_MOST_DAYS}")
        allowed = ROLES[role]
        wanted = allowed if scopes is None else tuple(dict.fromkeys(scopes))
        if not wanted or not set(wanted) <= set(allowed):
            raise ParameterError("scope", "is not among what the role may do", ", ".join(allowed))
        prefix, text = _drawn(known={one.prefix for one in self.all()})
        now = datetime.now(UTC)
        key = AccessKey(
            prefix=prefix,
            name=name,
            role=role,
            scopes=wanted,
            digest=hashlib.sha256(text.encode()).hexdigest(),
            created=_written(now),
            expires=_written(now + timedelta(days=days)),
            maker=maker,
        )
        self._append([_created(key)])
        return key, text

    def create_under(
        self, maker: AccessKey, *, name: str, role: str, days: int, scopes: Sequence[str] | None = None
    ) -> tuple[AccessKey, str]:
        """Create a key by means of another: it may do no more, and lasts no longer.

        So a key that was narrowed, or ends soon, does not widen or outlive itself.
        """
        wanted = ROLES.get(role, ()) if scopes is None else scopes
        if not set(wanted) <= set(maker.scopes):
            raise ParameterError("scope", "is more than this key may do", ", ".join(maker.scopes))
        left = (datetime.fromisoformat(maker.expires) - datetime.now(UTC)).days
        if days > left:
            raise ParameterError("days", "is longer than this key is valid", f"at most {left}")
        return self.create(name, role=role, days=days, scopes=scopes, maker=maker.prefix)

    def first_maker(self, key: AccessKey) -> str | None:
        """Return whose a key is in the end: the name of the key on the machine from which it was made.

        Whoever makes a key over the network sees it, and could use it under the name that they gave it. None
        if that is not on the record.
        """
        known = {one.prefix: one for one in self.all()}
        found: AccessKey | None = known.get(key.prefix)
        while found is not None and found.maker:  # a key is made after its maker: this ends
            found = known.get(found.maker)
        return None if found is None or found.maker is None else found.name

    def revoke(self, which: str, *, reason: str) -> list[AccessKey]:
        """Revoke a key by its prefix, or all keys of a name, at once and for good; return them."""
        if not reason.strip() or len(reason) > _LONGEST_REASON or not reason.isprintable():
            raise ParameterError("reason", "is missing or not one line", "why, in a few words")
        found = [one for one in self.all() if which in (one.prefix, one.name) and not one.revoked]
        if not found:
            raise ParameterError("which", "is neither the prefix nor the name of a key", "see: keys list")
        time = _written(datetime.now(UTC))
        self._append(
            {"kind": "revoked", "time": time, "prefix": one.prefix, "reason": reason} for one in found
        )
        return [replace(one, revoked=time) for one in found]

    def all(self) -> list[AccessKey]:
        """Return all keys, in the order of their creation.

        Raises
        ------
        LedgerUnavailable
            If the file is damaged.
        """
        try:
            state = os.stat(self._path)
        except FileNotFoundError:
            self._seen, self._keys = None, {}
            return []
        except OSError:
            raise LedgerUnavailable(_DAMAGED) from None
        seen = state.st_ino, state.st_size, state.st_mtime_ns
        if seen != self._seen:
            self._keys = _read(self._path)
            self._seen = seen
        return list(self._keys.values())

    def find(self, text: str) -> AccessKey | None:
        """Return the key that a text is, if it is one and valid now.

        The work is the same for a wrong key, an unknown prefix, and one that expired or was revoked. A clock
        that is set back does not make a key valid again while this process runs.
        """
        matched = _FORM.fullmatch(text)
        known = {one.prefix: one for one in self.all()}
        key = known.get(matched[1]) if matched else None
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        is_right = hmac.compare_digest(digest, _NOBODY if key is None else key.digest)
        return key if key is not None and is_right and key.is_valid(self._now()) else None

    def find_again(self, key: AccessKey) -> AccessKey | None:
        """Return a key that was found before, if it is still there and valid now."""
        known = {one.prefix: one for one in self.all()}
        found = known.get(key.prefix)
        is_same = found is not None and hmac.compare_digest(found.digest, key.digest)
        return found if found is not None and is_same and found.is_valid(self._now()) else None

    def _now(self) -> str:
        self._latest = max(self._latest, _written(datetime.now(UTC)))
        return self._latest

    def _append(self, lines: Iterable[dict[str, object]]) -> None:
        """Write lines durably. What a crash left of a line that nobody was told of is cut off first."""
        from discreet.curator.ledger.anchor_file import synchronize

        content = "".join(f"{json.dumps(line, ensure_ascii=True)}\n" for line in lines).encode()
        try:
            with _locked(self._path) as file:
                before = file.read()
                file.truncate(whole := before.rfind(b"\n") + 1)
                file.seek(whole)
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            synchronize(self._path.parent)
        except OSError:
            raise LedgerUnavailable("the file of keys cannot be written") from None


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    import fcntl

    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(handle, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _drawn(known: set[str]) -> tuple[str, str]:
    """Return a prefix that no other key has, and the key; both from the operating system, never replayed."""
    random = System()
    while (prefix := b32encode((random.bits(64) >> 24).to_bytes(5, "big")).decode().lower()) in known:
        pass
    secret = urlsafe_b64encode(random.bits(256).to_bytes(32, "big")).decode().rstrip("=")
    return prefix, f"discreet_{prefix}_{secret}"


def _created(key: AccessKey) -> dict[str, object]:
    return {
        "kind": "created",
        "time": key.created,
        "prefix": key.prefix,
        "name": key.name,
        "role": key.role,
        "scopes": list(key.scopes),
        "sha256": key.digest,
        "expires": key.expires,
        "maker": key.maker,
    }


def _read(path: Path) -> dict[str, AccessKey]:
    """Read all whole lines; what cannot be read lets nobody in."""
    found: dict[str, AccessKey] = {}
    try:
        for line in path.read_bytes().split(b"\n")[:-1]:
            record = json.loads(line)
            if record["kind"] == "revoked":
                found[record["prefix"]] = replace(found[record["prefix"]], revoked=record["time"])
                continue
            key = AccessKey(
                prefix=record["prefix"],
                name=record["name"],
                role=record["role"],
                scopes=tuple(record["scopes"]),
                digest=record["sha256"],
                created=record["time"],
                expires=record["expires"],
                maker=record.get("maker"),
            )
            if (
                record["kind"] != "created"
                or key.prefix in found
                or (key.maker and key.maker not in found)
                or not set(key.scopes) <= {*ROLES[key.role]}
            ):
                raise LedgerUnavailable(_DAMAGED)
            found[key.prefix] = key
    except (OSError, ValueError, KeyError, TypeError):
        raise LedgerUnavailable(_DAMAGED) from None
    return found


def _written(time: datetime) -> str:
    return f"{time.isoformat(timespec='microseconds')[:26]}Z"
