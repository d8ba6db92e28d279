"""Workers are killed at random moments, again and again; what got out must have been paid.

A worker answers requests, one after another, and says which stage it is in by writing to shared memory. The
harness kills workers with SIGKILL, reads the stage in which each died, and starts another in its place. Of
those who died in a stage, every other successor asks the same again, the rest something new, so that no stage
is left to chance. What a worker lets out is a line appended to a file by one
system call, so that it stays when the worker dies.

`harass` knows nothing of ledgers: give it any work on a `Desk`. SIGKILL does not test loss of power.
"""

from __future__ import annotations

import mmap
import os
import random
import signal
import struct
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from curator.ledger.counting import charging, counting
from discreet.curator.ledger import Ledger, open_store

STAGES = ("before the charge", "charged", "computed", "stored")
_STARTING = len(STAGES)
_CELL = struct.Struct("=BQ")


class Desk:
    """Where one worker sits: the number of its request, its stage, and the pile of what it let out."""

    def __init__(self, number: int, memory: mmap.mmap, directory: str) -> None:
        self.number = number
        self._memory = memory
        self._pile = Path(directory, f"let-out-{number}")
        self._handle = -1

    @property
    def stage(self) -> int:
        return _CELL.unpack_from(self._memory, self.number * _CELL.size)[0]

    @property
    def key(self) -> str:
        """The key of the request at hand. It outlives the worker, so that its successor can ask the same."""
        return f"{self.number} {self._request}"

    @property
    def _request(self) -> int:
        return _CELL.unpack_from(self._memory, self.number * _CELL.size)[1]

    def enter(self, stage: int) -> None:
        """Enter a stage, and stay there for a moment, so that a kill may find it."""
        _CELL.pack_into(self._memory, self.number * _CELL.size, stage, self._request)
        if stage < _STARTING:
            time.sleep(random.uniform(0, 0.004))

    def let_out(self, content: bytes) -> None:
        """Let an answer out, as one line, in one system call."""
        if self._handle < 0:
            self._handle = os.open(self._pile, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(self._handle, f"{self.key}:{content.hex()}\n".encode())

    def next(self) -> None:
        """Go on to the next request."""
        _CELL.pack_into(self._memory, self.number * _CELL.size, self.stage, self._request + 1)

    def lines(self) -> list[tuple[str, bytes]]:
        """All that was let out here: the key of the request, and the answer."""
        if not self._pile.exists():
            return []
        found = (line.split(":") for line in self._pile.read_text().splitlines())
        return [(key, bytes.fromhex(content)) for key, content in found]


@dataclass(frozen=True)
class Harassed:
    """How many were killed in which stage, and what was let out by all of them."""

    killed: Counter[str]
    let_out: list[tuple[str, bytes]]


def harass(
    work: Callable[[Desk], None],
    *,
    kills: int,
    workers: int,
    directory: str,
    least: int,
    before_fork: Callable[[], object] = lambda: None,
) -> Harassed:
    """Kill workers until enough died, in every stage.

    Parameters
    ----------
    work : callable
        What a worker does with its desk: answers one request. Called again and again, in a forked process.
    kills : int
        How many to kill, at least.
    workers : int
        How many work at the same time.
    directory : str
        Where piles are.
    least : int
        How many to kill in each stage, at least.
    before_fork : callable
        Called in the parent before each worker is started.
    """
    memory = mmap.mmap(-1, workers * _CELL.size)
    desks = [Desk(number, memory, directory) for number in range(workers)]
    pids = [_start(work, desk) for desk in desks]
    killed: Counter[str] = Counter()
    while killed.total() < kills or min(killed[stage] for stage in STAGES) < least:
        number = _victim(desks, min(range(len(STAGES)), key=lambda stage: killed[STAGES[stage]]))
        os.kill(pids[number], signal.SIGKILL)
        _, status = os.waitpid(pids[number], 0)
        assert os.WIFSIGNALED(status), "a worker failed by itself"
        if desks[number].stage < _STARTING:
            stage = STAGES[desks[number].stage]
            killed[stage] += 1
            if killed[stage] % 2:
                desks[number].next()
        before_fork()
        pids[number] = _start(work, desks[number])
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    for desk in desks:  # what was begun can be finished, by anybody
        work(desk)
    return Harassed(killed, [line for desk in desks for line in desk.lines()])


def _victim(desks: list[Desk], rarest: int) -> int:
    """Choose a moment and a worker: half of the time anyone, else one in the stage with the fewest kills."""
    time.sleep(random.uniform(0, 0.02))
    anyone = random.randrange(len(desks))
    if random.random() < 0.5:
        return anyone
    until = time.monotonic() + 0.05
    while time.monotonic() < until:
        for number in random.sample(range(len(desks)), len(desks)):
            if desks[number].stage == rarest:
                return number
    return anyone


def _start(work: Callable[[Desk], None], desk: Desk) -> int:
    desk.enter(_STARTING)
    pid = os.fork()
    if pid == 0:
        try:
            random.seed()
            while True:
                work(desk)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return pid


def pay_first(ledger: Ledger, desk: Desk) -> None:
    """Answer one request as the ledger asks for it: charge, compute, keep, let out what was kept."""
    desk.enter(0)
    charge = ledger.decide("charge", charging(), key=desk.key)
    desk.enter(1)
    answer = ledger.answer(charge)
    if answer is None:
        answer = _compute()
        desk.enter(2)
        answer = ledger.keep_answer(charge, answer)
    desk.enter(3)
    desk.let_out(answer)
    desk.next()


def answer_first(ledger: Ledger, desk: Desk) -> None:
    """The control: let the answer out, then charge, as one would who fears to charge for nothing.

    Who dies in the last stage has let an answer out and has not begun to charge.
    """
    desk.enter(0)
    answer = _compute()
    desk.enter(2)
    desk.let_out(answer)
    desk.enter(3)
    desk.enter(0)
    charge = ledger.decide("charge", charging(), key=desk.key)
    ledger.keep_answer(charge, answer)
    desk.enter(1)
    desk.next()


def _linger(point: str) -> None:
    """Stay for a moment at each point inside the ledger, so that a kill may find it."""
    time.sleep(random.uniform(0, 0.001))


def _compute() -> bytes:
    """An answer with fresh noise: no two are the same."""
    return os.urandom(16)


def main(
    *,
    location: str,
    name: str | None,
    order: str,
    kills: int,
    least: int,
    directory: str,
    workers: int = 4,
    anchor: bool = False,
) -> dict[str, object]:
    """Harass workers on a ledger and compare what they let out with what the ledger holds."""
    options = {"anchor": Path(directory, "anchor") if anchor else None, "reached": _linger}

    def opened() -> Ledger:
        return counting(open_store(location, name=name), 10**9, **options)

    answer_one = {"pay first": pay_first, "answer first": answer_first}[order]
    shared = opened()  # workers find it as it was when they were forked
    result = harass(
        lambda desk: answer_one(shared, desk),
        kills=kills,
        least=least,
        workers=workers,
        directory=directory,
        before_fork=shared.state,
    )
    ledger = opened()
    report = ledger.verify()
    charges = {entry.key: entry for entry in ledger.entries() if entry.kind == "charge"}
    answers = {key: ledger.answer(charge) for key, charge in charges.items()}
    return {
        "killed": {stage: result.killed[stage] for stage in STAGES},
        "let out": len(result.let_out),
        "let out twice": len(result.let_out) - len({key for key, _ in result.let_out}),
        "charges": len(charges),
        "answers": report.answers,
        "without a charge": sum(key not in charges for key, _ in result.let_out),
        "other than kept": sum(answers.get(key) not in (None, content) for key, content in result.let_out),
        "not kept": sum(key in charges and answers[key] is None for key, _ in result.let_out),
        "charged twice": sum(1 for entry in ledger.entries() if entry.kind == "charge") - len(charges),
    }
