"""The words over HTTP, and what a reviewer demands of them; see docs/server.md for the list.

Each test whose name begins with the number of a requirement has a control that fails, here or in
`test_planted.py`, where servers run with faults on purpose.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
from pathlib import Path

import pytest

from canary import DATA_NUMBER, DATA_TEXT, canaries_in
from discreet.curator import schema
from discreet.server.keys import ROLES
from server.service import ALL_VISITS, BY_CITY, code_of, logged, wait_for

ROOT = Path(__file__).parents[2]
LITERAL = 77_345_901


def later(send) -> tuple[threading.Thread, list]:
    """Send a request in another thread; its response is put into the list."""
    found: list = []
    thread = threading.Thread(target=lambda: found.append(send()))
    thread.start()
    return thread, found


def test_preview_ask_repeat_and_what_is_left(service):
    key = service.key("first")
    body = {"question": BY_CITY, "epsilon": 1}
    preview = service.send("POST", "/v1/preview", key, json=body).json()
    assert preview["fits"] == 40
    assert not preview["answered"]
    first = service.ask(key, BY_CITY, epsilon=1).json()
    assert first["paid"] == "epsilon 1"
    assert first["left"] == {"epsilon": 39.0, "more_of_this_cost": 39}
    assert [row["city"] for row in first["rows"]] == ["Taipei", "Hamilton"]
    again = service.ask(key, BY_CITY, epsilon="1.0").json()
    assert again["stored"]
    assert again["paid"] == "nothing"
    assert again["rows"] == first["rows"]
    assert service.send("POST", "/v1/preview", key, json=body).json()["answered"]
    assert service.send("GET", "/v1/spent", key).json()["left"]["epsilon"] == 39.0
    assert "sensitivity" in service.send("POST", "/v1/explain", key, json=body).json()["explanation"]
    declared = service.send("GET", "/v1/tables", key).json()["tables"]
    assert declared["visits"]["person"] == "patient_id"
    assert "visits.csv" not in json.dumps(declared)
    assert service.send("GET", "/v1/label", key).json() == schema()


def test_the_name_of_the_key_is_charged_whatever_a_request_says(service):
    key = service.key("honest")
    before = len(service.charges())
    forged = {"analyst": "victim"}
    for more in ({"json": {"question": ALL_VISITS, "epsilon": 0.5, **forged}}, {"params": forged}):
        body = {"json": {"question": ALL_VISITS, "epsilon": 0.5}, **more}
        headers = {"x-user": "victim", "x-forwarded-user": "victim", "from": "victim"}
        service.send("POST", "/v1/ask", key, headers=headers, **body)
    charged = service.charges()[before:]
    assert [one["analyst"] for one in charged] == ["honest"]


@pytest.mark.parametrize("role", ROLES)
def test_S16_every_role_may_do_its_part_and_no_more(service, role):
    key = service.key(f"role {role}", role)
    question = {"question": ALL_VISITS, "epsilon": "0.001"}
    words = {"tables": "GET", "preview": "POST", "explain": "POST", "ask": "POST", "spent": "GET"}
    words |= {"ledger": "GET", "metrics": "GET"}
    for word, method in words.items():
        path = "/metrics" if word == "metrics" else f"/v1/{word}"
        content = {"json": question} if method == "POST" else {}
        status = service.send(method, path, key, **content).status_code
        assert status == (200 if word in ROLES[role] else 403), word
    for word in ("amend", "recover", "budget"):
        assert service.send("POST", f"/v1/{word}", key, json={}).status_code == 404
    assert service.send("GET", "/v1/keys", key).status_code == (200 if role == "owner" else 403)
    assert service.send("GET", "/v1/verify", key).status_code == (403 if role == "analyst" else 200)
    everyone = service.send("GET", "/v1/spent", key).json().get("analysts")
    assert (everyone is not None) == (role in {"owner", "auditor"})


@pytest.mark.parametrize("role", ["analyst", "auditor"])
def test_S16_exact_counts_and_changes_are_for_owners_alone(service, role):
    key = service.key(f"curious {role}", role)
    for word, body in {"check": {"table": "visits"}, "draft": {"budget": {"epsilon": "9"}}}.items():
        found = service.send("POST", f"/v1/owner/{word}", key, json=body)
        assert code_of(found) == "forbidden", word
    assert service.send("GET", "/v1/owner/sources", key).status_code == 403


def test_a_narrow_key_is_narrow(service):
    key = service.key("narrow", scopes=["preview"])
    assert (
        service.send("POST", "/v1/preview", key, json={"question": ALL_VISITS, "epsilon": 1}).status_code
        == 200
    )
    assert code_of(service.ask(key, epsilon=1)) == "forbidden"


def test_S2_a_killed_question_keeps_its_charge_and_is_answered_later(service):
    key = service.key("unlucky")
    before = len(service.charges())
    service.marker.touch()
    try:
        thread, found = later(lambda: service.ask(key, epsilon="0.125"))
        wait_for(lambda: len(service.charges()) > before)
        (worker,) = service.workers()
        os.kill(worker, signal.SIGKILL)
        thread.join()
        assert code_of(found[0]) == "not_finished"
        assert found[0].status_code == 503
    finally:
        service.marker.unlink()
    wait_for(lambda: service.send("GET", "/ready").status_code == 200)
    again = service.ask(key, epsilon="0.125").json()
    assert again["paid"] == "nothing"
    assert not again["stored"]
    assert service.ask(key, epsilon="0.125").json()["rows"] == again["rows"]
    assert [one["analyst"] for one in service.charges()[before:]] == ["unlucky"]


def test_S10_a_key_that_is_revoked_while_its_question_is_answered_gets_no_answer(service):
    key, other = service.key("leaving"), service.key("staying")
    before = len(service.charges())
    service.marker.touch()
    try:
        thread, found = later(lambda: service.ask(key, epsilon="0.0625"))
        wait_for(lambda: len(service.charges()) > before)
        service.keys.revoke("leaving", reason="left")
        assert code_of(service.send("GET", "/v1/nowhere", key)) == "unauthorized"  # no worker is free
    finally:
        service.marker.unlink()
        thread.join()  # or it would still wait in the next test
    assert code_of(found[0]) == "unauthorized"
    # what was charged is in the store, for those who may still ask
    assert service.ask(other, epsilon="0.0625").json()["paid"] == "nothing"


def test_S10_a_key_that_is_revoked_while_it_waits_gets_nothing_and_pays_nothing(service):
    reader, late, other = service.key("reader", "auditor"), service.key("late"), service.key("patient")
    before = len(service.charges())
    service.marker.touch()
    try:
        busy, _ = later(lambda: service.ask(other, epsilon="0.03125"))
        wait_for(lambda: len(service.charges()) > before)
        asking, asked = later(lambda: service.ask(late, f"{ALL_VISITS} WHERE age <> 3", epsilon="0.03"))
        reading, read = later(lambda: service.send("GET", "/v1/ledger", reader))
        wait_for(lambda: service.has_seen("reader", "late"))
        for name in ("reader", "late"):
            service.keys.revoke(name, reason="left")
    finally:
        service.marker.unlink()
    for thread in (busy, asking, reading):
        thread.join()
    assert [code_of(one) for one in (*asked, *read)] == ["unauthorized", "unauthorized"]
    assert [one["analyst"] for one in service.charges()[before:]] == ["patient"]


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM visits",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT COUNT(*) AS n FROM '/etc/passwd'",
        "SELECT COUNT(*) AS n FROM read_text('/etc/passwd')",
        "COPY visits TO '/tmp/stolen.csv'",
        "ATTACH '/tmp/other.db'",
        "INSTALL httpfs",
        "PRAGMA database_list",
        "SET memory_limit = '1GB'",
        "SELECT getenv('HOME') AS h, COUNT(*) AS n FROM visits GROUP BY getenv('HOME')",
        "SELECT COUNT(*) AS n FROM visits; DROP TABLE visits",
        "SELECT COUNT(*) AS n FROM information_schema.tables",
        "EXPLAIN ANALYZE SELECT COUNT(*) FROM visits",
        "",
    ],
)
def test_S12_no_statement_leaves_the_language(service, statement):
    key, before = service.key("escape"), len(service.charges())
    found = service.ask(key, statement, epsilon=1)
    assert found.status_code == 422, found.text
    assert code_of(found) in {"unsupported", "undeclared", "refused", "parameter"}
    assert "root:" not in found.text
    assert len(service.charges()) == before


@pytest.mark.parametrize(
    "terms",
    [
        {"epsilon": 0},
        {"epsilon": -1},
        {"epsilon": -0.0},
        {"epsilon": 1e308},
        {"epsilon": 5e-324},
        {"epsilon": "NaN"},
        {"epsilon": "Infinity"},
        {"epsilon": "1e400000"},
        {"epsilon": "0x10"},
        {"epsilon": True},
        {"epsilon": [1]},
        {"epsilon": 10**400},
        {"rho": "-1/3"},
        {"epsilon": 1, "delta": 2},
        {"epsilon": 1, "confidence": 1},
        {"epsilon": 1, "rows": -1},
        {"epsilon": 1, "limits": 0},
        {"epsilon": 1, "limits": 10**30},
        {"error": {"n": "NaN"}},
        {"error": {"n": 0}},
        {},
    ],
    ids=lambda terms: json.dumps(terms)[:40],
)
def test_S17_numbers_that_are_none_are_refused_before_any_charge(service, terms):
    key, before = service.key("numbers"), len(service.charges())
    found = service.ask(key, **terms)
    assert 400 <= found.status_code < 500, found.text
    assert code_of(found) in {"malformed", "parameter", "numbers", "refused", "budget_exceeded"}
    assert len(service.charges()) == before


def test_S7_nobody_chooses_the_noise(service):
    key = service.key("seeds")
    for name in ("seed", "random_state", "noise", "salt"):
        assert code_of(service.ask(key, epsilon=1, **{name: 1})) == "malformed"


def test_S11_long_and_deep_questions_are_refused_and_the_server_stays_up(service):
    key = service.key("long")
    deep = "SELECT COUNT(*) AS n FROM visits WHERE " + "(" * 5000 + "age > 1" + ")" * 5000
    many = "SELECT COUNT(*) AS n FROM visits WHERE " + "NOT " * 20_000 + "age > 1"
    long = f"{ALL_VISITS} WHERE age IN ({', '.join(map(str, range(40_000)))})"
    assert code_of(service.ask(key, deep, epsilon=1)) == "unsupported"
    assert code_of(service.ask(key, many, epsilon=1)) == "unsupported"
    assert code_of(service.ask(key, long, epsilon=1)) == "too_large"
    assert service.send("GET", "/health").json() == {"status": "alive"}


def test_S13_no_value_question_or_key_is_in_logs_or_metrics(service):
    key, owner = service.key("watched"), service.key("watching", "owner")
    service.ask(key, f"{ALL_VISITS} WHERE age < {LITERAL}", epsilon=1)
    service.ask(key, f"{ALL_VISITS} WHERE note = '{DATA_TEXT}'", epsilon=1)
    service.ask(key, f"{ALL_VISITS} WHERE {DATA_NUMBER}", epsilon=1)
    wait_for(lambda: any(one["name"] == "watched" for one in logged(service)))
    metrics = service.send("GET", "/metrics", owner).text
    said = service.log() + metrics
    assert canaries_in(said) == [], f"in the log: {', '.join(canaries_in(said))}"
    assert str(LITERAL) not in said
    assert "SELECT" not in said
    assert key not in said
    assert key.split("_", 2)[2] not in (service.directory / "clinic.keys").read_text()
    fields = {"time", "request", "word", "status", "code", "key", "name", "cost", "slot"}
    assert all(set(one) == fields for one in logged(service))
    assert 'discreet_requests_total{word="ask",status="200"}' in metrics
    # the control: the same search finds each of them where it is
    assert canaries_in((service.directory / "visits.csv").read_text())


def test_every_path_is_in_the_openapi_and_nothing_comes_from_elsewhere(service):
    found = service.send("GET", "/openapi.json").json()
    paths = {"tables", "preview", "explain", "ask", "counts", "spent", "ledger", "label"}
    paths |= {"verify", "keys", "keys/revoke", "jobs", "jobs/{job}", "suggest", "suggest/preview"}
    of_owners = ("sources", "schema", "draft", "amend", "proposals", "agree", "withdraw", "check")
    paths |= {f"owner/{one}" for one in of_owners}
    assert set(found["paths"]) == {f"/v1/{one}" for one in paths} | {"/metrics", "/health", "/ready"}
    for page in ("/docs", "/redoc"):
        assert service.send("GET", page, service.key("lost")).status_code == 404


def test_an_auditor_checks_the_chain_without_the_ledger(service, tmp_path):
    from discreet.curator.ledger import verify_export

    key = service.key("checking", "auditor")
    service.ask(service.key("asking"), epsilon="0.25")
    found = service.send("GET", "/v1/ledger", key).json()
    file = tmp_path / "entries.jsonl"
    file.write_text("".join(f"{line}\n" for line in found["entries"]))
    verify_export(file)
    assert len(found["entries"]) == found["head"]["sequence"]
    after = service.send("GET", "/v1/ledger", key, params={"after": 2}).json()["entries"]
    assert after == found["entries"][2:]
    file.write_text(file.read_text().replace("asking", "masked"))
    with pytest.raises(Exception, match="cannot be trusted"):
        verify_export(file)


def unpinned(constraints: str, project: str) -> set[str]:
    """What the extra of the server needs, and constraints do not pin."""
    pinned = {line.partition("==")[0].lower() for line in constraints.splitlines()[1:]}
    extra = re.search(r"^serve = \[(.*)\]$", project, re.MULTILINE)[1]
    named = set(re.findall(r'"([a-z0-9]+)>', extra))
    below = {"starlette", "pydantic", "pydantic_core", "h11", "httpcore", "anyio", "certifi", "idna", "click"}
    below |= {"markupsafe"}
    return (named | below) - pinned


def test_S18_every_library_of_the_server_is_pinned():
    constraints, project = (ROOT / "constraints.txt").read_text(), (ROOT / "pyproject.toml").read_text()
    assert unpinned(constraints, project) == set()
    # the control: a library that is not pinned, or a new one, is named
    assert unpinned(constraints.replace("h11==", "h12=="), project) == {"h11"}
    assert unpinned(constraints, project.replace('serve = ["', 'serve = ["flask>=1", "')) == {"flask"}
