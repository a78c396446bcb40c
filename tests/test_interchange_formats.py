"""Other systems' files: how each is told, what of it becomes what, and what is said to be lost."""

from __future__ import annotations

import json

import pytest

from memory_core import (
    MEMORY_FORMATS,
    Add,
    Batch,
    ImportChoices,
    MemoryBank,
    ProceduralDetail,
    StrategicDetail,
    ToolDetail,
    read_memories,
    write_memories,
)
from memory_core.confidence import updated
from tests import foreign_files
from tests.foreign_files import FILES

ALL_FILES = [(form, name, text) for form, files in FILES.items() for name, text in files]


def adds(text: str, **choices: str) -> list[Add]:
    reading = read_memories(text)
    operations = reading.batch(ImportChoices(**choices)).operations  # type: ignore[arg-type]
    assert all(isinstance(operation, Add) for operation in operations)
    return [operation for operation in operations if isinstance(operation, Add)]


@pytest.mark.parametrize(("form", "name", "text"), ALL_FILES)
def test_a_format_is_told_by_its_content_alone(form: str, name: str, text: str):
    for filename in (None, name, "export.txt"):
        assert read_memories(text, filename).format == form
    assert read_memories(text.encode(), format=form).entries == read_memories(text).entries


@pytest.mark.parametrize(("form", "name", "text"), ALL_FILES)
def test_what_comes_in_can_be_planned_and_committed(
    bank: MemoryBank, form: str, name: str, text: str
):
    state = read_memories(foreign_files.GRPO_STATE)
    bank.commit(bank.plan(state.batch()))
    reading = read_memories(text, name)
    plan = bank.plan(reading.batch(snapshot=bank.snapshot(), state=state))
    made = bank.commit(plan.accepted_only())
    assert made.kind == "import"
    assert reading.title in made.reason
    assert name in made.reason
    for memory in bank.snapshot():
        assert memory.provenance.source in ("import", "merge")


@pytest.mark.parametrize("file", FILES["grpo"], ids=lambda file: file[0])
def test_grpo_lessons_keep_their_titles_and_get_ids_of_our_own(file: tuple[str, str]):
    first, second = adds(file[1])
    assert first.text == "Unit check: Convert all lengths to metres first."
    assert second.text == "Sanity: Redo it by hand."
    assert first.kind == "strategic"
    assert "G0" in first.provenance.note
    assert "G1" in second.provenance.note


def test_ace_counters_become_counts_and_confidence_helpful_ones_first():
    first, second, third, fourth = adds(foreign_files.ACE)
    confidence = 0.5
    for improved in (True, True, True, False):
        confidence = updated(confidence, improved=improved)
    assert (first.usage_count, first.success_count) == (4, 3)
    assert first.confidence == pytest.approx(confidence)
    assert second.text == "Confirm the refund in one sentence."
    assert (second.usage_count, second.confidence) == (0, 0.5)
    assert [a.kind for a in (first, third, fourth)] == ["strategic", "tool", "strategic"]
    assert [a.domain for a in (first, third, fourth)] == [
        "strategies & insights", "apis to use", "others",
    ]  # fmt: skip


def test_enormous_counters_end_at_the_bounds_of_confidence():
    text = (
        "[a-1] helpful=999999999999 harmful=0 :: one\n[a-2] helpful=1 harmful=999999999999 :: two"
    )
    first, second = adds(text)
    assert (first.confidence, second.confidence) == (0.95, 0.05)


def test_kayba_takes_what_is_in_use_and_says_what_it_loses():
    reading = read_memories(foreign_files.KAYBA)
    (add,) = adds(foreign_files.KAYBA)
    assert (add.text, add.domain) == ("Greet in under 20 words.", "opening")
    assert (add.usage_count, add.success_count) == (3, 2)
    assert "Short openings end sooner." in add.provenance.note
    assert "opening-00001" in add.provenance.note
    (problem,) = reading.problems
    assert "closing-00002" in problem.where
    assert "invalid" in problem.message
    assert reading.lost == {"neutral": 1, "embedding": 1}


def test_kayba_skills_out_of_a_prompt():
    first, second = adds(foreign_files.KAYBA_PROMPT)
    assert (first.text, first.usage_count) == ("Greet, in under 20 words.", 3)
    assert (second.text, second.domain) == ("Say goodbye once.", "closing")


