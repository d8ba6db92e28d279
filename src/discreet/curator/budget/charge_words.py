"""What a charge was for, in a few words: its tables and their versions, what was measured, by which keys.

All of it is in the entry, which holds no literal of a question, nor the name that it gives an output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
    read = _calculated(nodes)
    measured = dict.fromkeys(_measured(one, read) for node in nodes for one in _listed(node, "measures"))
    fitted = [node for node in nodes if node.get("node") == "row_plan"]
    measured |= dict.fromkeys(_fitted(node, read) for node in fitted)
    keys = dict.fromkeys(_column(one, read) for node in nodes for one in _listed(node, "keys"))
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


def _calculated(nodes: Sequence[Mapping[str, object]]) -> dict[str, str]:
    """Return what to say of columns that are named after how they are calculated: what they are read from."""
    said = {}
    for node in nodes:
        name, expression = str(node.get("name", "")), node.get("expression")
        if node.get("node") != "named" or name.isidentifier() or not isinstance(expression, Mapping):
            continue
        columns = dict.fromkeys(
            visible(one.get("name", "")) for one in _nodes(expression) if one.get("node") == "column"
        )
        if [*columns] != [name]:
            said[name] = f"a value from {' and '.join(columns)}" if columns else "a constant"
    return said


def _measured(measure: Mapping[str, object], read: Mapping[str, str]) -> str:
    """Return a measure, such as ``sum of cost``."""
    what = visible(measure.get("node", "")).replace("_", " ")
    return f"{what} of {_column(measure, read)}" if "column" in measure else what


def _fitted(plan: Mapping[str, object], read: Mapping[str, str]) -> str:
    """Return what was fitted, such as ``noisy newton of readmitted from age, city``."""
    columns = [_column(one, read) for one in _listed(plan, "columns")]
    target = str(plan.get("target") or "")
    of = f" of {read.get(target) or visible(target)}" if target else ""
    features = [
        one
        for one, node in zip(columns, _listed(plan, "columns"), strict=True)
        if node.get("column") != target
    ]
    return f"{visible(plan.get('reader', '')).replace('_', ' ')}{of} from {', '.join(features)}"


def _column(node: Mapping[str, object], read: Mapping[str, str]) -> str:
    name = str(node.get("column", ""))
    return read.get(name) or visible(name)
