"""What identifies a request: a keyed hash, which reveals nothing about literals without the key."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from discreet.curator.ledger import Value
from discreet.curator.ledger.canonical_json import canonical

__all__ = ["keyed_digest"]


def keyed_digest(identity: bytes, secret: bytes, tables: Iterable[str], declared: Mapping[str, Value]) -> str:
    """Return a keyed hash of an identity and of what is declared about the tables that are read.

    Equal requests that protect different units have different hashes, so that neither gets the answer of the
    other.
    """
    context = canonical({name: declared[name] for name in tables})
    content = identity + b"\n" + context.encode("ascii")
    return hashlib.blake2b(content, key=secret, digest_size=32).hexdigest()
