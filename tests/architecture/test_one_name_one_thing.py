"""One name, one thing: types and functions are defined once, but for one idea in several places."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "discreet"

# Records and mechanisms of the same law, and words that users know from two packages that never meet.
TYPES = {
    "AboveThreshold": "the event, and the mechanism that has it",
    "Gaussian": "the event, and the mechanism",
    "Laplace": "the event, and the mechanism",
    "PermuteAndFlip": "the event, and the mechanism that has it",
    "RandomizedResponse": "the event, and the mechanism that has it",
    "UnaryEncoding": "the event, and the mechanism that has it",
    "Filter": "a budget under adaptivity in accounting; rows that meet a condition in stored plans",
    "Plan": "what a request computes in data; what to measure in workloads",
    "Profile": "delta at every epsilon in accounting; a statistic with its local sensitivities in stability",
    "Source": "a stream of randomness in noise; the rows of a table in stored plans",
    "Values": "the parameters of a statement to a ledger's database",
}

# One interface that several modules fill in, or one idea for two kinds of things.
FUNCTIONS = {
    "ask": "one statement to a ledger's database",
    "check_schema": "of a ledger's database",
    "create_schema": "of a ledger's database",
    "delta": "tight, and by a Rényi curve",
    "divergence": "from both sides, and by a Rényi curve",
    "epsilon": "tight, and by a Rényi curve",
    "fetch": "an engine's",
    "from_frame": "an engine's",
    "ladder": "the table, and its figure",
    "low_bits": "how many bits are drawn apart, for each law",
    "maximum": "its sensitivity in the worst case, and at the data at hand",
    "median": "its sensitivity in the worst case, and at the data at hand",
    "normalized": "an engine's",
    "present_values": "an engine's",
    "product": "of two intervals, of integers and of floats",
    "profile": "the curve, and its figure",
    "rho": "from both sides, and by a Rényi curve",
    "store_table": "an engine's",
    "tradeoff": "of an event, of two finite laws, and its figure",
}


def repeated(*, types: bool) -> set[str]:
    """The public names of types, or of functions, that are defined in more than one module."""
    homes = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            for name in types_in(node) if types else functions_in(node):
                if not name.startswith("_"):
                    homes[name].add(path)
    return {name for name, paths in homes.items() if len(paths) > 1}


def functions_in(node: ast.stmt) -> list[str]:
    return [node.name] if isinstance(node, ast.FunctionDef) else []


def types_in(node: ast.stmt) -> list[str]:
    """Classes, and aliases: what is assigned to a capitalized name, unless it is a variable of types."""
    if isinstance(node, ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if isinstance(node, ast.Assign | ast.AnnAssign) and not ast.unparse(node).count("TypeVar("):
        return [
            target.id
            for target in targets
            if isinstance(target, ast.Name) and not target.id.isupper() and target.id[0].isupper()
        ]
    return []


def test_a_type_is_defined_once():
    assert repeated(types=True) == set(TYPES)


def test_a_function_is_defined_once():
    assert repeated(types=False) == set(FUNCTIONS)
