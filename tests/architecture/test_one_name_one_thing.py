"""One name, one thing: classes and functions are defined once, but for one idea in several places."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "discreet"

# Records and mechanisms of the same law, and words that users know from two packages that never meet.
CLASSES = {
    "AboveThreshold": "the event, and the mechanism that has it",
    "Gaussian": "the event, and the mechanism",
    "Laplace": "the event, and the mechanism",
    "PermuteAndFlip": "the event, and the mechanism that has it",
    "RandomizedResponse": "the event, and the mechanism that has it",
    "UnaryEncoding": "the event, and the mechanism that has it",
    "Filter": "a budget under adaptivity in accounting; rows that meet a condition in stored plans",
    "Offer": "what may be spent: on a query, on keys, on admissible noise",
    "Profile": "delta at every epsilon in accounting; a statistic with its local sensitivities in stability",
    "Source": "a stream of randomness in noise; the rows of a table in stored plans",
}

# One interface that several modules fill in, or one idea for two kinds of things.
FUNCTIONS = {
    "above": "six digits rounded up, of floats and of fractions",
    "ask": "one statement to a ledger's database",
    "below": "six digits rounded down, of floats and of fractions",
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
    "product": "of two intervals, of integers and of floats",
    "profile": "the curve, and its figure",
    "rho": "from both sides, and by a Rényi curve",
    "store_table": "an engine's",
    "tradeoff": "of an event, of two finite laws, and its figure",
}


def defined_more_than_once(kind: type[ast.stmt]) -> set[str]:
    homes = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, kind) and not node.name.startswith("_"):
                homes[node.name].add(path)
    return {name for name, paths in homes.items() if len(paths) > 1}


def test_a_class_is_defined_once():
    assert defined_more_than_once(ast.ClassDef) == set(CLASSES)


def test_a_function_is_defined_once():
    assert defined_more_than_once(ast.FunctionDef) == set(FUNCTIONS)
