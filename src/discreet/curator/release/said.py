"""What is said below an answer: what was counted, what its price was, and what the table does not show."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from discreet.curator.release.about import price, with_stated_bounds
from discreet.curator.release.cell_text import remark_of
from discreet.curator.release.drowned import drowned
from discreet.curator.release.label import NOT_COVERED
from discreet.curator.request.key_request import KeyRequest
from discreet.visible import visible

if TYPE_CHECKING:
    from discreet.curator.release.release import Release

__all__ = ["bought", "groups_left_out", "notes", "remarks", "what_was_counted", "what_was_left_out"]

_STORED = "answered from the store, nothing spent"
_NO_KEY = "no key was shown: none was found with enough persons"
_NO_GROUP = "no group is left: none meets the conditions on released values"


def groups_left_out(release: Release, shown: int) -> list[str]:
    """Say how many groups are not printed, and where they are."""
    more = len(release) - shown
    return [f"… {more:,} more groups: to_pandas() has all of them"] if more > 0 else []


def remarks(release: Release) -> list[str]:
    """Return what has to be said of columns, of noise that hides most values, and of what was counted."""
    said = []
    if len(release) == 0:
        said.append(_NO_KEY if isinstance(release.request, KeyRequest) else _NO_GROUP)
    said += [remark for column in release.outputs if (remark := remark_of(column))]
    hidden = drowned(release.outputs, release.request, release.event, release.label)
    found = [*said, *([hidden] if hidden else [])]
    return [
        *map(visible, found),
        *what_was_left_out(release.label),
        *what_was_counted(release),
        *bought(release.label),
    ]


def what_was_counted(release: Release) -> list[str]:
    """Say what was counted, and at which confidence intervals hold."""
    if "counted" not in release.label:
        return []
    level = f"{100 * float(release.request.confidence):.6g}%"
    held = f"; intervals at {level}" if any(one.lower is not None for one in release.outputs) else ""
    words = with_stated_bounds(str(release.label["counted"]), release.request)
    return [visible(f"{words}{held}")]


def what_was_left_out(label: Mapping[str, object]) -> list[str]:
    """Say which rows the plan of this answer leaves out, beyond what no answer covers."""
    listed = cast("list[str]", label.get("not_covered", []))
    return [visible(words) for words in listed if words not in NOT_COVERED]


def bought(label: Mapping[str, object]) -> list[str]:
    """Return which limits and bounds were bought for an answer, and what they cut."""
    return [visible(one["what"]) for one in cast("list[dict[str, object]]", label.get("bought", []))]


def notes(release: Release) -> list[str]:
    """Return what has to be said about the answer as a whole: whether it is private, and its price."""
    made_up, left = bool(release.label.get("made_up")), release.label.get("left")
    said = []
    if not release.label["private"]:
        said.append(f"{'made-up rows' if made_up else 'replayed noise'}: not private")
    rho = f"rho {release.label['left_rho']}, or " if "left_rho" in release.label else ""
    rest = "" if left is None or made_up else f"; left: {rho}a pure epsilon of {left}"
    if release.stored:
        return [*said, f"{_STORED}{rest}"]
    return [*said, f"paid {price(release.event)}{rest}"] if rest else said
