"""The tour in a real browser: log in, preview, pay, repeat, be refused, read the ledger, revoke a key.

On its way it looks at every page, in light and dark, on a desktop and on a phone. With SCREENSHOTS=folder it
keeps the pictures of the documentation.
"""

from __future__ import annotations

import re

import pytest

from server.browser.tab import findings, logged_in, new_tab

pytestmark = pytest.mark.usual
BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
MARGIN = "#preview tbody td.number"


def charges(clinic, name):
    return sum(one["analyst"] == name for one in clinic.charges())


def test_an_analyst_from_the_preview_to_a_refusal(chromium, clinic):
    tab = logged_in(chromium, clinic, "ana", "analyst")
    page = tab.page
    tab.check()
    tab.go("Ask")
    page.type("#question", "SELECT ci")
    page.wait_for_selector(".found li")
    assert not findings(page), "with names to choose from"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type(BY_CITY.removeprefix("SELECT city"))
    assert page.input_value("#question") == BY_CITY
    page.wait_for_selector("#preview .steps")
    before = page.inner_text(MARGIN)
    page.focus("[data-slider] input")
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "([where, before]) => document.querySelector(where).innerText !== before", arg=[MARGIN, before]
    )
    margins = [float(re.sub(r"[^\d.]", "", text)) for text in (before, page.inner_text(MARGIN))]
    assert margins[1] < margins[0], "a larger epsilon, a smaller error"
    assert charges(clinic, "ana") == 0, "a preview is free"
    tab.check()
    tab.picture("preview", 860)

    page.click("text=Pay and ask")
    page.wait_for_selector(".chart circle")
    assert page.locator(".chart circle").count() == 10
    assert charges(clinic, "ana") == 1
    tab.check()
    tab.picture("answer", 720)

    tab.go("History")
    tab.check()
    page.click("text=Show again, free")
    page.wait_for_selector(".chart circle")
    assert "nothing" in page.inner_text(".price")
    assert charges(clinic, "ana") == 1

    assert page.locator("nav >> text=Ledger").count() == 0
    page.goto(f"{clinic.url}/pages/ledger")
    assert "this key may not do this" in page.inner_text("main")
    tab.check()

    tab.go("Ask")
    page.fill("#question", BY_CITY)
    page.fill("#epsilon", "9")
    page.click("text=Pay and ask")
    page.wait_for_selector(".problem")
    assert "budget_exceeded" in page.inner_text("#preview")
    assert charges(clinic, "ana") == 1
    tab.check()


def test_an_analyst_pays_for_all_counts_and_reads_some(chromium, clinic):
    tab = logged_in(chromium, clinic, "eve", "analyst")
    page = tab.page
    tab.go("Ask")
    page.click("text=Many counts at once")
    page.wait_for_selector("#columns")
    page.wait_for_load_state()  # what completes names listens from then on
    page.type("#columns", "ag")
    page.wait_for_selector(".found li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.fill("#width", "10")
    page.wait_for_selector("#preview .steps")
    tab.check()
    page.click("text=Pay and ask")
    page.wait_for_selector(".chart circle")
    assert page.locator(".chart circle").count() == 12
    page.select_option("#from0", label="20")
    page.select_option("#to0", label="40")
    page.click("#read button.primary")
    page.wait_for_selector("#read .good")
    assert "20 <= age < 40" in page.inner_text("#read .good")
    assert charges(clinic, "eve") == 1
    tab.check()


def test_an_owner_reads_the_ledger_and_ends_a_session(chromium, clinic):
    tab, guest = logged_in(chromium, clinic, "olga", "owner"), logged_in(chromium, clinic, "ben", "analyst")
    page = tab.page
    for name in ("Data", "Budget", "Ask", "History", "Ledger"):
        tab.go(name)
    page.click("text=Verify every entry")
    page.wait_for_selector("text=Intact")
    tab.check()
    tab.go("Budget")
    tab.check()
    page.click("h1 .term")
    assert page.locator("#term-budget").is_visible()
    assert not findings(page), "with an explanation open"
    page.keyboard.press("Escape")
    tab.go("Owner")
    page.fill("#name", "newcomer")
    page.click("text=Create")
    page.wait_for_selector(".secret")
    tab.check()
    row = page.locator("tr", has=page.get_by_role("cell", name="ben", exact=True))
    row.locator("[name=reason]").fill("the tour is over")
    row.locator("button").click()
    page.wait_for_selector("text=Revoked:")
    guest.page.reload()
    guest.page.wait_for_url("**/pages/login")
    guest.check()


def test_an_owner_declares_a_table(chromium, clinic):
    tab = logged_in(chromium, clinic, "otto", "owner")
    page = tab.page
    tab.go("Owner")
    page.click("text=New table")
    page.select_option("#source", "file:stays.csv")
    page.fill("#name", "stays")
    page.click("summary >> text=If it is a CSV file")
    page.select_option("#first_line", "names")
    tab.check()
    page.click("text=Show its columns")
    page.wait_for_selector("#person")
    tab.check()
    page.select_option("#person", "column:patient_id")
    page.fill("#rows", "3")
    page.check("#confirmed")
    page.select_option("[name=kind1]", "keys")
    page.fill("[name=stated1]", "north, south")
    page.select_option("[name=kind2]", "bounds")
    page.fill("[name=stated2]", "0 to 30")
    page.press("[name=stated2]", "Enter")
    page.wait_for_selector("#draft")
    assert 'keys = ["north", "south"]' in page.inner_text("#draft")
    tab.check()
    page.fill("#reason", "stays of this year")
    page.click("text=Declare it")
    page.wait_for_selector("text=Changed, and on the record")
    tab.check()
    assert [one["reason"] for one in clinic.entries() if one["kind"] == "amend"] == ["stays of this year"]
    tab.go("Data")
    assert "stays" in page.inner_text("main")


def test_an_owner_checks_a_declaration_buys_bounds_and_raises_a_cap(chromium, clinic):
    tab = logged_in(chromium, clinic, "pia", "owner")
    page = tab.page
    tab.go("Owner")
    page.click("nav >> text=Check")
    page.select_option("#table", "visits")
    page.click("text=Count, exactly")
    page.wait_for_selector(".secret-card")
    assert "20,000" in page.inner_text(".secret-card")
    tab.check()

    page.click("nav >> text=Suggested bounds")
    page.fill("#column", "cost")
    page.click("text=Preview, free")
    page.wait_for_selector("#preview .price")
    tab.check()
    page.click("text=Pay and suggest")
    page.wait_for_selector(".fresh pre")
    assert "cost = { lower" in page.inner_text(".fresh pre")
    tab.check()

    page.click("nav >> text=Caps")
    page.fill("#each_epsilon", "3")
    page.fill("#reason", "more for the spring")
    tab.check()
    page.click("text=Change and record")
    page.wait_for_selector("text=Changed, and on the record")
    page.click("nav >> text=Caps")
    page.wait_for_selector("text=now 3")
    guest = logged_in(chromium, clinic, "gast", "analyst")
    guest.page.goto(f"{clinic.url}/pages/owner/check")
    assert "this key may not do this" in guest.page.inner_text("main")


def test_what_shuts_somebody_out_is_seen(chromium, clinic):
    page = new_tab(chromium, clinic.url).page
    assert not findings(page)
    page.evaluate("document.querySelector('#key').replaceWith(document.createElement('input'))")
    assert any(one.startswith("label") for one in findings(page))
