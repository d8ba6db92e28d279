"""What a package shows: the names in its `__all__`, and nothing else.

A package ends with ``publish(__name__)``. Then `dir` lists its `__all__` alone, and its other modules load
when somebody names them, so that ``discreet.a.b`` means the same before and after ``import discreet.a.b``.

Names in `homes` load when they are first used, so that a package costs only what is used of it. Whatever
loads then does so within `loading`.

Where a module and what it holds share a name (`accounting.ladder`, `stability.variance`), the attribute of
the package is the function. Python binds a module to its package once, when it is first loaded; a package
that has a home for the name does not take it.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType

__all__ = ["loading", "publish"]


class PublicModule(ModuleType):
    """A module of which `dir` shows the public names, and whose submodules load when they are named."""

    __all__: list[str]

    def __dir__(self) -> list[str]:
        return sorted({*self.__all__, *({"__version__"} & vars(self).keys())})

    def __getattr__(self, name: str) -> object:
        home = _HOMES.get((self.__name__, name))
        if home is not None:
            module, _, held = home.partition(":")
            with loading():
                value = vars(self)[name] = getattr(importlib.import_module(module), held or name)
            return value
        path = f"{self.__name__}.{name}"
        may_be = "__path__" in vars(self) and name.isidentifier() and not name.startswith("_")
        if not may_be or importlib.util.find_spec(path) is None:
            message = f"module {self.__name__!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)
        with loading():
            return importlib.import_module(path)

    def __setattr__(self, name: str, value: object) -> None:
        """Bind a name; Python calls this with a module when it was loaded."""
        if isinstance(value, ModuleType) and value.__name__ == f"{self.__name__}.{name}":
            if (self.__name__, name) in _HOMES:
                return
            if name in self.__all__:
                value.__class__ = PublicModule
        super().__setattr__(name, value)


_HOMES: dict[tuple[str, str], str] = {}


def publish(module: str, *, homes: Mapping[str, str] | None = None) -> None:
    """Make `dir` of a module show its `__all__`; the same for the modules that are named there.

    Parameters
    ----------
    module : str
        The module that calls this, at its end: ``publish(__name__)``.
    homes : names and modules, optional
        Names that load when they are first used, each with the module that holds it, and ``:name`` if it has
        another name there.
    """
    for name, home in (homes or {}).items():
        _HOMES[module, name] = home
    public = sys.modules[module]
    for shown in [public, *(vars(public).get(name) for name in public.__all__)]:
        if isinstance(shown, ModuleType):
            shown.__class__ = PublicModule


@contextmanager
def loading() -> Iterator[None]:
    """Load modules without searching for garbage among what they make.

    What a module makes lives as long as the process: with the libraries, a hundred thousand objects. While
    they come into being Python would walk through all of them again and again, looking for cycles that
    nobody refers to; that took a seventh of the time of loading. So its search rests here. Then everything
    there is joins the objects that Python takes for old: they are searched as before, but less often.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # else somebody set objects aside, and thawing would bring them back
            gc.freeze()
            gc.unfreeze()
        gc.enable()
