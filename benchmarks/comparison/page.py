"""The page docs/comparison.md: template.md, with what was measured."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Any

__all__ = ["written"]

Columns = dict[str, tuple[str, str]]
SECONDS = {"seconds": ("CPU seconds", ".4f")}
TASKS: dict[str, tuple[list[str], Columns, str | None]] = {
    "noise": (["noise"], {"rate": ("releases per second", ",.0f")}, "rate"),
    "time": (["time"], {"correlation": ("rank correlation of time and noise", ".3f")}, None),
    "accounting": (
        ["accounting", "accounting by moments"],
        {"lower": ("at least", ".5f"), "upper": ("at most", ".5f"), **SECONDS},
        "seconds",
    ),
    "groups": (
        ["groups"],
        {"count error": ("error of a count", ".2f"), "sum error": ("error of a sum", ",.0f"), **SECONDS},
        "sum error",
    ),
}
"""For each table: the tasks that are its rows, the numbers with their headings, that of a ratio if any."""


def _number(value: float | None, form: str) -> str:
    """Return a number as it is shown, or a dash."""
    return "–" if value is None else format(value, form)


def _table(known: dict[str, Any], tasks: list[str], columns: Columns, base: str | None) -> str:
    """Return the table of those who did a task."""
    ours = known["discreet"]["tasks"][tasks[0]]
    heads = [head for head, _ in columns.values()] + (["ratio"] if base else [])
    lines = ["| | measured | " + " | ".join(heads) + " |", "|---" * (len(heads) + 2) + "|"]
    for task in tasks:
        for name, one in known.items():
            found = one["tasks"].get(task)
            if found is not None:
                how = task.removeprefix(tasks[0])
                cells = [_number(found.get(key), form) for key, (_, form) in columns.items()]
                cells += [_number(found[base] / ours[base], ",.3g")] if base else []
                lines.append(f"| {name} {one['version']}{how} | {one['date']} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def written(known: dict[str, Any]) -> str:
    """Return the page."""
    order = ["discreet", *sorted(name for name in known if name != "discreet")]
    known = {name: known[name] for name in order}
    absent = [
        f"- **{name}** ({one['version'] or 'no version'}, {one['date']}): {one['failure']}."
        for name, one in known.items()
        if one["failure"]
    ]
    template = Template((Path(__file__).parent / "template.md").read_text(encoding="utf-8"))
    tables = {name: _table(known, *about) for name, about in TASKS.items()}
    return template.substitute(tables, absent="\n".join(absent) or "Everything above was.")
