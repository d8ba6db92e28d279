"""The entrance of browsers: which requests are theirs, which need no session, which cookies are ours."""

from __future__ import annotations

import pytest

from discreet.server.keys import KeyFile
from discreet.server.pages.browser import BrowserEntrance
from discreet.server.pages.sessions import Sessions


@pytest.fixture
def browser(tmp_path):
    return BrowserEntrance(Sessions(KeyFile(tmp_path / "clinic.keys")), is_encrypted=False)


def arrival(path, method="GET", **headers):
    return {"path": path, "method": method, "headers": [(n.encode(), v.encode()) for n, v in headers.items()]}


@pytest.mark.parametrize(
    ("path", "method", "word"),
    [
        ("/", "GET", "page"),
        ("/", "POST", None),
        ("/v1/ask", "POST", None),
        ("/pagesx", "GET", None),
        ("/pages/ask", "GET", "page/ask"),
        ("/pages/ask/preview", "POST", "page/ask"),
        ("/pages/anything", "GET", "page"),
    ],
)
def test_which_requests_are_pages(browser, path, method, word):
    assert browser.word_of(arrival(path, method)) == word


def test_what_is_open(browser):
    assert [
        path
        for path in (
            "/",
            "/pages/login",
            "/pages/static/x",
            "/pages/loginx",
            "/pages/",
            "/pages/login/x",
            "/pages/data",
        )
        if browser.is_open(arrival(path))
    ] == ["/", "/pages/login", "/pages/static/x"]


@pytest.mark.parametrize("cookie", ["", "discreet-session", "discreet-session=", ";;;", "\x00=1", "a" * 9000])
def test_odd_cookies_are_nobodys(browser, cookie):
    assert browser.key_of(arrival("/pages/data", host="127.0.0.1", cookie=cookie)) is None


def test_two_headers_of_cookies_are_nobodys(browser):
    key = browser.sessions._keys.create("ana", role="analyst")[1]
    cookie = f"discreet-session={browser.sessions.open(key)}"
    once = arrival("/pages/data", host="127.0.0.1:8080", cookie=cookie)
    assert browser.key_of(once).name == "ana"
    assert browser.key_of({**once, "headers": [*once["headers"], (b"cookie", b"x=1")]}) is None
    assert browser.key_of(arrival("/pages/data", host="[::1]:8080", cookie=cookie)).name == "ana"
    elsewhere = arrival("/pages/data", host="clinic.example", cookie=cookie)
    assert browser.key_of(elsewhere) is None, "there the cookie has the name that needs encryption"
