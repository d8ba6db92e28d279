"""A server as if its curator were here: the same words, and the same answers."""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from discreet.curator import Preview, Release
from discreet.data import AUTO, Limits
from discreet.errors import (
    BudgetExceeded,
    EngineFailed,
    LedgerUnavailable,
    MissingExtra,
    ParameterError,
    RequestRefused,
    ServerRefused,
    UndeclaredColumn,
    UnsupportedQuery,
)
from discreet.front import Spent
from discreet.front.arguments import TERMS, refuse_others
from discreet.queries.counts import LinearQuestion
from discreet.server.received_counts import received_counts, sent_question
from discreet.server.remote_job import RemoteJob
from discreet.server.wire_form import received, received_preview, received_release
from discreet.visible import visible, visible_lines

if TYPE_CHECKING:
    from discreet.privacy.rational import Number

__all__ = ["Connection", "connect"]

_SECONDS = 600.0
_LONGEST = 1 << 29
_FORM = re.compile(r"[!-~]{1,200}")
_ERRORS: dict[str, type[Exception]] = {
    "budget_exceeded": BudgetExceeded,
    "undeclared": UndeclaredColumn,
    "unsupported": UnsupportedQuery,
    "refused": RequestRefused,
    "too_many_groups": RequestRefused,
    "ledger": LedgerUnavailable,
}


def connect(url: str, *, key: str, verify: str | bool = True, timeout: float = _SECONDS) -> Connection:
    """Connect to a server of `discreet serve`. What is returned has the words of a `Curator`.

    Parameters
    ----------
    url : str
        Its address, such as ``https://clinic.example:8443``; without encryption on this machine only.
    key : str
        The key, as ``discreet keys create`` printed it. It says who asks.
    verify : str or bool
        The file of the certificates that are trusted; by default those of well-known authorities.
    timeout : float
        For how many seconds to wait for an answer.

    Examples
    --------
    >>> import discreet as dp
    >>> curator = dp.connect("http://127.0.0.1:8080", key="discreet_…")  # doctest: +SKIP
    >>> curator.ask("SELECT city, COUNT(*) AS n FROM visits GROUP BY city", epsilon=0.5)  # doctest: +SKIP
    """
    return Connection(url, key=key, verify=verify, timeout=timeout)


