"""``discreet demo``: a walk through a clinic, from a table to private answers, in under a minute."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from discreet.cli import rendering
from discreet.cli.command import Command
from discreet.cli.new_files import FileTaken
from discreet.cli.runs import whole_number
from discreet.errors import MissingExtra, RequestRefused

if TYPE_CHECKING:
    import pyarrow

    from discreet.curator import Release
    from discreet.front import Curator

__all__ = ["DEMO"]

_LESSON = """\
examples:
  a million visits of patients who do not exist
    discreet demo
  a small clinic, in a directory of your own
    discreet demo --rows 20000 --directory my-clinic
  the clinic in a browser, on this machine, until it is stopped
    discreet demo --serve
"""

_DECLARATION = """\
[ledger]
location = "clinic.ledger"                       # remembers every answer, and what it cost

[budget]
epsilon = 3                                      # the most that all answers together may cost
delta = 1e-6

[tables.visits]
source = "visits.parquet"
person = "patient_id"                            # all visits of one patient are protected together
limits = { rows = 25 }                           # at most 25 visits of a patient count

[tables.visits.columns]                          # what is known without looking at the data
cost = { lower = 0, upper = 5000, step = 0.01 }  # higher costs count as 5000
age = { lower = 0, upper = 110 }
"""

_BY_CITY = "SELECT city, COUNT(*) AS n, AVG(cost) AS mean_cost FROM visits GROUP BY city"
_YOUNG = (
    "SELECT diagnosis, COUNT(*) AS n, AVG(cost) AS mean_cost FROM visits WHERE age < 40 GROUP BY diagnosis"
)
_DATAFRAME = """\
(clinic.table("visits")
    .filter(dp.col("age") < 40)
    .group_by("diagnosis")
    .agg(n=dp.count(), mean_cost=dp.col("cost").mean()))"""
_CELLS = "SELECT city, diagnosis, COUNT(*) AS n FROM visits GROUP BY city, diagnosis"
_EACH = "SELECT patient_id, AVG(cost) AS mean_cost FROM visits GROUP BY patient_id"
_SHOWN = 6


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--rows", type=whole_number, default=1_000_000, metavar="N", help="how many visits (1,000,000)"
    )
    parser.add_argument("--directory", metavar="DIR", help="a new directory for its files (a temporary one)")
    parser.add_argument("--serve", action="store_true", help="serve the clinic to a browser on this machine")
    parser.add_argument("--port", type=whole_number, default=8080, metavar="N", help="of --serve (8080)")


def _run(options: Namespace) -> str:
    from discreet.cli.clinic import check_rows

    began = time.monotonic()
    check_rows(options.rows)
    directory = _directory(options)
    if options.serve:
        return _serve(options, directory)
    _say("A clinic wants to publish numbers about its patients without revealing anything about one of them.")
    table = _make(options.rows, directory)
    clinic = _declare(directory)
    try:
        _preview(clinic)
        by_city = _ask(clinic, table)
        _ask_in_other_words(clinic)
        _refusals(clinic)
        _bookkeeping(clinic)
    finally:
        clinic.close()
    _plot(by_city, directory)
    return _farewell(directory, time.monotonic() - began)


def _serve(options: Namespace, directory: Path) -> str:
    """Serve the clinic on the loopback, to whoever holds the key that is printed here, once."""
    from discreet.server.keys import KeyFile, keys_beside
    from discreet.server.owning.owner_options import OwnerOptions
    from discreet.server.request_log import RequestLog
    from discreet.server.service_limits import ServiceLimits
    from discreet.server.serving import Address, serve

    address = Address(port=options.port)
    _make(options.rows, directory)
    _declare(directory).close()
    file = directory / "clinic.toml"
    _, key = KeyFile(keys_beside(file)).create("demo", role="owner", days=30)
    _title("3. In a browser")

    def say(line: str) -> None:
        _say(f"Open {line.rpartition(' ')[2]} and log in with this key, which is shown once:\n\n    {key}")
        _say("Control-C stops the server.")

    allowed = OwnerOptions(declaration=str(file.absolute()), folder=str(directory.absolute()), may_amend=True)
    serve(file, address, ServiceLimits(), log=RequestLog(sys.stderr, "none"), said=say, options=allowed)
    return f"\nstopped; the clinic is in {directory}: discreet serve {file}"


def _directory(options: Namespace) -> Path:
    if options.directory is None:
        return Path(tempfile.mkdtemp(prefix="discreet-demo-"))
    directory = Path(options.directory)
    try:
        directory.mkdir(parents=True)
    except FileExistsError:
        raise FileTaken("directory", "already exists", "a new one") from None
    return directory


def _make(rows: int, directory: Path) -> pyarrow.Table:
    from discreet.cli.clinic import visits, write_visits

    _title("1. The data (synthetic: these patients do not exist)")
    began = time.monotonic()
    table = visits(rows)
    write_visits(table, directory / "visits.parquet")
    patients = len(table.column("patient_id").unique())
    took = time.monotonic() - began
    _say(f"{rows:,} visits by {patients:,} patients, made in {took:.1f} s: {directory / 'visits.parquet'}")
    _show(", ".join(table.column_names))
    return table


def _declare(directory: Path) -> Curator:
    from discreet.cli.clinic import CITIES, DIAGNOSES
    from discreet.front.declaring.toml_text import quoted
    from discreet.front.opening import open_file

    _title("2. What its owner declares, in clinic.toml")
    keys = {"city": list(CITIES), "diagnosis": list(DIAGNOSES)}
    lines = [f"{name} = {{ keys = [{', '.join(map(quoted, listed))}] }}\n" for name, listed in keys.items()]
    text = _DECLARATION + "".join(lines)
    (directory / "clinic.toml").write_text(text, encoding="utf-8")
    _show(text)
    return open_file(directory / "clinic.toml")


def _preview(clinic: Curator) -> None:
    _title("3. How wrong will an answer be? Known before paying, only from what is declared")
    _typed(f'discreet preview "{_BY_CITY}" --epsilon 0.5 --rows 20000')
    _show(str(clinic.preview(_BY_CITY, epsilon="0.5", rows=20_000)))
    _say("The other way round: what does an error of at most 500 visits, at 95%, cost?")
    _typed(f'discreet preview "{_BY_CITY}" --error n=500 --error mean_cost=20 --rows 20000')
    wanted = clinic.preview(_BY_CITY, error={"n": 500, "mean_cost": 20}, rows=20_000)
    _show(f"epsilon {wanted.epsilon:.3g}")


def _ask(clinic: Curator, table: pyarrow.Table) -> Release:
    _title("4. Pay, then ask")
    _typed(f'discreet query "{_BY_CITY}" --epsilon 0.5')
    began = time.monotonic()
    release = clinic.ask(_BY_CITY, epsilon="0.5", analyst="ana")
    took = time.monotonic() - began
    _show(rendering.render(release, "table").decode())
    _say(
        f"Charged first, then computed, in {took:.2f} s. These patients are invented, so for once we may\n"
        "look at the truth. It counts all visits, even those beyond 25 of a patient, and all costs, even\n"
        "those beyond 5000; intervals are about what is left after such limits."
    )
    _show(_truth(table, release))
    again = clinic.ask(_BY_CITY, epsilon="0.5", analyst="ben")
    same = all((again[one.name] == one.values).all() for one in release.outputs)
    _say(f"Ben asks the same: the same numbers ({same}), from the store, at no cost. Spent: {_spent(clinic)}")
    return release


def _truth(table: pyarrow.Table, release: Release) -> str:
    exact = table.group_by("city").aggregate([([], "count_all"), ("cost", "mean")]).to_pylist()
    truth = {row["city"]: (row["count_all"], row["cost_mean"]) for row in exact}
    lines = [
        [str(city), f"{truth[city][0]:,}", f"{n:,}", f"{truth[city][1]:.2f}", f"{mean:.2f}"]
        for city, n, mean in zip(release.keys["city"], release["n"], release["mean_cost"], strict=True)
        if city in truth
    ]
    return rendering.grid([["city", "true n", "n", "true mean", "mean_cost"], *lines], left=1)


def _ask_in_other_words(clinic: Curator) -> None:
    from discreet.data import col, count

    _title("5. The same as a dataframe query, and normal noise for many groups")
    _show(_DATAFRAME)
    request = (
        clinic.table("visits")
        .filter(col("age") < 40)
        .group_by("diagnosis")
        .agg(n=count(), mean_cost=col("cost").mean())
    )
    release = clinic.ask(request, epsilon="0.5")
    _show(rendering.render(release, "table").decode())
    before = _spent(clinic)
    clinic.ask(_YOUNG, epsilon="0.5")
    _say(f"In SQL it is the same question, paid for already. Spent before: {before}, after: {_spent(clinic)}")
    _typed(f'discreet query "{_CELLS}" --epsilon 0.5 --delta 1e-7')
    cells = clinic.ask(_CELLS, epsilon="0.5", delta="1e-7")
    shown = rendering.render(cells, "table").decode().splitlines()
    _show("\n".join([*shown[: _SHOWN + 1], f"… and {len(shown) - _SHOWN - 1} more groups"]))


def _refusals(clinic: Curator) -> None:
    _title("6. What is refused, and why: before anything is charged")
    for question, epsilon in ((_EACH, "0.1"), (_BY_CITY, "5")):
        _typed(f'discreet query "{question}" --epsilon {epsilon}')
        try:
            clinic.ask(question, epsilon=epsilon)
        except RequestRefused as refusal:
            _show(f"refused: {refusal}")


def _bookkeeping(clinic: Curator) -> None:
    _title("7. The ledger: every charge was on disk before its answer")
    _typed("discreet ledger verify")
    _show(str(clinic.ledger.verify()))
    left = clinic.remaining.epsilon
    _say(f"Spent: {_spent(clinic)}. Left: a pure epsilon of {left:.3g}; then the clinic refuses.")


def _plot(release: Release, directory: Path) -> None:
    _title("8. A picture")
    os.environ.setdefault("MPLBACKEND", "Agg")
    try:
        release.plot("mean_cost").figure.savefig(directory / "cities.png", dpi=150)  # type: ignore[union-attr]
    except MissingExtra as missing:
        _say(f"A plot with error bars: {missing}")
    else:
        _say(f"Mean cost by city, with its intervals: {directory / 'cities.png'}")


def _farewell(directory: Path, seconds: float) -> str:
    return "\n".join(
        [
            f"\nThat took {seconds:.0f} seconds. Now try:",
            f"    cd {directory}",
            '    discreet preview "SELECT COUNT(*) AS n FROM visits WHERE age >= 65" --error n=1000',
            "    discreet ledger show",
            "    discreet init my.toml --source your.csv --person your_id_column",
        ]
    )


def _spent(clinic: Curator) -> str:
    return f"epsilon {clinic.spent.epsilon:.3g}"


def _title(words: str) -> None:
    print(f"\n\n{words}\n{'-' * len(words)}", flush=True)


def _typed(command: str) -> None:
    print(f"\n  $ {command}", flush=True)


def _say(words: str) -> None:
    print(f"\n{words}", flush=True)


def _show(text: str) -> None:
    print(f"\n{indent(text.rstrip(), '    ')}", flush=True)


DEMO = Command(
    name="demo",
    summary="Walk through a clinic: data, declaration, preview, answers, refusals, ledger, plot.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
