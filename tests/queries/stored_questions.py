"""Questions whose identities are stored beside the tests, so that earlier answers are found again.

`stored_identities.json` was written before modules and classes got their present names. It is never written
again: `write` is kept to say what is in it, and to write one for questions of a later form. The question with
quantiles has a later one: since intervals are chosen around values, it is another measurement. So has a
distribution function under pure epsilon: its strategy is searched for in floats, and the last digit of what
is found depends on the processor (SECURITY says so), so that the strategy is left out here.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import sys
from pathlib import Path

import pyarrow

import discreet as dp

STORED = Path(__file__).with_name("stored_identities.json")

OFFERS = {
    "epsilon": {"epsilon": "1"},
    "epsilon and delta": {"epsilon": "1.5", "delta": "1e-6"},
    "rho": {"rho": "0.05"},
}
"""By pure epsilon, by both and by rho the noise of most questions differs."""

QUESTIONS = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT COUNT(cost) AS n, COUNT(DISTINCT patient) AS p, COUNT(DISTINCT city) AS c FROM visits",
    "SELECT city, COUNT(*) AS n, AVG(cost) AS m, SUM(cost) AS s FROM visits GROUP BY city",
    "SELECT VARIANCE(cost) AS v, STDDEV(cost) AS s, VAR_POP(cost) AS w, STDDEV_POP(cost) AS t FROM visits",
    "SELECT COVAR_POP(age, height) AS c, CORR(age, height) AS r, COVAR_SAMP(age, height) AS d FROM patients",
    "SELECT city, MEDIAN(cost) AS m, QUANTILE(cost, 0.9) AS q FROM visits GROUP BY city",
    "SELECT TRIMMED_MEAN(cost, 0.1) AS t FROM visits",
    "SELECT SMOOTH_MEDIAN(cost) AS t, SMOOTH_QUANTILE(cost, 0.9) AS u FROM visits",
    "SELECT MIN(cost) AS a, MAX(cost) AS b FROM visits",
    "SELECT MODE(city) AS m FROM visits",
    "SELECT APPROX_TOP_K(city, 2) AS m FROM visits",
    "SELECT ward, COUNT(*) AS n, AVG(days) AS m FROM stays WHERE days > 3 GROUP BY ward ORDER BY n LIMIT 2",
    "SELECT country, COUNT(*) AS n FROM visits LEFT JOIN cities USING (city) GROUP BY country",
    "SELECT FLOOR(age / 20) AS g, AVG(cost) AS m FROM visits JOIN patients USING (patient) GROUP BY g",
    "WITH e AS (SELECT patient, LEAST(COUNT(*), 12) AS n FROM visits GROUP BY patient) "
    "SELECT AVG(n) AS m FROM e",
    "SELECT AVG(cost) AS m FROM (SELECT cost, ROW_NUMBER() OVER (PARTITION BY patient ORDER BY day) AS k "
    "FROM visits) AS v WHERE k = 1",
    "SELECT COUNT(*) AS n FROM (SELECT patient FROM visits UNION ALL SELECT patient FROM stays) AS u",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT patient, city FROM visits) AS u",
    "SELECT CASE WHEN cost < 100 THEN 'cheap' ELSE 'dear' END AS k, COUNT(*) AS n FROM visits GROUP BY k",
    "SELECT WIDTH_BUCKET(cost, 0, 1000, 5) AS k, COUNT(*) AS n FROM visits GROUP BY k",
    "SELECT DATE_TRUNC('quarter', day) AS k, ISODOW(day) AS d, COUNT(*) AS n FROM visits GROUP BY k, d",
    "SELECT UPPER(SUBSTRING(city, 1, 1)) AS k, SUM(SIGN(cost - 5)) AS s FROM visits GROUP BY k",
    "SELECT SUM(CLIP(cost, 0, 100)) AS s, AVG(ABS(cost - 50)) AS a, SUM(ROUND(SQRT(cost), 1)) AS r "
    "FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE LOWER(TRIM(note)) LIKE 'a%' AND LENGTH(note) > 3 "
    "AND COALESCE(NULLIF(city, 'Oslo'), 'none') = 'none' AND DATEDIFF('day', DATE '2024-01-01', day) < 100",
    "SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE age < 18) AS a, COUNT(*) FILTER (WHERE age < 40) AS b, "
    "COUNT(*) FILTER (WHERE age BETWEEN 18 AND 64) AS c, COUNT(*) FILTER (WHERE age >= 65) AS d "
    "FROM patients",
    dp.ranges("patients", "age", width=10),
    dp.cdf("visits", "cost", width=50, by="city"),
    dp.marginals("visits", ["city", "cost"], width={"cost": 250}),
)
CHOSEN = "SELECT note, COUNT(*) AS n FROM visits GROUP BY note"
"""A question by undeclared keys: its choice of keys is a request of its own."""


def tables() -> dict[str, object]:
    """Return declared tables without rows: no identity depends on rows."""
    text, number, whole = pyarrow.string(), pyarrow.float64(), pyarrow.int64()
    visits = {"patient": whole, "city": text, "note": text, "day": pyarrow.date32(), "cost": number}
    days = dp.Dates(datetime.date(2024, 1, 1), datetime.date(2024, 12, 31))
    return {
        "visits": _declared(
            visits,
            dp.Limits(rows=4),
            city=dp.Keys(["Taipei", "Hamilton"]),
            cost=dp.Bounds(0, 1000, step="0.01"),
            day=days,
        ),
        "patients": _declared(
            {"patient": whole, "age": whole, "height": number},
            dp.Limits(rows=1),
            age=dp.Bounds(0, 110),
            height=dp.Bounds(100, 220, step="0.5"),
        ),
        "stays": _declared(
            {"patient": whole, "ward": text, "days": whole},
            dp.Limits(groups=2, rows_per_group=2),
            ward=dp.Keys(["A", "B", "C"]),
            days=dp.Bounds(0, 30),
        ),
        "cities": dp.PublicTable(
            pyarrow.table({"city": ["Taipei", "Hamilton"], "country": ["Taiwan", "Canada"]})
        ),
    }


def _declared(types: dict[str, pyarrow.DataType], limits: dp.Limits, **columns: object) -> dp.Table:
    empty = pyarrow.Table.from_pylist([], schema=pyarrow.schema(list(types.items())))
    return dp.Table(empty, person="patient", limits=limits, columns=columns, version="1")


def identities(clinic: dp.Curator) -> dict[str, list[str]]:
    """Return a hash of the identity of every question under every offer, in the order of `QUESTIONS`."""
    found = {
        name: [_hash(_stated(clinic.request(question, **offer))) for question in QUESTIONS]
        for name, offer in OFFERS.items()
    }
    chosen = clinic.ask(CHOSEN, epsilon="1", delta="1e-6", key_share="1/3")
    counted = clinic.ask(CHOSEN, epsilon="2", delta="1e-6")
    return {
        **found,
        "chosen keys": [_hash(chosen.request.identity)],
        "counted keys": [_hash(counted.request.identity)],
    }


def _stated(request: object) -> bytes:
    """Return the identity of a request, without what was searched for: the strategy and its noise."""
    strategies = (getattr(part.mechanism, "strategy", None) for part in getattr(request, "parts", ()))
    if not any(getattr(strategy, "name", "") == "p-Identity" for strategy in strategies):
        return request.identity
    stated = {**json.loads(request.identity), "choices": "searched", "events": "searched"}
    return json.dumps(stated, sort_keys=True, separators=(",", ":")).encode()


def _hash(identity: bytes) -> str:
    return hashlib.sha256(identity).hexdigest()


def open_clinic(ledger: Path) -> dp.Curator:
    """Open the tables under a budget for all of this."""
    return dp.Curator(tables(), budget=dp.Budget(epsilon=100, delta="1e-3"), ledger=ledger)


def write(ledger: Path) -> None:
    """Write the identities."""
    STORED.write_text(json.dumps(identities(open_clinic(ledger)), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
