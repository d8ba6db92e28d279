"""A package that waits gives its modules one by one, and all of its names to whoever asks for one."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from discreet.data.engines.one_compiler import load_one_by_one


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library with a package that loads both of its modules."""
    folder = tmp_path / "shelf" / "books"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("")
    (folder / "__init__.py").write_text(
        "from shelf.books.novel import Novel\nfrom shelf.books.atlas import Atlas\nCOUNT = 2\n"
    )
    (folder.parent / "lamp.py").write_text("")
    (folder / "novel.py").write_text("class Novel: pass\n")
    (folder / "atlas.py").write_text("class Atlas: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "shelf.books"
    for name in [name for name in sys.modules if name.split(".")[0] == "shelf"]:
        del sys.modules[name]


def test_one_module_is_loaded_without_the_others(library):
    load_one_by_one(library)
    novel = importlib.import_module("shelf.books.novel")
    assert "shelf.books.atlas" not in sys.modules
    assert sys.modules[library].novel is novel
    assert sys.modules["shelf"].books is sys.modules[library]


def test_a_module_is_loaded_when_the_package_is_asked_for_it(library):
    load_one_by_one(library)
    assert sys.modules[library].atlas.Atlas.__name__ == "Atlas"
    assert "shelf.books.novel" not in sys.modules


def test_whoever_asks_for_a_name_gets_all_of_them(library):
    load_one_by_one(library)
    from shelf.books import Novel

    package = sys.modules[library]
    assert package.novel.Novel is Novel
    assert package.COUNT == 2
    assert package.Atlas is sys.modules["shelf.books.atlas"].Atlas


@pytest.mark.parametrize("name", ["poem", "__wrapped__"])
def test_what_is_not_there_is_not_there(library, name):
    load_one_by_one(library)
    with pytest.raises(AttributeError, match=name):
        getattr(sys.modules[library], name)


def test_a_package_that_was_loaded_stays(library):
    before = importlib.import_module(library)
    load_one_by_one(library)
    assert sys.modules[library] is before
    assert before.COUNT == 2


@pytest.mark.parametrize("package", ["shelf.magazines", "shelf.lamp"])
def test_a_library_that_is_arranged_otherwise_is_left_alone(library, package):
    load_one_by_one(package)
    assert package not in sys.modules


@pytest.mark.slow
def test_ibis_loads_the_compiler_of_one_engine_and_has_the_others():
    script = (
        "import sys\n"
        "from discreet.data.engines.dialects import dialect_of\n"
        "dialect_of('duckdb')\n"
        "others = ('bigquery', 'postgres', 'pyspark')\n"
        "print([one for one in others if 'ibis.backends.sql.compilers.' + one in sys.modules])\n"
        "import ibis.backends.sql.compilers as compilers\n"
        "print(compilers.duckdb.compiler.dialect.__name__, compilers.BigQueryCompiler.__name__)\n"
        "print(compilers.SQLiteCompiler is compilers.sqlite.SQLiteCompiler)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nDuckDB BigQueryCompiler\nTrue\n"
