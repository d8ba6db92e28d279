"""What identifies a request: canonical bytes, the tables that it reads, and a keyed hash of both.

Without the key the hash reveals nothing about literals.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from discreet.curator.ledger import JsonValue
from discreet.curator.ledger.canonical_json import canonical
from discreet.data import Table
from discreet.data.language.relations import Relation, public_tables, sources_of
from discreet.errors import ParameterError

__all__ = ["Versions", "canonical_identity", "check_versioned", "check_versions", "keyed_digest"]

Versions: TypeAlias = tuple[tuple[str, str], ...]
"""The tables that are read, each with the version of its data."""


def canonical_identity(content: Mapping[str, object], versions: Versions) -> bytes:
    """Return canonical bytes: equal for equal content about the same data, and only then."""
    held = {**content, "versions": [list(version) for version in versions]}
    return json.dumps(held, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def check_versioned(versions: Versions, source: Relation) -> None:
    """Refuse versions that are not those of the tables of a relation, in order."""
    if tuple(name for name, _ in versions) != (*sources_of(source), *public_tables(source)):
        raise ParameterError("versions", "are not those of the plan's tables", "one for each table")


def check_versions(versions: Versions, tables: Mapping[str, Table]) -> None:
    """Refuse tables that a request was not made for, before anything is charged."""
    if any(name not in tables or tables[name].version != version for name, version in versions):
        raise ParameterError("request", "is about other tables than these", "one made for these tables")


def keyed_digest(
    identity: bytes, secret: bytes, tables: Iterable[str], declared: Mapping[str, JsonValue]
) -> str:
    """Return a keyed hash of an identity and of what is declared about the tables that are read.

    Equal requests that protect different units have different hashes, so that neither gets the answer of the
    other.
    """
    context = canonical({name: declared[name] for name in tables})
    content = identity + b"\n" + context.encode("ascii")
    return hashlib.blake2b(content, key=secret, digest_size=32).hexdigest()
