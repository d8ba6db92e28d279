"""To log in: by a key alone, with a cookie that scripts and other sites never get."""

from __future__ import annotations

from http.cookies import SimpleCookie

import pytest

PAGES = ("data", "budget", "ask", "history", "ledger", "ledger/export", "owner", "nowhere")


def session_cookie(answer, name="discreet-session"):
    found = [SimpleCookie(value) for value in answer.headers.get_list("set-cookie")]
    return next(one[name] for one in found if name in one)


@pytest.mark.parametrize("path", PAGES)
def test_without_a_session_every_page_leads_to_the_login(dashboard, path):
    visitor = dashboard.visitor()
    words = len(dashboard.pool.words)
    for answer in (visitor.get(f"/pages/{path}"), visitor.post(f"/pages/{path}", data={"which": "x"})):
        assert (answer.status_code, answer.headers["location"]) == (303, "/pages/login")
    assert len(dashboard.pool.words) == words, "nobody reached a worker"


def test_the_root_leads_to_the_pages_and_is_closed_to_all_else(dashboard):
    visitor = dashboard.visitor()
    assert visitor.get("/").headers["location"] == "/pages/data"
    assert visitor.post("/", json={}).status_code == 401


@pytest.mark.parametrize(
    "key", ["", "x", "discreet_aaaaaaaa_" + 43 * "A", "\udcff".encode("utf-8", "replace")]
)
def test_a_wrong_key_opens_nothing(dashboard, key):
    visitor = dashboard.visitor()
    answer = visitor.log_in(key)
    assert answer.status_code == 401
    assert "discreet-session" not in visitor.cookies
    assert visitor.get("/pages/data").status_code == 303


def test_a_key_is_never_taken_from_an_address_or_a_header_of_programs(dashboard):
    key = dashboard.keys.create("elsewhere", role="owner")[1]
    visitor = dashboard.visitor()
    assert visitor.get("/pages/data", params={"key": key}).status_code == 303
    assert visitor.get("/pages/data", headers={"authorization": f"Bearer {key}"}).status_code == 303


def test_a_session_is_no_key_for_programs(dashboard):
    user = dashboard.user("programs")
    assert user.get("/pages/data").status_code == 200
    assert user.get("/v1/tables").status_code == 401
    assert user.post("/v1/ask", json={"question": "SELECT 1", "epsilon": 1}).status_code == 401


def test_the_cookie_on_this_machine(dashboard):
    cookie = session_cookie(dashboard.visitor().log_in(dashboard.keys.create("here", role="analyst")[1]))
    assert cookie["httponly"]
    assert cookie["samesite"].lower() == "strict"
    assert cookie["path"] == "/"
    assert not cookie["domain"]
    assert not cookie["secure"]
    assert not cookie["max-age"], "it ends with the browser"


@pytest.mark.parametrize(
    ("url", "is_encrypted"),
    [("https://127.0.0.1", True), ("https://clinic.example", False), ("https://clinic.example", True)],
)
def test_anywhere_else_the_cookie_needs_encryption(dashboard, url, is_encrypted):
    visitor = dashboard.visitor(url=url, is_encrypted=is_encrypted)
    answer = visitor.log_in(dashboard.keys.create("far", role="analyst")[1])
    cookie = session_cookie(answer, "__Host-discreet-session")
    assert cookie["secure"]
    assert cookie["httponly"]
    assert visitor.get("/pages/data").status_code == 200


def test_a_login_that_another_site_sends_is_refused(dashboard):
    key = dashboard.keys.create("lured", role="analyst")[1]
    for token in ("", "0" * 64):
        answer = dashboard.visitor().post("/pages/login", data={"form_token": token, "key": key})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
    visitor = dashboard.visitor()
    visitor.get("/pages/login")
    assert visitor.post("/pages/login", data={"form_token": "0" * 64, "key": key}).status_code == 403


def test_login_takes_little(dashboard):
    visitor = dashboard.visitor()
    assert visitor.post("/pages/login", data={"key": "x" * 5000}).status_code == 413
    assert visitor.post("/pages/login", json={"key": "x"}).status_code == 400


def test_to_leave_ends_the_session_for_good(dashboard):
    user = dashboard.user("leaving")
    kept = dict(user.cookies)
    answer = user.send("/pages/logout")
    assert answer.headers["location"] == "/pages/login"
    assert "discreet-session" not in user.cookies
    again = dashboard.visitor()
    again.cookies.update(kept)
    assert again.get("/pages/data").status_code == 303


def test_each_login_has_a_cookie_of_its_own(dashboard):
    key = dashboard.keys.create("twice", role="analyst")[1]
    visitor = dashboard.visitor()
    first = session_cookie(visitor.log_in(key)).value
    assert session_cookie(visitor.log_in(key)).value != first


def test_files_are_those_of_the_pages_only(dashboard):
    visitor = dashboard.visitor()
    assert visitor.get("/pages/static/dashboard.css").headers["content-type"].startswith("text/css")
    assert visitor.get("/pages/static/dashboard.js").headers["content-type"].startswith("text/javascript")
    for name in ("..%2fsessions.py", "%2e%2e/sessions.py", "nothing.css", "", "../browser.py"):
        assert visitor.get(f"/pages/static/{name}").status_code in {303, 404}
