"""All versions of the site in one folder, each in its own, with what the selector on every page reads.

``python -m book.versions build/site FOLDER`` copies a site that was built into FOLDER/VERSION and lists all
versions that are there, the newest first: versions.js for the selector, index.html for readers. Nothing has
to be fetched by a script, so that all of it works from a web server and from files alike.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from packaging.version import InvalidVersion, Version

from discreet.version import __version__

__all__ = ["add_version", "list_versions"]

LIST = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>discreet: versions</title>
<body style="font: 1.1rem/1.7 sans-serif; margin: 3rem auto; max-width: 40rem; padding: 0 1rem">
<h1>discreet</h1>
<p>The documentation of every version:</p>
<ul>
{entries}
</ul>
</html>
"""


def list_versions(folder: Path) -> list[str]:
    """Return the versions in a folder, the newest first; folders that are not named as one are left out."""
    found = []
    for place in folder.iterdir():
        try:
            version = Version(place.name)
        except InvalidVersion:
            continue
        if (place / "index.html").is_file():
            found.append((version, place.name))
    return [name for _, name in sorted(found, reverse=True)]


def add_version(site: Path, folder: Path, version: str = __version__) -> None:
    """Put a site that was built into the folder of all versions, in place of one of the same version.

    Parameters
    ----------
    site : path
        What `make docs` built.
    folder : path
        Holds a folder for each version.
    version : str
        The version that the site is about.
    """
    place = folder / str(Version(version))
    folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(site, place)
    names = list_versions(folder)
    versions = [{"name": name, "pages": _pages(folder / name)} for name in names]
    listed = json.dumps(versions, separators=(",", ":"))
    (folder / "versions.js").write_text(f"showVersions({listed});\n", encoding="utf-8")
    entries = [f'<li><a href="{name}/index.html">{name}</a></li>' for name in names]
    entries[0] = entries[0].replace("</li>", " (newest)</li>")
    (folder / "index.html").write_text(LIST.format(entries="\n".join(entries)), encoding="utf-8")


def _pages(place: Path) -> list[str]:
    """Return the pages of a version, so that the selector leads to the same page where there is one."""
    return sorted(path.relative_to(place).as_posix() for path in place.rglob("*.html"))


if __name__ == "__main__":
    add_version(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
