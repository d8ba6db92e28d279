"""What each library that the package requires weighs on disk, and which extra brings it.

``python -m book.weights`` prints a table of what is installed here. Compiled files that Python writes when it
first loads a library are not counted.
"""

from __future__ import annotations

import sys
from importlib.metadata import Distribution

from packaging.requirements import Requirement

from book.requirements import RELEASED, brought_by, requirements_of

__all__ = ["weights"]

HEAVY = 5_000_000
"""From how many bytes on a library is named in the table."""


def weight(library: Distribution) -> int:
    """Return how many bytes the files of an installed library take."""
    files = [one.locate() for one in library.files or [] if not str(one).endswith(".pyc")]
    return sum(one.stat().st_size for one in files if one.is_file())


def weights(extras: tuple[str, ...] = RELEASED) -> list[tuple[str, dict[str, int]]]:
    """Return what the core and each extra bring, in bytes by library.

    Extras that are not installed are left out.
    """
    found = [("core", _weighed(requirements_of()))]
    for extra in extras:
        try:
            found.append((extra, _weighed(requirements_of(extra))))
        except LookupError:
            continue
    return found


def _weighed(requirements: list[Requirement]) -> dict[str, int]:
    return {name: weight(library) for name, (library, _) in brought_by(requirements).items()}


def main(*extras: str) -> None:
    """Print the table: what each extra adds to the core, or to the core and `tables` if it contains them."""
    found = dict(weights(extras or RELEASED))
    print(f"| extra | brings, MB on Python {sys.version_info.major}.{sys.version_info.minor} | together |")
    print("|---|---|---|")
    for extra, brought in found.items():
        below = [one for one in ("core", "tables") if one in found and one != extra]
        below = [one for one in below if found[one].keys() <= brought.keys()]
        known = {name for one in below for name in found[one]}
        added = sorted(((size, name) for name, size in brought.items() if name not in known), reverse=True)
        words = [*below, *(f"{name} {size / 1e6:.0f}" for size, name in added if size >= HEAVY)]
        light = [size for size, _ in added if size < HEAVY]
        words += [f"{len(light)} smaller ones {sum(light) / 1e6:.0f}"] if light else []
        print(f"| {extra} | {', '.join(words)} | {sum(brought.values()) / 1e6:.0f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
