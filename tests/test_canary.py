"""The search for canaries finds what is planted, in a suite of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from canary import ASKED_NUMBER, ASKED_TEXT, DATA_NUMBER, DATA_TEXT, Watch, canaries_in

LEAKS = """
import logging
import subprocess
import sys
from contextlib import suppress

import pytest

from canary import ASKED_NUMBER, ASKED_TEXT, COUNT, DATA_NUMBER, DATA_TEXT, private
from curator.doors import clinic
from discreet.curator import door
from discreet.data import to_object
from discreet.errors import EngineFailed, ParameterError


def test_clean(tmp_path, caplog):
    private(tmp_path / "visits.csv").write_text(DATA_TEXT)
    clinic(tmp_path).ask(COUNT, epsilon=1)
    logging.getLogger("door").debug("asked")
    with suppress(ParameterError):
        raise ParameterError("epsilon", "is not positive", "more")


def test_leak_message():
    with suppress(ParameterError):
        raise ParameterError("cost", f"is {DATA_NUMBER:,}", "less")


def test_leak_hidden_context():
    with suppress(EngineFailed):
        try:
            int(DATA_TEXT)
        except ValueError:
            raise EngineFailed from None


def test_leak_ledger(tmp_path, monkeypatch):
    monkeypatch.setattr(door, "outline", lambda plan, **_: to_object(plan))
    clinic(tmp_path).ask(COUNT, epsilon=1)


def test_leak_log():
    logging.getLogger("door").debug("asked for %s", ASKED_NUMBER)


def test_leak_print():
    print(ASKED_TEXT)


def test_leak_capture(capsys):
    print(ASKED_TEXT)
    capsys.readouterr()


def test_leak_process():
    subprocess.run([sys.executable, "-c", f"print({DATA_NUMBER})"], capture_output=True)


def test_leak_file(tmp_path):
    (tmp_path / "answer.parquet").write_bytes(DATA_NUMBER.to_bytes(8, "little"))


@pytest.mark.leaks_on_purpose
def test_control():
    print(DATA_TEXT)
"""


@pytest.mark.slow
def test_every_planted_leak_fails_its_test(tmp_path):
    room = tmp_path / "curator"
    room.mkdir()
    here = Path(__file__).parent
    (tmp_path / "conftest.py").write_text((here / "conftest.py").read_text())
    (room / "test_leaks.py").write_text(LEAKS)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(here), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", "--rootdir", tmp_path, room],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    failed = set(re.findall(r"^FAILED .*::(test_\w+)", done.stdout, re.MULTILINE))
    planted = set(re.findall(r"def (test_leak_\w+)", LEAKS))
    assert len(planted) == 8
    assert failed == planted, done.stdout + done.stderr
    # the summary at the end repeats whole messages only where CI is set
    assert done.stdout.partition("short test summary")[0].count("a canary came out:\n") == 8
    assert "8 failed, 2 passed" in done.stdout


@pytest.mark.parametrize(
    "content",
    [
        f"no {DATA_NUMBER} here",
        f"{DATA_NUMBER:,}",
        f"{float(DATA_NUMBER)}",
        f"{float(ASKED_NUMBER):.6g}",
        DATA_TEXT.upper(),
        ASKED_TEXT.encode("utf-16-le"),
        ASKED_TEXT.encode().hex(),
        ASKED_NUMBER.to_bytes(8, "big"),
    ],
)
def test_canaries_are_known_in_many_forms(content):
    assert len(canaries_in(content)) == 1
    watch = Watch()
    watch.saw("nobody looks", content)
    assert watch.leaks == []
    watch.begin()
    watch.saw("somebody looks", content)
    assert len(watch.leaks) == 1


def test_what_is_clean_is_clean():
    assert canaries_in("8137 704655 quokka in the zoo") == []
    assert canaries_in(bytes(range(256)) * 100) == []
