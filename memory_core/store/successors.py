"""What stands for memories that were merged away, over all revisions."""

from __future__ import annotations

import json

from duckdb import DuckDBPyConnection

from memory_core.store.rows import rows


def read_successors(connection: DuckDBPyConnection) -> dict[int, tuple[int, ...]]:
    """Judged memory that was merged away -> the memories that have stood for it, oldest first.

    A merged memory stands for each of its sources when its words are new, but only for those with
    the same words when it has those of a source, as `memory_core.comparison.successors` has it.
    """
    leaving = rows(
        connection,
        """
        select distinct change.revision, memory.id, memory.text_id
        from change join memory
            on memory.id = change.memory_id and memory.to_revision = change.revision
        where change.action = 'merged'
        """,
    )
    if not leaving:
        return {}
    texts = {(revision, memory_id): text_id for revision, memory_id, text_id in leaving}
    merged = rows(
        connection,
        """
        select from_revision, id, text_id, provenance from memory
        where from_revision in (select revision from change where action = 'merged')
        order by from_revision, id
        """,
    )
    after: dict[int, list[int]] = {}
    for revision, merged_id, text_id, provenance in merged:
        sources = [i for i in json.loads(provenance)["merged_from"] if (revision, i) in texts]
        same = [i for i in sources if texts[revision, i] == text_id]
        for source in same or sources:
            after.setdefault(source, []).append(merged_id)
    judged = {i for (i,) in rows(connection, "select distinct memory_id from judgement")}
    return {memory_id: _followed(after, memory_id) for memory_id in judged & after.keys()}


def _followed(after: dict[int, list[int]], memory_id: int) -> tuple[int, ...]:
    """All that came of a memory, merge upon merge."""
    found: dict[int, None] = {}
    coming = list(after[memory_id])
    while coming:
        following = coming.pop(0)
        if following not in found:
            found[following] = None
            coming += after.get(following, ())
    return tuple(sorted(found))  # a merge comes after its sources, and so do the ids
