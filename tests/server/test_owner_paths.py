"""The words of owners over HTTP: whose they are, what they change, and when a second owner is needed."""

from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter

from discreet.server import answering
from discreet.server.keys import ROLES, KeyFile
from discreet.server.owning.proposals import Proposals
from discreet.server.replies import REPLIES
from server.owning.clinic import amendments, ask_for_two, clinic_of_an_owner, copies
from server.pages.dashboard import Visitor

CHECK = {"table": "visits"}
SOURCE = {"file": "stays.csv", "csv": {"first_line_has_names": True}}
TABLE = {**SOURCE, "name": "stays", "person": "patient_id", "rows": 3}
RAISED = {"budget": {"per_analyst": {"epsilon": "50"}}}
WORDS = {
    ("GET", "sources"): None,
    ("POST", "schema"): SOURCE,
    ("POST", "draft"): RAISED,
    ("POST", "amend"): {**RAISED, "reason": "x", "expected": "not the file"},
    ("GET", "proposals"): None,
    ("POST", "agree"): {"proposal": "0" * 32},
    ("POST", "withdraw"): {"proposal": "0" * 32},
    ("POST", "check"): CHECK,
}


@pytest.fixture
def clinic(tmp_path):
    with clinic_of_an_owner(tmp_path) as found:
        yield found


@pytest.fixture
def people(clinic):
    """Owners and others at one server."""
    app = clinic.app()

    def enter(name, role, *, key=None, **more):
        key = clinic.keys.create(name, role=role, **more)[1] if key is None else key
        visitor = Visitor(app, "http://127.0.0.1:8080", clinic.runner)

        def say(method, word, body=None):
            address, headers = f"/v1/{word}", {"authorization": f"Bearer {key}"}
            if method == "GET":
                answer = visitor.get(address, headers=headers)
            else:
                headers["content-type"] = "application/json"
                answer = visitor.post(address, headers=headers, content=json.dumps(body))
            return answer.status_code, answer.json()

        return say

    return enter


def test_S16_no_word_of_owners_is_for_others(clinic, people):
    for role in ("analyst", "auditor"):
        say = people(role, role)
        before = len(clinic.pool.words)
        for (method, word), body in WORDS.items():
            assert say(method, f"owner/{word}", body)[0] == 403, word
        assert len(clinic.pool.words) == before, "no worker hears of it"
    owner = people("olga", "owner")
    allowed = {word: owner(method, f"owner/{word}", body)[0] for (method, word), body in WORDS.items()}
    assert allowed == {**dict.fromkeys((word for _, word in WORDS), 200), "amend": 422, "agree": 404}
    assert {"amend", "check"} <= {*ROLES["owner"]}
    assert not {"amend", "check"} & {*ROLES["analyst"], *ROLES["auditor"]}


def test_S16_control_an_open_door_is_seen(clinic, people, monkeypatch):
    monkeypatch.setattr(answering, "key_for", lambda request, scope: request.scope["discreet"]["key"])
    with pytest.raises(AssertionError, match=r"sources\nassert 200 == 403"):
        test_S16_no_word_of_owners_is_for_others(clinic, people)


def test_S16_control_two_names_of_one_owner_would_be_enough(clinic, people, monkeypatch):
    """If keys did not say who made them."""
    monkeypatch.setattr(KeyFile, "first_maker", lambda self, key: key.name)
    with pytest.raises(KeyError, match="error"):
        test_S16_two_owners_at_one_server(clinic, people)


def test_S16_a_narrow_key_of_an_owner_is_narrow(people):
    say = people("narrow", "owner", scopes=["tables", "keys", "spent"])
    for (method, word), body in WORDS.items():
        assert say(method, f"owner/{word}", body)[0] == 403, word


@pytest.mark.slow
def test_a_table_is_declared_and_can_be_asked_about(clinic, people):
    owner, analyst = people("olga", "owner"), people("ana", "analyst")
    status, draft = owner("POST", "owner/draft", {"table": TABLE})
    assert status == 200
    status, done = owner(
        "POST", "owner/amend", {"table": TABLE, "reason": "stays of 2026", "expected": draft["digest"]}
    )
    assert (status, done["state"]) == (200, "done")
    for word, found in {"amend": done, "schema": owner("POST", "owner/schema", SOURCE)[1]}.items():
        TypeAdapter(REPLIES[word]["model"]).validate_python(found, strict=True)
    assert done["text"] == draft["text"]
    question = {"question": "SELECT COUNT(*) AS n FROM stays", "epsilon": "30"}
    assert analyst("POST", "ask", question)[0] == 200
    (entry,) = amendments(clinic.file.parent)
    assert (entry["agreed"], entry["reason"]) == (["olga"], "stays of 2026")