class Connection:
    """A curator behind a server. See `connect`.

    It takes questions in SQL, `ranges`, `cdf` and `marginals`. Whoever holds the key is the analyst.
    """

    def __init__(self, url: str, *, key: str, verify: str | bool = True, timeout: float = _SECONDS) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingExtra("httpx", "serve") from None
        if not (isinstance(key, str) and _FORM.fullmatch(key)):
            raise ParameterError("key", "is not a key", "what discreet keys create printed")
        place = httpx.URL(url)
        if place.scheme != "https" and place.host not in {"localhost", "127.0.0.1", "::1"}:
            raise ParameterError("url", "would send the key in the clear", "https://…, or this machine")
        self._failures = httpx.HTTPError
        self._http = httpx.Client(
            base_url=place,
            headers={"authorization": f"Bearer {key}", "accept-encoding": "identity"},
            verify=verify if isinstance(verify, bool) else _trusted(verify),
            timeout=timeout,
            follow_redirects=False,
            trust_env=False,
        )
        weakref.finalize(self, self._http.close)
        self._url = f"{place.scheme}://{place.host}:{place.port}" if place.port else str(place)

    def __repr__(self) -> str:
        return f"Connection({self._url!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    @property
    def tables(self) -> Mapping[str, Any]:
        """What is declared about each table, by name."""
        with received():
            return dict(self._get("tables")["tables"])

    def ask(self, question: str | LinearQuestion, *unnamed: NoReturn, **terms: Any) -> Release:
        """Spend, then answer. Takes what `Curator.ask` takes, except for the analyst, who holds the key.

        The same question with the same offer returns the same answer at no cost, also after an answer was
        lost on its way.
        """
        content = self._post("ask", question, unnamed, terms, form="columns")
        if not isinstance(question, LinearQuestion):
            return received_release(content)
        asked = dict(terms)
        return received_counts(
            content, question, lambda counts: self._post("counts", question, (), asked, counts=counts)
        )

    sql = ask

    def submit(self, question: str | LinearQuestion, *unnamed: NoReturn, **terms: Any) -> RemoteJob:
        """Begin to spend and answer, and return at once. Takes what `ask` takes; `result` waits.

        For questions that take longer than a connection should last. Nothing is lost if this process ends:
        the same question is answered by `ask` later, at no cost if it was charged.
        """
        stated = dict(terms)
        return RemoteJob(
            start=lambda: self._post("jobs", question, unnamed, stated),
            look=lambda identifier: self._get(f"jobs/{identifier}"),
            answer=lambda: self.ask(question, **stated),
            error=_error,
        )

    def preview(self, question: str | LinearQuestion, *unnamed: NoReturn, **terms: Any) -> Preview:
        """Return what a question would cost and how wrong its answer would be. Spends nothing."""
        return received_preview(self._post("preview", question, unnamed, terms))

    def explain(self, question: str | LinearQuestion, *unnamed: NoReturn, **terms: Any) -> str:
        """Describe how a question would be answered: plan, bounds, sensitivities and, if offered, cost."""
        with received():
            return visible_lines(self._post("explain", question, unnamed, terms)["explanation"])

    @property
    def spent(self) -> Spent:
        """What was spent so far, by all."""
        with received():
            found = self._get("spent")
            return Spent(
                epsilon=float(found["epsilon"]),
                delta=float(found["delta"]),
                rho=None if found["rho"] is None else float(found["rho"]),
                lifetime_epsilon=float(found["lifetime_epsilon"]),
                lifetime_rho=None if found["lifetime_rho"] is None else float(found["lifetime_rho"]),
                requests=int(found["requests"]),
            )

    @property
    def left(self) -> float:
        """The largest pure epsilon that the next request of this key may cost."""
        with received():
            return float(self._get("spent")["left"]["epsilon"])

    def ledger(self, after: int = 0) -> list[str]:
        """Return all entries after one, each a line as it is hashed. For owners and auditors."""
        lines: list[str] = []
        with received():
            while True:
                found = self._get("ledger", after=after + len(lines))
                lines += map(visible, found["entries"])
                if not found["entries"] or after + len(lines) >= int(found["head"]["sequence"]):
                    return lines

    def _get(self, word: str, **query: int) -> dict[str, Any]:
        return self._sent("GET", word, params=query)

    def _post(
        self, word: str, question: object, unnamed: tuple[object, ...], terms: dict[str, Any], **more: object
    ) -> dict[str, Any]:
        if "analyst" in terms:
            raise ParameterError("analyst", "is stated", "none: a server charges who holds the key")
        refuse_others(unnamed, [name for name in terms if name not in TERMS])
        if isinstance(question, LinearQuestion):
            question = sent_question(question)
        elif not isinstance(question, str):
            raise ParameterError("question", "is not SQL, which is what a server reads", "text")
        stated = {name: _written(name, value) for name, value in terms.items() if value is not None}
        return self._sent("POST", word, json={"question": question, **stated, **more})

    def _sent(self, method: str, word: str, **content: Any) -> dict[str, Any]:
        text = bytearray()
        try:
            with self._http.stream(method, f"/v1/{word}", **content) as response:
                if response.headers.get("content-encoding", "identity") != "identity":
                    raise _unreadable()
                for part in response.iter_raw():
                    text += part
                    if len(text) > _LONGEST:
                        raise _unreadable()
            found = json.loads(text)
        except self._failures:
            raise ServerRefused("unreachable", "the server did not answer; what was charged stays") from None
        except (ValueError, RecursionError):
            raise _unreadable() from None
        if not isinstance(found, dict):
            raise _unreadable()
        if "error" in found:
            raise _error(found["error"])
        return found


def _written(name: str, value: object) -> object:
    """Return a term for JSON, with all its digits."""
    if value is AUTO:
        return AUTO.value
    if isinstance(value, Limits):
        if value.rows is None or value.groups is not None:
            raise ParameterError(name, "are not a number of rows", "Limits(rows=…) or AUTO")
        return value.rows
    if isinstance(value, Mapping) and name != "bounds":
        return {output: _number(one) for output, one in value.items()}
    if isinstance(value, str | int):
        return value
    if isinstance(value, float | Fraction | Decimal):
        return _number(value)
    raise ParameterError(name, "cannot be sent to a server", "numbers, text, Limits(rows=…) or AUTO")


def _number(value: Number) -> object:
    return value if isinstance(value, int | str) else str(value)


def _trusted(file: str) -> Any:
    import ssl

    return ssl.create_default_context(cafile=file)


def _unreadable() -> ServerRefused:
    return ServerRefused("unreadable", "what answered is not a server of discreet")


def _error(found: object) -> Exception:
    """Return what a curator would have raised here."""
    if not isinstance(found, dict) or not all(isinstance(one, str) for one in found.values()):
        return _unreadable()
    said = {name: visible_lines(text) for name, text in found.items()}
    code, message = visible(said.get("code", "")), said.get("message", "")
    if code == "not_finished":
        return EngineFailed()
    if code == "parameter" and {"parameter", "problem", "allowed"} <= set(said):
        return ParameterError(said["parameter"], said["problem"], said["allowed"])
    return _ERRORS[code](message) if code in _ERRORS else ServerRefused(code, message)
