"""What each analyst asked in a browser: the question and its terms, so that it can be asked again for free.

The ledger has no text of a question. So this is kept in memory, for each name, up to a number, until the
server stops; answers are not kept here at all, as the ledger's store has them.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime
from typing import Any

from discreet.records import dataclass

__all__ = ["AskedBefore", "History"]

_MOST = 200
_KINDS = {"ranges": "All ranges", "cdf": "Distribution", "marginals": "Marginals"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedBefore:
    """A question that was answered.

    Attributes
    ----------
    number : int
        By which it is found again.
    body : dict
        What was sent: the question, and what was stated beside it.
    paid : str
        What it cost, in words.
    entry : int or None
        Its charge in the ledger.
    time : str
        When it was asked last, in UTC.
    """

    number: int
    body: dict[str, Any]
    paid: str
    entry: int | None
    time: str

    @property
    def words(self) -> str:
        """The question, for a reader: SQL as it was typed, many counts in a sentence."""
        asked = self.body["question"]
        if isinstance(asked, str):
            return asked
        width = asked.get("width", "")
        if isinstance(width, dict):
            width = ", ".join(f"{name} {one}" for name, one in width.items())
        parts = [
            f"{_KINDS[asked['kind']]} of {', '.join(asked['columns'])} in {asked['table']}",
            f"cells of width {width}" if width else "",
            f"for each {', '.join(asked['by'])}" if asked.get("by") else "",
        ]
        return "; ".join(filter(None, parts))


class History:
    """The questions of every name, the latest first."""

    def __init__(self) -> None:
        self._asked: dict[str, deque[AskedBefore]] = {}
        self._count = 0

    def of(self, name: str) -> list[AskedBefore]:
        """Return the questions of a name, the latest first."""
        return list(self._asked.get(name, ()))

    def find(self, name: str, number: str) -> AskedBefore | None:
        """Return the question of a name with a number, if there is one."""
        return next((one for one in self._asked.get(name, ()) if str(one.number) == number), None)

    def add(self, name: str, body: dict[str, Any], content: dict[str, Any]) -> AskedBefore:
        """Remember a question that was answered; one that was asked before moves to the front."""
        listed = self._asked.setdefault(name, deque(maxlen=_MOST))
        before = next((one for one in listed if one.body == body), None)
        paid = str(content["paid"])
        if before is not None:
            listed.remove(before)
            paid = before.paid if paid == "nothing" else paid
        charge = content["label"].get("charge") or {}
        time = f"{datetime.now(UTC).isoformat(timespec='seconds')[:19]}Z"
        self._count += 1
        asked = AskedBefore(number=self._count, body=body, paid=paid, entry=charge.get("entry"), time=time)
        listed.appendleft(asked)
        return asked
