"""Transfer: what becomes of a file, said before it is written; and the file that is exported."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import Add, Batch, Memory, MemoryBank, Modify, read_memories, write_memories
from tests import foreign_files
from tests.conftest import Filled
from tests.hostile import TEXTS
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]


@pytest.fixture
def library(filled: Filled) -> MemoryBank:
    return filled(_library)


def _library(bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch([
        Add("Rebase with --onto to move a branch.", "tool", "git", tags=("slow",)),
        Add("Count the rows before and after a join.", "procedural", "data"),
    ], "two lessons")))  # fmt: skip


def paste(app: AppTest, text: str) -> AppTest:
    app.text_area("import-text").set_value(text)
    app.button("read-text").click().run()
    assert not app.exception
    return app


def upload(app: AppTest, name: str, content: bytes | str, key: str = "import-file") -> AppTest:
    content = content.encode() if isinstance(content, str) else content
    app.file_uploader(key).upload(name, content, "application/octet-stream").run()
    assert not app.exception
    return app


def look(app: AppTest, name: str) -> AppTest:
    (chooser,) = [c for c in app.segmented_control if c.key.startswith("import-look")]
    return chooser.set_value(name).run()


def table(app: AppTest):  # type: ignore[no-untyped-def]
    return app.dataframe[0].value


def test_a_file_is_recognized_planned_and_committed_as_one_revision(
    open_app: Open, library: MemoryBank
) -> None:
    lessons = json.loads(foreign_files.GRPO_STATE) | {"G2": "word " * 40, "G3": TEXT_THERE}
    app = upload(open_app(library, "transfer"), "state.json", json.dumps(lessons))
    said = everything(app)
    assert "2 new" in said
    assert "2 refused" in said
    assert "the bank goes from 2 to 4 memories" in said
    assert "state.json" in said
    assert table(app)["text"].tolist() == list(lessons.values())[:2]
    assert len(library.snapshot()) == 2  # nothing is written yet
    app.selectbox("import-kind").set_value("tool").run()
    app.text_input("import-domain").set_value("Maths").run()
    assert set(table(app)["domain"]) == {"maths"}
    reasons = table(look(app, "Refused"))["reason"].tolist()
    assert "40 words" in reasons[0]
    assert "memory 1" in reasons[1]
    app.button("commit-import").click().run()
    assert not app.exception
    made = library.revisions()[-1]
    assert (made.number, made.kind, made.added) == (2, "import", 2)
    assert {(m.kind, m.domain) for m in library.snapshot() if m.id > 2} == {("tool", "maths")}
    assert app.session_state["_made"] == (
        2, "Imported 2 memories from training-free GRPO; 2 records refused",
    )  # fmt: skip
    assert "import-text" in [area.key for area in app.text_area]  # ready for another


TEXT_THERE = "Rebase with --onto to move a branch."


def test_long_texts_are_refused_or_cut_as_one_chooses(open_app: Open, library: MemoryBank) -> None:
    text = "Look at the invoice first. " + "word " * 30 + "end."
    app = paste(open_app(library, "transfer"), f"[a-1] helpful=1 harmful=0 :: {text}")
    assert "1 refused" in everything(app)
    app.segmented_control("long-texts").set_value("cut").run()
    assert "1 text cut" in everything(app)
    app.button("commit-import").click().run()
    memory = library.snapshot().by_id(3)
    assert memory.text == "Look at the invoice first."
    assert text.strip() in memory.provenance.note
    assert (memory.usage_count, memory.confidence) == (1, 0.55)


def test_only_what_makes_a_difference_is_asked(open_app: Open, library: MemoryBank) -> None:
    app = paste(open_app(library, "transfer"), foreign_files.MUSE_PROCEDURAL)
    assert "import-kind" not in [box.key for box in app.selectbox]
    assert "import-domain" not in [box.key for box in app.text_input]
    assert "long-texts" not in [control.key for control in app.segmented_control]
    app.button("another-file").click().run()
    assert app.text_area("import-text").value == ""


def test_another_format_can_be_named(open_app: Open, library: MemoryBank) -> None:
    app = paste(open_app(library, "transfer"), '{"G0": "one lesson", "G1": "another lesson"}')
    assert "2 new" in everything(app)
    app.selectbox("import-format").set_value("kayba").run()
    assert "no kayba skillbook" in app.error[0].value
    app.selectbox("import-format").set_value("muse-strategic").run()
    app.button("commit-import").click().run()
    assert library.snapshot().by_id(3).detail.problem == "G0"  # type: ignore[union-attr]


@pytest.mark.parametrize("text", ["no format at all", "{broken", "[]", "\ud83d", "a\x00b"])
def test_what_cannot_be_read_is_said(open_app: Open, library: MemoryBank, text: str) -> None:
    app = upload(open_app(library, "transfer"), "x.json", text.encode("utf-8", "surrogatepass"))
    assert len(app.error) == 1
    assert "commit-import" not in [button.key for button in app.button]
    app.button("another-file").click().run()
    app.button("read-text").click().run()
    assert "no text" in app.warning[0].value


def test_operations_show_what_they_change_here(open_app: Open, library: MemoryBank) -> None:
    library.commit(library.plan(Batch([
        Add("Unit check: Convert all lengths to metres first.", "strategic", "maths"),
    ])))  # fmt: skip
    app = paste(open_app(library, "transfer"), foreign_files.GRPO_OPTIONS)
    assert "1 new" in everything(app)
    assert "2 refused" in everything(app)
    app = upload(app, "state.json", foreign_files.GRPO_STATE, key="state-file")
    said = everything(app)
    assert "1 changed" in said
    assert "What changes in memories that are here" in said
    assert "memory 3" in said
    app.button("commit-import").click().run()
    assert library.snapshot().by_id(3).text == "Convert every length to metres."


def test_what_is_sent_to_review_waits_there(open_app: Open, library: MemoryBank) -> None:
    lessons = json.loads(foreign_files.GRPO_STATE) | {"G2": "word " * 40}
    app = paste(open_app(library, "transfer"), json.dumps(lessons))
    assert "3" in app.button("propose-import").label
    app.button("propose-import").click().run()
    assert not app.exception
    assert len(library.proposals()) == 3
    assert len(library.snapshot()) == 2
    assert "3 proposals" in everything(app)


def test_the_plan_is_made_again_when_the_bank_has_changed(
    open_app: Open, library: MemoryBank
) -> None:
    app = paste(open_app(library, "transfer"), foreign_files.GRPO_STATE)
    library.commit(library.plan(Batch([Modify(2, text="Sanity: Redo it by hand.")])))
    app.run()
    assert "1 refused" in everything(app)
    app.button("commit-import").click().run()
    assert len(library.snapshot()) == 3


def test_two_tabs_with_the_same_file_bring_it_in_once(open_app: Open, library: MemoryBank) -> None:
    first = paste(open_app(library, "transfer"), foreign_files.GRPO_STATE)
    second = paste(open_app(library, "transfer"), foreign_files.GRPO_STATE)
    first.button("commit-import").click().run()
    second.button("commit-import").click().run()
    assert not second.exception
    assert "changed since" in second.session_state["_notice"]
    assert "2 refused" in everything(second)
    assert len(library.snapshot()) == 4


def test_hostile_texts_are_shown_as_texts(open_app: Open, bank: MemoryBank) -> None:
    several = [Memory(n, "tool", text, text) for n, text in enumerate(TEXTS, start=1)]
    content = write_memories(several, "winnow").content
    bad = b'{"text": "half \\ud800", "kind": "tool", "domain": "a"}\n'
    app = upload(open_app(bank, "transfer"), "<b>.jsonl", content + bad)
    assert table(app)["text"].tolist() == list(TEXTS)
    assert table(look(app, "Refused"))["text"].tolist() == ["half \\ud800"]
    app.button("commit-import").click().run()
    assert [memory.text for memory in bank.snapshot()] == list(TEXTS)


def test_many_are_planned_beside_the_page_and_can_be_stopped(
    open_app: Open, bank: MemoryBank
) -> None:
    several = [Memory(n, "tool", f"lesson {n} of many", "git") for n in range(1, 3_001)]
    content = write_memories(several, "winnow").content
    app = upload(open_app(bank, "transfer"), "many.jsonl", content)
    app.button("stop-import").click().run()
    until(app, lambda: "plan-again" in [button.key for button in app.button])
    assert "Nothing was written" in everything(app)
    assert bank.revisions() == ()
    app.button("plan-again").click().run()
    until(app, lambda: "commit-import" in [button.key for button in app.button])
    assert "3,000 new" in everything(app)
    app.button("commit-import").click().run()
    assert [revision.added for revision in bank.revisions()] == [3_000]


def until(app: AppTest, happened: Callable[[], bool]) -> None:
    for _ in range(600):
        if happened():
            return
        time.sleep(0.1)
        app.run()
        assert not app.exception
    pytest.fail("it did not happen within a minute")


def test_a_past_revision_is_read_only_and_can_be_exported(
    open_app: Open, library: MemoryBank
) -> None:
    library.commit(library.plan(Batch([Modify(1, text="changed since")])))
    app = open_app(library, "transfer", revision="1")
    assert "import-file" not in [uploader.key for uploader in app.file_uploader]
    app.segmented_control("transfer").set_value("Export").run()
    assert not app.exception
    assert "changed since" not in app.code[0].value
    assert TEXT_THERE in app.code[0].value


def test_the_export_is_the_library_s(open_app: Open, library: MemoryBank) -> None:
    app = open_app(library, "transfer", transfer="Export")
    assert not app.exception
    for form in ("winnow", "ace", "grpo"):
        app.selectbox("export-format").set_value(form).run()
        export = write_memories(library.snapshot(), form)
        assert app.code[0].value == export.content.decode().rstrip()
        said = everything(app)
        assert all(phrase in said.replace("\\", "") for phrase in export.lost)
    app.segmented_control("export-scope").set_value("Some kinds and domains").run()
    app.multiselect("export-domains").set_value(["git"]).run()
    assert read_memories(app.code[0].value).entries[0].source_id == "G0"
    assert json.loads(app.code[0].value) == {"G0": TEXT_THERE}
    app.selectbox("export-format").set_value("winnow-parquet").run()
    assert not app.exception


def test_an_empty_bank_has_nothing_to_export(open_app: Open, bank: MemoryBank) -> None:
    app = open_app(bank, "transfer", transfer="Export")
    assert "nothing to export" in app.info[0].value
