"""Servers with faults on purpose: the tests of the requirements fail on them, each for the named reason."""

from __future__ import annotations

import pytest

from server import test_application, test_connections, test_guard, test_race
from server.service import serving, write_small_clinic

OPEN_DOOR = """
if "serve" in sys.argv:
    import discreet.server.answering as answering
    import discreet.server.application as application
    import discreet.server.guard as guard
    import discreet.server.keys as keys
    import discreet.server.request_log as request_log

    answering.key_for = lambda request, scope: request.scope["discreet"]["key"]
    guard._HEADERS.clear()
    found = keys.KeyFile.find
    remembered = {}
    def remembers(self, text):
        if remembered.get(text) is None:
            remembered[text] = found(self, text)
        return remembered[text]
    keys.KeyFile.find = remembers
    keys.KeyFile.find_again = lambda self, key: key
    message = application._message
    def tells(request, word, body):
        written = request_log.RequestLog(sys.stderr, "json")
        written.write(request_log.LoggedRequest(request="", word=body.question, status=0))
        return message(request, word, body)
    application._message = tells
"""
"""Roles are not looked at, headers are missing, keys live on in memory, and questions are logged."""

CARELESS = """
if "serve" in sys.argv:
    import asyncio
    from uvicorn.protocols.http.h11_impl import H11Protocol
    import discreet.server.bodies as bodies
    import discreet.server.connections as connections
    import discreet.server.service_limits as service_limits
    for one in (bodies.QuestionBody, bodies.AskBody):
        one.model_config["extra"] = "ignore"
        one.model_rebuild(force=True)
    connections.BoundedConnection.connection_made = H11Protocol.connection_made
    connections.BoundedConnection.connection_lost = H11Protocol.connection_lost
    limited, any_length = service_limits.ServiceLimits.__init__, dict(characters=10**9, body=10**9)
    service_limits.ServiceLimits.__init__ = lambda self, **more: limited(self, **more, **any_length)
if "discreet.server.worker" in sys.orig_argv:
    import discreet.server.words as words
    asked = words.WORDS["ask"]
    def believes(curator, message, limits):
        if "passwd" in message["question"]:
            return {"rows": open("/etc/passwd").readlines()}
        terms = message["terms"]
        if terms.get("epsilon") in (0, -1):
            terms = {**terms, "epsilon": 1}
        return asked(curator, {**message, "terms": terms}, limits)
    words.WORDS["ask"] = believes
"""
"""Unknown fields pass, idle connections stay, questions may be long, files are read, numbers are mended."""

NO_MEMORY = """
if "discreet.server.worker" in sys.orig_argv:
    import os
    import discreet.curator.request.request as request
    digest = request.Request.digest
    request.Request.digest = lambda self, secret, declared: digest(self, os.urandom(32), declared)
"""
"""A request does not know that it was charged before."""


@pytest.fixture(scope="module")
def open_door(tmp_path_factory):
    directory = tmp_path_factory.mktemp("open")
    write_small_clinic(directory)
    with serving(directory, plant=OPEN_DOOR) as found:
        yield found


@pytest.fixture(scope="module")
def careless(tmp_path_factory):
    directory = tmp_path_factory.mktemp("careless")
    write_small_clinic(directory)
    with serving(directory, plant=CARELESS) as found:
        yield found


@pytest.fixture(scope="module")
def no_memory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("forgetful")
    write_small_clinic(directory, epsilon=1, share=0.4)
    with serving(directory, plant=NO_MEMORY) as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requirement", "reason"),
    [
        (
            lambda service: test_application.test_S16_every_role_may_do_its_part_and_no_more(
                service, "analyst"
            ),
            r"ledger\nassert 200 == ",
        ),
        (
            lambda service: test_application.test_S16_exact_counts_and_changes_are_for_owners_alone(
                service, "auditor"
            ),
            r"check\nassert '' == 'forbidden'",
        ),
        (
            test_application.test_S10_a_key_that_is_revoked_while_its_question_is_answered_gets_no_answer,
            "'not_found' == 'unauthorized'",
        ),
        (
            test_application.test_S10_a_key_that_is_revoked_while_it_waits_gets_nothing_and_pays_nothing,
            r"assert \['', ''\] == \['unauthorize",
        ),
        (test_guard.test_S9_every_answer_has_the_same_strict_headers, "cache-control"),
        (
            test_application.test_S13_no_value_question_or_key_is_in_logs_or_metrics,
            "in the log: the number in the data, the text in the data",
        ),
    ],
    ids=["S16", "S16 owners", "S10", "S10 waiting", "S9", "S13"],
)
def test_an_open_door_is_seen(open_door, requirement, reason):
    with pytest.raises((AssertionError, KeyError), match=reason):
        requirement(open_door)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("requirement", "reason"),
    [
        (test_application.test_S7_nobody_chooses_the_noise, "'' == 'malformed'"),
        (
            test_application.test_S11_long_and_deep_questions_are_refused_and_the_server_stays_up,
            "== 'too_large'",
        ),
        (test_connections.test_S11_idle_connections_make_room, "assert not True"),
        (
            lambda service: test_application.test_S12_no_statement_leaves_the_language(
                service, "SELECT * FROM read_csv('/etc/passwd')"
            ),
            "root:(.|\n)*assert 200 == 422",
        ),
        (
            lambda service: test_application.test_S17_numbers_that_are_none_are_refused_before_any_charge(
                service, {"epsilon": -1}
            ),
            "assert 400 <= 200",
        ),
    ],
    ids=["S7", "S11", "S11 idle", "S12", "S17"],
)
def test_carelessness_is_seen(careless, requirement, reason):
    with pytest.raises(AssertionError, match=reason):
        requirement(careless)


@pytest.mark.slow
def test_S2_control_a_request_that_is_charged_twice_is_seen(no_memory):
    with pytest.raises(AssertionError, match=r"'epsilon 0\.125' == 'nothing'"):
        test_application.test_S2_a_killed_question_keeps_its_charge_and_is_answered_later(no_memory)


@pytest.mark.slow
def test_S1_S3_control_servers_with_ledgers_of_their_own_are_seen(tmp_path):
    """Each spends the whole budget."""
    places = tmp_path / "one", tmp_path / "other"
    for place in places:
        place.mkdir()
        write_small_clinic(place, epsilon=1, share=0.4)
    (places[0] / "clinic.keys").touch()
    (places[1] / "clinic.keys").symlink_to(places[0] / "clinic.keys")
    seen = pytest.raises(AssertionError, match="assert 10 == 5")
    with serving(places[0]) as first, serving(places[1]) as second, seen:
        test_race.test_S1_S3_racing_analysts_on_two_servers_spend_exactly_the_budget((first, second))
