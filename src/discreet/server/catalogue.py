"""The catalogue of problems: everything that a server says when it does not answer.

A problem has a code that programs may rely on, a status of HTTP and a sentence. A refusal of a question
brings the sentence of the refusal, which depends on the question, on what is declared and on what was spent;
all others have the sentence that stands here. What an engine, a file system or Python says is never repeated.
"""

from __future__ import annotations

from discreet.errors import (
    BudgetExceeded,
    EngineFailed,
    LedgerError,
    ParameterError,
    RequestRefused,
    UndeclaredColumn,
    UnsupportedQuery,
)
from discreet.records import dataclass
from discreet.visible import visible_lines

__all__ = ["CATALOGUE", "Problem", "ServiceRefusal", "problem_body", "problem_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One entry of the catalogue.

    Attributes
    ----------
    code : str
        For programs; it never changes.
    status : int
        Of HTTP.
    message : str
        For people, unless a refusal brings its own.
    """

    code: str
    status: int
    message: str


CATALOGUE = {
    one.code: one
    for one in (
        Problem(code="malformed", status=400, message="the request is not of the form in /openapi.json"),
        Problem(code="unauthorized", status=401, message="a valid key is needed: Authorization: Bearer KEY"),
        Problem(code="forbidden", status=403, message="this key may not do this"),
        Problem(
            code="stale_form", status=403, message="this form is not of your session: open the page again"
        ),
        Problem(code="not_found", status=404, message="there is nothing here; see /openapi.json"),
        Problem(code="not_allowed", status=405, message="this method is not allowed here"),
        Problem(code="too_slow", status=408, message="the request did not arrive in time"),
        Problem(code="budget_exceeded", status=409, message="it costs more than is left"),
        Problem(code="too_large", status=413, message="the request is longer than this server takes"),
        Problem(code="not_json", status=415, message="the body must be application/json"),
        Problem(code="parameter", status=422, message="a parameter is outside its range"),
        Problem(code="undeclared", status=422, message="something that it needs is not declared"),
        Problem(code="unsupported", status=422, message="the question is outside the language"),
        Problem(code="refused", status=422, message="the question is refused"),
        Problem(code="numbers", status=422, message="the numbers are too large or too small to compute with"),
        Problem(code="too_many_groups", status=422, message="it has more groups than this server answers"),
        Problem(code="too_many_requests", status=429, message="too many requests of this key at a time"),
        Problem(code="internal", status=500, message="the server failed; nothing more is said"),
        Problem(
            code="not_finished",
            status=503,
            message="the engine did not finish; if it was charged, the charge stays: ask again, at no cost",
        ),
        Problem(code="ledger", status=503, message="the ledger or the keys cannot be used now: no answer"),
        Problem(code="busy", status=503, message="the server is busy or stopping; ask again later"),
    )
}
"""All problems, by code."""

_REFUSALS: tuple[tuple[type[Exception], str], ...] = (
    (BudgetExceeded, "budget_exceeded"),
    (UndeclaredColumn, "undeclared"),
    (UnsupportedQuery, "unsupported"),
    (RequestRefused, "refused"),
    (ParameterError, "parameter"),
)
_FAILURES: tuple[tuple[type[Exception], str], ...] = (
    (EngineFailed, "not_finished"),
    (LedgerError, "ledger"),
    (MemoryError, "not_finished"),
    (ArithmeticError, "numbers"),
)


class ServiceRefusal(Exception):
    """What a part of the server raises to answer with a problem of the catalogue."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message


def problem_body(code: str, message: str = "", **more: str) -> dict[str, object]:
    """Return what is sent for a problem."""
    return {"error": {"code": code, "message": message or CATALOGUE[code].message, **more}}


def problem_of(error: Exception) -> dict[str, object]:
    """Return what is sent for an error; the words of all but refusals stay here."""
    if isinstance(error, ServiceRefusal):
        return problem_body(error.code, error.message)
    for kind, code in _REFUSALS:
        if isinstance(error, kind):
            more = {}
            if isinstance(error, ParameterError):
                more = {"parameter": error.parameter, "problem": error.problem, "allowed": error.allowed}
            return problem_body(code, visible_lines(str(error)), **more)
    found = (code for kind, code in _FAILURES if isinstance(error, kind))
    return problem_body(next(found, "internal"))
