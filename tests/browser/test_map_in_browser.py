"""The map under a mouse: lasso, recolour, zoom, filter, leave, come back; the same ids always."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from playwright.sync_api import Page, expect

from memory_core import KINDS, Add, Batch, HashEmbedder, MemoryBank
from tests.browser.conftest import Serve, settled

pytestmark = [pytest.mark.browser, pytest.mark.long]

HOSTILE = "<b>bold</b> <img src=x onerror=alert(1)> %{x} &lt; <a href='http://evil.example'>go</a>"
WORDS = ("branch", "commit", "rebase", "table", "join", "index", "socket", "packet", "latency")
CHART = ".st-key-map-canvas .js-plotly-plot"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> MemoryBank:
    path = tmp_path_factory.mktemp("mapped") / "mapped.duckdb"
    bank = MemoryBank.open(path, embedder=HashEmbedder(), actor="tester")
    operations = [
        Add(f"Look at the {WORDS[i % 9]} before the {WORDS[(4 * i + 1) % 9]}, case {i}.",
            KINDS[i % 3], WORDS[i % 9][:5], usage_count=i % 4)
        for i in range(36)
    ]  # fmt: skip
    bank.commit(bank.plan(Batch([*operations, Add(HOSTILE, "tool", "<i>odd</i>")], "lessons")))
    bank.fit_map()
    return bank


def open_map(page: Page, serve: Serve, bank: MemoryBank) -> None:
    page.goto(f"{serve(WINNOW_BANK=str(bank.path), WINNOW_MODEL='hash')}/map")
    on_the_map(page)


def on_the_map(page: Page) -> None:
    """Wait for the chart, with the clusters in it, and for the page to stand still."""
    page.locator(f"{CHART} .updatemenu-button", has_text="Cluster").wait_for()
    settled(page)
    page.wait_for_timeout(500)


def in_the_chart(page: Page) -> list[int]:
    """Ids that the browser marks as selected."""
    found = page.evaluate(
        """(chart) => { const points = document.querySelector(chart).calcdata[1][0].trace;
        return (points.selectedpoints || []).map((i) => points.customdata[i]); }""",
        CHART,
    )
    return sorted(int(i) for i in found)


def stays_in_the_chart(page: Page, ids: Iterable[int]) -> None:
    """Wait until the browser marks these and no others; a new drawing takes a while."""
    page.wait_for_function(
        """([chart, ids]) => { const drawn = document.querySelector(chart).calcdata;
        if (!drawn) return false;
        const points = drawn[1][0].trace;
        const marked = (points.selectedpoints || []).map((i) => Number(points.customdata[i]));
        return JSON.stringify(marked.sort((a, b) => a - b)) === JSON.stringify(ids); }""",
        arg=[CHART, sorted(ids)],
        timeout=60_000,
    )


def view(page: Page) -> list[float]:
    return list(page.evaluate(
        "(chart) => [...document.querySelector(chart)._fullLayout.xaxis.range]", CHART
    ))  # fmt: skip


def comes_to(page: Page, left: float, right: float) -> None:
    """Wait until the view is that, to a thousandth of its width."""
    page.wait_for_function(
        """([chart, left, right]) => {
        const layout = document.querySelector(chart)._fullLayout;
        if (!layout) return false;
        const [a, b] = layout.xaxis.range, off = Math.abs(a - left) + Math.abs(b - right);
        return off < Math.abs(right - left) / 500; }""",
        arg=[CHART, left, right],
        timeout=60_000,
    )


def spot(page: Page, memory_id: int) -> tuple[float, float]:
    """Where a memory's point is on the screen."""
    x, y = page.evaluate(
        """([chart, id]) => { const g = document.querySelector(chart), f = g._fullLayout;
        const points = g.calcdata[1][0].trace, i = [...points.customdata].indexOf(id);
        const box = g.getBoundingClientRect();
        return [box.left + f.xaxis._offset + f.xaxis.d2p(points.x[i]),
                box.top + f.yaxis._offset + f.yaxis.d2p(points.y[i])]; }""",
        [CHART, memory_id],
    )
    return float(x), float(y)


