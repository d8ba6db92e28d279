"""Workers that answer through a whole door are killed at random moments; what got out must have been paid.

The workers run the shipped `Door.answer` over the shipped engine. Around the steps of the door, and without
changing their order, they say which stage they are in, so that the harness can kill in each of them.
"""

from __future__ import annotations

import json
import random
import time
import warnings
from fractions import Fraction
from unittest import mock

import ibis
from pyarrow import Table as Arrow

from curator.doors import COLUMNS, LIMITS, ROWS, SCHEMA
from curator.ledger import kill_harness
from curator.ledger.kill_harness import STAGES, Desk
from discreet.curator import Budget
from discreet.curator import door as door_module
from discreet.curator.budget.entries import CHARGE
from discreet.curator.release.release import finish, pack, unpack
from discreet.curator.table_records import declare
from discreet.data import Table
from discreet.front import Curator

EPSILON = Fraction(1, 100)


def visits() -> Table:
    """The usual visits, in an engine of one thread, which workers can use after a fork."""
    connection = ibis.duckdb.connect(threads=1)
    connection.create_table("visits", Arrow.from_pylist(ROWS, schema=SCHEMA))
    return Table(connection.table("visits"), person="patient", limits=LIMITS, columns=COLUMNS)


def question(key: str) -> str:
    """The question of a desk; every second desk asks the same ones, so that workers meet."""
    number, request = map(int, key.split())
    age = 2 * request + number % 2
    return f"SELECT city, COUNT(*) AS n FROM visits WHERE age < {age} GROUP BY city"  # noqa: S608


def content_of(release) -> bytes:
    return json.dumps(release.columns()).encode()


def pay_first(curator: Curator, desk: Desk) -> None:
    """Answer one question as the door does."""
    ledger = curator.ledger
    decision, keep_answer, drawn = ledger.decision, ledger.keep_answer, door_module._compute_and_add_noise

    def staged(function, stage, relevant=lambda arguments: True):
        def call(*arguments, **options):
            result = function(*arguments, **options)
            if relevant(arguments):
                desk.enter(stage)
            return result

        return call

    with (
        mock.patch.object(ledger, "decision", staged(decision, 1, lambda arguments: arguments[0] == CHARGE)),
        mock.patch.object(door_module, "_compute_and_add_noise", staged(drawn, 2)),
        mock.patch.object(ledger, "keep_answer", staged(keep_answer, 3)),
    ):
        desk.enter(0)
        desk.let_out(content_of(curator.ask(question(desk.key), epsilon=EPSILON)))
    desk.next()


def answer_first(curator: Curator, desk: Desk) -> None:
    """The control: the same steps, with the charge where one would put it who fears to charge for nothing.

    Who dies in the last stage has let an answer out and has not begun to charge.
    """
    desk.enter(0)
    request, tables = curator.request(question(desk.key), epsilon=EPSILON), curator._tables
    content = pack(door_module._compute_and_add_noise(request, tables))
    desk.enter(2)
    desk.let_out(content_of(finish(request, unpack(request, content), {"private": True})))
    desk.enter(3)
    desk.enter(0)
    charge, _, _ = curator._find_or_charge(request, "", declare(tables))
    curator.ledger.keep_answer(charge, content)
    desk.enter(1)
    desk.next()


def patient_victim(desks: list[Desk], rarest: int) -> int:
    """Choose a moment and a worker: sometimes anyone, else one in the stage with the fewest kills.

    An engine needs a while, so that most workers would die in it if nobody waited for the later stages.
    """
    time.sleep(random.uniform(0, 0.05))
    anyone = random.randrange(len(desks))
    if random.random() < 0.3:
        return anyone
    until = time.monotonic() + 1
    while time.monotonic() < until:
        for number in random.sample(range(len(desks)), len(desks)):
            if desks[number].stage == rarest:
                return number
        time.sleep(0.0005)
    return anyone


def main(*, order: str, kills: int, least: int, directory: str, workers: int = 4) -> dict[str, object]:
    """Harass workers and compare what they let out with what the ledger holds."""
    warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
    curator = Curator(
        {"visits": visits()},
        budget=Budget(epsilon=10**6),
        ledger=f"{directory}/clinic.ledger",
        anchor=f"{directory}/anchor",
    )
    work = {"pay first": pay_first, "answer first": answer_first}[order]
    with mock.patch.object(kill_harness, "_victim", patient_victim):
        result = kill_harness.harass(
            lambda desk: work(curator, desk),
            kills=kills,
            least=least,
            workers=workers,
            directory=directory,
            before_fork=curator.ledger.state,
        )
    curator.ledger.verify()
    charges = {entry.key for entry in curator.ledger.entries() if entry.kind == CHARGE}
    declared = declare(curator.tables)
    unpaid = other = 0
    asked = {}
    for key, content in result.let_out:
        request = asked.setdefault(question(key), curator.request(question(key), epsilon=EPSILON))
        if request.digest(curator._secret, declared) not in charges:
            unpaid += 1
        else:
            other += content_of(curator.answer(request)) != content
    return {
        "killed": {stage: result.killed[stage] for stage in STAGES},
        "let out": len(result.let_out),
        "questions": len(asked),
        "charges": len(charges),
        "without a charge": unpaid,
        "other than kept": other,
        "spent in charges": str(curator.account().lifetime.epsilon / EPSILON),
    }
