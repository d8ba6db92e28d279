"""The tour in a real browser: log in, preview, pay, repeat, be refused, read the ledger, revoke a key.

It needs Playwright and Debian's Chromium. Neither is required by CI yet: where one is missing, it is skipped.
"""

from __future__ import annotations

import re
import shutil

import pytest

from server.service import serving, write_small_clinic

CHROMIUM = shutil.which("chromium")
BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
WIDTHS = {"desktop": (1200, 800), "phone": (390, 844)}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; a browser is not required by CI yet"),
]


@pytest.fixture(scope="module")
def chromium():
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="no Playwright here; a browser is not required by CI yet"
    )
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tour")
    write_small_clinic(directory, epsilon=3, share=2)
    with serving(directory) as found:
        yield found


def logged_in(chromium, clinic, name, role, width="desktop"):
    """A tab of someone, and the problems that its console shows."""
    size = dict(zip(("width", "height"), WIDTHS[width], strict=True))
    tab = chromium.new_context(viewport=size).new_page()
    problems = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.on("console", lambda said: problems.append(said.text) if "Content Security" in said.text else None)
    tab.goto(clinic.url)
    tab.fill("#key", clinic.key(name, role))
    tab.keyboard.press("Enter")
    tab.wait_for_url("**/pages/data")
    return tab, problems


def test_an_analyst_from_the_preview_to_a_free_repeat(chromium, clinic):
    tab, problems = logged_in(chromium, clinic, "ana", "analyst")
    tab.click("nav >> text=Ask")
    tab.fill("#question", BY_CITY)
    tab.wait_for_selector("#preview .steps")
    before = tab.inner_text("#preview tbody td.number")
    tab.focus("[data-slider] input")
    for _ in range(8):
        tab.keyboard.press("ArrowRight")
    tab.wait_for_function(
        "before => document.querySelector('#preview tbody td.number').innerText !== before", arg=before
    )
    less = [
        float(re.sub(r"[^\d.]", "", text)) for text in (before, tab.inner_text("#preview tbody td.number"))
    ]
    assert less[1] < less[0], "a larger epsilon, a smaller error"
    assert not clinic.charges(), "a preview is free"
    tab.click("text=Pay and ask")
    tab.wait_for_selector(".chart circle")
    assert tab.locator(".chart circle").count() == 2
    assert len(clinic.charges()) == 1
    tab.click("nav >> text=History")
    tab.click("text=Show again, free")
    tab.wait_for_selector(".chart circle")
    assert "nothing" in tab.inner_text(".price")
    assert len(clinic.charges()) == 1
    assert tab.locator("nav >> text=Ledger").count() == 0
    tab.goto(f"{clinic.url}/pages/ledger")
    assert "this key may not do this" in tab.inner_text("main")
    tab.goto(f"{clinic.url}/pages/ask")
    tab.fill("#question", BY_CITY)
    tab.fill("#epsilon", "9")
    tab.click("text=Pay and ask")
    tab.wait_for_selector(".problem")
    assert "budget_exceeded" in tab.inner_text("#preview")
    assert not problems


@pytest.mark.parametrize("width", WIDTHS)
def test_an_owner_reads_the_ledger_and_ends_a_session(chromium, clinic, width):
    name = f"guest-{width}"
    owner, problems = logged_in(chromium, clinic, f"owner-{width}", "owner", width)
    guest, _ = logged_in(chromium, clinic, name, "analyst", width)
    for page in ("Data", "Budget", "Ask", "History", "Ledger", "Owner"):
        owner.click(f"nav >> text={page}")
        owner.wait_for_url(f"**/pages/{page.lower()}")
        assert owner.evaluate("document.documentElement.scrollWidth <= innerWidth"), page
    owner.goto(f"{clinic.url}/pages/ledger")
    owner.click("text=Verify every entry")
    owner.wait_for_selector("text=Intact")
    owner.goto(f"{clinic.url}/pages/budget")
    owner.click("h1 .term")
    assert owner.locator("#term-budget").is_visible()
    owner.keyboard.press("Escape")
    owner.goto(f"{clinic.url}/pages/owner")
    row = owner.locator("tr", has_text=name)
    row.locator("[name=reason]").fill("the tour is over")
    row.locator("button").click()
    owner.wait_for_selector("text=Revoked:")
    guest.reload()
    guest.wait_for_url("**/pages/login")
    assert not problems
