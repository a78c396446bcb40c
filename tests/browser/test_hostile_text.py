"""No text that a memory can hold is taken for anything but text, in any widget, on any page."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Locator, Page, expect

from memory_core import Add, Batch, Evidence, HashEmbedder, MemoryBank, Provenance, ToolDetail
from tests.browser.conftest import Serve, settled
from tests.hostile import HOST, TEXTS

pytestmark = [pytest.mark.browser, pytest.mark.long]

RENDERED = "script, .katex, [role=alert] a, " + ", ".join(
    f"{tag}[{attribute}*='{HOST}']" for tag, attribute in (("a", "href"), ("img", "src"))
)


def outside_requests(page: Page, address: str) -> list[str]:
    """The list that fills with every request which does not go to our own server."""
    asked: list[str] = []

    def note(request: object) -> None:
        url = urlparse(request.url)  # type: ignore[attr-defined]
        if url.scheme not in {"data", "blob"} and url.netloc != urlparse(address).netloc:
            asked.append(request.url)  # type: ignore[attr-defined]

    page.on("request", note)
    return asked


def seen(element: Locator) -> str:
    """What a person reads in an element, white space and invisible joiners aside."""
    return " ".join(element.inner_text().replace("\u2060", "").split())


def test_every_kind_of_widget_shows_a_text_as_it_is(page: Page, serve: Serve) -> None:
    address = serve("tests/browser/gallery.py")
    asked = outside_requests(page, address)
    page.goto(address)
    page.get_by_text("gallery complete").wait_for()
    expect(page.locator("[data-testid=stCode]").last).to_contain_text("quotes")  # it comes late
    settled(page)
    for number, text in enumerate(TEXTS):
        expected = " ".join(text.split())
        places = page.locator(f"[class*='st-key-place-{number}-']").all()
        assert len(places) > 20
        for place in places:
            name = (place.get_attribute("class") or "").split(f"place-{number}-")[1].split()[0]
            assert place.locator(RENDERED).count() == 0, f"{name} rendered {text!r}"
            if name == "dataframe":  # drawn on a canvas; its cells are text by nature
                continue
            if name in {"selectbox", "label"}:
                values = [box.input_value() for box in place.locator("input").all()]
                assert expected in [" ".join(value.split()) for value in values] or (
                    expected in seen(place)
                ), f"{name} shows {values} for {text!r}"
                continue
            assert expected in seen(place), f"{name} shows {seen(place)!r} for {text!r}"
    assert asked == []


@pytest.fixture
def hostile_bank(tmp_path: Path) -> Path:
    """A bank in which everything that can be a text is a hostile one."""
    path = tmp_path / "hostile **bank** <b>.duckdb"
    bank = MemoryBank.open(path, embedder=HashEmbedder(), actor=TEXTS[3])
    operations = [
        Add(
            text, "tool", TEXTS[i - 1], ToolDetail(TEXTS[i - 2], TEXTS[i - 3]),
            tags=(TEXTS[i - 4],),
            provenance=Provenance("import", (Evidence(TEXTS[i - 5], (1,)),), note=TEXTS[i - 6]),
            rationale=TEXTS[i - 7],
        )
        for i, text in enumerate(TEXTS)
    ]  # fmt: skip
    bank.commit(bank.plan(Batch(operations, TEXTS[1])))
    for number, text in enumerate(TEXTS, start=1):
        bank.save_query(text, judgements={number: 3})
    bank.record_outcome(bank.retrieve(TEXTS[1]), improved=True, applied=[])
    bank.propose(Batch([operations[0]], TEXTS[5]), source=TEXTS[4])
    bank.configure(name=TEXTS[9], capacity=6)
    return path


def test_no_page_renders_a_text_or_asks_outside_for_it(
    page: Page, serve: Serve, hostile_bank: Path
) -> None:
    address = serve(WINNOW_BANK=str(hostile_bank), WINNOW_MODEL="hash")
    asked = outside_requests(page, address)

    def check(path: str, *texts: str) -> None:
        page.goto(f"{address}/{path}")
        settled(page)
        main = page.locator("[data-testid=stMain]")
        assert main.locator(RENDERED).count() == 0, f"{path} rendered a text"
        shown = seen(main)
        for text in texts:
            assert " ".join(text.split()) in shown, f"{path} does not show {text!r}"

    check("?view=Read", *TEXTS)
    for memory_id, text in list(enumerate(TEXTS, start=1))[::4]:  # each shows eight of them
        domain, tool = TEXTS[memory_id - 2].lower(), TEXTS[memory_id - 3]
        check(f"?memory={memory_id}", text, domain, tool)
    check("?revision=0")
    check("query", *TEXTS[:1])
    check("compress?strategies=random")  # which does not care what a lesson says
    MemoryBank.open(hostile_bank, embedder=HashEmbedder()).fit_map()
    for place in (
        "quality", "quality?part=Weights", "ledger", "query?look=Compare", "map",
        "map?static=true", "map?sides=Two+revisions&earlier=0", "review",
        "review?review_view=Table",
        "clean", "clean?clean=Audit", "history", "history?history=Compare+two&from=0&to=1",
        "history?life=2&history=One+memory%27s+life", "transfer",
    ):  # fmt: skip
        check(place)
    check("query")
    page.get_by_role("button", name="Saved queries").click()
    page.get_by_role("button", name="Revision").click()
    assert page.locator("[data-testid=stMain]").locator(RENDERED).count() == 0
    assert asked == []
