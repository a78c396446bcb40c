"""A script that uses a bank as any script does: `python tests/committing.py BANK COUNT`."""

from __future__ import annotations

import json
import sys

from memory_core import Add, Batch, HashEmbedder, MemoryBank


def main(path: str, count: int) -> None:
    """Commit lessons one by one; print what each revision was acknowledged as."""
    bank = MemoryBank.open(path, embedder=HashEmbedder(), actor="script")
    texts = [f"Lesson {k} of the script: check the exit code of step {k}." for k in range(count)]
    # Planned first, as a plan that touches nothing never goes stale: half the turns at the file.
    plans = [bank.plan(Batch([Add(text, "tool", "scripts")], reason=text)) for text in texts]
    for text, plan in zip(texts, plans, strict=True):
        made = bank.commit(plan)
        (memory_id,) = made.ids.values()
        print(json.dumps([made.number, memory_id, text]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
