"""A server that means harm: what it sends is an answer, or one known error; it runs no code.

Every place of every reply is replaced by values that do not belong there. The control is a server that sends
what it should: then each call succeeds.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import discreet as dp
from discreet import errors
from discreet.curator import Release
from discreet.front.opening import open_file
from discreet.server.service_limits import ServiceLimits
from discreet.server.words import do_word
from server.service import write_small_clinic

EVIL = "\x1b]0;evil\x07<script>alert(1)</script>"
WRONG = (None, {}, EVIL, "1e99999999", "1/0", [[]])
BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"


class Hostile:
    """A connection to a server that says whatever it is told to say."""

    def __init__(self) -> None:
        self.said: bytes = b""
        self.headers: dict[str, str] = {}
        self.connection = dp.connect("http://127.0.0.1:9", key="discreet_x")
        self.connection._http.close()
        transport = httpx.MockTransport(
            lambda request: httpx.Response(200, stream=httpx.ByteStream(self.said), headers=self.headers)
        )
        self.connection._http = httpx.Client(base_url="http://127.0.0.1:9", transport=transport)


@pytest.fixture(scope="module")
def hostile() -> Iterator[Hostile]:
    found = Hostile()
    yield found
    found.connection.close()


CALLS = {
    "ask": lambda curator: curator.ask(BY_CITY, epsilon=1),
    "preview": lambda curator: curator.preview(BY_CITY, epsilon=1),
    "explain": lambda curator: curator.explain(BY_CITY, epsilon=1),
    "spent": lambda curator: (curator.spent, curator.left),
    "ledger": lambda curator: curator.ledger(),
    "tables": lambda curator: curator.tables,
}


@pytest.fixture(scope="module")
def replies(tmp_path_factory) -> dict[str, dict]:
    directory = tmp_path_factory.mktemp("replies")
    write_small_clinic(directory)
    curator = open_file(directory / "clinic.toml")
    message = {"question": BY_CITY, "analyst": "ana", "terms": {"epsilon": 1}, "form": "columns"}
    message |= {"everyone": False, "after": 0}
    found = {word: do_word(curator, {**message, "word": word}, ServiceLimits()) for word in CALLS}
    curator.close()
    return json.loads(json.dumps(found))


def places(content: Any, path: tuple = ()) -> Iterator[tuple]:
    """Every place of a reply; of labels the first level."""
    yield path
    if path[:1] == ("label",) and len(path) > 1:
        return
    if isinstance(content, dict):
        for name, value in content.items():
            yield from places(value, (*path, name))
    elif isinstance(content, list):
        for place, value in enumerate(content[:2]):
            yield from places(value, (*path, place))


def replaced(content: Any, path: tuple, value: object) -> Any:
    copy = json.loads(json.dumps({"all": content}))
    place, path = copy, ("all", *path)
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    return copy["all"]


def page_of(found: object) -> str:
    return found._repr_html_() if isinstance(found, Release) else ""


@pytest.mark.parametrize("word", CALLS)
def test_whatever_a_server_sends_is_an_answer_or_one_error(hostile, replies, word):
    good = replies[word]
    hostile.said = json.dumps(good).encode()
    assert CALLS[word](hostile.connection)  # the control
    for path in places(good):
        for value in WRONG:
            hostile.said = json.dumps(replaced(good, path, value)).encode()
            try:
                found = CALLS[word](hostile.connection)
            except (errors.LedgerError, errors.ServerRefused) as error:
                found = error
            is_shown = "\x1b" in str(found) or "<script" in page_of(found)
            assert not is_shown, path


@pytest.mark.parametrize(
    "said",
    [b"", b"[]", b"null", b'"x"', b"[" * 100_000, b"1" * 5000, b'{"error": []}', b'{"error": {"code": 7}}'],
    ids=range(8),
)
def test_what_is_not_a_reply_is_named(hostile, said):
    hostile.said = said
    with pytest.raises(errors.ServerRefused) as refused:
        hostile.connection.ask(BY_CITY, epsilon=1)
    assert refused.value.code == "unreadable"


@pytest.mark.parametrize("code", ["parameter", "refused", "unknown", EVIL])
def test_words_of_an_error_do_nothing_to_a_terminal(hostile, code):
    said = {"code": code, "message": EVIL, "parameter": EVIL, "problem": EVIL, "allowed": EVIL}
    hostile.said = json.dumps({"error": said}).encode()
    with pytest.raises(errors.DiscreetError) as refused:
        hostile.connection.ask(BY_CITY, epsilon=1)
    assert "evil" in str(refused.value)
    assert "\x1b" not in str(refused.value)


def test_what_is_packed_or_endless_is_not_read(hostile, monkeypatch):
    hostile.headers = {"content-encoding": "gzip"}
    hostile.said = gzip.compress(b" " * 1000)
    with pytest.raises(errors.ServerRefused, match="not a server"):
        hostile.connection.ask(BY_CITY, epsilon=1)
    hostile.headers = {}
    monkeypatch.setattr("discreet.server.client._LONGEST", 999)
    hostile.said = b" " * 1000
    with pytest.raises(errors.ServerRefused, match="not a server"):
        hostile.connection.ask(BY_CITY, epsilon=1)


@pytest.mark.parametrize("key", ["", "discreet_secret\r\nx: y", "ü", "a b", None])
def test_what_is_not_a_key_is_refused_without_being_repeated(key):
    with pytest.raises(errors.ParameterError, match="is not a key") as refused:
        dp.connect("http://127.0.0.1:9", key=key)
    assert "secret" not in str(refused.value)
