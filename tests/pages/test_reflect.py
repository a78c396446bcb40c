"""Reflect: a run is read and shown as it is, and its lessons are decided beside its steps."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from memory_core import (
    Add,
    Batch,
    Drafts,
    Evidence,
    MemoryBank,
    Modify,
    Outcome,
    ReflectionContext,
    RefusedDraft,
    Run,
    Step,
    TokenUsage,
    Trajectory,
    read_trajectories,
    sample_runs,
)
from pages.components.reflect_lines import lines_of
from pages.components.run_step import pretty
from tests.hostile import TEXTS
from tests.model_servers import failure, lessons, serving
from tests.pages.test_frame import everything

Open = Callable[..., AppTest]
TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def call(number: int, tool: str, arguments: object) -> dict[str, object]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"id": f"c{number}", "type": "function", "function": function}


CHAT = {"messages": [
    {"role": "user", "content": "Restore the deleted branch topic"},
    {"role": "assistant", "content": None, "tool_calls": [
        call(1, "shell", {"command": f"git fetch https://{TOKEN}@host/x"})]},
    {"role": "tool", "tool_call_id": "c1", "content": "Error: exit code 128: not found"},
    {"role": "assistant", "content": None, "tool_calls": [
        call(2, "shell", {"command": "git branch topic 1a2b3c4"})]},
    {"role": "tool", "tool_call_id": "c2", "content": "done"},
    {"role": "assistant", "content": "The branch topic is back at 1a2b3c4."},
]}  # fmt: skip


def paste(app: AppTest, text: str) -> AppTest:
    app.text_area("run-text").set_value(text)
    return click(app, "read-run")


def upload(app: AppTest, *files: tuple[str, str]) -> AppTest:
    box = app.file_uploader("run-files")
    given = [(name, content.encode(), "application/json") for name, content in files]
    box.set_value(given).run()
    assert not app.exception
    return app


def click(app: AppTest, key: str) -> AppTest:
    app.button(key).click().run()
    assert not app.exception
    return app


def keys_of(app: AppTest) -> list[str]:
    return [button.key or "" for button in app.button]


def steps(app: AppTest):  # type: ignore[no-untyped-def]
    """The table of steps that is on show."""
    (table,) = [one.value for one in app.dataframe if "first line" in one.value.columns]
    return table


def until(app: AppTest, happened: Callable[[], bool]) -> None:
    for _ in range(300):
        if happened():
            return
        time.sleep(0.1)
        app.run()
        assert not app.exception
    pytest.fail("it did not happen within half a minute")


def reflected(app: AppTest) -> AppTest:
    """Once the drafts are there."""
    until(app, lambda: "reflect-once-more" in keys_of(app))
    return app


# -- reading --------------------------------------------------------------------------------------


def test_a_pasted_run_is_recognized_and_shown_step_by_step(
    open_app: Open, bank: MemoryBank
) -> None:
    app = paste(open_app(bank, "reflect"), json.dumps(CHAT))
    said = everything(app)
    assert "Restore the deleted branch topic" in said
    assert "2 tool calls" in said
    table = steps(app)
    assert table["role"].tolist() == ["user", "assistant", "assistant", "assistant"]
    assert table["tool"].tolist() == ["", "shell", "shell", ""]
    assert table["first line"].tolist()[-1] == "The branch topic is back at 1a2b3c4."
    assert TOKEN not in said + table.to_string()
    assert "Masked before anything is kept or sent" in said
    click(app, "step-after")
    assert "Step 2 of 4" in everything(app)
    assert "git fetch" in app.code[0].value
    app.selectbox("run-format").set_value("raw text").run()
    assert len(steps(app)) == 1
    assert bank.trajectories() == ()  # nothing is kept until it is reflected on
    click(app, "another-run")
    assert app.text_area("run-text").value == ""


def test_what_failed_is_marked_and_found_from_anywhere(open_app: Open, bank: MemoryBank) -> None:
    sample = next(path for path in sample_runs() if path.stem == "sql-duplicate-rows")
    app = upload(open_app(bank, "reflect"), (sample.name, sample.read_text()))
    (run,) = read_trajectories(sample.read_text()).trajectories
    failed = [step.number for step in run.steps if step.error]
    table = steps(app)
    assert [int(n) for n in table[table[""] == "✕"]["step"]] == failed
    for number in (*failed, failed[0]):
        click(app, "step-failed")
        assert f"Step {number} of {len(run.steps)}" in everything(app)
        assert "failed with" in everything(app)


def test_several_files_are_read_together(open_app: Open, bank: MemoryBank) -> None:
    first, second = sample_runs()[1:3]
    app = upload(open_app(bank, "reflect"), *((p.name, p.read_text()) for p in (first, second)))
    assert f"{first.name} and 1 file more" in everything(app)
    assert "Reflect on 2 runs" in app.button("reflect").label
    assert not app.toggle[0].value  # two tasks are no attempts at one


@pytest.mark.parametrize(("name", "content"), [("x.json", ""), ("x.bin", "\x00\x01\x02" * 40)])
def test_what_cannot_be_read_is_said(
    open_app: Open, bank: MemoryBank, name: str, content: str
) -> None:
    app = upload(open_app(bank, "reflect"), (name, content))
    assert len(app.error) == 1
    assert "reflect" not in keys_of(app)
    click(app, "another-run")
    click(app, "read-run")
    assert "no text" in app.warning[0].value
    app.text_area("run-text").set_value("word " * 1_100_000)
    click(app, "read-run")
    assert "as a file" in app.warning[0].value


def test_a_long_run_is_shown_in_parts(open_app: Open, bank: MemoryBank) -> None:
    many = [
        Step(n, "assistant", f"thought {n}", "shell", '{"command": "ls"}', "x" * (n % 300))
        for n in range(1, 5_001)
    ]
    many[3_999] = Step(4_000, "assistant", "", "shell", "", "y" * 1_000_000, "exit code 1")
    (run_id,) = bank.keep_trajectories([Trajectory("count them", tuple(many))])
    key = keep(bank, run_id, lesson("Use ls.", run_id, (4_000,)))
    app = open_app(bank, "reflect", reflection=key)
    assert steps(app)["step"].tolist()[::999] == ["1", "1000"]
    (cited,) = [name for name in keys_of(app) if name.startswith("cite-") and name.endswith("4000")]
    click(app, cited)
    assert "Step 4,000 of 5,000" in everything(app)
    assert "4000" in steps(app)["step"].tolist()[:5]
    assert "1,000,000 characters in all" in everything(app)
    assert len(everything(app)) < 20_000
    click(app, "steps-first")
    assert steps(app)["step"].tolist()[0] == "1"
    click(app, "steps-further")
    assert steps(app)["step"].tolist()[0] == "1001"


def test_sub_agents_stand_below_the_step_that_called_them() -> None:
    inner = Trajectory("dig here", (Step(1, "assistant", "digging"),))
    looking = Step(1, "assistant", "looking")
    child = Trajectory("find the cause of it", (looking,), children=(inner,))
    stray = Trajectory("something else", (Step(1, "assistant", "idle"),))
    run = Trajectory("repair it", (
        Step(1, "assistant", "plan"),
        Step(2, "assistant", "", "Task", '{"prompt": "find the cause of it"}'),
        Step(3, "assistant", "done"),
    ), children=(stray, child))  # fmt: skip
    told = [(line.number, line.first_line) for line in lines_of(run)]
    assert told == [
        ("1", "plan"),
        ("2", '{"prompt": "find the cause of it"}'),
        ("↳ sub-agent", "find the cause of it"),
        ("↳ 1", "looking"),
        ("↳ ↳ sub-agent", "dig here"),
        ("↳ ↳ 1", "digging"),
        ("3", "done"),
        ("↳ sub-agent", "something else"),
        ("↳ 1", "idle"),
    ]


def test_arguments_are_set_out_to_be_read() -> None:
    assert pretty('{"code": "a\\nb", "n": 1}') == {"": '{"n": 1}', "code": "a\nb"}
    assert pretty('{"code": "a\\nb"}') == {"code": "a\nb"}
    assert pretty("ls -l | wc") == {"": "ls -l | wc"}
    assert pretty('"a\\nb"') == {"": "a\nb"}
    long = {"first": "x" * 40, "second": ["ü", None]}
    assert json.loads(pretty(json.dumps(long))[""]) == long
    assert "\n" in pretty(json.dumps(long))[""]


# -- from a run to its drafts ---------------------------------------------------------------------


def test_each_sample_gives_its_drafts_with_one_click(open_app: Open, bank: MemoryBank) -> None:
    app = open_app(bank, "reflect")
    samples = sample_runs()
    assert len(samples) == 8
    for path in samples:
        reflected(click(app, f"sample-{path.stem}"))
        made = bank.reflections()[-1]
        assert made.reflector == "rules"
        drafts = {p.id: p for p in bank.proposals() if p.id in made.proposal_ids}
        assert drafts, path
        cited = {item.trajectory_id for p in drafts.values() for item in p.operation.evidence}
        assert cited <= set(made.trajectory_ids)
        for proposal_id in made.proposal_ids:
            assert f"draft-accept-{proposal_id}" in keys_of(app)
        assert any(name.startswith("cite-") for name in keys_of(app)), path
        click(app, "another-run")
    assert len(bank.snapshot()) == 0  # nothing is accepted unasked
    listed = app.dataframe[0].value
    assert listed["drafts"].sum() == listed["waiting"].sum() == len(bank.proposals())


def test_runs_of_one_task_are_compared_unless_one_says_otherwise(
    open_app: Open, bank: MemoryBank
) -> None:
    sample = next(path for path in sample_runs() if path.stem == "airline-refund-group")
    app = upload(open_app(bank, "reflect"), (sample.name, sample.read_text()))
    assert "Compare 3 runs" in app.button("reflect").label
    app.toggle[0].set_value(False).run()
    assert "Reflect on 3 runs" in app.button("reflect").label
    table = app.dataframe[0]
    app.session_state[str(table.key)] = {"selection": {"rows": [1], "cells": []}}
    app.run()
    assert "Reflect on this run" in app.button("reflect").label
    reflected(click(app, "reflect"))
    assert len(bank.reflections()[-1].trajectory_ids) == 1


def test_the_domain_that_one_names_is_that_of_the_drafts(open_app: Open, bank: MemoryBank) -> None:
    bank.commit(bank.plan(Batch((Add("Load by night.", "strategic", "warehouse"),))))
    app = upload(
        open_app(bank, "reflect"),
        *((p.name, p.read_text()) for p in sample_runs() if p.stem == "sql-duplicate-rows"),
    )
    app.selectbox("reflect-domain").set_value("warehouse").run()
    reflected(click(app, "reflect"))
    assert {p.operation.domain for p in bank.proposals()} == {"warehouse"}  # type: ignore[union-attr]


# -- deciding -------------------------------------------------------------------------------------


@dataclass
class Told:
    """A reflector that says what the test tells it."""

    drafts: Drafts
    name: str = "told"

    def reflect(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        return self.drafts

    def compare(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        return self.drafts


def lesson(text: str, run_id: str, cited: tuple[int, ...] = (2,)) -> Add:
    return Add(text, "tool", "git", rationale="It worked.", evidence=(Evidence(run_id, cited),))


def keep(bank: MemoryBank, run_id: str, *operations: Add | Modify, **told: object) -> str:
    run = bank.trajectory(run_id)
    assert run is not None
    drafts = Drafts(operations, **told)  # type: ignore[arg-type]
    made = bank.draft_lessons([run], Told(drafts))
    bank.keep_reflection(made)
    return made.key


RUN = Trajectory("Restore the deleted branch topic", (
    Step(1, "user", "Restore the deleted branch topic"),
    Step(2, "assistant", "", "shell", '{"command": "git fetch"}', "", "exit code 128"),
    Step(3, "assistant", "", "shell", '{"command": "git reflog"}', "1a2b3c4 HEAD@{1}"),
), Outcome(True))  # fmt: skip


@pytest.fixture
def drafted(bank: MemoryBank) -> tuple[MemoryBank, str]:
    """A bank with one reflection, and its key."""
    (run_id,) = bank.keep_trajectories([RUN])
    key = keep(
        bank, run_id,
        lesson("Run git reflog before anything else to find a lost commit.", run_id, (3,)),
        lesson("Do not git fetch 1a2b3c4: a deleted branch is not on the server.", run_id, (2,)),
        lesson("word " * 33, run_id, (2, 3)),
        refused=(RefusedDraft("It is prose, no lesson.", "Sure! Be careful."),),
        notes=("Step 1 teaches nothing.",), usage=TokenUsage(2, 1_200, 34, 0.0123),
    )  # fmt: skip
    return bank, key


def test_a_citation_shows_its_step(open_app: Open, drafted: tuple[MemoryBank, str]) -> None:
    bank, key = drafted
    app = open_app(bank, "reflect", reflection=key)
    said = everything(app)
    assert "3 drafts by told" in said
    assert "1,200 tokens in, 34 out" in said
    assert "It worked." in said
    assert "33 words" in said or "over 32" in said
    assert "It is prose, no lesson." in said
    assert "Sure! Be careful." in [code.value for code in app.code]
    assert "Step 1 teaches nothing." in said
    assert steps(app)["drafts"].tolist() == ["", "2, 3", "1, 3"]
    click(app, "cite-1-0-3")
    assert "Step 3 of 3" in everything(app)
    assert "1a2b3c4 HEAD@{1}" in [code.value for code in app.code]
    click(app, "cite-3-0-2")
    assert "Step 2 of 3" in everything(app)
    assert "exit code 128" in [code.value for code in app.code]


def test_drafts_are_accepted_edited_and_rejected_beside_their_run(
    open_app: Open, drafted: tuple[MemoryBank, str]
) -> None:
    bank, key = drafted
    app = open_app(bank, "reflect", reflection=key)
    assert app.button("draft-accept-3").disabled  # 33 words
    click(app, "draft-accept-1")
    memory = bank.snapshot().memories[0]
    assert memory.text.startswith("Run git reflog")
    assert memory.provenance.source == "reflection"
    assert "accepted" in everything(app)
    time.sleep(0.5)  # a second click that soon is taken for the same one
    click(app, "draft-reject-2")
    click(app, "reject-1")  # the first of the reasons
    (rejected,) = bank.proposals("rejected")
    assert (rejected.id, rejected.decision_reason) == (2, "Too generic")
    click(app, "draft-put-back-2")
    assert [p.id for p in bank.proposals()] == [2, 3]
    click(app, "draft-edit-3")
    (box,) = [area for area in (*app.text_area, *app.text_input) if area.label == "Lesson"]
    box.set_value("Count the words of a lesson first.").run()
    click(app, "accept-edited")
    assert bank.snapshot().memories[-1].text == "Count the words of a lesson first."
    assert "reflection" in app.query_params  # one stays where one was
    assert [p.id for p in bank.proposals()] == [2]


def test_all_are_accepted_as_one_revision_but_what_is_refused(
    open_app: Open, drafted: tuple[MemoryBank, str]
) -> None:
    bank, key = drafted
    app = open_app(bank, "reflect", reflection=key)
    assert app.button("accept-all").label == "Accept 2 of 3 as one revision"
    click(app, "accept-all")
    assert [r.added for r in bank.revisions()] == [2]
    assert [p.id for p in bank.proposals()] == [3]


def test_past_reflections_are_listed_with_what_became_of_them(
    open_app: Open, drafted: tuple[MemoryBank, str]
) -> None:
    bank, key = drafted
    bank.decide([1], accept=True)
    bank.decide([2], accept=False, reason="known")
    app = open_app(bank, "reflect")
    (row,) = app.dataframe[0].value.to_dict("records")
    assert (row["drafts"], row["accepted"], row["waiting"], row["rejected"]) == (3, 1, 1, 1)
    assert row["refused"] == 1
    app = open_app(bank, "reflect", reflection=key)
    said = everything(app)
    assert "accepted" in said
    assert "known" in said
    click(app, "reflect-once-more")  # its run lies on the desk again
    assert steps(app)["tool"].tolist() == ["", "shell", "shell"]
    assert "Reflect on this run" in app.button("reflect").label


def test_an_address_without_a_reflection_is_said(open_app: Open, bank: MemoryBank) -> None:
    app = open_app(bank, "reflect", reflection="nowhere")
    assert "nowhere" in app.warning[0].value
    assert "run-text" in [area.key for area in app.text_area]


def test_a_past_revision_is_read_only(open_app: Open, drafted: tuple[MemoryBank, str]) -> None:
    bank, key = drafted
    bank.decide([1], accept=True)
    app = open_app(bank, "reflect", reflection=key, revision="0")
    assert all(
        app.button(name).disabled
        for name in ("draft-accept-2", "draft-edit-2", "draft-reject-2", "accept-all")
    )
    app = open_app(bank, "reflect", revision="0")
    assert "read-run" not in keys_of(app)
    assert len(app.dataframe) == 1


def test_hostile_texts_are_shown_as_texts(open_app: Open, bank: MemoryBank) -> None:
    run = Trajectory(TEXTS[0], tuple(
        Step(n, "assistant", text, TEXTS[n - 2], TEXTS[n - 3], TEXTS[n - 4], TEXTS[n - 5])
        for n, text in enumerate(TEXTS, start=1)
    ), Outcome(False, reason=TEXTS[7]), agent=TEXTS[3], model=TEXTS[4])  # fmt: skip
    (run_id,) = bank.keep_trajectories([run])
    key = keep(
        bank, run_id, *(lesson(text, run_id, (n,)) for n, text in enumerate(TEXTS, start=1)),
        notes=TEXTS[:2], refused=(RefusedDraft(TEXTS[2], TEXTS[5]),),
    )  # fmt: skip
    kept = bank.trajectory(run_id)
    assert kept is not None
    app = open_app(bank, "reflect", reflection=key)
    assert not app.exception
    assert steps(app)["first line"].tolist() == [step.text for step in kept.steps]
    shown = [element.value for element in app.text]
    assert all(text in shown for text in TEXTS)  # the drafts


# -- a language model -----------------------------------------------------------------------------

ENTRY = {
    "action": "add",
    "kind": "tool",
    "text": "Run git branch topic 1a2b3c4 after a git fetch fails.",
    "domain": "git",
    "tool": "git",
    "rationale": "Step 3 did it.",
    "evidence": [2, 3],
}


def ask(app: AppTest, url: str) -> AppTest:
    app.segmented_control("reflector").set_value("Language model").run()
    app.text_input("reflect-model").set_value("openai:scripted").run()
    app.text_input("reflect-base-url").set_value(f"{url}/v1").run()
    assert not app.exception
    return app


def test_a_language_model_is_checked_fails_and_is_tried_again(
    open_app: Open, bank: MemoryBank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", TOKEN)
    with serving(lessons(ENTRY)) as server:
        app = paste(open_app(bank, "reflect"), json.dumps(CHAT))
        app.segmented_control("reflector").set_value("Language model").run()
        assert app.button("reflect").disabled  # which model?
        ask(app, server.url)
        assert not any("key" in (box.label or "").lower() for box in app.text_input)
        click(app, "reflect-check-model")
        assert "scripted answers" in app.success[0].value.replace("\\", "").replace("\u2060", "")
        server.put(failure(401, "bad key"))
        click(app, "reflect")
        until(app, lambda: "reflect-again" in keys_of(app))
        assert len(app.error) == 1
        assert bank.reflections() == ()
        server.put(lessons(ENTRY))
        reflected(click(app, "reflect-again"))
        (made,) = bank.reflections()
        assert made.reflector == "openai:scripted"
        assert made.usage.requests >= 1
        assert TOKEN not in everything(app)
        sent = "".join(json.dumps(request.body) for request in server.requests)
        assert TOKEN not in sent
    assert TOKEN.encode() not in Path(bank.path).read_bytes()


def test_a_model_that_does_not_answer_is_stopped(open_app: Open, bank: MemoryBank) -> None:
    with serving(lessons(ENTRY, delay=2.0)) as server:
        app = paste(open_app(bank, "reflect"), json.dumps(CHAT))
        click(ask(app, server.url), "reflect")
        assert app.button("reflect").disabled
        click(app, "stop-reflecting")
        until(app, lambda: "reflect-again" in keys_of(app) or "reflect-once-more" in keys_of(app))
        if "reflect-again" in keys_of(app):
            assert "stopped" in everything(app)
            click(app, "reflect-leave")
            assert not app.button("reflect").disabled
