"""Banks that learning.py compares with: a bank whose verbs have changed places."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from memory_core import Add, Batch, Memory, MemoryBank, ProceduralDetail, ToolDetail
from memory_core.text_games.lessons import steps_in

_COUNTED = re.compile(r"([\w-]+) \d+/\d+")


def scrambled(bank: MemoryBank, path: Path, seed: int) -> MemoryBank:
    """A bank with the same lessons, in which every verb stands for another one throughout."""
    memories = bank.snapshot().memories
    changed = _changed_places(_verbs(memories), seed)
    words = re.compile(rf"\b({'|'.join(map(re.escape, changed))})\b") if changed else None

    def other(text: str) -> str:
        return words.sub(lambda found: changed[found[1]], text) if words else text

    def detail(memory: Memory) -> object:
        if isinstance(memory.detail, ProceduralDetail):
            return replace(memory.detail, steps=tuple(map(other, memory.detail.steps)))
        if isinstance(memory.detail, ToolDetail):
            tool = memory.detail.tool
            return ToolDetail(changed.get(tool, tool), other(memory.detail.usage))
        return memory.detail

    made = MemoryBank.open(path, actor="scrambler")
    made.update(
        Batch(
            [
                Add(
                    other(m.text), m.kind, m.domain, detail(m), confidence=m.confidence,
                    usage_count=m.usage_count, success_count=m.success_count,
                )
                for m in memories
            ],
            reason="The same lessons with their verbs in other places",
        )
    )  # fmt: skip
    return made


def _verbs(memories: tuple[Memory, ...]) -> list[str]:
    found: set[str] = set()
    for memory in memories:
        found.update(step.command.verb for step in steps_in(memory))
        if isinstance(memory.detail, ToolDetail):
            found.update(_COUNTED.findall(memory.detail.usage))
    return sorted(found)


def _changed_places(verbs: list[str], seed: int) -> dict[str, str]:
    """Each verb -> another one; every one of them is taken once."""
    if len(verbs) < 2:
        return {}
    order = [verbs[i] for i in np.random.default_rng(seed).permutation(len(verbs))]
    return dict(zip(order, order[1:] + order[:1], strict=True))
