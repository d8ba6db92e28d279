"""Servers with faults on purpose: the tests of the requirements fail on them."""

from __future__ import annotations

import pytest

from server import test_application, test_guard, test_race
from server.service import serving, write_small_clinic

OPEN_DOOR = """
if "serve" in sys.argv:
    import discreet.server.application as application
    import discreet.server.guard as guard
    import discreet.server.keys as keys
    import discreet.server.request_log as request_log

    application._key_for = lambda request, scope: request.scope["discreet"]["key"]
    guard._HEADERS.clear()
    found = keys.KeyFile.find
    remembered = {}
    def remembers(self, text):
        if remembered.get(text) is None:
            remembered[text] = found(self, text)
        return remembered[text]
    keys.KeyFile.find = remembers
    message = application._message
    def tells(request, word, body):
        print(body.question, file=sys.stderr, flush=True)
        return message(request, word, body)
    application._message = tells
"""
"""Roles are not looked at, headers are missing, keys live on in memory, and questions are logged."""

NO_MEMORY = """
if "discreet.server.worker" in sys.orig_argv:
    import os
    import discreet.curator.budget.account as account
    import discreet.curator.request.request as request
    account.Account.check = lambda self, analyst, *events: None
    account.Account.check_recorded = lambda self, analyst, event: None
    digest = request.Request.digest
    request.Request.digest = lambda self, secret, declared: digest(self, os.urandom(32), declared)
"""
"""The budget is not checked, and a request does not know that it was charged before."""


@pytest.fixture(scope="module")
def open_door(tmp_path_factory):
    directory = tmp_path_factory.mktemp("open")
    write_small_clinic(directory)
    # Of S10's revoked key, the planted server asks a worker that is busy: it must not wait for long.
    with serving(directory, "--seconds", "10", plant=OPEN_DOOR) as found:
        yield found


@pytest.fixture(scope="module")
def no_memory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("forgetful")
    write_small_clinic(directory, epsilon=1, share=0.4)
    with serving(directory, plant=NO_MEMORY) as found:
        yield found


@pytest.mark.slow
@pytest.mark.parametrize(
    "requirement",
    [
        lambda service: test_application.test_S16_every_role_may_do_its_part_and_no_more(service, "analyst"),
        test_application.test_S10_a_key_that_is_revoked_while_its_question_is_answered_gets_no_answer,
        test_guard.test_S9_every_answer_has_the_same_strict_headers,
        test_application.test_S13_no_value_question_or_key_is_in_logs_or_metrics,
    ],
    ids=["S16", "S10", "S9", "S13"],
)
def test_an_open_door_is_seen(open_door, requirement):
    with pytest.raises((AssertionError, KeyError, ValueError)):
        requirement(open_door)


@pytest.mark.slow
def test_S2_control_a_request_that_is_charged_twice_is_seen(no_memory):
    with pytest.raises(AssertionError):
        test_application.test_S2_a_killed_question_keeps_its_charge_and_is_answered_later(no_memory)


@pytest.mark.slow
def test_S1_S3_control_a_budget_that_is_not_checked_is_seen(no_memory):
    with pytest.raises(AssertionError):
        test_race.test_S1_S3_racing_analysts_on_two_servers_spend_exactly_the_budget((no_memory, no_memory))
