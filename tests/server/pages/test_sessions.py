"""Sessions: as long as their key is valid, and not for ever."""

from __future__ import annotations

import pytest

from discreet.server.keys import KeyFile
from discreet.server.pages.sessions import IDLE_SECONDS, LONGEST_SECONDS, Sessions


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def keys(tmp_path):
    return KeyFile(tmp_path / "clinic.keys")


@pytest.fixture
def clock():
    return Clock()


def test_a_key_opens_a_session_and_nothing_else_does(keys, clock):
    kept, text = keys.create("ana", role="analyst")
    sessions = Sessions(keys, clock)
    cookie = sessions.open(text)
    assert sessions.find(cookie).key == kept
    assert sessions.open(text[:-1] + "A") is None or text.endswith("A")
    for other in ("", text, cookie[:-1], cookie.upper() + " "):
        assert sessions.find(other) is None


def test_S10_a_revoked_key_ends_its_session_and_no_other(keys, clock):
    ana, text = keys.create("ana", role="analyst")
    other = keys.create("ana", role="analyst")[1]
    sessions = Sessions(keys, clock)
    cookie, kept = sessions.open(text), sessions.open(other)
    keys.revoke(ana.prefix, reason="left")
    assert sessions.find(cookie) is None
    assert sessions.find(kept) is not None


def test_a_session_ends_when_it_is_not_used(keys, clock):
    sessions = Sessions(keys, clock)
    cookie = sessions.open(keys.create("ana", role="analyst")[1])
    clock.now += IDLE_SECONDS - 1
    assert sessions.find(cookie) is not None
    clock.now += IDLE_SECONDS - 1
    assert sessions.find(cookie) is not None
    clock.now += IDLE_SECONDS + 1
    assert sessions.find(cookie) is None


def test_a_session_ends_even_if_it_is_used(keys, clock):
    sessions = Sessions(keys, clock)
    cookie = sessions.open(keys.create("ana", role="analyst")[1])
    for _ in range(LONGEST_SECONDS // 1000):
        clock.now += 1000
        assert sessions.find(cookie) is not None
    clock.now += 1000
    assert sessions.find(cookie) is None


def test_many_logins_of_one_key_end_the_oldest(keys, clock):
    text, other = keys.create("ana", role="analyst")[1], keys.create("ben", role="analyst")[1]
    sessions = Sessions(keys, clock)
    apart = sessions.open(other)
    cookies = [sessions.open(text) for _ in range(20)]
    assert [sessions.find(one) is not None for one in cookies] == [False] * 4 + [True] * 16
    assert sessions.find(apart) is not None


def test_the_memory_has_no_cookie_and_no_key(keys, clock):
    text = keys.create("ana", role="analyst")[1]
    sessions = Sessions(keys, clock)
    cookie = sessions.open(text)
    found = sessions.find(cookie)
    held = repr((vars(sessions), found, found.token))
    assert cookie not in held
    assert text not in held
    assert found.token not in repr(found)
