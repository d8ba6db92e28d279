"""`publish`: what `dir` shows, what loads when it is named, and what is refused."""

from __future__ import annotations

import gc
import importlib
import sys
from types import ModuleType

import pytest

from discreet.exports import loading, publish


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a public function, a lazy one, a public module and a module that nobody lists."""
    folder = tmp_path / "house"
    folder.mkdir()
    (folder / "attic.py").write_text("def ladder(): return 'from the attic'\n")
    (folder / "cellar.py").write_text("__all__ = ['wine']\nwine = 1\nrats = 2\n")
    (folder / "door.py").write_text("def door(): return 'open'\n")
    (folder / "garden.py").write_text("__all__ = ['tree']\ntree = 1\nweeds = 2\n")
    (folder / "stairs.py").write_text("def stairs(): return 'upward'\n")
    (folder / "__init__.py").write_text(
        "from discreet.exports import publish\n"
        "from house import cellar\n"
        "from house.door import door\n"
        "__all__ = ['cellar', 'door', 'garden', 'ladder', 'stairs']\n"
        "publish(__name__, homes={'ladder': 'house.attic', 'stairs': 'house.stairs'})\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("house")
    for name in [name for name in sys.modules if name.split(".")[0] == "house"]:
        del sys.modules[name]


def test_dir_shows_what_is_public(package):
    assert dir(package) == ["cellar", "door", "garden", "ladder", "stairs"]
    assert dir(package.cellar) == ["wine"]


def test_dir_shows_what_is_public_of_a_module_that_loads_later(package):
    assert "house.garden" not in sys.modules
    assert dir(package.garden) == ["tree"]
    assert package.garden is sys.modules["house.garden"]


def test_names_with_a_home_load_when_they_are_used(package):
    assert "house.attic" not in sys.modules
    assert package.ladder() == "from the attic"
    assert "house.attic" in sys.modules


def test_modules_that_nobody_lists_load_when_they_are_named(package):
    assert isinstance(package.attic, ModuleType)
    assert package.attic.ladder() == "from the attic"


def test_a_function_keeps_its_name_before_the_module_it_is_in(package):
    importlib.import_module("house.door")
    assert package.door() == "open"
    assert sys.modules["house.door"].door is package.door


@pytest.mark.parametrize("first", ["module", "function"])
def test_a_function_that_loads_later_keeps_its_name_before_its_module(package, first):
    """Python binds a module to its package when it is loaded, by whatever way; the name is the function's."""
    assert "house.stairs" not in sys.modules
    if first == "module":
        importlib.import_module("house.stairs")
    assert package.stairs() == "upward"
    importlib.import_module("house.stairs")
    assert package.stairs is sys.modules["house.stairs"].stairs


def test_a_name_is_looked_up_once(package):
    assert "ladder" not in vars(package)
    assert package.ladder is vars(package)["ladder"]


@pytest.mark.parametrize("name", ["roof", "_cellar", "__wrapped__", "roof.tile", "cellar.", ""])
def test_other_names_are_attribute_errors(package, name):
    with pytest.raises(AttributeError, match=f"module 'house' has no attribute '{name}'") as refused:
        getattr(package, name)
    assert refused.value.obj is package
    assert refused.value.name == name


def test_a_module_that_is_no_package_has_no_modules(package):
    with pytest.raises(AttributeError, match=r"module 'house\.cellar' has no attribute 'door'"):
        package.cellar.door  # noqa: B018


def test_the_version_is_shown(package):
    package.__version__ = "1"
    assert dir(package) == ["__version__", "cellar", "door", "garden", "ladder", "stairs"]
    publish("house")
    assert package.door() == "open"


class TestLoading:
    @pytest.fixture(autouse=True)
    def collector(self):
        yield
        gc.unfreeze()
        gc.enable()

    def test_garbage_is_not_searched_for_meanwhile(self):
        with loading():
            assert not gc.isenabled()
            with loading():
                pass
            assert not gc.isenabled()
        assert gc.isenabled()

    def test_it_is_searched_for_after_a_failure(self):
        with pytest.raises(ImportError), loading():
            raise ImportError
        assert gc.isenabled()

    def test_a_collector_that_was_off_stays_off(self):
        gc.disable()
        with loading():
            pass
        assert not gc.isenabled()

    def test_what_was_loaded_is_old_and_can_still_be_collected(self):
        with loading():
            loaded = [[]]
            loaded.append(loaded)
        assert any(one is loaded for one in gc.get_objects(generation=2))
        assert gc.get_freeze_count() == 0

    def test_what_somebody_set_aside_stays_there(self):
        gc.freeze()
        aside = gc.get_freeze_count()
        with loading():
            pass
        assert gc.get_freeze_count() >= aside - 10 > 0  # some are dropped at any time

    def test_names_and_modules_load_so(self, package, monkeypatch):
        states = []
        monkeypatch.setattr(importlib, "import_module", lambda name: states.append(gc.isenabled()) or gc)
        for name in ("garden", "attic"):
            getattr(package, name)
        monkeypatch.setattr(gc, "ladder", None, raising=False)
        assert package.ladder is None
        assert states == [False, False, False]
