"""A scalar function is one record, one line of Ibis, one line of documentation; nothing else names it."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from pathlib import Path

import pyarrow
import pytest
from sqlglot import exp

from discreet.data import EACH_ROW, Bounds, Keys, Table, Type, from_json, to_json, type_of
from discreet.data.compile import expressions as compiled_functions
from discreet.data.compile.calls import of_numbers
from discreet.data.engines.base import fetch
from discreet.data.facts import signatures
from discreet.data.facts.inferred import infer
from discreet.data.language import functions
from discreet.data.language.column_facts import ColumnFacts
from discreet.data.language.expressions import Call, Column
from discreet.data.language.functions import FUNCTIONS, ScalarFunction, function_named
from discreet.data.language.functions.rules import NUMBERS, TIMES
from discreet.errors import UnsupportedQuery
from discreet.queries.sql.formulas import functions as sql_functions
from discreet.queries.sql.formulas.expressions import expression_of
from discreet.queries.sql.syntax.parser import read_select

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "discreet"
STORED = json.loads((ROOT / "tests" / "data" / "language" / "stored_calls.json").read_text())
each = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=repr)


def expression(text):
    where = read_select(f"SELECT COUNT(*) FROM t WHERE {text}").args["where"].this  # noqa: S608
    return expression_of(where, lambda node: Column(name=node.name.lower()))


def documented():
    """The rows of the page: what is written of a function in SQL, by its name."""
    page = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    lines = page.split("## Functions")[1].split("## ")[0].replace("\\|", "").splitlines()
    return {line.split("`")[1]: line.split("|")[2] for line in lines if line.startswith("| `")}


def test_every_function_has_its_line_of_ibis():
    assert list(compiled_functions.FUNCTIONS) == list(FUNCTIONS)


@each
def test_a_function_is_documented_by_its_names(function):
    assert function.meaning.endswith(".")
    assert function.sql
    assert function.sql[0] in documented()[function.name]
    assert function.sql[0] in sql_functions._LISTED or function.extract


@each
def test_a_function_answers_to_all_its_names_in_sql(function):
    plain = {name for (_, name), (found, _) in sql_functions._spellings().items() if found is function}
    kinds = {kind for (kind, _), (found, _) in sql_functions._spellings().items() if found is function}
    for name in function.sql:
        operands = ", ".join(["a", "b", "c", "d"][: function.operands[0]])
        node = read_select(f"SELECT {name}({operands})").expressions[0]
        shared = type(node) in sql_functions._SPECIAL  # LPAD and RPAD are one node, told apart by its form
        assert type(node) in kinds or shared
        assert not isinstance(node, exp.Anonymous) or name in plain
    for part in function.extract:
        assert expression(f"EXTRACT({part} FROM d) = 1").left.function is function


@each
def test_a_function_has_values_on_keys_where_keys_allow_it(function):
    chooses = function.name in {"least", "greatest"}  # of integers, by their range
    no_keys = function.gives in {Type.BOOLEAN, Type.FLOAT} or function.takes == TIMES
    assert (function.value or function.keys) is not None or chooses or no_keys


@each
def test_a_refusal_can_say_what_a_function_takes(function):
    assert function.takes is None or function.takes in signatures._WRITTEN
    assert function.example


@each
def test_names_have_one_owner(function):
    others = [one for one in FUNCTIONS.values() if one is not function]
    assert not {name for one in others for name in (*one.sql, *one.extract)} & {
        *function.sql,
        *function.extract,
    }


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: stored["sql"])
def test_stored_calls_keep_their_identity(stored):
    text = json.dumps(stored["plan"], sort_keys=True, separators=(",", ":")).encode()
    assert to_json(from_json(text)) == text
    assert to_json(expression(stored["sql"])) == text


def test_every_function_is_among_the_stored_calls():
    assert {stored["plan"]["function"] for stored in STORED} == set(FUNCTIONS)


@each
def test_a_record_is_one_thing_wherever_it_is_sent(function):
    for same in (
        pickle.loads(pickle.dumps(function)),
        copy.deepcopy(function),
        function_named(function.name),
    ):
        assert same is function


def test_what_is_no_function_is_refused():
    stranger = ScalarFunction(name="abs", meaning="Another.", example="ABS(x)")
    for name in ("ABS", "no_such", "", stranger):
        with pytest.raises(ValueError, match="not a function"):
            Call(function=name, operands=(Column(name="x"),))


NAMERS = {
    "data/language/formulas/cases.py": "what users type: coalesce(), least(), greatest(), concat()",
    "data/language/formulas/formula.py": "what users type: %",
    "data/language/formulas/formula_methods.py": "what users type: methods of a column",
    "data/facts/conditions/key_narrowing.py": "x IS TRUE is stored as COALESCE(x, FALSE), and is a condition",
    "queries/binding/bind.py": "COALESCE of a key that is never NULL is refused, with what is meant",
    "queries/outputs/calculation.py": "interval arithmetic of the functions of an answer",
    "queries/outputs/moment_parts.py": "derivatives of the functions of an answer",
    "queries/sql/formulas/expressions.py": "x IS TRUE is COALESCE(x, FALSE)",
    "queries/sql/formulas/date_functions.py": "special forms of SQL: DATE_TRUNC, DATEDIFF and INTERVAL",
    "queries/sql/formulas/functions.py": "special forms: %, ||, LIKE, ILIKE, TRIM, LEFT, LPAD, RPAD and LOG",
    "queries/sql/formulas/patterns.py": "patterns are made of LIKE, CONTAINS, STARTS_WITH and ENDS_WITH",
}
"""Who may name a function besides its record and its line of Ibis, and why."""


def names_a_function(tree):
    """Whether a file imports a record, looks one up by a constant, or compares the name of one."""
    return any(_NAMING[type(node)](node) for node in ast.walk(tree) if type(node) in _NAMING)


def _imports(node):
    records = {name.upper() for name in FUNCTIONS}
    in_family = (node.module or "").startswith(f"{functions.__name__}.")
    return in_family and bool(records & {one.name for one in node.names})


def _looks_up(node):
    target = node.value if isinstance(node, ast.Subscript) else node.func
    inside = [node.slice] if isinstance(node, ast.Subscript) else node.args
    is_registry = isinstance(target, ast.Name) and target.id in {"FUNCTIONS", "function_named"}
    return is_registry and any(isinstance(one, ast.Constant) and one.value in FUNCTIONS for one in inside)


def _compares(node):
    sides = [node.left, *node.comparators]
    constants = {
        one.value for side in sides for one in ast.walk(side) if isinstance(one, ast.Constant)
    } & set(FUNCTIONS)
    return bool(constants) and any(ast.unparse(side).endswith("function.name") for side in sides)


_NAMING = {ast.ImportFrom: _imports, ast.Subscript: _looks_up, ast.Call: _looks_up, ast.Compare: _compares}


def test_nothing_else_names_a_function():
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if "language/functions/" not in path.as_posix() and names_a_function(ast.parse(path.read_text()))
    }
    assert found == set(NAMERS)


@pytest.mark.parametrize(
    "text",
    [
        "from discreet.data.language.functions.numeric import SIGN",
        "FUNCTIONS['sign']",
        "function_named('sign')",
        "call.function.name == 'sign'",
        "call.function.name in {'sign', 'abs'}",
    ],
)
def test_the_search_for_names_finds_them(text):
    assert names_a_function(ast.parse(text))


def test_a_record_and_a_line_of_ibis_make_a_function(monkeypatch):
    """What CONTRIBUTING promises: with these two the checker, ranges, keys, SQL and the engine know it."""
    made = ScalarFunction(
        name="opposite",
        meaning="The number with its sign changed.",
        example="OPPOSITE(x)",
        takes=NUMBERS,
        value=lambda number: -number,
        range=lambda operands: operands[0].range.negative(),
        sql=("OPPOSITE", "INVERSE_SIGN"),
    )
    monkeypatch.setitem(functions.FUNCTIONS, "opposite", made)
    monkeypatch.setitem(compiled_functions.FUNCTIONS, "opposite", of_numbers(lambda number: -number))
    sql_functions._spellings.cache_clear()
    try:
        call = expression("INVERSE_SIGN(n)")
        assert call == expression("OPPOSITE(n)")
        assert from_json(to_json(call)) == call
        assert type_of(call, {"n": Type.INTEGER}) is Type.INTEGER
        with pytest.raises(UnsupportedQuery, match=r"OPPOSITE takes numbers, not text; write OPPOSITE\(x\)"):
            type_of(call, {"n": Type.TEXT})
        with pytest.raises(UnsupportedQuery, match="too few or too many operands"):
            expression("OPPOSITE(n, 2)")
        bounded = infer(call, {"n": ColumnFacts(type=Type.INTEGER, bounds=Bounds(-1, 20_000))})
        assert (bounded.bounds.lower, bounded.bounds.upper) == (-20_000, 1)
        listed = infer(call, {"n": ColumnFacts(type=Type.INTEGER, keys=Keys([1, 5, None]))})
        assert listed.keys.values == (-5, -1, None)
        table = Table(pyarrow.table({"n": [1, -2, None]}), person=EACH_ROW)
        value = compiled_functions.compile_expression(call, table._relation)
        found = fetch(table._relation.select(found=value), table._backend)["found"].to_pylist()
        assert sorted(found, key=str) == [-1, 2, None]
    finally:
        sql_functions._spellings.cache_clear()
