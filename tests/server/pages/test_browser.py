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
        ("/pages/counts/read", "POST", "page/counts"),
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


def test_a_key_in_a_header_does_nothing_on_pages(dashboard):
    """Only the session says who asks: the header of programs neither opens a page nor changes its reader."""
    header = {"authorization": f"Bearer {dashboard.keys.create('in a header', role='owner')[1]}"}
    stranger, analyst = dashboard.visitor(), dashboard.user("in a session")
    assert stranger.get("/v1/ledger", headers=header).status_code == 200, "the key is good"
    assert stranger.get("/pages/data", headers=header).headers["location"] == "/pages/login"
    assert analyst.get("/pages/ledger", headers=header).status_code == 403
    sent = {
        "form_token": analyst.token(),
        "question": "SELECT COUNT(*) AS n FROM visits",
        "epsilon": "0.0381",
    }
    assert analyst.post("/pages/ask", data=sent, headers=header).status_code == 200
    charges = [one for one in dashboard.pool.curator.ledger.entries() if one.kind == "charge"]
    assert charges[-1].body["analyst"] == "in a session"
    assert dashboard.logged()[-1]["name"] == "in a session"
