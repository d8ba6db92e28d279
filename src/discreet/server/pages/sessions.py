"""Who is logged in: a random cookie that stands for a key, as long as the key is valid.

A session holds no key, only what is kept of one, and asks for it again at every request: a key that is
revoked or expires ends its sessions. Sessions live in this process, hashed, so that reading its memory shows
no cookie; they end with it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import field
from time import monotonic

from discreet.noise.entropy import System
from discreet.records import dataclass
from discreet.server.keys import AccessKey, KeyFile
from discreet.server.pages.history import History

__all__ = ["BrowserSession", "Sessions", "drawn"]

IDLE_SECONDS = 30 * 60
LONGEST_SECONDS = 12 * 3600
_OF_ONE_KEY = 16


def drawn() -> str:
    """Return 256 random bits as text."""
    return f"{System().bits(256):064x}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSession:
    """One login.

    Attributes
    ----------
    key : AccessKey
        What is kept of the key that opened it.
    token : str
        What its forms must send back.
    began : float
        By a clock that cannot be set.
    """

    key: AccessKey
    token: str = field(repr=False)
    began: float

    def has_token(self, sent: str) -> bool:
        """Return whether a form sent the token of this session."""
        return hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), self.token.encode())


class Sessions:
    """All logins of a server.

    Parameters
    ----------
    keys : KeyFile
        Who may log in.
    clock : callable
        Seconds, which never go back.
    """

    def __init__(self, keys: KeyFile, clock: Callable[[], float] = monotonic) -> None:
        self._keys = keys
        self._clock = clock
        self._open: dict[str, BrowserSession] = {}
        self._used: dict[str, float] = {}
        self.history = History()

    def open(self, text: str) -> str | None:
        """Return the cookie of a new session for a key, if the text is one that is valid."""
        key = self._keys.find(text)
        if key is None:
            return None
        self._drop_ended()
        same = [mark for mark, one in self._open.items() if one.key.prefix == key.prefix]
        for mark in same[: max(0, len(same) - _OF_ONE_KEY + 1)]:
            self._drop(mark)
        cookie = drawn()
        now = self._clock()
        self._open[_mark(cookie)] = BrowserSession(key=key, token=drawn(), began=now)
        self._used[_mark(cookie)] = now
        return cookie

    def find(self, cookie: str) -> BrowserSession | None:
        """Return the session of a cookie, if it is open and its key is valid now."""
        mark = _mark(cookie)
        session = self._open.get(mark)
        if session is None:
            return None
        if self._is_over(mark) or self._keys.find_again(session.key) is None:
            self._drop(mark)
            return None
        self._used[mark] = self._clock()
        return session

    def close(self, cookie: str) -> None:
        """End a session."""
        self._drop(_mark(cookie))

    def _is_over(self, mark: str) -> bool:
        now = self._clock()
        return now - self._used[mark] > IDLE_SECONDS or now - self._open[mark].began > LONGEST_SECONDS

    def _drop_ended(self) -> None:
        for mark in [mark for mark in self._open if self._is_over(mark)]:
            self._drop(mark)

    def _drop(self, mark: str) -> None:
        self._open.pop(mark, None)
        self._used.pop(mark, None)


def _mark(cookie: str) -> str:
    return hashlib.sha256(cookie.encode("utf-8", "surrogatepass")).hexdigest()
