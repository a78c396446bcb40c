"""Map: the same selection, seen from above; stable, and honest about what it cannot show."""

from __future__ import annotations

import json
import re
import time
from base64 import b64decode
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from streamlit.testing.v1 import AppTest

from memory_core import (
    KINDS,
    Add,
    Batch,
    ClusterSettings,
    CompressionSettings,
    Delete,
    HashEmbedder,
    Memory,
    MemoryBank,
    MemoryCoreError,
    Merge,
    Modify,
    Snapshot,
)
from pages.components import map_colours, map_figure, map_hover, map_scene, map_static
from pages.components.jobs import Job
from tests.conftest import Filled
from tests.hostile import TEXTS
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]
AWAY, POINTS = 0, 1
WORDS = ("branch", "commit", "rebase", "table", "join", "index", "socket", "packet", "latency",
         "invoice", "refund", "order")  # fmt: skip
DOMAINS = ("git", "data", "network", "shop")


def lessons(count: int) -> Batch:
    return Batch([
        Add(f"Look at the {WORDS[i % 12]} before the {WORDS[(5 * i + 1) % 12]}, case {i}.",
            KINDS[i % 3], DOMAINS[i % 12 // 3], confidence=0.2 + 0.6 * i / count,
            usage_count=i % 5, success_count=i % 5 // 2)
        for i in range(count)
    ], f"{count} lessons")  # fmt: skip


@pytest.fixture
def library(filled: Filled) -> MemoryBank:
    """Twelve memories, so few that their map needs no UMAP, and that map."""
    return filled(_library)


def _library(bank: MemoryBank) -> None:
    bank.commit(bank.plan(lessons(12)))
    bank.fit_map()


def array(value: object) -> NDArray[np.float64]:
    """A column of a figure, as a browser reads it."""
    if isinstance(value, dict):
        kinds = {"i1": np.int8, "i2": np.int16, "i4": np.int32, "f4": np.float32, "f8": np.float64}
        return np.frombuffer(b64decode(value["bdata"]), dtype=kinds[value["dtype"]]).astype(float)
    return np.array(value, dtype=float)


def spec(app: AppTest, number: int = 0) -> dict:  # type: ignore[type-arg]
    """The figure that the page sends to the browser."""
    return dict(json.loads(app.get("plotly_chart")[number].proto.spec))


def shown_ids(figure: dict) -> list[int]:  # type: ignore[type-arg]
    return [int(i) for i in array(figure["data"][POINTS]["customdata"])]


def until(app: AppTest, holds: Callable[[AppTest], object], seconds: float = 120) -> AppTest:
    """Run a page again and again, as its fragments would, until something holds."""
    deadline = time.monotonic() + seconds
    while not holds(app):
        assert not app.exception
        assert time.monotonic() < deadline, everything(app)
        time.sleep(0.1)
        app.run()
    return app


def clustered(app: AppTest) -> AppTest:
    """When the clusters are there, nothing on the page changes any more by itself."""
    return until(app, lambda app: "Finding clusters" not in everything(app))


# -- what is drawn --------------------------------------------------------------------------------


def test_every_memory_lies_where_the_library_puts_it(open_app: Open, library: MemoryBank) -> None:
    laid = library.map()
    assert laid is not None
    points = spec(clustered(open_app(library, "map")))["data"][POINTS]
    assert [int(i) for i in array(points["customdata"])] == laid.snapshot.ids.tolist()
    assert array(points["x"]) == pytest.approx(laid.positions[:, 0], rel=1e-6)
    assert array(points["y"]) == pytest.approx(laid.positions[:, 1], rel=1e-6)


def test_what_is_filtered_out_stays_grey_and_the_legend_counts(
    open_app: Open, library: MemoryBank
) -> None:
    app = clustered(open_app(library, "map"))
    figure = spec(app.text_input("search").set_value("rebase").run())
    fitting = [m for m in library.snapshot() if "rebase" in m.text]
    assert 0 < len(fitting) < 12
    assert shown_ids(figure) == [m.id for m in fitting]
    assert len(array(figure["data"][AWAY]["x"])) == 12 - len(fitting)
    legend = [t["name"] for t in figure["data"] if t.get("legend", "legend") == "legend"
              and t.get("showlegend", True)]  # fmt: skip
    for kind in KINDS:
        passed = sum(m.kind == kind for m in fitting)
        assert f"{kind}  {passed} / 4" in legend


def coloured(figure: dict, label: str) -> list[str]:  # type: ignore[type-arg]
    """The colour of each point once the button of that label was pressed."""
    for button in figure["layout"]["updatemenus"][0]["buttons"]:
        if re.sub("<.*?>", "", button["label"]) == label:
            changes = {name: value[0] for name, value in button["args"][0].items()}
            low, high = changes["marker.cmin"], changes["marker.cmax"]
            shares = (array(changes["marker.color"]) - low) / (high - low)
            scale = changes["marker.colorscale"]
            return [[c for stop, c in scale if stop <= share + 1e-9][-1] for share in shares]
    raise AssertionError(f"no button {label}")


def test_each_colouring_tells_its_column_and_nothing_else(
    open_app: Open, library: MemoryBank
) -> None:
    app = clustered(open_app(library, "map"))
    figure, memories = spec(app), library.snapshot().memories
    by_kind = coloured(figure, "Kind")
    expected = {"strategic": "#0072B2", "procedural": "#D55E00", "tool": "#009E73"}
    assert by_kind == [expected[m.kind] for m in memories]
    by_domain = dict(zip(coloured(figure, "Domain"), [m.domain for m in memories], strict=True))
    assert [by_domain[c] for c in coloured(figure, "Domain")] == [m.domain for m in memories]
    assert len(by_domain) == len(DOMAINS)
    never = {c for c, m in zip(coloured(figure, "Helped"), memories, strict=True)
             if m.success_rate is None}  # fmt: skip
    applied = {c for c, m in zip(coloured(figure, "Helped"), memories, strict=True)
               if m.success_rate is not None}  # fmt: skip
    assert len(never) == 1
    assert not never & applied
    for name in ("Cluster", "Confidence", "Applied", "Session"):
        assert len(coloured(figure, name)) == 12


def test_hover_and_labels_show_texts_as_they_are(open_app: Open, bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([
        Add(text, "tool", TEXTS[i - 1][:80]) for i, text in enumerate(TEXTS)
    ])))  # fmt: skip
    bank.fit_map()
    bank.name_cluster([1, 2, 3], TEXTS[0])
    figure = spec(clustered(open_app(bank, "map", grouping="k-means", groups="2")))
    hovers = figure["data"][POINTS]["text"]
    for text, hover in zip(TEXTS, hovers, strict=True):
        tags = set(re.findall("<[^>]*>", hover))
        assert tags <= {"<br>"}
        first = hover.split("<br><br>")[0].replace("<br>", "")
        assert "".join(unescape(first).split()) == "".join(text.split())
    assert figure["data"][POINTS]["hovertemplate"] == map_hover.TEMPLATE
    for note in figure["layout"]["annotations"]:
        assert "<" not in note["text"]


def test_a_crowd_says_how_its_texts_begin_and_weighs_little() -> None:
    size = map_scene.SYMBOLS_UP_TO + 1
    long = " ".join(["<b>wörd</b>"] * 32)
    texts = [f"{TEXTS[i]} {i}" if i < len(TEXTS) else f"{i} {long}" for i in range(size)]
    snapshot = Snapshot.from_memories(
        [Memory(i + 1, KINDS[i % 3], text, "git") for i, text in enumerate(texts)],
        np.zeros((size, 4), dtype=np.float32),
    )
    positions = np.random.default_rng(0).standard_normal((size, 2))
    rows = np.arange(size)
    scene = map_scene.Scene(
        snapshot, positions, rows, map_colours.colourings(snapshot, rows, None),
        map_hover.beginnings("", 1, "", snapshot), map_scene.whole(positions),
    )  # fmt: skip
    written = map_figure.figure(scene).to_json()
    assert len(written) < 200 * size
    points = json.loads(written)["data"][POINTS]
    assert points["hovertemplate"] == map_hover.SHORT_TEMPLATE
    for text, said in zip(texts, points["text"], strict=True):
        assert "<" not in said
        shown = unescape(said)
        assert len(shown) <= map_hover.SHORT
        assert "".join(text.split()).startswith("".join(shown.removesuffix("…").split()))


def choose(app: AppTest, *ids: int) -> AppTest:
    """Select memories as `selection.select` does."""
    app.session_state["_selected"] = ids
    app.session_state["_selection_version"] = len(ids) + 1
    return app.run()


# -- selection ------------------------------------------------------------------------------------


def test_a_selection_from_elsewhere_is_marked_by_id_whatever_is_shown(
    open_app: Open, library: MemoryBank
) -> None:
    app = clustered(open_app(library, "map"))
    choose(app, 2, 5, 11)
    figure = spec(app)
    ids = shown_ids(figure)
    assert [ids[i] for i in figure["data"][POINTS]["selectedpoints"]] == [2, 5, 11]
    app.text_input("search").set_value("table").run()
    ids, kept = shown_ids(spec(app)), app.session_state["_selected"]
    assert kept == (2, 5, 11)  # a filter takes nothing out of it
    points = spec(app)["data"][POINTS]
    assert [ids[i] for i in points["selectedpoints"] or []] == [i for i in kept if i in ids]
    assert "3 memories selected" in everything(app)


def test_the_figure_stays_byte_for_byte_while_memories_are_selected_in_it(
    open_app: Open, library: MemoryBank
) -> None:
    app = clustered(open_app(library, "map"))
    before = app.get("plotly_chart")[0].proto
    # What the chart's callback does when the browser reports a lasso around these.
    app.session_state["_map_drawn"] = replace(app.session_state["_map_drawn"], reported=(3, 4))
    choose(app, 3, 4)
    assert app.session_state["_selected"] == (3, 4)
    after = app.get("plotly_chart")[0].proto
    assert (after.spec, after.id) == (before.spec, before.id)
    choose(app, 3)  # by the table, of which the browser's canvas knows nothing
    assert app.get("plotly_chart")[0].proto.spec != before.spec


# -- the map itself -------------------------------------------------------------------------------


def test_a_bank_without_a_map_is_fitted_unasked_and_the_table_is_there_meanwhile(
    open_app: Open, bank: MemoryBank
) -> None:
    bank.commit(bank.plan(lessons(8)))
    app = open_app(bank, "map")
    assert not app.exception
    assert len(app.dataframe[-1].value) == 8
    until(app, lambda app: app.get("plotly_chart"))
    assert len(shown_ids(spec(app))) == 8
    assert len(bank.projections()) == 1


@pytest.mark.parametrize("count", [1, 2, 3, 14])
def test_few_memories_have_a_map_too(open_app: Open, bank: MemoryBank, count: int) -> None:
    bank.commit(bank.plan(lessons(count)))
    bank.fit_map()
    app = clustered(open_app(bank, "map"))
    assert not app.exception
    assert len(shown_ids(spec(app))) == count


def test_an_empty_bank_says_what_to_do(open_app: Open, bank: MemoryBank) -> None:
    app = open_app(bank, "map")
    assert "No memories to map yet" in everything(app)
    assert not app.get("plotly_chart")


def test_what_came_since_the_fit_is_counted_and_moves_nobody(
    open_app: Open, library: MemoryBank
) -> None:
    before = spec(clustered(open_app(library, "map")))["data"][POINTS]
    library.commit(library.plan(Batch([Add("Look at the refund of an order.", "tool", "shop")])))
    app = clustered(open_app(library, "map"))
    after = spec(app)["data"][POINTS]
    assert "1 placed since the fit" in everything(app)
    assert "placed since" in after["text"][12]
    assert array(after["x"])[:12].tolist() == array(before["x"]).tolist()
    assert array(after["y"])[:12].tolist() == array(before["y"]).tolist()
    next(b for b in app.button if b.label == "Refit").click().run()
    until(app, lambda app: "placed since the fit" not in everything(app))
    assert [p.size for p in library.projections()] == [12, 13]


def test_a_past_revision_lies_on_the_same_coordinates_and_cannot_be_refitted(
    open_app: Open, library: MemoryBank
) -> None:
    library.commit(library.plan(Batch([Delete(1), Modify(2, text="Quite another lesson.")])))
    old = library.map(1)
    assert old is not None
    app = clustered(open_app(library, "map", revision="1"))
    points = spec(app)["data"][POINTS]
    assert shown_ids(spec(app)) == list(range(1, 13))
    assert array(points["x"]) == pytest.approx(old.positions[:, 0], rel=1e-6)
    assert app.button("refit-map").disabled


@pytest.mark.long
def test_a_fit_by_umap_tells_its_steps_and_can_be_stopped(open_app: Open, bank: MemoryBank) -> None:
    bank.commit(bank.plan(lessons(48)))
    app = open_app(bank, "map")
    until(app, lambda app: any(b.key == "stop-fitting" for b in app.button))
    app.button("stop-fitting").click().run()
    until(app, lambda app: "No map yet" in everything(app))
    assert bank.projections() == ()
    app.button("fit-first").click().run()
    until(app, lambda app: app.get("plotly_chart"))
    (made,) = bank.projections()
    assert made.method == "umap"
    assert made.honesty.sentence in everything(clustered(app))


def test_a_job_keeps_its_result_or_says_why_there_is_none() -> None:
    steps = []

    def endless(tell: Callable[[str, float], None]) -> None:
        while True:
            tell("counting", 0.5)
            steps.append(1)
            time.sleep(0.001)

    job = Job(endless).start()
    while not steps:
        time.sleep(0.001)
    assert (job.doing, job.share) == ("counting", 0.5)
    job.stop()
    assert job.done.wait(60)
    assert job.result is None
    assert job.failure == ""

    def refused(tell: object) -> None:
        raise MemoryCoreError("The bank is busy; try again.")

    job = Job(refused).start()
    assert job.done.wait(60)
    assert job.failure == "The bank is busy; try again."
    job = Job(lambda tell: 7).start()
    assert job.done.wait(60)
    assert job.result == 7


# -- a task, two revisions, clusters --------------------------------------------------------------


def test_a_task_is_a_star_with_its_hits_and_moves_nothing(
    open_app: Open, library: MemoryBank
) -> None:
    task = "the packet is lost before the socket"
    laid, found = library.map(), library.retrieve(task)
    assert laid is not None
    spot = laid.place(found.scoring.vector)[0]
    plain = spec(clustered(open_app(library, "map")))
    app = clustered(open_app(library, "map", star=task))
    figure = spec(app)
    (star,) = [t for t in figure["data"] if t.get("marker", {}).get("symbol") == "star"]
    assert [star["x"][0], star["y"][0]] == pytest.approx(spot.tolist())
    (rings,) = [t for t in figure["data"] if t.get("mode") == "markers+text"]
    said = [float(word.split()[0]) for word in rings["text"]]
    assert said == [pytest.approx(h.parts.similarity.value, abs=0.005) for h in found.hits]
    lies = laid.rank_distortion(spot, found.scoring.vector, [h.memory.id for h in found.hits])
    assert ["⚠" in word for word in rings["text"]] == [lie.is_far_off for lie in lies]
    for name in ("x", "y", "customdata"):
        assert figure["data"][POINTS][name] == plain["data"][POINTS][name]
    assert figure["layout"]["xaxis"]["range"] == plain["layout"]["xaxis"]["range"]
    app.button("select-hits").click().run()
    assert app.session_state["_selected"] == tuple(sorted(h.memory.id for h in found.hits))


def test_what_review_would_make_of_it_lies_on_the_same_coordinates(
    open_app: Open, library: MemoryBank
) -> None:
    library.propose(Batch([Delete(1), Delete(10**6)], "tidy up"))
    app = open_app(library, "map", sides="Two revisions", earlier="1", planned="true")
    assert not app.exception
    assert "−1 dropped · 11 kept" in everything(app)
    assert len(library.snapshot()) == 12, "nothing is written"


def test_two_revisions_stand_on_the_same_coordinates(open_app: Open, library: MemoryBank) -> None:
    merged = Merge((4, 5), "Look at the table and the join before the rest.", "tool", "data")
    batch = Batch([Delete(1), merged, Add("Refund an order.", "tool", "shop"),
                   Modify(7, domain="web")])  # fmt: skip
    library.commit(library.plan(batch))
    app = open_app(library, "map", sides="Two revisions", earlier="1", later="2")
    assert not app.exception
    figure = spec(app)
    counted = {}
    for trace in figure["data"]:
        if match := re.match(r"\S+ (\w+)  (\d+)$", trace.get("name") or ""):
            counted[match[1]] = int(match[2])
    assert counted == {"kept": 8, "changed": 1, "dropped": 1, "merged": 2, "added": 2}
    buttons = figure["layout"]["updatemenus"][0]["buttons"]
    visible = {button["label"]: button["args"][0]["visible"] for button in buttons}
    names = list(counted)
    assert [n for n, on in zip(names, visible["Before"], strict=False) if on] == [
        "kept", "changed", "dropped", "merged"]  # fmt: skip
    assert [n for n, on in zip(names, visible["After"], strict=False) if on] == [
        "kept", "changed", "added"]  # fmt: skip
    table = app.dataframe[-1].value
    assert set(table.index) == {1, 4, 5, 7, 13, 14}


def plan_on_the_map(path: str) -> None:
    """A page of its own, as Compress shows a plan."""
    from memory_core import CompressionSettings, HashEmbedder, MemoryBank
    from pages.components import map_difference
    from pages.components.frame import Desk

    bank = MemoryBank.open(path, embedder=HashEmbedder())
    plan = bank.plan_compression(CompressionSettings("importance", fraction=0.25))
    now = bank.snapshot()
    nearest = {int(i): plan.decision(int(i)).nearest for i in plan.dropped}
    arrows = [(lost, kept) for lost, kept in nearest.items() if kept is not None]
    desk = Desk(bank, now, now, "", 500, bank.signature())
    map_difference.show(desk, plan.before, plan.after, arrows=arrows)


def test_a_plan_shows_what_goes_with_an_arrow_to_what_stays(library: MemoryBank) -> None:
    path = str(library.path)
    app = AppTest.from_function(plan_on_the_map, kwargs={"path": path}, default_timeout=120).run()
    assert not app.exception
    plan = library.plan_compression(CompressionSettings("importance", fraction=0.25))
    assert len(plan.dropped) == 3
    assert "−3 dropped" in everything(app)
    laid = library.map()
    assert laid is not None
    (lines,) = [t for t in spec(app)["data"] if t.get("mode") == "lines"]
    ends = list(zip(lines["x"], lines["y"], strict=True))
    for number, lost in enumerate(plan.dropped.tolist()):
        assert ends[3 * number] == pytest.approx(tuple(laid.position_of(lost)))
        kept = plan.decision(lost).nearest
        assert kept is not None
        assert ends[3 * number + 1] == pytest.approx(tuple(laid.position_of(kept)))
    assert app.dataframe[0].value["to"].tolist() == [plan.decision(i).nearest for i in plan.dropped]


def test_clusters_are_the_library_s_and_their_names_are_kept(
    open_app: Open, library: MemoryBank
) -> None:
    app = clustered(open_app(library, "map", grouping="k-means", groups="3"))
    found = library.clusters(settings=ClusterSettings("kmeans", count=3))
    table = app.dataframe[0].value
    assert table["size"].tolist() == [len(cluster) for cluster in found.clusters]
    assert table["confidence"].tolist() == pytest.approx(
        [np.mean([library.snapshot().by_id(i).confidence for i in c.ids]) for c in found.clusters]
    )
    chosen = found.clusters[1]
    choose(app, *chosen.ids)
    box = next(box for box in app.text_input if box.key and box.key.startswith("cluster-name"))
    box.set_value("<i>checks</i> at sea")
    next(b for b in app.button if b.label == "Keep the name").click().run()
    assert app.dataframe[0].value["name"].tolist()[1] == "<i>checks</i> at sea"
    again = library.clusters(settings=ClusterSettings("kmeans", count=3))
    assert again.clusters[1].name == "<i>checks</i> at sea"


# -- the static picture ---------------------------------------------------------------------------


def test_the_static_picture_holds_every_memory_and_no_text_becomes_markup(
    open_app: Open, bank: MemoryBank
) -> None:
    bank.commit(bank.plan(Batch([Add(text, KINDS[i % 3], "one") for i, text in enumerate(TEXTS)])))
    snapshot, rows = bank.snapshot(), np.arange(len(TEXTS) - 2)
    positions = np.random.default_rng(0).normal(size=(len(TEXTS), 2))
    (colours, *_) = map_colours.colourings(snapshot, rows, None)
    labels = tuple(map_scene.Label(text, 0.0, 9.0 * i) for i, text in enumerate(TEXTS))
    scene = map_scene.Scene(
        snapshot, positions, rows, (colours,), list(TEXTS), map_scene.whole(positions), labels
    )
    picture = map_static.picture(scene, colours, np.array([0, 3]), "\x00 a <title>")
    root = ElementTree.fromstring(picture)
    tags = [element.tag.split("}")[1] for element in root.iter()]
    assert set(tags) <= {"svg", "title", "rect", "circle", "path", "text"}
    texts = [element.text for element in root.iter() if element.tag.endswith("text")]
    assert TEXTS[0] in texts
    kinds = [KINDS[i % 3] for i in rows]
    assert tags.count("path") == kinds.count("strategic") + 1  # and one in the legend
    assert tags.count("circle") == kinds.count("procedural") + 1 + 2 + 2  # grey, rings


def test_the_switch_shows_it_instead_of_the_canvas(open_app: Open, library: MemoryBank) -> None:
    app = clustered(open_app(library, "map", static="true"))
    assert not app.exception
    assert not app.get("plotly_chart")
    assert app.get("image")


def test_a_bank_of_another_model_says_so(open_app: Open, bank_path: object) -> None:
    class Other(HashEmbedder):
        name = "other"

    MemoryBank.open(bank_path, embedder=Other())
    app = open_app(bank_path, "map")
    assert not app.exception
    assert "embed" in everything(app)
