"""Canaries: values planted in private data and in questions, which must come out nowhere in the whole suite.

Shared tables and questions of the tests of `data`, `curator`, `queries`, `front`, `server` and `cli` hold
them. After each test of these rooms everything that could carry a value away is searched:

- what was printed, by the test, by a command that ran inside it or by a process that it started;
- records of all loggers, of every level, and warnings;
- every `DiscreetError` that was made, with its arguments, its notes and its whole chain of causes and
  contexts, also those that a ``from None`` hides; not the lines of tracebacks, which quote the tests;
- the words for every `Release` (and its label), `Preview`, `Request`, `Query`, `Table` and explanation;
- every entry of a ledger, wherever it is kept;
- every file of the test's directories, the stored answers in a ledger's file among them; not the private
  tables and the questions themselves, which `private` names.

By design a literal is in the plan of a request, in its canonical bytes, and in the statement for the engine.
None of these is ever shown or written. What users type in the wrong place, such as a canary that is the
name of an output, is theirs to see and not planted here.
"""

from __future__ import annotations

import functools
import json
import logging
import struct
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

DATA_TEXT = "quokka-in-the-data"
DATA_NUMBER = 8_137_704_655
ASKED_TEXT = "okapi-in-the-question"
ASKED_NUMBER = 5_908_273_141

HARMLESS = f"(note IS NULL OR note <> '{ASKED_TEXT}') AND (age IS NULL OR age <> {ASKED_NUMBER})"
"""A condition that holds for every row of the shared tables."""

COUNT = f"SELECT COUNT(*) AS n FROM visits WHERE {HARMLESS}"  # noqa: S608
BY_CITY = "SELECT city, COUNT(*) AS n, AVG(cost) AS mean_cost FROM visits GROUP BY city".replace(
    "GROUP", f"WHERE {HARMLESS} GROUP"
)
"""Questions about all visits."""

ROOMS = {"data", "curator", "queries", "front", "cli", "server"}
PURPOSE = "leaks_on_purpose"

_DIRECTORIES = ("tmp_path", "place")
_MOST_ERRORS = 1000
_MOST_CELLS = 1000


def _of_text(text: str) -> tuple[bytes, ...]:
    plain = text.encode()
    return plain, plain.hex().encode(), text.encode("utf-16-le")


def _of_number(number: int) -> tuple[bytes, ...]:
    return tuple(written.encode() for written in (f"{number}", f"{number:,}", f"{number:_}", f"{number:.6g}"))


def _in_binary(number: int) -> tuple[bytes, ...]:
    integers = number.to_bytes(6, "big"), number.to_bytes(6, "little")
    return *integers, struct.pack("<d", number), struct.pack(">d", number)


WRITTEN = {
    "the text in the data": _of_text(DATA_TEXT),
    "the number in the data": _of_number(DATA_NUMBER),
    "the text in a question": _of_text(ASKED_TEXT),
    "the number in a question": _of_number(ASKED_NUMBER),
}
BINARY = {
    "the number in the data": _in_binary(DATA_NUMBER),
    "the number in a question": _in_binary(ASKED_NUMBER),
}


def canaries_in(content: str | bytes) -> list[str]:
    """Name the canaries that a text holds, or a file."""
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    lowered = raw.lower()
    found = {name for name, forms in WRITTEN.items() if any(form in raw or form in lowered for form in forms)}
    if isinstance(content, bytes):
        found |= {name for name, forms in BINARY.items() if any(form in raw for form in forms)}
    return sorted(found)


def private(path: Path) -> Path:
    """Name a file that holds private data, or a question, by design; return it."""
    WATCH.private.add(path.resolve())
    return path


