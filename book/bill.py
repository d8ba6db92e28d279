"""A bill of materials: what is in an installation of the package, as CycloneDX 1.6.

``python -m book.bill`` prints it for the present environment, with all released extras that are installed.
It names libraries, versions, licenses and who requires whom. It holds no address of an index and no path.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import Distribution
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from book.requirements import RELEASED, brought_by, requirements_of
from discreet.version import __version__

__all__ = ["bill_of_materials"]

NAME = "discreet"
LICENSE = "Apache-2.0"


def bill_of_materials(
    requirements: Iterable[Requirement],
    *,
    path: list[str] | None = None,
    hashes: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the bill of an installation.

    Parameters
    ----------
    requirements : requirements
        What the package itself requires.
    path : list of str, optional
        Folders of the installation; by default the present one.
    hashes : hashes by name, optional
        The SHA-256 of the file that each library was installed from.
    """
    direct = [*requirements]
    brought = brought_by(direct, path=path)
    versions = {name: library.version for name, (library, _) in brought.items()}

    def reference(name: str) -> str:
        return f"pkg:pypi/{name}@{versions[name]}"

    components = []
    for name, (library, _) in brought.items():
        component: dict[str, Any] = {
            "type": "library",
            "bom-ref": reference(name),
            "name": name,
            "version": versions[name],
            "purl": reference(name),
        }
        if license_of(library):
            component["licenses"] = [{"license": {"name": license_of(library)}}]
        if hashes and name in hashes:
            component["hashes"] = [{"alg": "SHA-256", "content": hashes[name]}]
        components.append(component)
    root = f"pkg:pypi/{NAME}@{__version__}"
    own = {reference(canonicalize_name(one.name)) for one in direct}
    graph = [{"ref": root, "dependsOn": sorted(own)}]
    graph += [
        {"ref": reference(name), "dependsOn": sorted(map(reference, needs))}
        for name, (_, needs) in brought.items()
    ]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": root,
                "name": NAME,
                "version": __version__,
                "purl": root,
                "licenses": [{"license": {"id": LICENSE}}],
            }
        },
        "components": components,
        "dependencies": graph,
    }


def license_of(library: Distribution) -> str:
    """Return what a library says its license is: an expression, a classifier or one line; else nothing."""
    about = library.metadata
    if about.get("License-Expression"):
        return str(about["License-Expression"])
    listed = [str(one) for one in about.get_all("Classifier") or [] if str(one).startswith("License :: ")]
    if listed:
        return ", ".join(one.split(" :: ")[-1] for one in listed)
    lines = str(about.get("License") or "").strip().splitlines()
    return lines[0] if len(lines) == 1 else ""


def main() -> None:
    """Print the bill of what is installed here; extras that are not installed are left out."""
    present = []
    for extra in RELEASED:
        try:
            brought_by(requirements_of(extra))
        except LookupError as missing:
            print(f"without the extra {extra}: {missing}", file=sys.stderr)
        else:
            present.append(extra)
    print(json.dumps(bill_of_materials(requirements_of(*present)), indent=1))


if __name__ == "__main__":
    main()