def test_muse_s_three_files():
    (strategy,) = adds(foreign_files.MUSE_STRATEGIC, kind="tool")
    assert strategy.kind == "strategic"
    assert strategy.detail == StrategicDetail("A form rejects the date")
    find, leave = adds(foreign_files.MUSE_PROCEDURAL)
    assert (find.kind, find.text, find.domain) == ("procedural", "Find a channel", "Mattermost")
    assert find.detail == ProceduralDetail(("Open Browse", "Type a name"), ("Logged in",))
    assert "Archived ones are hidden." in find.provenance.note
    assert leave.detail == ProceduralDetail(("Open its menu", "Press Leave"))
    (click,) = adds(foreign_files.MUSE_TOOL)
    assert click.kind == "tool"
    assert click.detail == ToolDetail("browser_click", "Take a fresh snapshot first.")


def test_mem0_reme_and_what_the_person_chooses_for_the_rest():
    (one,) = adds(foreign_files.MEM0, kind="tool", domain="mine")
    assert (one.text, one.kind, one.domain) == ("The build needs Node 20.", "tool", "build")
    lost = read_memories(foreign_files.MEM0).lost
    assert set(lost) == {"user_id", "metadata.score"}
    task, tool = adds(foreign_files.REME)
    assert (task.kind, task.domain) == ("strategic", "support")
    assert task.detail == StrategicDetail("A refund is asked for")
    assert tool.kind == "tool"
    assert "Searching" in tool.provenance.note
    (plain,) = adds('[{"id": "1", "memory": "Be brief."}]', kind="procedural", domain="Style")
    assert (plain.kind, plain.domain) == ("procedural", "Style")


def test_an_observation_says_what_it_is_about():
    texts = [add.text for add in adds(foreign_files.MCP)]
    assert texts == ["deploy script: Needs the staging key.", "The deploy script logs to stderr."]
    problems = [str(problem) for problem in read_memories(foreign_files.MCP).problems]
    assert any("no observation" in problem for problem in problems)
    assert any("Anna maintains deploy script" in problem for problem in problems)


def test_pam_leaves_what_was_superseded():
    (one,) = adds(foreign_files.PAM)
    assert (one.kind, one.domain, one.confidence) == ("procedural", "Physics", 0.8)
    assert one.tags == ("units", "instruction")
    (problem,) = read_memories(foreign_files.PAM).problems
    assert "superseded" in problem.message


def test_letta_s_blocks_are_read_line_by_line():
    reading = read_memories(foreign_files.LETTA)
    assert [add.text for add in adds(foreign_files.LETTA)] == [
        "Works in Utrecht.", "Prefers tables to prose.",
    ]  # fmt: skip
    assert {add.domain for add in adds(foreign_files.LETTA)} == {"human"}
    assert [problem.where for problem in reading.problems] == [
        "block 1 (human), line 1", "block 1 (human), line 4",
    ]  # fmt: skip


def test_memento_s_cases_are_procedures_that_were_applied_once():
    good, bad = adds(foreign_files.MEMENTO)
    assert good.detail == ProceduralDetail(("Find both dates.", "Compare them."))
    assert (good.usage_count, good.success_count, good.confidence) == (1, 1, 0.55)
    assert bad.detail == ProceduralDetail(("Look up the yard.",))
    assert (bad.usage_count, bad.success_count, bad.confidence) == (1, 0, 0.45)


def test_reasoning_bank_items_in_all_three_shapes():
    items = adds(foreign_files.REASONING_BANK)
    assert [item.text for item in items] == [
        "Sort by price before you open a row.", "Read the date twice.", "Close the banner first.",
    ]  # fmt: skip
    assert {item.detail for item in items} == {StrategicDetail("Find the cheapest flight")}
    assert "Sort first" in items[0].provenance.note
    assert "fail" in items[0].provenance.note


# -- operations that name lessons by another system's ids -----------------------------------------


@pytest.fixture
def measuring(bank: MemoryBank) -> MemoryBank:
    """A bank with a lesson of its own, and then the two of the state."""
    bank.commit(bank.plan(Batch([Add("Our own lesson.", "tool", "git")])))
    bank.commit(bank.plan(read_memories(foreign_files.GRPO_STATE).batch()))
    return bank


def texts(bank: MemoryBank) -> dict[int, str]:
    return {memory.id: memory.text for memory in bank.snapshot()}


def test_their_ids_mean_the_memories_that_were_imported_under_them(measuring: MemoryBank):
    reading = read_memories(foreign_files.GRPO_OPERATIONS)
    assert reading.needs_state
    measuring.commit(measuring.plan(reading.batch(snapshot=measuring.snapshot())))
    assert texts(measuring) == {
        1: "Our own lesson.",
        2: "Convert every length to metres.",
        4: "Draw the figure before the algebra.",
    }
    assert measuring.history(3)[-1].rationale == "too general"


