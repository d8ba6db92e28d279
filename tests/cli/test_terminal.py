"""A reader that goes away, and a terminal that knows few characters, are met without a traceback."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from cli.folder import BY_CITY, COUNT, prepare
from discreet.cli.terminal import make_printable
from front.declared_clinic import DECLARATION


@pytest.fixture(autouse=True)
def clinic(tmp_path, monkeypatch):
    return prepare(tmp_path, monkeypatch)


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "discreet", *arguments], stderr=subprocess.PIPE, check=False, **options
    )


@pytest.mark.few(1, slow=2)
@pytest.mark.parametrize(
    "arguments",
    [
        ["query", BY_CITY, "--epsilon", "1", "--format", "csv"],
        ["explain", COUNT],
        ["--help"],
        ["query", "--help"],
        ["demo", "--rows", "500"],
    ],
    ids=["query", "explain", "help", "help of a command", "demo"],
)
def test_a_closed_pipe_is_no_traceback(arguments):
    read, write = os.pipe()
    os.close(read)
    try:
        done = run(*arguments, stdout=write)
    finally:
        os.close(write)
    assert done.returncode == 141 or (done.returncode == 0 and "--help" in arguments)
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    assert b"error" not in done.stderr


@pytest.mark.slow
def test_an_answer_that_nobody_read_is_in_the_store():
    read, write = os.pipe()
    os.close(read)
    run("query", COUNT, "--epsilon", "1", stdout=write)
    os.close(write)
    done = run("query", COUNT, "--epsilon", "1", stdout=subprocess.PIPE)
    assert done.returncode == 0
    assert b"answered from the store" in done.stdout


def test_errors_that_nobody_reads_are_no_traceback_either():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "discreet", "query", COUNT], stdout=write, stderr=write, check=False
    )
    os.close(write)
    assert done.returncode in {2, 141}


@pytest.mark.slow
def test_few_characters_are_enough(clinic):
    clinic.write_text(DECLARATION.replace('"Hamilton"', '"Tromsø", "😀"'), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONWARNINGS": "error"}
    for command in (["preview", BY_CITY, "--epsilon", "1"], ["query", BY_CITY, "--epsilon", "1"]):
        done = run(*command, stdout=subprocess.PIPE, env=environment)
        assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
        assert done.stdout.isascii()
    assert b"Troms\\u00f8" in done.stdout
    done = run(
        "query", BY_CITY, "--epsilon", "1", "--format", "json", stdout=subprocess.PIPE, env=environment
    )
    assert [row["city"] for row in json.loads(done.stdout)["rows"]] == ["Taipei", "Tromsø", "😀"]
    done = run("demo", "--rows", "500", stdout=subprocess.PIPE, env=environment)
    assert done.returncode == 0, done.stderr


def test_only_strict_streams_are_changed():
    strict = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    make_printable(strict)
    strict.write("± 😀 \ud800")
    strict.flush()
    assert strict.buffer.getvalue() == rb"\u00b1 \ud83d\ude00 \ud800"
    lenient = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="replace")
    make_printable(lenient)
    assert lenient.errors == "replace"
    make_printable(io.StringIO())
