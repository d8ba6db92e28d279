"""Workers that fit models through a whole curator are killed at random moments; what was read must be paid.

As in `curator.door_kill_harness`, workers run the shipped code and say in which stage they are. Here they
also write down that rows have left the engine, and whether they were paid by then, before anything is made
of them.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest import mock

import discreet as dp
from curator.door_kill_harness import patient_victim, visits
from curator.ledger import kill_harness
from curator.ledger.kill_harness import STAGES, Desk
from discreet.curator.request import fit_request
from discreet.curator.request.fit_request import FitRequest
from discreet.curator.table_records import declare
from discreet.front.fits import _request
from discreet.learning import GaussianNB


def asked(key: str) -> dict[str, Any]:
    """Return what a desk asks for; every second one asks the same, so that workers meet."""
    number, request = map(int, key.split())
    offer = Fraction(1, 1000 + 2 * request + number % 2)
    return {"features": ["age", "cost"], "target": "city", "epsilon": offer}


def content_of(model: GaussianNB) -> bytes:
    return json.dumps([model.theta_.tolist(), model.var_.tolist()]).encode()


def request_of(clinic: dp.Curator, key: str) -> tuple[GaussianNB, FitRequest]:
    stated = asked(key)
    offer = {"epsilon": stated["epsilon"], "delta": None, "rho": None}
    return _request(clinic, GaussianNB(), "visits", stated["features"], stated["target"], None, offer)


def pay_first(clinic: dp.Curator, desk: Desk) -> bytes:
    """Fit as the curator does."""
    return content_of(clinic.fit(GaussianNB(), "visits", **asked(desk.key)))


def read_first(clinic: dp.Curator, desk: Desk) -> bytes:
    """The control: read and draw, then charge, as one would who fears to charge for nothing."""
    model, request = request_of(clinic, desk.key)
    content = request.draw(clinic.tables)
    charge, kept, _ = clinic._find_or_charge(request, "", declare(clinic.tables))
    kept = clinic.ledger.keep_answer(charge, content) if kept is None else kept
    model._keep(request.learner, request.drawn_of(kept)[0])
    return content_of(model)


def staged(clinic: dp.Curator, desk: Desk, fit: Callable[[dp.Curator, Desk], bytes], directory: str) -> None:
    """Fit once, and say in which stage it is."""
    read, draw = fit_request.compute_rows, FitRequest.draw
    decision, keep_answer = clinic.ledger.decision, clinic.ledger.keep_answer

    def reading(*held: Any, **named: Any) -> Any:
        found = read(*held, **named)
        handle = os.open(Path(directory, "read"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        paid = clinic.is_charged(request_of(clinic, desk.key)[1])
        os.write(handle, f"{desk.key}:{paid:d}\n".encode())
        os.close(handle)
        return found

    def entering(function: Callable[..., Any], stage: int) -> Callable[..., Any]:
        def call(*held: Any, **named: Any) -> Any:
            found = function(*held, **named)
            desk.enter(stage)
            return found

        return call

    with ExitStack() as stack:
        for held, name, new in (
            (fit_request, "compute_rows", reading),
            (FitRequest, "draw", entering(draw, 2)),
            (clinic.ledger, "decision", entering(decision, 1)),
            (clinic.ledger, "keep_answer", entering(keep_answer, 3)),
        ):
            stack.enter_context(mock.patch.object(held, name, new))
        desk.enter(0)
        desk.let_out(fit(clinic, desk))
    desk.next()


def main(*, order: str, kills: int, least: int, directory: str, workers: int = 2) -> dict[str, object]:
    """Harass workers; compare what they read and let out with what the ledger charged and answers now."""
    warnings.filterwarnings("ignore", "fetch_arrow_table", DeprecationWarning)
    clinic = dp.Curator(
        {"visits": visits()}, budget=dp.Budget(epsilon=10**6), ledger=f"{directory}/fits.ledger"
    )
    fit = {"pay first": pay_first, "read first": read_first}[order]
    with mock.patch.object(kill_harness, "_victim", patient_victim):
        result = kill_harness.harass(
            lambda desk: staged(clinic, desk, fit, directory),
            kills=kills,
            least=least,
            workers=workers,
            directory=directory,
            before_fork=clinic.ledger.state,
        )
    clinic.ledger.verify()

    def charges() -> list[str]:
        return [entry.key for entry in clinic.ledger.entries() if entry.kind == "charge"]

    before, declared = charges(), declare(clinic.tables)
    read = [line.split(":") for line in Path(directory, "read").read_text().splitlines()]
    keys = {key for key, _ in read}
    digests = {key: request_of(clinic, key)[1].digest(clinic._secret, declared) for key in keys}
    paid = [key for key in keys if digests[key] in before]
    spent = clinic.account().lifetime.epsilon
    now = {key: content_of(clinic.fit(GaussianNB(), "visits", **asked(key))) for key in paid}
    return {
        "killed": {stage: result.killed[stage] for stage in STAGES},
        "let out": len(result.let_out),
        "read": len(keys),
        "read before the charge": sum(charged == "0" for _, charged in read),
        "read without a charge": len(keys) - len(paid),
        "charged twice": len(before) - len(set(before)),
        "charged again": len(charges()) - len(before) + int(clinic.account().lifetime.epsilon != spent),
        "other than kept": sum(now.get(key, content) != content for key, content in result.let_out),
    }
