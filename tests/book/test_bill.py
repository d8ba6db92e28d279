"""The bill of materials names all that the package brings, and nothing of the machine."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from book.bill import bill_of_materials
from book.requirements import brought_by, requirements_of
from packaging.utils import canonicalize_name

EXTRAS = ("serve", "postgres", "plot", "polars", "learn")


def unnamed(bill: dict, requirements: list) -> set[str]:
    """Return what is required, or required by what is required, and not a component of a bill."""
    named = {one["name"] for one in bill["components"]}
    direct = {canonicalize_name(one.name) for one in requirements}
    return (direct | {need for _, needs in brought_by(requirements).values() for need in needs}) - named


def test_every_dependency_is_named():
    requirements = requirements_of(*EXTRAS)
    bill = bill_of_materials(requirements, hashes={"numpy": "ab" * 32})
    assert unnamed(bill, requirements) == set()
    components = {one["name"]: one for one in bill["components"]}
    assert components["numpy"]["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert components["numpy"]["purl"] == f"pkg:pypi/numpy@{components['numpy']['version']}"
    assert all(one.get("licenses") for one in bill["components"])


def test_a_dependency_that_is_left_out_is_noticed():
    assert {"duckdb", "ibis-framework"} <= unnamed(
        bill_of_materials(requirements_of()), requirements_of("tables")
    )


def test_the_graph_leads_from_the_package_to_components():
    bill = bill_of_materials(requirements_of("tables"))
    references = {one["bom-ref"] for one in bill["components"]}
    root = bill["metadata"]["component"]["bom-ref"]
    graph = {one["ref"]: set(one["dependsOn"]) for one in bill["dependencies"]}
    assert graph.keys() == references | {root}
    reached, waiting = set(), {root}
    while waiting:
        reached |= waiting
        waiting = {need for one in waiting for need in graph[one]} - reached
    assert reached == graph.keys()


@pytest.mark.parametrize("word", ["://", "file:", str(Path(sys.prefix)), str(Path.home())])
def test_nothing_of_the_machine_is_in_it(word):
    assert word not in json.dumps(bill_of_materials(requirements_of(*EXTRAS)))
