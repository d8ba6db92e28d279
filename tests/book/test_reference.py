"""Every public name is described in the reference, with its signature, and links lead to what exists."""

from __future__ import annotations

import inspect
import re
from functools import cache

from book.public_names import described, page_of, public_modules
from book.reference import reference_pages


@cache
def pages() -> dict[str, str]:
    return reference_pages()


def missing(written: dict[str, str]) -> list[str]:
    """Public names without a heading, and functions and classes without a call below it."""
    found = []
    for path, module in public_modules().items():
        sections = dict(
            re.findall(r"^## `\w+` \{#([\w.]+)\}\n(.*?)(?=^## |\Z)", written[page_of(path)], re.M | re.S)
        )
        for name in module.__all__:
            value = getattr(module, name)
            section = sections.get(f"{path}.{name}")
            callable_by_users = inspect.isfunction(value) or (
                inspect.isclass(value) and "__init__" in vars(value)
            )
            if section is None or (callable_by_users and f"```python\n{name}(" not in section):
                found.append(f"{path}.{name}")
    return found


def test_every_public_name_has_a_description_and_a_signature():
    assert missing(pages()) == []


def test_what_is_missing_is_found():
    without = dict(pages())
    without["mechanisms.md"] = without["mechanisms.md"].replace(
        "{#dp.mechanisms.TopK}", "{#dp.mechanisms.Top}"
    )
    without["noise.md"] = re.sub(r"```python\nsample_laplace\(.*?```", "", without["noise.md"], flags=re.S)
    assert missing(without) == ["dp.mechanisms.TopK"] + ["dp.noise.sample_laplace"] * (
        "sample_laplace" in public_modules()["dp.noise"].__all__
    )


def test_the_table_of_names_describes_each():
    assert set(described()) == {
        (path, name) for path, module in public_modules().items() for name in module.__all__
    }


def test_links_within_the_reference_lead_to_a_heading():
    anchors = {
        (page, anchor) for page, text in pages().items() for anchor in re.findall(r"\{#([\w.]+)\}", text)
    }
    wrong = []
    for page, text in pages().items():
        for target, anchor in re.findall(r"\]\(([\w]+\.md)#([\w.]+)\)", text):
            if (target, anchor) not in anchors:
                wrong.append((page, target, anchor))
    assert wrong == []
    assert len(anchors) == sum(len(re.findall(r"\{#([\w.]+)\}", text)) for text in pages().values())
