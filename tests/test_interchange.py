"""Memories out to a file and back: nothing is lost silently, whatever the format."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    KINDS,
    MEMORY_FORMATS,
    Add,
    Batch,
    Evidence,
    HashEmbedder,
    ImportChoices,
    InterchangeError,
    Memory,
    MemoryBank,
    ProceduralDetail,
    Provenance,
    SettingsError,
    StrategicDetail,
    ToolDetail,
    read_memories,
    write_memories,
)
from memory_core.confidence import updated
from tests.hostile import TEXTS
from tests.strategies import memories

FORMATS = [name for name, form in MEMORY_FORMATS.items() if form.write]
LOSSLESS = ["winnow", "winnow-parquet", "mem0", "reme", "pam"]


def distinct(several: Sequence[Memory]) -> list[Memory]:
    """Numbered, each text once: an import refuses copies."""
    once = {memory.text: memory for memory in several}
    return [replace(memory, id=number) for number, memory in enumerate(once.values(), start=1)]


crowds = st.lists(memories(), min_size=1, max_size=6).map(distinct)


def back(several: Sequence[Memory], form: str) -> list[Memory]:
    """The memories that a file of these becomes, whole, without their ids."""
    content = write_memories(several, form, made_at_us=0).content
    return [_as_memory(operation) for operation in read_memories(content).batch().operations]


def _as_memory(operation: object) -> Memory:
    assert isinstance(operation, Add)
    return Memory(
        1, operation.kind, operation.text, operation.domain, operation.detail,
        operation.confidence, operation.usage_count, operation.success_count,
        operation.epoch or 0, tuple(operation.tags), operation.pinned, operation.provenance,
    )  # fmt: skip


@pytest.mark.parametrize("form", LOSSLESS)
@given(several=crowds)
@settings(max_examples=40, deadline=None)
def test_all_fields_come_back(form: str, several: list[Memory]):
    assert back(several, form) == [replace(memory, id=1) for memory in several]
    assert write_memories(several, form).lost == ()


def _held(memory: Memory, form: str) -> dict[str, object]:
    """The fields that a format says it holds."""
    holds = MEMORY_FORMATS[form].holds
    fields: dict[str, object] = {"text": memory.text}
    for name in holds - {"counts"}:
        fields[name] = getattr(memory, name)
    if "counts" in holds:
        fields["counts"] = (memory.usage_count, memory.success_count)
    return fields


@pytest.mark.parametrize("form", ["grpo", "grpo-options", "grpo-operations", "kayba"])
@given(several=crowds)
@settings(max_examples=30, deadline=None)
def test_what_a_format_holds_comes_back_as_it_was(form: str, several: list[Memory]):
    returned = [_held(memory, form) for memory in back(several, form)]
    assert returned == [_held(memory, form) for memory in several]


@given(several=crowds)
@settings(max_examples=30, deadline=None)
def test_mcp_gives_texts_kinds_and_domains_back(several: list[Memory]):
    assert [_held(m, "mcp") for m in back(several, "mcp")] == [_held(m, "mcp") for m in several]


@given(several=crowds)
@settings(max_examples=50, deadline=None)
def test_an_ace_playbook_holds_the_words_in_lines(several: list[Memory]):
    export = write_memories(several, "ace")
    returned = read_memories(export.content, format="ace").entries
    by_domain = sorted(range(len(several)), key=lambda i: _first_of_domain(several, i))
    assert [entry.lesson.text.split() for entry in returned if entry.lesson] == [
        several[i].text.split() for i in by_domain
    ]
    broken = sum(" ".join(m.text.splitlines()).strip() != m.text for m in several)
    assert any("line breaks" in phrase for phrase in export.lost) == bool(broken)


def _first_of_domain(several: Sequence[Memory], row: int) -> int:
    return next(i for i, other in enumerate(several) if other.domain == several[row].domain)


@given(memory=memories())
def test_counters_tell_a_confidence_by_the_update_rule(memory: Memory):
    (returned,) = back([replace(memory, text="one lesson")], "ace")
    sessions = [True] * memory.success_count
    sessions += [False] * (memory.usage_count - memory.success_count)
    expected = reduce(lambda c, improved: updated(c, improved=improved), sessions, 0.5)
    assert returned.confidence == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["strategic", "procedural", "tool"])
@given(several=crowds)
@settings(max_examples=30, deadline=None)
def test_muse_holds_one_kind_with_its_detail(kind: str, several: list[Memory]):
    ours = [memory for memory in several if memory.kind == kind]
    export = write_memories(several, f"muse-{kind}")
    others = len(several) - len(ours)
    assert any(f"not {kind} ({others})" in phrase for phrase in export.lost) == bool(others)
    if not ours:
        return
    entries = read_memories(export.content, format=f"muse-{kind}").entries
    texts = [entry.lesson.text for entry in entries if entry.lesson]
    assert sorted(texts) == sorted(memory.text for memory in ours)


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_texts_survive_every_format(form: str, bank: MemoryBank):
    kind = form.removeprefix("muse-") if form.startswith("muse-") else "tool"
    several = [Memory(n, kind, text, "general") for n, text in enumerate(TEXTS, start=1)]  # type: ignore[arg-type]
    export = write_memories(several, form)
    reading = read_memories(export.content, format=form)
    assert not reading.problems
    made = bank.commit(bank.plan(reading.batch()))
    assert made.added == len(several)
    assert [memory.text for memory in bank.snapshot()] == list(TEXTS)


@pytest.mark.parametrize("form", ["winnow", "winnow-parquet"])
def test_a_bank_moves_to_another_file_whole(
    form: str, bank: MemoryBank, tmp_path_factory: pytest.TempPathFactory
):
    path = tmp_path_factory.mktemp("other") / "bank.duckdb"
    other = MemoryBank.open(path, embedder=HashEmbedder())
    details = {
        "strategic": StrategicDetail("a problem\nin two lines"),
        "procedural": ProceduralDetail(("first", "second"), ("ready",)),
        "tool": ToolDetail("git", "git <verb> '=1+1'"),
    }
    kinds = [KINDS[n % 3] for n in range(len(TEXTS))]
    origin = Provenance("reflection", (Evidence("run-7", (3, 5)),), (8, 9), "a note")
    draw = [
        Memory(
            n + 1,
            kind,
            TEXTS[n],
            f"domain {n % 2}",
            details[kind],
            0.05 + n / 20,
            n + 1,
            n,
            n,
            ("slow", f"tag {n}"),
            n % 2 == 0,
            origin,
        )
        for n, kind in enumerate(kinds)
    ]
    adds = read_memories(write_memories(draw, form).content).batch()
    bank.commit(bank.plan(adds))
    content = write_memories(bank.snapshot(), form).content
    other.commit(other.plan(read_memories(content).batch()))
    assert other.snapshot().memories == bank.snapshot().memories
    again = other.plan(read_memories(content).batch())
    assert len(again.refused) == len(draw)


def test_an_export_says_what_the_target_cannot_hold():
    memory = Memory(
        1, "tool", "a lesson", "git", confidence=0.7, usage_count=3, success_count=1, epoch=4,
        tags=("slow",), pinned=True,
    )  # fmt: skip
    lost = write_memories([memory, Memory(2, "strategic", "another", "general")], "grpo").lost
    for word in ("kind", "domain", "confidence", "counts", "session", "tags", "pin"):
        assert any(word in phrase and "1 memory" in phrase for phrase in lost)
    assert write_memories([Memory(2, "strategic", "another", "general")], "grpo").lost == ()


def test_of_what_is_not_in_the_file_at_all_no_field_is_listed():
    several = [Memory(1, "tool", "one", "git"), Memory(2, "strategic", "two", "sql")]
    assert write_memories(several, "muse-strategic").lost == (
        "memories that are not strategic (1)",
        "strategies without a problem are keyed by their number (1)",
        "the domain of 1 memory",
    )


def test_portable_memory_is_what_its_specification_asks_for():
    memory = Memory(7, "tool", "Straße  und\tMaß ", "git", tags=("fits", "Does Not"))
    store = json.loads(write_memories([memory], "pam", made_at_us=0).content)
    (one,) = store["memories"]
    assert store["owner"]["id"]
    assert one["content_hash"] == (
        "sha256:" + hashlib.sha256("straße und maß".encode()).hexdigest()
    )
    assert (one["type"], one["custom_type"], one["tags"]) == ("custom", "tool", ["fits"])
    assert one["temporal"]["created_at"] == "1970-01-01T00:00:00Z"


def test_what_can_only_be_imported_and_what_is_unknown_says_so():
    with pytest.raises(InterchangeError, match="imported only"):
        write_memories([], "letta")
    for call in (lambda: write_memories([], "docx"), lambda: read_memories("{}", format="docx")):
        with pytest.raises(InterchangeError, match="known: ace, grpo"):
            call()
    for wrong in ({"long_texts": "shorten"}, {"domain": " "}):
        with pytest.raises(SettingsError):
            ImportChoices(**wrong)  # type: ignore[arg-type]


# -- ten thousand ---------------------------------------------------------------------------------


def many(count: int) -> bytes:
    words = ["retry", "branch", "index", "window", "refund", "order", "query", "cache"]
    several = [
        Memory(n, "tool", f"Lesson {n}: {words[n % 8]} before {words[n // 8 % 8]}.", "git")
        for n in range(1, count + 1)
    ]
    return write_memories(several, "winnow").content


class Stop(Exception):
    pass


def test_an_import_that_is_stopped_has_written_nothing(
    bank: MemoryBank, reopen: Callable[[], MemoryBank]
):
    bank.commit(bank.plan(Batch([Add("a lesson", "tool", "git")])))
    batch = read_memories(many(2_000)).batch()
    told: list[tuple[int, int]] = []

    def stop_half_way(done: int, total: int) -> None:
        told.append((done, total))
        if done > total / 2:
            raise Stop

    with pytest.raises(Stop):
        bank.plan(batch, progress=stop_half_way)
    assert told[0] == (0, 2_000)
    assert told == sorted(told)
    assert reopen().snapshot().memories == bank.snapshot(1).memories
    assert len(reopen().revisions()) == 1


@pytest.mark.long
def test_ten_thousand_come_in_as_one_revision(bank: MemoryBank):
    shares: list[float] = []
    reading = read_memories(many(10_000))
    plan = bank.plan(reading.batch(), progress=lambda done, total: shares.append(done / total))
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) > 20
    made = bank.commit(plan)
    assert (made.number, made.added) == (1, 10_000)
    assert write_memories(bank.snapshot(), "winnow").content == many(10_000)
