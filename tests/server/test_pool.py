"""Workers that take too long, or too much memory, do not take the server with them."""

from __future__ import annotations

import asyncio

import pytest

from discreet.server.catalogue import ServiceRefusal
from discreet.server.pool import Pool
from discreet.server.service_limits import ServiceLimits
from server.service import ALL_VISITS, code_of, serving, wait_for, write_small_clinic

GREEDY = """
if "discreet.server.worker" in sys.orig_argv:
    import discreet.server.words as words
    asked = words.WORDS["ask"]
    def greedy(curator, message, limits):
        if "123456" in message["question"]:
            bytearray(1 << 36)
        return asked(curator, message, limits)
    words.WORDS["ask"] = greedy
"""


def test_questions_beyond_those_that_may_wait_are_refused_at_once(tmp_path):
    async def ask_twice() -> str:
        pool = Pool(tmp_path / "clinic.toml", ServiceLimits(waiting=1, seconds=60))
        first = asyncio.ensure_future(pool.do({"word": "tables"}))  # no worker was started: it waits
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        with pytest.raises(ServiceRefusal) as refused:
            await pool.do({"word": "tables"})
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        for task in pool._tasks:
            task.cancel()
        return refused.value.code

    assert asyncio.run(ask_twice()) == "busy"


@pytest.mark.slow
def test_S11_questions_that_take_too_long_or_too_much_are_ended_and_keep_their_charge(tmp_path):
    write_small_clinic(tmp_path)
    with serving(tmp_path, "--seconds", "30", "--memory", "4096", plant=GREEDY) as service:
        key, owner = service.key("ana"), service.key("owner", "owner")
        found = service.ask(key, f"{ALL_VISITS} WHERE age <> 123456", epsilon=1)
        assert code_of(found) == "not_finished"
        service.marker.touch()
        assert code_of(service.ask(key, epsilon=1)) == "not_finished"
        service.marker.unlink()
        assert len(service.charges()) == 1
        wait_for(lambda: service.send("GET", "/ready").status_code == 200)
        assert service.ask(key, epsilon=1).json()["paid"] == "nothing"
        metrics = service.send("GET", "/metrics", owner).text
        assert "discreet_worker_restarts_total 1\n" in metrics
        assert "discreet_workers 1\n" in metrics
