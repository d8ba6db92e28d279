"""Two servers on one ledger, and analysts who race for what is left of it."""

from __future__ import annotations

import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from benchmarks.service import under_load

from curator.ledger.conftest import postgres  # noqa: F401
from discreet.front.opening import amend_file
from server.service import ALL_VISITS, DECLARATION, code_of, serving, write_small_clinic

ANALYSTS = ("ana", "bea", "cem")


@pytest.fixture
def servers(tmp_path):
    write_small_clinic(tmp_path, epsilon=1, share=0.4)
    with serving(tmp_path) as first, serving(tmp_path, name="second") as second:
        yield first, second


def test_S1_S3_racing_analysts_on_two_servers_spend_exactly_the_budget(servers):
    """Of 0.2 each, two fit the share of an analyst and five the budget; the rest is refused."""
    first, _ = servers
    keys = {name: first.key(name) for name in ANALYSTS}

    def ask(number: int) -> tuple[str, str]:
        name, server = ANALYSTS[number % 3], servers[number % 2]
        question = f"{ALL_VISITS} WHERE age <> {number}"
        return name, code_of(server.ask(keys[name], question, epsilon="0.2"))

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(24)))
    answered = Counter(name for name, code in found if not code)
    assert sum(answered.values()) == 5
    assert max(answered.values()) == 2
    assert {code for _, code in found} == {"", "budget_exceeded"}
    assert Counter(one["analyst"] for one in first.charges()) == answered
    assert {one.send("GET", "/v1/spent", keys["ana"]).json()["epsilon"] for one in servers} == {1.0}


def test_S16_a_cap_is_raised_on_the_record_while_servers_run(servers):
    first, second = servers
    key = first.key("ana")
    terms = {"question": "SELECT COUNT(*) AS n FROM visits WHERE age <> 99", "epsilon": "0.4"}
    assert code_of(first.ask(key, f"{ALL_VISITS} WHERE age <> 98", epsilon="0.4")) == ""
    assert code_of(second.ask(key, **terms)) == "budget_exceeded"
    first.file.write_text(DECLARATION.format(epsilon=2, share=0.8))
    amend_file(first.file, reason="agreed with the board").close()
    assert code_of(second.ask(key, **terms)) == ""
    (entry,) = [one for one in first.entries() if one["kind"] == "amend"]
    assert entry["reason"] == "agreed with the board"


def test_S14_a_ledger_that_was_replaced_by_an_old_copy_answers_nothing(servers):
    first, _ = servers
    key = first.key("bea")
    ledger = first.directory / "clinic.ledger"
    old = ledger.read_bytes()
    for number, server in enumerate(servers):
        question = f"{ALL_VISITS} WHERE age <> {200 + number}"
        assert code_of(server.ask(key, question, epsilon="0.01")) == ""
    new = ledger.read_bytes()
    ledger.write_bytes(old)
    try:
        for server in servers:
            found = server.ask(key, f"{ALL_VISITS} WHERE age <> 300", epsilon="0.01")
            assert (found.status_code, code_of(found)) == (503, "ledger"), found.text
            assert found.json()["error"]["message"] == "the ledger or the keys cannot be used now: no answer"
    finally:
        ledger.write_bytes(new)
    # the control: with the ledger as it was, the same is answered
    assert code_of(first.ask(key, f"{ALL_VISITS} WHERE age <> 300", epsilon="0.01")) == ""


@pytest.mark.slow
def test_S1_S3_two_servers_on_one_ledger_in_postgresql(tmp_path, postgres):  # noqa: F811
    """The control is that of the race on a file: `test_planted`."""
    write_small_clinic(tmp_path, epsilon=1, share=0.4)
    file = tmp_path / "clinic.toml"
    place = f'location = "{postgres}"\nname = "clinic {uuid.uuid4().hex}"'
    file.write_text(file.read_text().replace('location = "clinic.ledger"', place))
    with serving(tmp_path) as first, serving(tmp_path, name="second") as second:
        test_S1_S3_racing_analysts_on_two_servers_spend_exactly_the_budget((first, second))


@pytest.mark.parametrize(
    ("kills", "seconds"),
    [
        pytest.param(3, 6, marks=pytest.mark.slow),
        pytest.param(40, 100, marks=pytest.mark.exhaustive),
    ],
)
def test_S2_workers_and_the_server_are_killed_under_load(tmp_path, kills, seconds):
    """No answer without a charge, no charge beyond the budget, and what was answered stays answered."""
    seen = under_load(tmp_path, clients=4, seconds=seconds, charges=25 * kills, kills=kills, workers=2)
    assert set(seen.codes) <= {"answered", "not_finished", "budget_exceeded", "gone", "away", "busy"}
