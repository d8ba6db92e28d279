"""The digest of a request depends on the key, on the request and on what is declared of its tables."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from discreet.curator.request.identity import (
    canonical_identity,
    check_versioned,
    check_versions,
    keyed_digest,
)
from discreet.data.language.relations import Source
from discreet.errors import ParameterError

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


def test_an_identity_holds_the_content_and_the_versions_in_one_order():
    assert canonical_identity({"b": 1, "a": "ü"}, (("visits", "1"),)) == (
        b'{"a":"\\u00fc","b":1,"versions":[["visits","1"]]}'
    )


def test_versions_of_other_tables_are_refused():
    check_versioned((("visits", "1"),), Source(table="visits"))
    for others in ((), (("staff", "1"),), (("visits", "1"), ("staff", "1"))):
        with pytest.raises(ParameterError, match="versions"):
            check_versioned(others, Source(table="visits"))


def test_tables_of_another_version_are_refused():
    held = {"visits": SimpleNamespace(version="1")}
    check_versions((("visits", "1"),), held)
    for others in ((("visits", "2"),), (("staff", "1"),)):
        with pytest.raises(ParameterError, match="other tables"):
            check_versions(others, held)
