"""Text that no file or page can hold is refused wherever it comes in, and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from damage import contents

from memory_core import (
    Add,
    Batch,
    Delete,
    Evidence,
    HashEmbedder,
    InvalidBatchError,
    InvalidMemoryError,
    MemoryBank,
    Merge,
    Modify,
    ProceduralDetail,
    Provenance,
    RetrievalSettings,
    StrategicDetail,
    ToolDetail,
)

REFUSED = (InvalidMemoryError, InvalidBatchError)


def _add(**fields: object) -> Batch:
    return Batch([Add(**{"text": "a lesson", "kind": "tool", "domain": "git", **fields})])  # type: ignore[arg-type]


def _touch(bad: str) -> tuple[Evidence, ...]:
    return (Evidence(bad, (1,)),)


OPERATIONS: Mapping[str, Callable[[str], Batch]] = {
    "text": lambda bad: _add(text=f"a {bad}"),
    "domain": lambda bad: _add(domain=bad),
    "kind": lambda bad: _add(kind=bad),
    "tag": lambda bad: _add(tags=("fine", bad)),
    "rationale": lambda bad: _add(rationale=bad),
    "evidence": lambda bad: _add(evidence=_touch(bad)),
    "note": lambda bad: _add(provenance=Provenance(note=bad)),
    "cited": lambda bad: _add(provenance=Provenance(evidence=_touch(bad))),
    "tool": lambda bad: _add(detail=ToolDetail(bad)),
    "usage": lambda bad: _add(detail=ToolDetail("git", bad)),
    "problem": lambda bad: _add(kind="strategic", detail=StrategicDetail(bad)),
    "step": lambda bad: _add(kind="procedural", detail=ProceduralDetail(("fine", bad))),
    "precondition": lambda bad: _add(kind="procedural", detail=ProceduralDetail((), (bad,))),
    "new text": lambda bad: Batch([Modify(1, text=bad)]),
    "new domain": lambda bad: Batch([Modify(1, domain=bad)]),
    "new tag": lambda bad: Batch([Modify(1, tags=(bad,))]),
    "new detail": lambda bad: Batch([Modify(1, detail=ToolDetail("git", bad))]),
    "why modified": lambda bad: Batch([Modify(1, tags=("x",), rationale=bad)]),
    "shown by": lambda bad: Batch([Modify(1, tags=("x",), evidence=_touch(bad))]),
    "why deleted": lambda bad: Batch([Delete(1, rationale=bad)]),
    "deleted by": lambda bad: Batch([Delete(1, evidence=_touch(bad))]),
    "merged text": lambda bad: Batch([Merge((1, 2), bad)]),
    "merged domain": lambda bad: Batch([Merge((1, 2), "fine", domain=bad)]),
    "why merged": lambda bad: Batch([Merge((1, 2), "fine", rationale=bad)]),
    "reason": lambda bad: Batch([Delete(1)], reason=bad),
    "batch kind": lambda bad: Batch([Delete(1)], kind=bad),
    "key": lambda bad: Batch([Delete(1)], key=bad),
}

VERBS: Mapping[str, Callable[[MemoryBank, str], object]] = {
    "task": lambda bank, bad: bank.retrieve(bad),
    "recorded domain": lambda bank, bad: bank.retrieve(
        "task", RetrievalSettings(domains=(bad,)), record=True
    ),
    "infer": lambda bank, bad: bank.infer_domains(bad),
    "query": lambda bank, bad: bank.save_query(bad),
    "query's domain": lambda bank, bad: bank.save_query("fine", domains=[bad]),
    "bank's name": lambda bank, bad: bank.configure(name=bad),
    "proposal's reason": lambda bank, bad: bank.propose(Batch([Delete(1)], reason=bad)),
    "proposal's source": lambda bank, bad: bank.propose(Batch([Delete(1)]), source=bad),
    "proposal's key": lambda bank, bad: bank.propose(Batch([Delete(1)], key=bad)),
    "proposal's rationale": lambda bank, bad: bank.propose(Batch([Delete(1, rationale=bad)])),
    "proposal's text": lambda bank, bad: bank.propose(_add(text=bad)),
    "proposal's detail": lambda bank, bad: bank.propose(_add(detail=ToolDetail("git", bad))),
    "proposal's evidence": lambda bank, bad: bank.propose(_add(evidence=_touch(bad))),
    "decision's reason": lambda bank, bad: bank.decide([1], accept=False, reason=bad),
    "acceptance's reason": lambda bank, bad: bank.decide([1], accept=True, reason=bad),
    "retrieval's id": lambda bank, bad: bank.record_outcome(bad, improved=True, applied=[]),
    "key that is sought": lambda bank, bad: bank.find_revision(bad),
    "actor of a commit": lambda bank, bad: bank.acting_as(bad).update(_add()),
    "actor of a query": lambda bank, bad: bank.acting_as(bad).save_query("fine"),
    "actor of a judgement": lambda bank, bad: bank.acting_as(bad).judge(1, 1, 2),
    "actor of a proposal": lambda bank, bad: bank.acting_as(bad).propose(_add()),
    "actor of a decision": lambda bank, bad: bank.acting_as(bad).decide([1], accept=False),
    "actor of a retrieval": lambda bank, bad: bank.acting_as(bad).retrieve("task", record=True),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> MemoryBank:
    """A bank that nothing in this module changes."""
    path = tmp_path_factory.mktemp("strings") / "bank.duckdb"
    bank = MemoryBank.open(path, embedder=HashEmbedder(32), actor="tester")
    bank.update(Batch([Add("first", "tool", "git"), Add("second", "tool", "git")]))
    bank.save_query("a query")
    bank.propose(Batch([Delete(2)]))
    return bank


def assert_refused(bank: MemoryBank, action: Callable[[], object], bad: str) -> None:
    folder = Path(bank.path).parent
    before = contents(folder)
    with pytest.raises(REFUSED) as told:
        action()
    assert contents(folder) == before
    assert ("U+0000" in str(told.value)) == (bad == "\x00") or "kind" in str(told.value)
    str(told.value).encode()  # and the message itself can be shown


@pytest.mark.parametrize("bad", ["\x00", "\ud800"], ids=["nul", "surrogate"])
@pytest.mark.parametrize("make", OPERATIONS.values(), ids=OPERATIONS)
def test_in_a_batch(kept: MemoryBank, make: Callable[[str], Batch], bad: str) -> None:
    assert_refused(kept, lambda: kept.update(make(bad)), bad)


@pytest.mark.parametrize("bad", ["\x00", "\ud800"], ids=["nul", "surrogate"])
@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_in_a_verb(kept: MemoryBank, verb: Callable[[MemoryBank, str], object], bad: str) -> None:
    assert_refused(kept, lambda: verb(kept, bad), bad)


def test_what_only_looks_like_such_a_character_is_welcome(bank: MemoryBank) -> None:
    text = "write \\u0000 as \\\\u0000 and \\ud800"
    bank.update(
        Batch([Add(text, "tool", "json", detail=ToolDetail("json", text), evidence=_touch(text))])
    )
    bank.propose(Batch([Modify(1, detail=ToolDetail("json", text), rationale=text)]))
    assert bank.snapshot().by_id(1).detail == ToolDetail("json", text)
    (proposal,) = bank.proposals()
    assert proposal.operation.rationale == text
