"""What a charge was for, in a few words: its tables and their versions, what was measured, by which keys.

All of it is in the entry, which holds no literal of a question, nor the name that it gives an output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from discreet.visible import visible

__all__ = ["asked_in_words"]


def asked_in_words(body: Mapping[str, object]) -> str:
    """Return what the body of a charge says about its question; empty if it is only known by a hash."""
    nodes = list(_nodes(body.get("plan")))
    versions = body.get("versions")
    known = versions if isinstance(versions, Mapping) else {}
    tables = dict.fromkeys(str(node["table"]) for node in nodes if node.get("node") == "source")
    named = [
        f"{visible(name)} (version {visible(known[name])})" if name in known else visible(name)
        for name in [*tables, *(name for name in known if name not in tables)]
    ]
    measured = list(dict.fromkeys(_measured(one) for node in nodes for one in _listed(node, "measures")))
    keys = list(dict.fromkeys(_column(one) for node in nodes for one in _listed(node, "keys")))
    words = ", ".join(named)
    if measured:
        words += f": {', '.join(measured)}"
    return f"{words} by {', '.join(keys)}" if keys else words


def _nodes(part: object) -> Iterator[Mapping[str, object]]:
    if isinstance(part, Mapping):
        yield part
        for one in part.values():
            yield from _nodes(one)
    elif isinstance(part, list | tuple):
        for one in part:
            yield from _nodes(one)


def _listed(node: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    found = node.get(name)
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list | tuple) else []


def _measured(measure: Mapping[str, object]) -> str:
    """Return a measure, such as ``sum of cost``."""
    what = visible(measure.get("node", "")).replace("_", " ")
    return f"{what} of {_column(measure)}" if "column" in measure else what


def _column(node: Mapping[str, object]) -> str:
    return visible(node.get("column", ""))
