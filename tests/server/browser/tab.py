"""A tab of a browser: someone is logged in, every problem of a page is noted, and pictures are taken."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from server.service import Service

WIDTHS = {"phone": (390, 844), "desktop": (1200, 800)}
PATIENCE = 180_000
"""Milliseconds that anything on a page may take: a machine may do much else."""


@dataclass
class Tab:
    """A page of a browser."""

    page: object
    said: list[str] = field(default_factory=list)

    def go(self, name: str) -> None:
        """Follow a link of the navigation."""
        self.page.click(f"nav >> text={name}")
        self.page.wait_for_url(f"**/pages/{name.lower()}")

    def check(self) -> None:
        """Refuse a page that is wider than its window, breaks a rule of its policy, or shuts somebody out."""
        assert not self.said
        for width, (across, down) in WIDTHS.items():
            self.page.set_viewport_size({"width": across, "height": down})
            assert self._comes_to_fit(), width
            assert findings(self.page) == [], width
        self.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        assert findings(self.page, "color-contrast") == [], "dark"  # no other rule looks at colors
        self.page.emulate_media(color_scheme="light")

    def _comes_to_fit(self) -> bool:
        """Whether the page is no wider than its window, once it has been laid out for it."""
        for _ in range(200):
            if self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
                return True
            self.page.wait_for_timeout(100)
        return False

    def picture(self, name: str, height: int) -> None:
        """Keep a picture of the page for the documentation, if a folder for it is named."""
        folder = os.environ.get("SCREENSHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.page.set_viewport_size({"width": 1080, "height": height})
            self.page.screenshot(path=Path(folder) / f"{name}.png")


def findings(page: object, *rules: str) -> list[str]:
    """What axe-core finds on a page and calls serious or critical, by all its rules or some."""
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"], "preload": False, **({"runOnly": rules} if rules else {})}
    found = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{one['id']}: {node['html']}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def new_tab(chromium: object, url: str) -> Tab:
    """A tab at an address."""
    context = chromium.new_context(viewport={"width": 1200, "height": 800})
    context.set_default_timeout(PATIENCE)
    tab = Tab(page=context.new_page())
    tab.page.on("pageerror", lambda error: tab.said.append(str(error)))
    tab.page.on("console", lambda one: tab.said.append(one.text) if "Content Security" in one.text else None)
    tab.page.goto(url)
    return tab


def logged_in(chromium: object, clinic: Service, name: str, role: str) -> Tab:
    """A tab of someone with a new key."""
    tab = new_tab(chromium, clinic.url)
    tab.page.fill("#key", clinic.key(name, role))
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**/pages/data")
    return tab
