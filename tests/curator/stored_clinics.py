"""Clinics whose ledgers are stored beside the tests: their tables, budgets and questions.

The files in `stored_ledgers` were written when a budget with a delta was one limit at one Rényi order. They
are never written again: `write` is kept to say what is in them, and to write those of a later form.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pyarrow

from discreet.curator import Budget
from discreet.data import Bounds, Keys, Limits, Table
from discreet.front import Curator
from discreet.privacy import events

STORED = Path(__file__).with_name("stored_ledgers")
FIRST, LATER = datetime(2026, 3, 5, tzinfo=UTC), datetime(2026, 4, 7, tzinfo=UTC)

BUDGETS = {
    "pure": Budget(epsilon=3, per_analyst=Budget(epsilon=2)),
    "approximate": Budget(epsilon=3, delta="1e-6", per_analyst=Budget(epsilon=2, delta="1e-6")),
    "concentrated": Budget(rho="1/2", delta="1e-6", per_analyst=Budget(rho="1/4", delta="1e-6")),
    "monthly": Budget(epsilon=1, delta="1e-6", renews="monthly"),
    "amended": Budget(epsilon=2, delta="1e-5"),
}
COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_CITY = "SELECT city, COUNT(*) AS n, AVG(cost) AS mean FROM visits GROUP BY city"
QUESTIONS = {
    "pure": [(COUNT, "ana", {"epsilon": "0.5"}), (BY_CITY, "bo", {"epsilon": "0.75"})],
    "approximate": [
        (COUNT, "ana", {"epsilon": "0.5"}),
        (BY_CITY, "ana", {"epsilon": "0.4", "delta": "1e-8"}),
        (BY_CITY, "bo", {"rho": "0.01"}),
    ],
    "concentrated": [(COUNT, "ana", {"epsilon": "0.25"}), (BY_CITY, "bo", {"rho": "0.05"})],
    "monthly": [(COUNT, "", {"epsilon": "0.25"}), (BY_CITY, "", {"epsilon": "0.3", "delta": "1e-9"})],
    "amended": [(COUNT, "", {"epsilon": "0.125"}), (BY_CITY, "", {"rho": "0.005"})],
}
"""What was asked, in this order; of the clinic whose budget renews, the first in the month before."""


def table() -> Table:
    """Sixty visits of twenty patients."""
    rows = [
        {"patient": n % 20, "city": ("Oslo", "Taipei", "Hamilton")[n % 3], "cost": 12.5 * n}
        for n in range(60)
    ]
    schema = pyarrow.schema(
        [("patient", pyarrow.int64()), ("city", pyarrow.string()), ("cost", pyarrow.float64())]
    )
    return Table(
        pyarrow.Table.from_pylist(rows, schema=schema),
        person="patient",
        limits=Limits(rows=3),
        columns={"city": Keys(("Oslo", "Taipei", "Hamilton")), "cost": Bounds(0, 500, step=0.5)},
        version="1",
    )


def open_clinic(name: str, ledger: Path, moment: datetime = LATER) -> Curator:
    """Open a stored clinic as it was declared."""
    return Curator({"visits": table()}, budget=BUDGETS[name], ledger=ledger, clock=lambda: moment)


def answers_of(clinic: Curator, name: str) -> list[dict[str, list[object]]]:
    """Ask again what was asked, except for offers with a delta: the values that are in the store."""
    found = []
    for question, analyst, offer in QUESTIONS[name]:
        if "delta" in offer:
            continue
        release = clinic.ask(question, analyst=analyst, **offer)
        found.append({one.name: [float(value) for value in one.values] for one in release.outputs})
    return found


def readings_of(clinic: Curator) -> dict[str, object]:
    """What is recorded, left and refused."""
    account = clinic.account()
    caps = [account.filter_of()]
    caps += [account.filter_of(one) for one in ("ana", "bo") if account.caps.per_analyst is not None]
    return {
        "filters": [json.loads(cap.to_json()) for cap in caps],
        "remaining": [float(cap.largest_epsilon) for cap in caps],
        "reserved": [one.purpose for one in account.reserved.values()],
        "charges": account.charges,
        "fits": [cap.remaining(events.DiscreteGaussian(squared_sensitivity=1, variance=900)) for cap in caps],
    }


def write(place: Path) -> None:
    """Write the ledgers, and what they say."""
    expected = {}
    for name, last in BUDGETS.items():
        path = place / f"{name}.sqlite"
        moment = [FIRST]
        budget = Budget(epsilon=1, delta="1e-5") if name == "amended" else last
        clinic = Curator(
            {"visits": table()}, budget=budget, ledger=path, clock=lambda moment=moment: moment[0]
        )
        answers = []
        for number, (question, analyst, offer) in enumerate(QUESTIONS[name]):
            release = clinic.ask(question, analyst=analyst, **offer)
            answers.append({one.name: [float(value) for value in one.values] for one in release.outputs})
            if number == 0 and name != "monthly":
                with clinic.permit("a model", epsilon="0.25", analyst=analyst) as permit:
                    permit.charge(events.Pure(epsilon="0.125"))
            if name == "monthly":
                moment[0] = LATER
        moment[0] = LATER
        if name == "amended":
            clinic.amend(reason="a year more", budget=last)
        clinic.permit("never closed", epsilon="0.25", analyst="bo")
        expected[name] = {"answers": answers, **readings_of(clinic)}
        clinic.close()
    (place / "expected.json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
