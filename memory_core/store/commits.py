"""Committing: what a plan says, as the next revision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
from duckdb import DuckDBPyConnection

from memory_core.errors import InvalidBatchError, StalePlanError
from memory_core.operations import Commit
from memory_core.pool import encode_detail, encode_provenance, encode_tags
from memory_core.records import Change, Memory, Revision
from memory_core.store.revisions import Head, read_head
from memory_core.store.rows import execute, first, json_text, only, registered, rows
from memory_core.store.texts import put_texts, refuse_drift


def commit(connection: DuckDBPyConnection, planned: Commit, *, model: str) -> Revision:
    """Write the next revision, within the caller's transaction, which must not have made it yet.

    Raises StalePlanError, EncodingDriftError.
    """
    head = read_head(connection)
    refuse_drift(model, head.model)
    _refuse_if_stale(connection, planned, head)
    next_memory, next_text = only(connection, "select memory, text from counter")
    ids = _number(planned, next_memory)
    put = tuple(_renumbered(memory, ids) for memory in planned.put)
    text_ids, next_text = put_texts(connection, planned.vectors, model=model, next_id=next_text)
    number = head.revision + 1
    closed = _close(connection, planned, number)
    _insert(connection, put, text_ids, number)
    epoch = head.epoch + planned.starts_epoch
    (size,) = only(connection, "select count(*) from memory where to_revision is null")
    added = len(put) - (closed - len(planned.removed))
    revision = Revision(
        number=number,
        key=planned.batch_key,
        kind=planned.kind,
        reason=planned.reason,
        actor=planned.actor,
        made_at_us=planned.made_at_us,
        epoch=epoch,
        added=added,
        changed=len(put) - added,
        removed=len(planned.removed),
        size=size,
        ids=ids,
    )
    _record(connection, revision)
    _explain(connection, revision, planned.changes)
    execute(
        connection,
        "update counter set revision = ?, batch_key = ?, memory = ?, text = ?, epoch = ?",
        [number, revision.key, next_memory + len(ids), next_text, epoch],
    )
    return revision


def _refuse_if_stale(connection: DuckDBPyConnection, planned: Commit, head: Head) -> None:
    if planned.base_key not in ("", _key_of(connection, planned.base_revision, head)):
        raise StalePlanError(
            f"Another bank, or an older copy, has taken this one's place since revision "
            f"{planned.base_revision} was planned against. Plan again to see what would happen now."
        )
    if head.revision == planned.base_revision:
        return
    registered(connection, "touched", {"id": pa.array(planned.touched, pa.int64())})
    changed = rows(
        connection,
        """
        select distinct id from memory
        where id in (select id from touched) and (from_revision > ? or to_revision > ?)
        order by id
        """,
        [planned.base_revision, planned.base_revision],
    )
    connection.unregister("touched")
    if changed:
        names = ", ".join(str(row[0]) for row in changed[:10])
        names += ", …" if len(changed) > 10 else ""
        raise StalePlanError(
            f"Memories {names} have changed between revision {planned.base_revision}, which was "
            f"planned against, and {head.revision}. Plan again to see what would happen now."
        )

    _refuse_copies(connection, planned, head)


def _refuse_copies(connection: DuckDBPyConnection, planned: Commit, head: Head) -> None:
    """What came in since the plan must not be the same as what the plan brings in."""
    if not planned.fresh:
        return
    registered(connection, "fresh", {"text": pa.array(planned.fresh, pa.string())})
    found = rows(
        connection,
        """
        select memory.id from memory join text on text.id = memory.text_id
        where memory.to_revision is null and memory.from_revision > ?
            and text.text in (select text from fresh)
        order by memory.id
        """,
        [planned.base_revision],
    )
    connection.unregister("fresh")
    if found:
        raise StalePlanError(
            f"{len(found)} of these texts came in between revision {planned.base_revision}, which "
            f"was planned against, and {head.revision}, such as memory {found[0][0]}. Plan again "
            "to see what would happen now."
        )


def _key_of(connection: DuckDBPyConnection, revision: int, head: Head) -> str | None:
    """The key of the batch that made a revision, None where there is none."""
    if revision == head.revision:
        return head.batch_key
    row = first(connection, "select batch_key from revision where number = ?", [revision])
    return None if row is None else str(row[0])


def _number(planned: Commit, next_id: int) -> dict[int, int]:
    new = [memory.id for memory in planned.put if memory.id < 0]
    unknown = [m.id for m in planned.put if m.id >= next_id]
    if unknown:
        raise InvalidBatchError(f"Memory {unknown[0]} was never in this bank; it is not restored.")
    return {provisional: next_id + i for i, provisional in enumerate(new)}


def _renumbered(memory: Memory, ids: Mapping[int, int]) -> Memory:
    origin = memory.provenance
    if any(source in ids for source in origin.merged_from):
        merged = tuple(ids.get(source, source) for source in origin.merged_from)
        memory = replace(memory, provenance=replace(origin, merged_from=merged))
    return replace(memory, id=ids[memory.id]) if memory.id in ids else memory


def _close(connection: DuckDBPyConnection, planned: Commit, number: int) -> int:
    leaving = [*planned.removed, *(m.id for m in planned.put if m.id > 0)]
    if not leaving:
        return 0
    registered(connection, "leaving", {"id": pa.array(leaving, pa.int64())})
    (closed,) = only(
        connection,
        """
        update memory set to_revision = ?
        where to_revision is null and id in (select id from leaving)
        """,
        [number],
    )
    connection.unregister("leaving")
    return int(closed)


def _insert(
    connection: DuckDBPyConnection,
    put: Sequence[Memory],
    text_ids: Mapping[str, int],
    number: int,
) -> None:
    if not put:
        return
    columns = {
        "id": [m.id for m in put],
        "kind": [m.kind for m in put],
        "text_id": [text_ids[m.text] for m in put],
        "domain": [m.domain for m in put],
        "confidence": [m.confidence for m in put],
        "usage_count": [m.usage_count for m in put],
        "success_count": [m.success_count for m in put],
        "epoch": [m.epoch for m in put],
        "pinned": [m.pinned for m in put],
        "tags": [encode_tags(m.tags) for m in put],
        "detail": [encode_detail(m.detail) for m in put],
        "provenance": [encode_provenance(m.provenance) for m in put],
    }
    registered(connection, "put", columns)
    execute(
        connection,
        """
        insert into memory
        select id, ?, null, kind, text_id, domain, confidence, usage_count, success_count, epoch,
            pinned, tags, detail, provenance
        from put
        """,
        [number],
    )
    connection.unregister("put")


def _record(connection: DuckDBPyConnection, revision: Revision) -> None:
    r = revision
    execute(
        connection,
        "insert into revision values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [r.number, r.key, r.kind, r.reason, r.actor, r.made_at_us, r.epoch, r.added, r.changed,
         r.removed, r.size, json_text({str(old): new for old, new in r.ids.items()}, "ids")],
    )  # fmt: skip


def _explain(connection: DuckDBPyConnection, r: Revision, changes: Sequence[Change]) -> None:
    """Keep why each memory was touched, but for those that came and went within the batch."""
    kept = [c for c in changes if c.memory_id > 0 or c.memory_id in r.ids]
    if not kept:
        return
    columns = {
        "memory_id": [r.ids.get(c.memory_id, c.memory_id) for c in kept],
        "action": [c.action for c in kept],
        "rationale": [c.rationale for c in kept],
        "evidence": [
            json_text(
                [{"trajectory_id": e.trajectory_id, "steps": e.steps} for e in c.evidence],
                "evidence",
            )
            for c in kept
        ],
    }
    registered(connection, "changes", columns)
    execute(
        connection,
        "insert into change select ?, memory_id, action, rationale, evidence from changes",
        [r.number],
    )
    connection.unregister("changes")