def test_S16_two_owners_at_one_server(clinic, people):
    directory = clinic.file.parent
    ask_for_two(directory)
    before = len(amendments(directory))
    olga, paul = people("olga", "owner"), people("paul", "owner")
    made = olga("POST", "keys", {"name": "made up", "role": "owner", "days": 9})[1]["key"]
    expected = olga("GET", "owner/sources")[1]["digest"]
    status, waiting = olga("POST", "owner/amend", {**RAISED, "reason": "spring", "expected": expected})
    assert (status, waiting["state"]) == (200, "waiting")
    proposal = {"proposal": waiting["proposal"]}
    assert olga("POST", "owner/agree", proposal)[1]["error"]["code"] == "refused"
    assert people("", "", key=made)("POST", "owner/agree", proposal)[1]["error"]["code"] == "refused"
    assert (len(amendments(directory)), copies(directory)) == (before, [])
    (shown,) = paul("GET", "owner/proposals")[1]["proposals"]
    assert (shown["by"], shown["text"]) == ("olga", "[budget]\nper_analyst = { epsilon = 50 }")
    assert paul("POST", "owner/agree", proposal)[1]["state"] == "done"
    assert amendments(directory)[-1]["agreed"] == ["olga", "paul"]
    assert paul("POST", "owner/agree", proposal)[0] == 404, "once"


def test_S16_one_agrees_to_the_declaration_that_was_looked_at(clinic, people):
    ask_for_two(clinic.file.parent)
    olga, paul = people("olga", "owner"), people("paul", "owner")
    expected = olga("GET", "owner/sources")[1]["digest"]
    waiting = olga("POST", "owner/amend", {**RAISED, "reason": "spring", "expected": expected})[1]
    clinic.file.write_text(clinic.file.read_text() + "# a remark\n")
    status, refused = paul("POST", "owner/agree", {"proposal": waiting["proposal"]})
    assert (status, refused["error"]["code"]) == (422, "refused")
    assert copies(clinic.file.parent) == []


def test_S10_a_proposer_whose_key_ends_meanwhile_changes_nothing(clinic, people, monkeypatch):
    """Between the agreement of the second owner and the worker that is free for it."""
    directory = clinic.file.parent
    ask_for_two(directory)
    before = len(amendments(directory))
    olga, paul = people("olga", "owner"), people("paul", "owner")
    expected = olga("GET", "owner/sources")[1]["digest"]
    waiting = olga("POST", "owner/amend", {**RAISED, "reason": "spring", "expected": expected})[1]
    agreed = Proposals.agreed

    def meanwhile(self, key, identifier):
        found = agreed(self, key, identifier)
        clinic.keys.revoke(found.key.prefix, reason="stolen")
        return found

    monkeypatch.setattr(Proposals, "agreed", meanwhile)
    status, refused = paul("POST", "owner/agree", {"proposal": waiting["proposal"]})
    assert (status, refused["error"]["code"]) == (401, "unauthorized")
    assert (len(amendments(directory)), copies(directory)) == (before, [])


def test_S13_counts_of_a_check_are_in_no_log(clinic, people):
    owner = people("olga", "owner")
    before = len(clinic.logged())
    status, found = owner("POST", "owner/check", CHECK)
    assert (status, found["rows"]) == (200, 402)
    (line,) = clinic.logged()[before:]
    assert (line["word"], line["cost"], line["code"]) == ("owner/check", "", "")
    assert "402" not in clinic.log.getvalue()


@pytest.mark.slow
def test_what_a_suggestion_costs_is_charged_to_the_key(clinic, people):
    analyst = people("ana", "analyst")
    body = {"table": "visits", "column": "cost", "epsilon": "20"}
    assert analyst("POST", "suggest/preview", body)[1]["preview"]["epsilon"] == 20
    status, bought = analyst("POST", "suggest", body)
    assert (status, bought["paid"]) == (200, "epsilon 20")
    auditor = people("aude", "auditor")
    assert {auditor("POST", word, body)[0] for word in ("suggest", "suggest/preview")} == {403}


def test_S11_bodies_are_of_a_stated_form(clinic, people):
    owner = people("olga", "owner")
    for body in (
        {},
        {"table": "x"},
        {**CHECK, "more": 1},
        {"table": "x" * 2000},
        {"table": None},
        {"table": "\ud800"},
    ):
        assert owner("POST", "owner/check", body)[0] in {400, 422}
    for change in (
        {"table": {**TABLE, "source": "/etc/passwd"}},
        {"ledger": "other"},
        {"budget": {"renews": 1}},
    ):
        assert owner("POST", "owner/draft", change)[0] == 400
    columns = {f"c{number}": {"type": "text"} for number in range(1001)}
    assert owner("POST", "owner/draft", {"table": {**TABLE, "columns": columns}})[0] == 400
