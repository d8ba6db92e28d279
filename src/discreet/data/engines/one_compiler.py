"""Ibis's package of compilers, of which only the compiler that is used loads.

`ibis.backends.sql.compilers` loads the compilers of twenty engines, with their dialects, as soon as one of
them is imported: a tenth of the time that opening a CSV file takes, for engines that are not there.
`load_one_by_one` has the package itself wait. Its modules can then be imported one by one, which is all
that the engines here need. Whoever asks the package for one of its own names gets them all, as if it had
not waited.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from types import ModuleType

__all__ = ["load_one_by_one"]

_PACKAGE = "ibis.backends.sql.compilers"


class _Waiting(ModuleType):
    """A package whose own code runs when somebody asks for a name that is not one of its modules."""

    def __getattr__(self, name: str) -> object:
        spec = self.__spec__
        if spec is None or spec.loader is None or name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        if find_spec(f"{self.__name__}.{name}") is not None:
            return import_module(f"{self.__name__}.{name}")
        self.__class__ = ModuleType  # type: ignore[assignment]
        spec.loader.exec_module(self)
        return getattr(self, name)


def load_one_by_one(package: str = _PACKAGE) -> None:
    """Have a package wait until one of its own names is used, unless it was loaded before."""
    if package in sys.modules:
        return
    spec = find_spec(package)
    if spec is None or spec.submodule_search_locations is None:
        return  # another version of the library, which is arranged otherwise
    waiting = module_from_spec(spec)
    waiting.__class__ = _Waiting
    parent, _, name = package.rpartition(".")
    setattr(import_module(parent), name, sys.modules.setdefault(package, waiting))
