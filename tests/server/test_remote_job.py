"""A job from the side of the client: it waits, asks again after a restart, and trusts no server."""

from __future__ import annotations

import pytest

from discreet.errors import EngineFailed, LedgerError, ParameterError, ServerRefused
from discreet.server import remote_job as module
from discreet.server.remote_job import RemoteJob


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch):
    monkeypatch.setattr(module, "_FIRST_SECONDS", 0.0)


def job(*replies, first=None):
    """A job whose server says these things, one after the other; an exception is raised."""
    said = iter(replies)
    started: list[object] = []

    def start():
        started.append(None)
        return first or {"job": f"abc{len(started)}", "state": "waiting"}

    def look(identifier):
        found = next(said)
        if isinstance(found, Exception):
            raise found
        return {"job": identifier, **found}

    found = RemoteJob(start=start, look=look, answer=lambda: "answer", error=lambda _: EngineFailed())
    return found, started


def test_it_waits_until_it_is_done():
    found, _ = job({"state": "waiting"}, {"state": "working"}, {"state": "done", "paid": "nothing"})
    assert found.result() == "answer"
    assert found.state == "done"
    assert repr(found) == "RemoteJob(done)"


def test_a_server_that_forgot_it_is_asked_again():
    found, started = job({"state": "working"}, ServerRefused("not_found", ""), {"state": "done"})
    assert found.result() == "answer"
    assert len(started) == 2


def test_a_failure_is_what_asking_would_have_raised():
    found, _ = job({"state": "failed", "problem": {"code": "not_finished", "message": ""}})
    with pytest.raises(EngineFailed):
        found.result()


def test_one_who_does_not_wait_is_told_so():
    found, _ = job({"state": "working"}, {"state": "done"})
    with pytest.raises(TimeoutError):
        found.result(timeout=0)
    assert found.result(timeout=0) == "answer"
    with pytest.raises(ParameterError):
        found.result(timeout=float("nan"))


@pytest.mark.parametrize("name", ["../keys", "", 3, None, "é", "a" * 101])
def test_a_name_that_would_lead_elsewhere_is_not_followed(name):
    with pytest.raises(LedgerError, match="not an answer"):
        job(first={"job": name, "state": "waiting"})


def test_what_is_not_a_state_is_no_answer():
    found, _ = job({})
    with pytest.raises(LedgerError, match="not an answer"):
        found.state  # noqa: B018
