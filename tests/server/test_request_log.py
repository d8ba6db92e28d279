"""Lines of the log: what they say, and that they keep nothing back."""

from __future__ import annotations

import io
import json
import os

import pytest

from discreet.server.request_log import LoggedRequest, RequestLog

ONE = LoggedRequest(
    request="ab", word="ask", status=200, key="aaaaaaaa", name="ana\n", cost="epsilon 1", slot=2
)


def test_a_line_of_json_has_all_fields_and_no_others():
    stream = io.StringIO()
    RequestLog(stream, "json").write(ONE)
    (line,) = stream.getvalue().splitlines()
    assert set(json.loads(line)) == {
        "time",
        "request",
        "word",
        "status",
        "code",
        "key",
        "name",
        "cost",
        "slot",
    }


def test_a_line_of_text_is_one_line():
    stream = io.StringIO()
    RequestLog(stream).write(ONE)
    (line,) = stream.getvalue().splitlines()
    assert "name=ana\\n cost=epsilon 1" in line


def test_counts_are_by_word_and_status():
    log = RequestLog(io.StringIO(), "none")
    for _ in range(3):
        log.write(ONE)
    found = log.metrics(workers=2, restarts=1)
    assert 'discreet_requests_total{word="ask",status="200"} 3\n' in found
    assert "discreet_workers 2\n" in found
    assert "ana" not in found


@pytest.mark.parametrize("error", [OSError, ValueError])
def test_a_line_that_cannot_be_written_is_no_failure(error):
    class Full(io.StringIO):
        def write(self, text):
            raise error

    log = RequestLog(Full())
    log.write(ONE)
    assert 'status="200"} 1' in log.metrics(workers=1, restarts=0)


def test_a_log_that_nobody_reads_holds_up_nobody():
    reading, writing = os.pipe()
    with os.fdopen(reading) as read, os.fdopen(writing, "w") as written:
        log = RequestLog(written)
        log.write(ONE)
        assert "word=ask" in read.readline()  # the control: with room it is written
        os.set_blocking(written.fileno(), False)
        try:
            while True:
                os.write(written.fileno(), bytes(4096))
        except BlockingIOError:
            os.set_blocking(written.fileno(), True)
        log.write(ONE)
        assert "discreet_log_lines_dropped_total 1\n" in log.metrics(workers=1, restarts=0)
