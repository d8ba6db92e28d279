"""The digest of a request depends on the key, on the request and on what is declared of its tables."""

from __future__ import annotations

from discreet.curator.request.identity import keyed_digest

DECLARED = {"visits": {"person": "patient"}, "staff": {"person": "employee"}}


def test_digests_tell_requests_keys_and_declarations_apart():
    usual = keyed_digest(b"question", b"secret", ["visits"], DECLARED)
    assert usual == keyed_digest(b"question", b"secret", ["visits"], DECLARED)
    others = [
        keyed_digest(b"another", b"secret", ["visits"], DECLARED),
        keyed_digest(b"question", b"other secret", ["visits"], DECLARED),
        keyed_digest(b"question", b"secret", ["staff"], DECLARED),
        keyed_digest(b"question", b"secret", ["visits"], {"visits": {"person": "household"}}),
    ]
    assert len({usual, *others}) == 5


def test_tables_that_are_not_read_do_not_matter():
    fewer = {"visits": DECLARED["visits"]}
    assert keyed_digest(b"q", b"secret", ["visits"], DECLARED) == keyed_digest(
        b"q", b"secret", ["visits"], fewer
    )


def test_an_identity_cannot_imitate_a_declaration():
    """The identity ends where the last line begins: what is declared has no line break."""
    context = keyed_digest(b"q", b"secret", ["visits"], DECLARED)
    assert keyed_digest(b'q\n{"visits":{"person":"patient"}}', b"secret", [], DECLARED) != context
