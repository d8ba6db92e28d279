"""When an answer leaves depends on the slot in which its work ended, and on nothing else."""

from __future__ import annotations

import asyncio
import heapq

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.server.slots import slot_after, until_slot


class Virtual(asyncio.SelectorEventLoop):
    """A loop whose clock moves only when everything waits: no test depends on how busy a machine is."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def time(self) -> float:
        return self.now

    def _run_once(self) -> None:
        if not self._ready and self._scheduled:
            self.now = max(self.now, heapq.nsmallest(1, self._scheduled)[0]._when)
        super()._run_once()


def left_at(work: float, width: float, leave) -> float:
    """When an answer leaves whose work took so long."""

    async def answer() -> float:
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.sleep(work)
        await leave(began, width)
        return loop.time() - began

    loop = Virtual()
    try:
        return loop.run_until_complete(answer())
    finally:
        loop.close()


@given(st.integers(1, 400), st.integers(1, 400))
def test_S6_answers_leave_at_multiples_of_a_slot(first, second):
    """Work in one slot is told apart by nobody."""
    width = 0.125
    times = [left_at(one / 1024, width, until_slot) for one in (first, second)]
    slots = [slot_after(one / 1024, width) for one in (first, second)]
    assert [time / width for time in times] == pytest.approx(slots)
    assert (slots[0] == slots[1]) == (abs(times[0] - times[1]) < 1e-9)


def test_S6_control_without_slots_the_time_is_seen():
    async def at_once(began: float, width: float) -> None:
        return None

    assert left_at(0.01, 0.125, at_once) != left_at(0.02, 0.125, at_once)
