"""Replies have the forms that the OpenAPI page states, and problems those of the catalogue."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter, ValidationError

from discreet.server.catalogue import CATALOGUE
from discreet.server.replies import PROBLEMS, REPLIES
from server.service import ALL_VISITS, BY_CITY

RANGES = {"question": {"kind": "ranges", "table": "visits", "columns": ["age"], "width": 10}, "epsilon": 1}
SENT = [
    ("ask", "POST", "/v1/ask", {"question": BY_CITY, "epsilon": 1}),
    ("ask", "POST", "/v1/ask", {"question": BY_CITY, "epsilon": 1, "form": "columns"}),
    ("ask", "POST", "/v1/ask", RANGES),
    ("counts", "POST", "/v1/counts", {**RANGES, "counts": [{"age": [10, 30]}]}),
    ("preview", "POST", "/v1/preview", {"question": BY_CITY, "epsilon": 1}),
    ("preview", "POST", "/v1/preview", {"question": ALL_VISITS, "error": {"n": 20}}),
    ("explain", "POST", "/v1/explain", {"question": BY_CITY}),
    ("job", "POST", "/v1/jobs", {"question": BY_CITY, "epsilon": 1}),
    ("tables", "GET", "/v1/tables", None),
    ("spent", "GET", "/v1/spent", None),
    ("ledger", "GET", "/v1/ledger", None),
    ("ledger", "GET", "/v1/ledger?described=true", None),
    ("verify", "GET", "/v1/verify", None),
    ("keys", "GET", "/v1/keys", None),
    ("create_key", "POST", "/v1/keys", {"name": "new", "role": "auditor"}),
    ("revoke_key", "POST", "/v1/keys/revoke", {"which": "new", "reason": "left"}),
    ("sources", "GET", "/v1/owner/sources", None),
    ("draft", "POST", "/v1/owner/draft", {"budget": {"epsilon": "2000"}}),
    ("proposals", "GET", "/v1/owner/proposals", None),
    ("check", "POST", "/v1/owner/check", {"table": "visits"}),
    ("suggest_preview", "POST", "/v1/suggest/preview", {"table": "visits", "epsilon": 1}),
    ("suggest", "POST", "/v1/suggest", {"table": "visits", "column": "cost", "epsilon": 1}),
    ("label", "GET", "/v1/label", None),
    ("status", "GET", "/ready", None),
    ("status", "GET", "/health", None),
]


def form(word: str) -> TypeAdapter:
    return TypeAdapter(REPLIES[word]["model"])


def test_every_word_is_answered_in_its_form(service):
    owner = service.key("reading", "owner")
    for word, method, path, body in SENT:
        found = service.send(method, path, owner, **({} if body is None else {"json": body}))
        assert found.status_code in {200, 202}, (path, found.text)
        form(word).validate_python(found.json(), strict=True)
    elsewhere = {"schema", "amend"}  # `test_owner_paths`, where a table can be declared
    assert {one[0] for one in SENT} == set(REPLIES) - {"metrics"} - elsewhere
    # the control: what is not of the form is refused
    with pytest.raises(ValidationError):
        form("job").validate_python({"job": "1", "state": "half"})


def test_every_problem_has_the_form_of_its_status(service):
    key = service.key("lost")
    for method, path, body in [
        ("GET", "/v1/nowhere", None),
        ("GET", "/v1/jobs/unknown", None),
        ("DELETE", "/v1/ask", None),
        ("POST", "/v1/ask", {}),
        ("POST", "/v1/ask", {"question": ALL_VISITS, "epsilon": -1}),
        ("POST", "/v1/ask", {"question": ALL_VISITS, "epsilon": 10**6}),
        ("GET", "/v1/verify", None),
    ]:
        found = service.send(method, path, key, **({} if body is None else {"json": body}))
        said = TypeAdapter(PROBLEMS[found.status_code]["model"]).validate_python(found.json(), strict=True)
        assert CATALOGUE[said.error.code].status == found.status_code


def test_the_page_states_every_status_of_the_catalogue(service):
    page = service.send("GET", "/openapi.json").json()
    for path, methods in page["paths"].items():
        for said in methods.values():
            assert {str(one) for one in PROBLEMS} < set(said["responses"]), path
            problem = said["responses"]["422"]["content"]["application/json"]["schema"]
            assert problem == {"$ref": "#/components/schemas/ProblemReply"}
