"""Changes that wait for a second owner, where the ledger asks for two.

A proposal holds exactly what will be changed, and of which declaration: one who agrees agrees to that. Two
keys are two owners if their names differ and they do not come from the same person: a key that was made over
the network counts as its maker's, whatever name it was given. Proposals live in this process and end with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from discreet.errors import RequestRefused
from discreet.noise.entropy import System
from discreet.records import dataclass
from discreet.server.catalogue import ServiceRefusal
from discreet.server.keys import AccessKey, KeyFile

__all__ = ["Proposal", "Proposals"]

_MOST = 20
_SAME = (
    "two owners must agree, each with a key of their own that was made on the server's machine: "
    "discreet keys create NAME --role owner"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change that one owner wants.

    Attributes
    ----------
    identifier : str
        Random.
    key : AccessKey
        Of the one who proposed it.
    message : mapping
        What a worker is told once both agree.
    text : str
        What it writes, in TOML.
    time : str
        Since when it waits, in UTC.
    """

    identifier: str
    key: AccessKey
    message: Mapping[str, Any]
    text: str
    time: str

    def to_object(self) -> dict[str, object]:
        """Return what owners see of it."""
        return {
            "proposal": self.identifier,
            "by": self.key.name,
            "time": self.time,
            "reason": self.message["reason"],
            "text": self.text,
        }


class Proposals:
    """All changes that wait.

    Parameters
    ----------
    keys : KeyFile
        Who may propose and agree.
    """

    def __init__(self, keys: KeyFile) -> None:
        self._keys = keys
        self._waiting: dict[str, Proposal] = {}

    def add(self, key: AccessKey, message: Mapping[str, Any], text: str) -> Proposal:
        """Keep a change until a second owner agrees; of too many, the oldest is dropped."""
        found = Proposal(
            identifier=f"{System().bits(128):032x}",
            key=key,
            message=dict(message),
            text=text,
            time=f"{datetime.now(UTC).isoformat(timespec='seconds')[:19]}Z",
        )
        while len(self._waiting) >= _MOST:
            del self._waiting[next(iter(self._waiting))]
        self._waiting[found.identifier] = found
        return found

    def all(self) -> list[Proposal]:
        """Return those whose proposer may still propose."""
        return [one for one in self._waiting.values() if self._keys.find_again(one.key) is not None]

    def agreed(self, key: AccessKey, identifier: str) -> Proposal:
        """Return a proposal that a second owner agrees to.

        Raises
        ------
        ServiceRefusal
            If there is none of this name.
        RequestRefused
            If it is the same owner's, or a key does not say whose it is.
        """
        found = next((one for one in self.all() if one.identifier == identifier), None)
        if found is None:
            raise ServiceRefusal("not_found", "there is no such proposal: it may be done, or withdrawn")
        makers = self._keys.first_maker(found.key), self._keys.first_maker(key)
        names = {found.key.name, key.name}
        if None in makers or len({*makers}) < 2 or len(names) < 2:
            raise RequestRefused(_SAME)
        return found

    def drop(self, identifier: str) -> None:
        """Forget a proposal: it was done, or withdrawn."""
        self._waiting.pop(identifier, None)
