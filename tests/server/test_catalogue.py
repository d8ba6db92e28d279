"""Problems: stable codes, and no words but those of refusals."""

from __future__ import annotations

import pytest

from discreet import errors
from discreet.server.catalogue import CATALOGUE, ServiceRefusal, problem_body, problem_of

CODES = {
    "malformed": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "stale_form": 403,
    "not_found": 404,
    "not_allowed": 405,
    "too_slow": 408,
    "budget_exceeded": 409,
    "too_large": 413,
    "not_json": 415,
    "parameter": 422,
    "undeclared": 422,
    "unsupported": 422,
    "refused": 422,
    "numbers": 422,
    "too_many_groups": 422,
    "too_many_requests": 429,
    "internal": 500,
    "not_finished": 503,
    "ledger": 503,
    "busy": 503,
}


def test_codes_never_change():
    assert {code: one.status for code, one in CATALOGUE.items()} == CODES


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.BudgetExceeded("too dear"), "budget_exceeded"),
        (errors.UnsupportedQuery("no"), "unsupported"),
        (errors.UndeclaredColumn("no"), "undeclared"),
        (errors.RequestRefused("no"), "refused"),
        (ServiceRefusal("busy"), "busy"),
    ],
)
def test_refusals_say_why(error, code):
    found = problem_of(error)["error"]
    assert found["code"] == code
    assert found["message"] == (str(error) if code != "busy" else CATALOGUE["busy"].message)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ValueError("secret"), "internal"),
        (KeyError("secret"), "internal"),
        (OSError(2, "secret", "secret"), "internal"),
        (MemoryError("secret"), "not_finished"),
        (OverflowError("secret"), "numbers"),
        (errors.EngineFailed(), "not_finished"),
        (errors.LedgerTampered("secret", 7), "ledger"),
        (errors.LedgerUnavailable("secret"), "ledger"),
    ],
)
def test_S5_all_others_say_what_stands_in_the_catalogue(error, code):
    assert problem_of(error) == problem_body(code)
    assert "secret" not in str(problem_of(error))


def test_a_parameter_is_named():
    found = problem_of(errors.ParameterError("epsilon", "is negative", "more"))["error"]
    assert (found["parameter"], found["problem"], found["allowed"]) == ("epsilon", "is negative", "more")