def lasso(page: Page) -> list[int]:
    """A lasso around the right half of the map; the ids that the page then takes as selected."""
    page.locator(f"{CHART} .modebar-btn[data-title='Lasso Select']").click()
    settled(page)
    box = page.locator(f"{CHART} .nsewdrag").bounding_box()
    assert box is not None
    left, right = box["x"] + box["width"] * 0.5, box["x"] + box["width"] - 60
    top, bottom = box["y"] + 8, box["y"] + box["height"] - 8
    page.mouse.move(left, top)
    page.mouse.down()
    for corner in ((right, top), (right, bottom), (left, bottom), (left, top + 20)):
        page.mouse.move(*corner, steps=6)
    page.mouse.up()
    expect(page.locator(".st-key-selection")).to_contain_text("selected")
    settled(page)
    return in_the_chart(page)


def test_what_is_lassoed_stays_selected_through_everything(
    page: Page, serve: Serve, library: MemoryBank
) -> None:
    open_map(page, serve, library)
    chosen = lasso(page)
    assert 3 < len(chosen) < 37
    told = f"{len(chosen)} memories selected"
    expect(page.locator(".st-key-selection")).to_contain_text(told)

    # Recolouring happens inside the figure: neither zoom nor selection is lost.
    page.locator(f"{CHART} .updatemenu-button", has_text="Domain").click()
    settled(page)
    stays_in_the_chart(page, chosen)
    box = page.locator(f"{CHART} .nsewdrag").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] * 0.5)
    page.mouse.wheel(0, -300)
    page.wait_for_timeout(1200)
    zoomed = view(page)
    page.locator(f"{CHART} .updatemenu-button", has_text="Confidence").click()
    settled(page)
    comes_to(page, *zoomed)
    stays_in_the_chart(page, chosen)

    # Browse has the same ones; back here they are marked, and the view is the one that was left.
    page.get_by_role("link", name="Browse", exact=True).click()
    expect(page.get_by_text("37 of 37 memories")).to_be_visible()
    expect(page.locator(".st-key-selection")).to_contain_text(told)
    page.get_by_role("link", name="Map", exact=True).click()
    on_the_map(page)
    stays_in_the_chart(page, chosen)
    comes_to(page, *zoomed)
    expect(page.locator(f"{CHART} .colorbar")).to_be_visible()  # by confidence, as it was left

    # A filter takes nothing out of the selection, and the table under the map lists it.
    page.get_by_placeholder("Search in texts").fill("branch")
    expect(page.get_by_text(re.compile(rf"{len(chosen)} selected · \d+ of 37"))).to_be_visible()
    expect(page.locator(".st-key-selection")).to_contain_text(told)
    settled(page)
    assert set(in_the_chart(page)) <= set(chosen)


def test_a_click_opens_one_whose_text_is_text_and_a_row_selects_its_cluster(
    page: Page, serve: Serve, library: MemoryBank
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_map(page, serve, library)
    hostile = 37
    page.mouse.move(*spot(page, hostile), steps=5)
    hover = page.locator(f"{CHART} .hoverlayer .hovertext")
    expect(hover).to_contain_text("<b>bold</b>")
    said = hover.text_content() or ""
    for piece in ("onerror=alert(1)>", "%{x}", "&lt;", "<i>odd</i>"):
        assert piece in said
    assert hover.locator("a, img, b").count() == 0

    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".st-key-selection")).to_contain_text("1 memory selected")
    expect(page.locator(".st-key-detail-text")).to_contain_text(HOSTILE)
    stays_in_the_chart(page, [hostile])
    assert not [url for url in asked if "evil.example" in url]

    # The table of clusters selects by ids, too; then the view is asked for.
    whole = view(page)
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + 18, box["y"] + 50)  # the tick box of the largest cluster
    largest = library.clusters().clusters[0]
    expect(page.locator(".st-key-selection")).to_contain_text(f"{len(largest)} memories selected")
    settled(page)
    stays_in_the_chart(page, largest.ids)
    page.get_by_role("button", name="Zoom to selection").click()
    settled(page)
    page.wait_for_function(
        "([chart, wide]) => { const [a, b] = document.querySelector(chart)._fullLayout.xaxis.range;"
        " return b - a < wide; }",
        arg=[CHART, (whole[1] - whole[0]) * 0.99],
        timeout=60_000,
    )
    stays_in_the_chart(page, largest.ids)
    page.get_by_role("button", name="Whole map").click()
    settled(page)
    comes_to(page, *whole)
