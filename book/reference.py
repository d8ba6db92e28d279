"""The reference: a page for every public module, with every public name, its signature and its docstring."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from types import ModuleType

from book.docstrings import as_markdown, signature
from book.public_names import described, page_of, public_modules

__all__ = ["reference_pages"]


class _Reference:
    """All public names, and where each of them is described."""

    def __init__(self) -> None:
        self.modules = public_modules()
        self.said = described()
        self.homes: dict[int, tuple[str, str]] = {}
        for path, module in self.modules.items():
            for name in module.__all__:
                value = getattr(module, name)
                if inspect.isclass(value) or inspect.isroutine(value):
                    held = self.homes.get(id(value))
                    if held is None or path.count(".") > held[0].count("."):
                        self.homes[id(value)] = path, name
        self.by_name: dict[str, str] = {}
        for path, module in sorted(self.modules.items(), key=lambda item: -item[0].count(".")):
            for name in module.__all__:
                at = self.homes.get(id(getattr(module, name)), (path, name))
                address = f"{page_of(at[0])}#{at[0]}.{at[1]}"
                self.by_name[name] = address
                self.by_name[f"{path.removeprefix('dp.')}.{name}"] = address
                self.by_name[f"{path}.{name}"] = address

    def link(self, name: str) -> str | None:
        """Return the address of a name on the pages of the reference."""
        return self.by_name.get(name.removesuffix("()"))

    def page(self, path: str) -> str:
        """Return the page of a module."""
        module = self.modules[path]
        title = "Top-level names" if path == "dp" else path
        lines = [f"# {title} {{#{path}}}", as_markdown(module.__doc__, self.link)]
        for name in sorted(module.__all__, key=lambda one: (one.lower(), one)):
            lines.extend(self.entry(path, name, getattr(module, name)))
        return "\n\n".join(line for line in lines if line) + "\n"

    def entry(self, path: str, name: str, value: object) -> Iterator[str]:
        """Yield what is said about one public name."""
        yield f"## `{name}` {{#{path}.{name}}}"
        said = self.said.get((path, name))
        if said:
            said = re.sub(r"\]\((?=\w+\.md)", "](../", said)
            yield f"*{said[:1].upper()}{said[1:]}.*" if "`" not in said and "*" not in said else f"{said}."
        if isinstance(value, ModuleType):
            found = next(held for held, module in self.modules.items() if module is value)
            yield f"A module: [{found}]({page_of(found)})."
            return
        home = self.homes.get(id(value), (path, name))
        called = signature(name, value)
        if called:
            yield f"```python\n{called}\n```"
        if home != (path, name):
            yield f"Described as [{home[0]}.{home[1]}]({page_of(home[0])}#{home[0]}.{home[1]})."
            return
        if inspect.isclass(value):
            yield as_markdown(_own_doc(value), self.link)
            yield from self.members(path, name, value)
        elif inspect.isroutine(value):
            yield as_markdown(inspect.getdoc(value), self.link)
        else:
            yield f"A value of type `{type(value).__name__}`."

    def members(self, path: str, name: str, value: type) -> Iterator[str]:
        """Yield the public methods and properties that this package gives a class."""
        for member, held in sorted(inspect.getmembers_static(value)):
            if member.startswith("_") or not _is_ours(value, member):
                continue
            function = held.__func__ if isinstance(held, classmethod | staticmethod) else held
            document = as_markdown(getattr(held, "__doc__", None), self.link)
            if isinstance(held, property):
                head = f"{name}.{member}"
            elif inspect.isfunction(function):
                head = signature(f"{name}.{member}", function) or f"{name}.{member}"
            else:
                continue
            heading = f"### `{member}` {{#{path}.{name}.{member}}}"
            yield f"{heading}\n\n```python\n{head}\n```\n\n{document}".rstrip()


def _own_doc(value: type) -> str | None:
    """Return the docstring of a class, unless Python made it up from its fields."""
    text = value.__doc__
    return None if text and text.startswith(f"{value.__name__}(") else text


def _is_ours(value: type, member: str) -> bool:
    """Tell whether a member is written in this package, and not inherited from another."""
    owner = next((one for one in value.__mro__ if member in vars(one)), value)
    return owner.__module__.startswith("discreet")


def reference_pages() -> dict[str, str]:
    """Return the text of every page of the reference, by its name within the folder."""
    reference = _Reference()
    return {page_of(path): reference.page(path) for path in reference.modules}