def test_a_state_that_is_given_says_what_its_ids_mean(measuring: MemoryBank):
    """The next step has numbered the same lessons the other way round."""
    state = read_memories('{"G0": "Sanity: Redo it by hand.", "G1": "Unit check: Convert all '
                          'lengths to metres first."}')  # fmt: skip
    reading = read_memories(foreign_files.GRPO_OPERATIONS)
    measuring.commit(measuring.plan(reading.batch(snapshot=measuring.snapshot(), state=state)))
    assert texts(measuring)[3] == "Convert every length to metres."
    assert 2 not in texts(measuring)


def test_ids_that_are_nobody_s_or_several_are_refused_visibly(measuring: MemoryBank):
    reading = read_memories(foreign_files.GRPO_OPTIONS)
    empty = reading.draft()
    assert len(empty.operations) == 1
    assert [problem.where for problem in empty.problems] == ["record 2", "record 3"]
    assert "G0" in empty.problems[0].message
    again = read_memories('{"G0": "A lesson of the next step."}')
    measuring.commit(measuring.plan(again.batch()))
    doubtful = reading.draft(snapshot=measuring.snapshot())
    assert "memories 2, 4" in doubtful.problems[0].message


def test_a_merge_joins_what_stands_here(measuring: MemoryBank):
    reading = read_memories(foreign_files.GRPO_OPTIONS)
    plan = measuring.plan(reading.batch(snapshot=measuring.snapshot()))
    assert not plan.refused
    measuring.commit(plan)
    merged = measuring.snapshot().by_id(5)
    assert merged.text == "Convert to metres, then redo it by hand."
    assert merged.provenance.merged_from == (2, 3)


def test_what_has_changed_since_the_plan_was_drafted_is_not_overwritten(measuring: MemoryBank):
    batch = read_memories(foreign_files.GRPO_OPERATIONS).batch(snapshot=measuring.snapshot())
    measuring.commit(measuring.plan(read_memories(foreign_files.GRPO_OPERATIONS)
                                    .batch(snapshot=measuring.snapshot())))  # fmt: skip
    reasons = [refusal.reason for refusal in measuring.plan(batch).refused]
    assert any("has changed since" in reason for reason in reasons)
    assert any("has left" in reason for reason in reasons)


# -- long texts -----------------------------------------------------------------------------------

LONG = "Check the invoice first. It is e.g. 3.5 pages long and signed. " + "word " * 30 + "end."


def test_a_long_text_is_refused_or_cut_where_a_sentence_ends(bank: MemoryBank):
    text = f"[a-1] helpful=0 harmful=0 :: {LONG}"
    refused = bank.plan(read_memories(text).batch())
    assert [r.reason[:16] for r in refused.refused] == ["The text has 43 "[:16]]
    draft = read_memories(text).draft(ImportChoices(long_texts="cut"))
    (add,) = draft.operations
    assert isinstance(add, Add)
    assert add.text == "Check the invoice first. It is e.g. 3.5 pages long and signed."
    assert LONG in add.provenance.note
    assert draft.cut == (0,)


def test_what_has_no_sentence_that_fits_is_refused_all_the_same(bank: MemoryBank):
    text = "[a-1] :: " + "word " * 40 + "end."
    plan = bank.plan(read_memories(text).batch(ImportChoices(long_texts="cut")))
    assert len(plan.refused) == 1
    assert not plan.accepted


def test_of_a_change_that_is_cut_the_whole_stays_in_the_history(measuring: MemoryBank):
    text = json.dumps([{"operation": "UPDATE", "id": "G0", "content": LONG}])
    batch = read_memories(text).batch(
        ImportChoices(long_texts="cut"), snapshot=measuring.snapshot()
    )
    measuring.commit(measuring.plan(batch))
    assert texts(measuring)[2].endswith("and signed.")
    assert LONG in measuring.history(2)[-1].rationale


def test_a_copy_of_what_is_there_is_refused(measuring: MemoryBank):
    plan = measuring.plan(read_memories(foreign_files.GRPO_STATE).batch())
    assert len(plan.refused) == 2
    assert "memory 2" in plan.refused[0].reason


def test_every_format_that_the_issue_names_is_there():
    both = {
        "winnow", "winnow-parquet", "grpo", "grpo-options", "grpo-operations", "ace", "kayba",
        "muse-strategic", "muse-procedural", "muse-tool", "mem0", "reme", "mcp", "pam",
    }  # fmt: skip
    assert {name for name, form in MEMORY_FORMATS.items() if form.write} == both
    assert set(MEMORY_FORMATS) - both == {"letta", "memento", "reasoning-bank", "kayba-prompt"}
    assert write_memories((), "winnow").content == b""
