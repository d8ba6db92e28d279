"""Workers that take too long, or too much memory, do not take the server with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from discreet.server import pool as module
from discreet.server.catalogue import ServiceRefusal, problem_body
from discreet.server.pool import Pool
from discreet.server.service_limits import ServiceLimits
from server.service import ALL_VISITS, code_of, serving, wait_for, write_small_clinic
from server.test_slots import Virtual

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


class Worker:
    """A worker that lives."""

    returncode = None


def pool_of_one(tmp_path, monkeypatch, reply: Callable[[bytes], object]) -> Pool:
    """A pool whose only worker says what a function returns, after as many seconds as it says."""

    async def send(process: Worker, message: bytes) -> object:
        seconds, said = reply(message)
        await asyncio.sleep(seconds)
        return said

    monkeypatch.setattr(module, "_send", send)
    pool = Pool(tmp_path / "clinic.toml", ServiceLimits(slot=0.5))
    pool._idle.put_nowait(Worker())
    return pool


def in_virtual_time(work):
    loop = Virtual()
    try:
        return loop.run_until_complete(work)
    finally:
        loop.close()


def waited_behind(tmp_path, monkeypatch, seconds: float) -> float:
    """How long someone else waits for a worker that reads rows for so long."""
    paid = {"content": {"stored": False, "paid": "epsilon 1"}}

    async def both() -> float:
        pool = pool_of_one(
            tmp_path, monkeypatch, lambda message: (seconds if b"ask" in message else 0.0, dict(paid))
        )
        first = asyncio.ensure_future(pool.do({"word": "ask"}))
        await asyncio.sleep(0.01)
        await pool.do({"word": "spent"})
        await first
        return asyncio.get_running_loop().time()

    return in_virtual_time(both())


def test_workers_are_replaced_when_what_is_declared_changed(tmp_path, monkeypatch):
    """Those that do nothing at once, and one that works when it is done."""
    started = []

    async def run():
        pool = pool_of_one(tmp_path, monkeypatch, lambda message: (1.0, {"content": {"by": len(started)}}))
        (first,) = pool._idle._queue
        idle = Worker()
        pool._idle.put_nowait(idle)
        pool._alive |= {first, idle}
        ended = []

        async def end(process):
            pool._old.discard(process)
            ended.append(process)

        async def start():
            started.append(Worker())
            pool._alive.add(started[-1])
            pool._idle.put_nowait(started[-1])

        monkeypatch.setattr(pool, "_end", end)
        monkeypatch.setattr(pool, "_start_one", start)
        working = asyncio.ensure_future(pool.do({"word": "spent"}))
        await asyncio.sleep(0.01)
        await pool.renew()
        await asyncio.sleep(0)
        at_once = list(ended)
        before = await working
        after = [await pool.do({"word": "spent"}) for _ in range(3)]
        await asyncio.sleep(0)
        return at_once == [idle], ended == [idle, first], before["content"], after[-1]["content"]

    assert in_virtual_time(run()) == (True, True, {"by": 0}, {"by": 2})
    assert len(started) == 2


@pytest.mark.parametrize("word", ["ask", "check", "schema", "draft", "amend", "suggest"])
def test_S6_whatever_opens_or_reads_rows_leaves_at_slots(tmp_path, monkeypatch, word):
    async def run():
        pool = pool_of_one(tmp_path, monkeypatch, lambda message: (0.1, {"content": {}}))
        return (await pool.do({"word": word}))["slot"], asyncio.get_running_loop().time()

    assert in_virtual_time(run()) == (1, 0.5)


def test_S6_who_waits_for_a_worker_learns_the_slot_and_no_more(tmp_path, monkeypatch):
    assert waited_behind(tmp_path, monkeypatch, 0.05) == waited_behind(tmp_path, monkeypatch, 0.3) == 0.5
    assert waited_behind(tmp_path, monkeypatch, 0.6) == 1.0


def test_S6_control_a_worker_that_is_given_away_at_once_tells_its_time(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_may_have_read", lambda reply: False)

    async def seen(seconds: float) -> float:
        pool = pool_of_one(
            tmp_path, monkeypatch, lambda message: (seconds if b"ask" in message else 0.0, {"content": {}})
        )
        first = asyncio.ensure_future(pool.do({"word": "ask"}))
        await asyncio.sleep(0.01)
        await pool.do({"word": "spent"})
        found = asyncio.get_running_loop().time()
        await first
        return found

    assert in_virtual_time(seen(0.05)) != in_virtual_time(seen(0.3))


def test_S10_who_is_revoked_while_waiting_is_not_charged(tmp_path, monkeypatch):
    asked: list[bytes] = []

    def reply(message: bytes) -> object:
        asked.append(message)
        return 0.0, {"content": {}}

    async def ask(*, is_allowed: bool) -> None:
        await pool_of_one(tmp_path, monkeypatch, reply).do({"word": "ask"}, is_allowed=lambda: is_allowed)

    with pytest.raises(ServiceRefusal) as refused:
        in_virtual_time(ask(is_allowed=False))
    assert refused.value.code == "unauthorized"
    assert asked == []
    in_virtual_time(ask(is_allowed=True))  # the control: who may, is asked for
    assert len(asked) == 1


def test_keys_that_cannot_be_read_cost_no_worker(tmp_path, monkeypatch):
    def unreadable() -> bool:
        raise PermissionError

    async def ask() -> object:
        pool = pool_of_one(tmp_path, monkeypatch, lambda message: (0.0, {"content": {"spent": 0}}))
        with pytest.raises(PermissionError):
            await pool.do({"word": "spent"}, is_allowed=unreadable)
        async with asyncio.timeout(60):  # of the virtual clock: without its worker it would wait for ever
            return await pool.do({"word": "spent"})

    assert in_virtual_time(ask())["content"] == {"spent": 0}


@pytest.mark.parametrize("error", [ValueError, EOFError, OSError, RecursionError])
def test_a_worker_that_says_nonsense_is_replaced(tmp_path, monkeypatch, error):
    def reply(message: bytes) -> object:
        raise error

    async def ask() -> tuple[object, list[object]]:
        pool, replaced = pool_of_one(tmp_path, monkeypatch, reply), []

        async def replace(process: object) -> None:
            replaced.append(process)

        monkeypatch.setattr(pool, "_replace", replace)
        return await pool.do({"word": "spent"}), replaced

    said, replaced = in_virtual_time(ask())
    assert said == {**problem_body("not_finished"), "slot": 0}
    assert len(replaced) == 1


def test_a_pool_is_ready_when_a_worker_is_open_and_the_ledger_answers(tmp_path, monkeypatch):
    said = [problem_body("ledger"), problem_body("ledger"), {"content": {}}]

    async def look() -> list[bool]:
        pool = pool_of_one(tmp_path, monkeypatch, lambda message: (0.0, dict(said.pop(0))))
        pool._alive.add(worker := Worker())  # it is being opened
        seen = [pool.is_ready]
        pool._open.add(worker)
        seen.append(pool.is_ready)
        await pool.do({"word": "spent"})
        seen.append(pool.is_ready)
        while pool._tasks:
            await asyncio.sleep(1)
        return [*seen, pool.is_ready]

    assert in_virtual_time(look()) == [False, True, False, True]
