"""What every request passes: keys, sizes, forms; and the headers of every answer."""

from __future__ import annotations

import json
import socket

import pytest

from server.service import ALL_VISITS, code_of, logged, wait_for

JSON = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"authorization": ""},
        {"authorization": "Bearer"},
        {"authorization": "Bearer discreet_aaaaaaaa_" + 43 * "A"},
        {"authorization": "Basic b3duZXI6b3duZXI="},
        {"authorization": "Bearer " + 5000 * "x"},
        {"cookie": "key=discreet"},
    ],
    ids=range(7),
)
def test_S10_without_a_key_nothing_is_read(service, header):
    said = set()
    for path in ("/v1/ask", "/v1/tables", "/v1/nowhere", "/metrics", "/"):
        for body in (b"{", b"[" * 10_000, json.dumps({"question": ALL_VISITS, "epsilon": 1}).encode()):
            found = service.send("POST", path, headers={**JSON, **header}, content=body)
            assert found.status_code == 401
            said.add(found.text)
    assert len(said) == 1


def test_S9_a_key_in_the_address_opens_nothing(service):
    key = service.key("address")
    for name in ("key", "api_key", "access_token", "authorization"):
        assert service.send("GET", "/v1/tables", params={name: key}).status_code == 401


def test_S10_wrong_expired_and_revoked_keys_are_told_apart_by_nobody(service):
    key = service.key("gone")
    wrong = key[:-4] + "AAAA"
    service.keys.revoke("gone", reason="test")
    found = [service.send("GET", "/v1/tables", one) for one in (wrong, key, "discreet_bbbbbbbb_" + 43 * "A")]
    assert {(one.status_code, one.text, len(one.headers)) for one in found} == {
        (401, found[0].text, len(found[0].headers))
    }


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "malformed"),
        (b"{", "malformed"),
        (b"null", "malformed"),
        (b"[]", "malformed"),
        (b'"SELECT"', "malformed"),
        (b"[" * 100_000, "malformed"),
        (b'{"question":' * 10_000, "malformed"),
        (b'{"question": 7, "epsilon": 1}', "malformed"),
        (b'{"epsilon": 1}', "malformed"),
        (b'{"question": "SELECT", "epsilon": NaN}', None),
        (b'{"question": "SELECT", "epsilon": 1, "unknown": 1}', "malformed"),
        (b'{"question": "SELECT", "epsilon": ' + b"9" * 10_000 + b"}", None),
        (b'{"question": "\xff\xfe"}', "malformed"),
        (b'{"question": "\\ud800", "epsilon": 1}', None),
        (b'{"question": "\\u0000", "epsilon": 1}', None),
        (b'{"question": "' + b"x" * 300_000 + b'"}', "too_large"),
    ],
    ids=range(16),
)
def test_S11_malformed_bodies_are_refused_in_fixed_words(service, body, code):
    key = service.key("malformed")
    found = service.send("POST", "/v1/ask", key, headers=JSON, content=body)
    assert 400 <= found.status_code < 500, found.text
    assert code_of(found) == code or code is None
    assert "Traceback" not in found.text
    assert service.send("GET", "/health").status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"])
def test_only_json_is_read(service, kind):
    key = service.key("forms")
    found = service.send("POST", "/v1/ask", key, headers={"content-type": kind}, content=b"{}")
    assert code_of(found) == "not_json"


def test_wrong_methods_and_paths(service):
    key = service.key("paths")
    assert code_of(service.send("GET", "/v1/ask", key)) == "not_allowed"
    assert code_of(service.send("DELETE", "/v1/ledger", key)) == "not_allowed"
    for path in ("/v1/../clinic.toml", "/v1/%2e%2e/clinic.keys", "//", "/v1/ask/", "/%00"):
        assert service.send("GET", path, key).status_code in {303, 307, 404, 405}
    assert (
        code_of(service.send("GET", "/v1/ledger", service.key("o", "owner"), params={"after": "x"}))
        == "malformed"
    )


def test_S9_every_answer_has_the_same_strict_headers(service):
    key = service.key("headers")
    answers = [
        service.send("GET", "/health"),
        service.send("GET", "/v1/tables"),
        service.send("GET", "/v1/tables", key),
        service.send("POST", "/v1/ask", key, headers=JSON, content=b"{"),
        service.ask(key, epsilon="0.001"),
    ]
    for one in answers:
        assert one.headers["cache-control"] == "no-store"
        assert one.headers["content-security-policy"].startswith("default-src 'none'")
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["x-frame-options"] == "DENY"
        assert len(one.headers["x-request-id"]) == 16
        assert "server" not in one.headers
        assert not [name for name in one.headers if name.startswith("access-control")]
    asked = service.send(
        "OPTIONS",
        "/v1/ask",
        headers={"origin": "https://evil.example", "access-control-request-method": "POST"},
    )
    assert asked.status_code == 401
    assert "access-control-allow-origin" not in asked.headers


def test_an_answer_and_its_line_have_the_same_number(service):
    found = service.ask(service.key("numbered"), epsilon="0.002")
    number = found.headers["x-request-id"]
    wait_for(lambda: any(one["request"] == number for one in logged(service)))
    (line,) = [one for one in logged(service) if one["request"] == number]
    assert (line["word"], line["status"], line["cost"]) == ("ask", 200, "epsilon 0.002")
    assert line["slot"] >= 1


@pytest.mark.parametrize(
    "raw",
    [
        b"GET /v1/tables HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x00\xa5\x01\x00\x00",
        b"GET /health HTTP/1.1\r\nhost: x\r\n" + b"a: " + b"b" * 200_000 + b"\r\n\r\n",
        b"POST /v1/ask HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ids=range(5),
)
def test_what_is_not_http_does_no_harm(service, raw):
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        answer = b""
        try:  # the server may hang up at any moment
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(4096):
                answer += part
        except OSError:
            pass
    assert not answer or answer.startswith(b"HTTP/1.1 4")
    assert service.send("GET", "/health").status_code == 200


def test_a_client_that_leaves_does_not_lose_its_answer(service):
    key, before = service.key("gone early"), len(service.charges())
    host, port = service.url.removeprefix("http://").split(":")
    body = json.dumps({"question": ALL_VISITS, "epsilon": "0.003"}).encode()
    head = f"POST /v1/ask HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {key}\r\n"
    head += f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(head.encode() + body)
    wait_for(lambda: len(service.charges()) > before)
    assert service.ask(key, epsilon="0.003").json()["paid"] == "nothing"
