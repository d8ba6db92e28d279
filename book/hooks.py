"""What MkDocs calls: adds the pages that are made, runs the code of pages, and sets links right."""

from __future__ import annotations

import posixpath
import re
import tomllib
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from book.cells import folder_of, in_a_folder, run_cell, shown
from book.error_pages import error_classes, error_pages
from book.formulas import set_formulas
from book.lectures import LECTURES, anchor, read_rows, run_lecture
from book.links import PROJECT, linked
from book.notebooks import notebook
from book.public_names import BENEATH, page_of, public_modules
from book.reference import reference_pages
from discreet.version import __version__

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
ROOMS = {
    "noise": "Noise",
    "mechanisms": "Mechanisms",
    "stability": "Stability",
    "privacy": "Accounting",
    "accounting": "Accounting",
    "workloads": "Workloads",
    "data": "Data and queries",
    "queries": "Data and queries",
    "curator": "The curator",
    "server": "The curator",
    "learning": "Learning and synthesis",
    "synthesis": "Learning and synthesis",
    "audit": "Audit",
}
"""Under which heading the proofs of a package are."""
FOUND_FIRST = {
    "guides": 3,
    "operations.md": 3,
    "language.md": 2,
    "recipes.md": 2,
    "errors": 0.3,
    "reference": 0.5,
}
"""How much a page counts in the search, by its name or its folder: guides before single names."""
GUIDES = ("analyst", "owner", "production", "researcher", "machine_learning", "teacher")
COURSE = tomllib.loads((ROOT / "tests" / "mission.toml").read_text(encoding="utf-8"))


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Say what is where: the tabs of the site and the pages under each."""
    inner = {f"dp.{name}" for name in BENEATH}
    paths = sorted(public_modules(), key=lambda path: (path in inner, path != "dp", path))
    modules = [{path: f"reference/{page_of(path)}"} for path in paths]
    rooms: dict[str, list[dict[str, str]]] = {room: [] for room in ROOMS.values()}
    for page in sorted((DOCS / "proofs").glob("*.md"), key=_title):
        rooms[_room(page)].append({_title(page): f"proofs/{page.name}"})
    proofs = [{room: pages} for room, pages in rooms.items() if pages]
    errors = [f"errors/{one.__name__}.md" for one in error_classes()]
    examples = [f"examples/{path.stem}.md" for path in _examples()]
    config.nav = [
        {"Start": ["index.md", "tour.md"]},
        {
            "Guides": [
                *(f"guides/{name}.md" for name in GUIDES),
                "recipes.md",
                "deep_learning.md",
                "private_teachers.md",
                "auditing_models.md",
                {"Examples": ["examples/index.md", *examples]},
            ]
        },
        {"Concepts": ["concepts.md", "glossary.md", "comparison.md", "accuracy.md"]},
        {"SQL": ["language.md", "functions.md"]},
        {"Lectures": ["lectures/index.md", *(f"lectures/{path.stem}.md" for path in LECTURES)]},
        {"Reference": [{"All names": "reference.md"}, *modules]},
        {"Proofs": ["proofs/index.md", *proofs]},
        {"Operations": ["operations.md", "server.md", {"Errors": ["errors/index.md", *errors]}]},
        {"Project": list(PROJECT)},
    ]
    config.copyright = f"discreet {__version__}"
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the reference, the lectures, the list of proofs, the examples and the pages beside README."""

    def add(uri: str, content: str | bytes) -> None:
        files.append(File.generated(config, uri, content=content))

    for name, text in reference_pages().items():
        add(f"reference/{name}", text)
    for name, text in error_pages(lambda quoted: None).items():
        add(f"errors/{name}", text)
    for uri, origin in PROJECT.items():
        add(uri, (ROOT / origin).read_text(encoding="utf-8"))
    add("examples/index.md", (ROOT / "examples" / "README.md").read_text(encoding="utf-8"))
    for path in _examples():
        add(f"examples/{path.stem}.md", _example(path))
    add("proofs/index.md", _proofs())
    for shown_otherwise in (DOCS / "lectures").iterdir():
        found = files.get_file_from_path(shown_otherwise.relative_to(DOCS).as_posix())
        if found is not None:
            files.remove(found)
    add("lectures/index.md", _lectures())
    for path in LECTURES:
        _add_lecture(path, add)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Run the code of a page that asks for it, and let its links lead to pages of the site."""
    uri = page.file.src_uri
    page.meta.setdefault("search", {"boost": FOUND_FIRST.get(uri.split("/")[0], 1)})
    if uri == "reference.md":
        markdown = _names_linked(markdown)
    if page.meta.get("run"):
        markdown = _run(markdown, uri, config, files)
    if uri.startswith(("proofs/", "lectures/")) or uri in ("concepts.md", "glossary.md"):
        markdown = set_formulas(markdown)
    return linked(markdown, uri)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leave the members of classes out of the table of contents, where each would stand many times."""
    if page.file.src_uri.startswith("reference/"):
        for top in page.toc:
            for name in top.children:
                name.children.clear()
    return html


