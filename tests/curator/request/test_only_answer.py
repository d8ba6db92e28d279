"""A mechanism that draws has one answer, also where it fails."""

from __future__ import annotations

import pytest

from discreet.curator.request.only_answer import drawn_once, read_drawn
from discreet.errors import EngineFailed, LedgerTampered
from discreet.noise import replay


def test_what_is_drawn_is_read_again():
    for drawn in ({"weights": [[0.5]]}, [1, 2], "keys"):
        assert read_drawn(drawn_once(lambda held=drawn: held))[0] == drawn


def fails():
    raise ValueError("a private number")


def test_a_failure_is_an_answer_that_says_nothing():
    for draw in (fails, lambda: float("nan"), lambda: [float("inf")], object):
        content = drawn_once(draw)
        assert b"private number" not in content
        with pytest.raises(EngineFailed):
            read_drawn(content)


def test_a_replay_is_never_private():
    assert read_drawn(drawn_once(lambda: 1)) == (1, True)
    with replay(7):
        assert read_drawn(drawn_once(lambda: 1)) == (1, False)


def test_what_nobody_wrote_is_refused():
    for content in (b"", b"[]", b"{}", b'{"drawn": 1}'):
        with pytest.raises(LedgerTampered):
            read_drawn(content)
