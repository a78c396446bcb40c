"""One file, many processes: a person at the dashboard, two agents, and a script that commits."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from playwright.sync_api import Page, expect

from memory_core import Add, Batch, HashEmbedder, MemoryBank
from tests.browser.conftest import ROOT, Serve, settled
from tests.mcp_clients import answer, environment, over_stdio

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(600)]

COMMITS = 200
MOST_ROUNDS = 12
"""Of an agent, should the script take long."""
WRONG = "[data-testid=stException], [data-testid=stAlertContentError]"
"""What Streamlit shows a person as an error."""
READING_MS = 700
PAGES = ("", "query?task=check+the+exit+code", "review", "ledger", "history", "quality")


@dataclass
class Told:
    """What an agent was told was done."""

    retrievals: list[str] = field(default_factory=list)
    outcomes: dict[str, int] = field(default_factory=dict)
    """Revision of each retrieval's outcome."""
    applied: Counter[int] = field(default_factory=Counter)
    """How often each memory was applied."""
    proposals: dict[int, str] = field(default_factory=dict)
    accepted: dict[int, int] = field(default_factory=dict)
    """Revision in which each proposal was accepted."""


@pytest.fixture
def shared(tmp_path: Path) -> MemoryBank:
    bank = MemoryBank.open(tmp_path / "shared.duckdb", embedder=HashEmbedder(), actor="tester")
    lessons = [Add(f"Check the exit code of tool {n}.", "tool", "shell") for n in range(20)]
    bank.update(Batch(lessons, reason="to begin with"))
    return bank


def work_as_agent(bank: Path, name: str, options: tuple[str, ...], over: threading.Event) -> Told:
    """Retrieve, say how it went, and propose a lesson, again and again until all is over."""
    told = Told()

    async def main() -> None:
        async with over_stdio(bank, *options, name=name) as client:

            async def call(tool: str, **arguments: Any) -> dict[str, Any]:
                return answer(await client.call_tool(tool, arguments))

            for k in range(MOST_ROUNDS):
                found = await call("retrieve_memories", task=f"{name} checks tool {k % 7}")
                told.retrievals.append(found["retrieval_id"])
                ids = [hit["id"] for hit in found["hits"][:2]]
                ended = await call(
                    "record_outcome",
                    retrieval_id=found["retrieval_id"], improved=k % 3 > 0, applied=ids,
                )  # fmt: skip
                told.outcomes[found["retrieval_id"]] = ended["revision"]
                told.applied.update(ids)
                text = f"Run `{name} --step {k}` before step {k + 1}."
                made = await call("propose_memory", text=text, kind="procedural", domain=name)
                told.proposals[made["proposal_id"]] = text
                if made["state"] == "accepted":
                    told.accepted[made["proposal_id"]] = made["revision"]
                if over.is_set():
                    return

    anyio.run(main)
    return told


def look_around(page: Page, address: str, errors: list[str]) -> None:
    """One round through the pages, and a proposal accepted on the way."""
    for where in PAGES:
        page.goto(f"{address}/{where}")
        settled(page)
        if where == "review" and page.locator(".st-key-proposal").count():
            page.wait_for_timeout(500)  # as one who has read it
            page.keyboard.press("a")
            page.wait_for_timeout(300)
            settled(page)
        page.wait_for_timeout(READING_MS)
        errors += page.locator(WRONG).all_inner_texts()


def test_nothing_is_lost_and_nobody_sees_an_error(
    page: Page, serve: Serve, shared: MemoryBank
) -> None:
    path = Path(shared.path)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    address = serve(WINNOW_BANK=str(path), WINNOW_MODEL="hash")
    over = threading.Event()
    with ThreadPoolExecutor(2) as agents:
        told: list[Future[Told]] = [
            agents.submit(work_as_agent, path, "waiter", (), over),
            agents.submit(work_as_agent, path, "taker", ("--auto-accept",), over),
        ]
        script = subprocess.Popen(
            [sys.executable, str(ROOT / "tests" / "committing.py"), str(path), str(COMMITS)],
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            with ThreadPoolExecutor(1) as reader:
                printed = reader.submit(script.communicate)
                look_around(page, address, errors)
                while not printed.done():
                    look_around(page, address, errors)
                out, complaints = printed.result()
        finally:
            over.set()
            script.kill()
        waiter, taker = (agent.result() for agent in told)
    assert (script.returncode, complaints) == (0, "")
    assert not errors
    here = MemoryBank.open(path, embedder=HashEmbedder())
    assert_all_there(here, [json.loads(line) for line in out.splitlines()], waiter, taker)

    page.goto(address)
    settled(page)
    expect(page.get_by_text(f"Revision {here.snapshot().revision}", exact=True)).to_be_visible()


def assert_all_there(bank: MemoryBank, script: list[Any], waiter: Told, taker: Told) -> None:
    """All that was acknowledged to anyone is in the bank, once."""
    revisions = {revision.number: revision for revision in bank.revisions()}
    head = bank.snapshot()
    assert sorted(revisions) == list(range(1, len(revisions) + 1))
    assert len(set(head.texts())) == len(head)

    assert len(script) == COMMITS
    for number, memory_id, text in script:
        assert revisions[number].actor == "script"
        assert head.by_id(memory_id).text == text

    ledger = {row.id: row for row in bank.retrievals()}
    assert set(ledger) == {*waiter.retrievals, *taker.retrievals}
    for name, told in (("waiter", waiter), ("taker", taker)):
        assert len(told.retrievals) > 1
        for retrieval_id, number in told.outcomes.items():
            assert ledger[retrieval_id].actor == name
            assert ledger[retrieval_id].outcome_revision == number
            assert (revisions[number].kind, revisions[number].actor) == ("outcome", name)

    proposals = {proposal.id: proposal for proposal in bank.proposals(None)}
    assert set(proposals) == {*waiter.proposals, *taker.proposals}
    for proposal_id, text in (waiter.proposals | taker.proposals).items():
        assert proposals[proposal_id].operation.text == text  # type: ignore[union-attr]
        accepted = proposals[proposal_id].state == "accepted"
        assert accepted == (text in head.texts())
    assert not waiter.accepted.keys() - {p.id for p in bank.proposals("accepted")}
    assert taker.accepted == {i: proposals[i].revision for i in taker.proposals}

    # No outcome got lost under another one.
    applied = waiter.applied + taker.applied
    assert {m.id: m.usage_count for m in head if m.usage_count} == applied

    # And no revision is there that nobody made.
    by = Counter(revision.actor for revision in revisions.values())
    decisions = len({proposal.revision for proposal in bank.proposals("accepted")})
    assert (by.pop("tester"), by.pop("script")) == (1, COMMITS)
    assert by.pop("waiter") == len(waiter.outcomes)
    taken = by.pop("taker")
    assert len(by) == 1  # the person
    assert taken + by.total() == len(taker.outcomes) + decisions