def on_post_build(config: MkDocsConfig) -> None:
    """Write what is searched as a script, too: a page that was opened from a file cannot fetch anything."""
    index = Path(config.site_dir) / "search" / "search_index.json"
    script = f"var __index = {index.read_text(encoding='utf-8')}"
    index.with_suffix(".js").write_text(script, encoding="utf-8")


def _run(markdown: str, uri: str, config: MkDocsConfig, files: Files) -> str:
    """Put below each block of Python what it printed and drew."""
    namespace: dict[str, Any] = {}
    pieces = re.split(r"(^```python\n.*?^```\n)", markdown, flags=re.MULTILINE | re.DOTALL)
    with in_a_folder():
        for place in range(1, len(pieces), 2):
            code = pieces[place].removeprefix("```python\n").removesuffix("```\n")
            output = run_cell(code, namespace, uri)
            addresses = []
            for number, picture in enumerate(output.pictures):
                address = (folder_of(uri) / f"{place}_{number}.svg").as_posix()
                files.append(File.generated(config, address, content=picture))
                addresses.append(posixpath.relpath(address, posixpath.dirname(uri) or "."))
            pieces[place] += "\n" + shown(output, addresses, "What the code above draws") + "\n"
    return "".join(pieces)


def _add_lecture(path: Path, add: Any) -> None:
    """Run a lecture, and add its page and its pictures."""
    shows = {name: row for row, names in read_rows().items() for name in names}
    add(f"lectures/{path.stem}.ipynb", notebook(path))
    own = f"*This lecture as [a Jupyter notebook]({path.stem}.ipynb).*"
    parts = []
    for cell, output in run_lecture(path):
        if output is None:
            parts.append(cell.text if parts else cell.text.replace("\n", f"\n\n{own}\n", 1))
            continue
        row = shows.get(f"{path.stem}::{cell.title}")
        parts.append(f"### {cell.title} {{#{anchor(cell.title)}}}")
        parts.append(f"```python\n{cell.text}\n```")
        addresses = []
        for number, picture in enumerate(output.pictures):
            address = f"pictures/lectures/{path.stem}/{anchor(cell.title)}_{number}.svg"
            add(address, picture)
            addresses.append(posixpath.relpath(address, "lectures"))
        parts.append(shown(output, addresses, COURSE[row]["about"] if row else cell.title))
    add(f"lectures/{path.stem}.md", "\n\n".join(part for part in parts if part) + "\n")


def _lectures() -> str:
    """Return the list of lectures, and the table of rows of a course with the cells that show them."""
    lines = [
        (DOCS / "lectures" / "README.md").read_text(encoding="utf-8"),
        "| row | about | shown in |",
        "|---|---|---|",
    ]
    for row, names in read_rows().items():
        links = []
        for name in names:
            stem, _, title = name.partition("::")
            links.append(f"[{title}]({stem}.md#{anchor(title)})")
        lines.append(f"| {row} | {COURSE[row]['about']} | {', '.join(links) or 'not built yet'} |")
    return lines[0] + "\n" + "\n".join(lines[1:]) + "\n"


def _proofs() -> str:
    """Return the list of proof pages with the code that each is about."""
    lines = [
        "# Proofs",
        "",
        "One page for every mechanism, every accountant and every step that a guarantee rests on. Each lemma",
        "names the function that relies on it and the test that would catch a violation.",
        "",
        "| page | code |",
        "|---|---|",
    ]
    for page in sorted((DOCS / "proofs").glob("*.md")):
        code = re.search(
            r"^Code: (.*?)\n\n", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
        )
        named = re.findall(r"`([^`]+)`", code[1]) if code else []
        words = ", ".join(f"`{one.replace(chr(10), ' ')}`" for one in named[:4])
        lines.append(f"| [{_title(page)}]({page.name}) | {words} |")
    return "\n".join(lines) + "\n"


def _names_linked(markdown: str) -> str:
    """Link the names in the tables of reference.md to their descriptions."""
    sections = re.split(r"(?=^## )", markdown, flags=re.MULTILINE)
    for place, section in enumerate(sections):
        module = re.search(r"^## .*`(dp(?:\.\w+)*)`", section)
        if module:
            address = f"reference/{page_of(module[1])}#{module[1]}"
            sections[place] = re.sub(
                r"^\| `(\w+)` \|", rf"| [`\1`]({address}.\1) |", section, flags=re.MULTILINE
            )
    return "".join(sections)


def _room(page: Path) -> str:
    """Return the heading under which a proof is: that of the first package of its line ``Code:``."""
    found = re.search(r"^Code: `discreet\.(\w+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if found is None or found[1] not in ROOMS:
        raise ValueError(f"{page.name} does not say which code it is about: Code: `discreet...`")
    return ROOMS[found[1]]


def _title(page: Path) -> str:
    """Return the heading of a page."""
    found = re.search(r"^# (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return found[1].replace("`", "") if found else page.stem


def _examples() -> list[Path]:
    """Return the scripts of examples/."""
    return sorted((ROOT / "examples").glob("*.py"))


def _example(path: Path) -> str:
    """Return the page of an example: its source."""
    source = path.read_text(encoding="utf-8")
    return f"# {path.stem}\n\nRun with `python examples/{path.name}`.\n\n```python\n{source}```\n"