class Watch:
    """Looks at whatever comes out during one test."""

    def __init__(self) -> None:
        self.active = False
        self.leaks: list[str] = []
        self.errors: list[BaseException] = []
        self.private: set[Path] = set()

    def begin(self) -> None:
        self.active = True
        self.leaks, self.errors, self.private = [], [], set()

    def end(self) -> None:
        self.active = False
        self.errors = []

    def saw(self, where: str, content: object) -> None:
        """Search what came out."""
        if self.active and content:
            searched = content if isinstance(content, str | bytes) else str(content)
            self.leaks += [f"{name} is in {where}" for name in canaries_in(searched)]

    def made_error(self, error: BaseException) -> None:
        """Keep an error until it was raised and has its chain."""
        if self.active:
            self.errors.append(error)
            if len(self.errors) > _MOST_ERRORS:
                self.errors, old = self.errors[-10:], self.errors[:-10]
                self._search(old)

    def made(self, thing: object) -> None:
        """Search the words for a thing."""
        if self.active:
            for content in _words(thing):
                self.saw(f"the words for a {type(thing).__name__}", content)

    def finish(self, item: pytest.Item) -> list[str]:
        """Return where canaries came out."""
        self._search(self.errors)
        for directory in (item.funcargs.get(name) for name in _DIRECTORIES):  # type: ignore[attr-defined]
            for path in sorted(Path(directory).rglob("*")) if directory else ():
                if path.resolve() not in self.private:
                    with suppress(OSError):
                        self.saw(f"the file {path.name}", path.read_bytes() if path.is_file() else b"")
                    self.saw("the name of a file", path.name)
        return list(dict.fromkeys(self.leaks))

    def _search(self, errors: list[BaseException]) -> None:
        for error in errors:
            for one in _chain(error):
                content = f"{one}\n{one!r}\n{one.args}\n{getattr(one, '__notes__', '')}"
                self.saw(f"a {type(one).__name__} in the chain of a {type(error).__name__}", content)


WATCH = Watch()


def _chain(error: BaseException) -> Iterator[BaseException]:
    waiting, seen = [error], set()
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [next_one for next_one in (one.__cause__, one.__context__) if next_one is not None]


def _words(thing: object) -> Iterator[str]:
    """Iterate over all that a thing says of itself; what tests left incomplete says nothing."""
    plan = getattr(getattr(thing, "request", thing), "plan", None)
    if getattr(plan, "cells", 0) > _MOST_CELLS:
        return
    for name in ("__repr__", "__str__", "_repr_html_", "to_json"):
        with suppress(Exception):
            yield getattr(thing, name)()
    yield json.dumps(getattr(thing, "label", None), default=str)


class _Records(logging.Handler):
    """Sees the records of all loggers."""

    def emit(self, record: logging.LogRecord) -> None:
        raised = record.exc_info[1] if record.exc_info else None
        WATCH.saw(f"a record of the logger {record.name}", f"{record.getMessage()}\n{raised!r}")


_RECORDS = _Records(logging.NOTSET)


@functools.cache
def install() -> None:
    """Look over the shoulder of the public classes; once."""
    from discreet.curator import Preview, Release, Request
    from discreet.curator.ledger import Entry
    from discreet.data import Table
    from discreet.errors import DiscreetError
    from discreet.front import Curator
    from discreet.queries import Query

    def error_made(self: DiscreetError, *arguments: object, **named: object) -> None:
        super(DiscreetError, self).__init__(*arguments, **named)
        WATCH.made_error(self)

    DiscreetError.__init__ = error_made
    for kind in (Release, Preview, Request, Query, Table):
        kind.__init__ = _then(kind.__init__, lambda made, arguments: WATCH.made(arguments[0]))
    Entry.__init__ = _then(
        Entry.__init__, lambda _, made: WATCH.saw("an entry of a ledger", f"{made[0].key} {made[0].text}")
    )
    Curator.explain = _then(Curator.explain, lambda text, _: WATCH.saw("an explanation", text))
    pytest.CaptureFixture.readouterr = _then(
        pytest.CaptureFixture.readouterr,
        lambda read, _: WATCH.saw("what was printed", f"{read.out}{read.err}"),
    )
    subprocess.run = _then(
        subprocess.run, lambda done, _: WATCH.saw("what a process said", f"{done.stdout!r}{done.stderr!r}")
    )


def _then(function, look):
    @functools.wraps(function)
    def call(*arguments, **named):
        result = function(*arguments, **named)
        look(result, arguments)
        return result

    return call


def _is_watched(item: pytest.Item) -> bool:
    rooms = item.path.relative_to(item.config.rootpath).parts  # a checkout may itself have the name of a room
    return bool(ROOMS & set(rooms)) and item.get_closest_marker(PURPOSE) is None


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{PURPOSE}: lets a canary out, to see that it is noticed")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if not _is_watched(item):
        return (yield)
    install()
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(_RECORDS)
    root.setLevel(logging.NOTSET)
    WATCH.begin()
    try:
        return (yield)
    finally:
        WATCH.end()
        root.removeHandler(_RECORDS)
        root.setLevel(level)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    if call.when == "call" and report.passed and WATCH.active:
        for name, content in report.sections:
            WATCH.saw(f"what was printed ({name})", content)
        leaks = WATCH.finish(item)
        if leaks:
            report.outcome = "failed"
            report.longrepr = "a canary came out:\n" + "\n".join(leaks[:20])
    return report


def pytest_warning_recorded(warning_message) -> None:
    WATCH.saw("a warning", str(warning_message.message))
