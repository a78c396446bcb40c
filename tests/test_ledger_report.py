"""What the ledger says: counted once more, one retrieval at a time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory_core import (
    Memory,
    RecordedHit,
    RecordedRetrieval,
    SavedQuery,
    Snapshot,
    memory_uses,
    never_asked,
    never_retrieved,
)
from tests.strategies import unit_vectors

TASKS = ("rebase", "join", "greet")


@st.composite
def rows(draw: st.DrawFn) -> RecordedRetrieval:
    ids = draw(st.lists(st.integers(1, 6), unique=True, max_size=4))
    improved = draw(st.none() | st.booleans())
    hits = tuple(
        RecordedHit(i, rank, 0.5, improved is not None and draw(st.booleans()))
        for rank, i in enumerate(ids, start=1)
    )
    return RecordedRetrieval(
        str(draw(st.uuids())), draw(st.sampled_from(TASKS)), 1, 0, {}, hits, "", "me",
        draw(st.integers(0, 99)), improved,
    )  # fmt: skip


ledgers = st.lists(rows(), max_size=12)


@given(ledgers)
def test_uses_are_counts_of_the_rows(ledger):
    uses = {use.memory_id: use for use in memory_uses(ledger)}
    assert list(uses) == sorted({hit.memory_id for row in ledger for hit in row.hits})
    for memory_id, use in uses.items():
        mine = [(row, hit) for row in ledger for hit in row.hits if hit.memory_id == memory_id]
        known = [(row, hit) for row, hit in mine if row.improved is not None]
        assert use.retrieved == len(mine)
        assert use.with_outcome == len(known)
        assert use.in_improved == len([1 for row, _ in known if row.improved])
        assert use.applied == len([1 for _, hit in known if hit.applied])
        assert use.helped == len([1 for row, hit in known if hit.applied and row.improved])
        assert use.best_rank == min(hit.rank for _, hit in mine)
        assert use.last_made_at_us == max(row.made_at_us for row, _ in mine)
        helpless = all(not (row.improved and hit.applied) for row, hit in known)
        assert use.rides_along == (len(known) >= 3 and helpless)


@given(ledgers)
def test_what_never_fired_is_what_no_row_has(ledger):
    crowd = Snapshot.from_memories(
        [Memory(n, "tool", f"lesson {n}", "git") for n in range(1, 9)], unit_vectors(1, 8)
    )
    silent = never_retrieved(crowd, ledger)
    found = {hit.memory_id for row in ledger for hit in row.hits}
    assert set(silent) | found >= set(range(1, 9))
    assert not set(silent) & found
    assert list(silent) == sorted(silent)
    queries = [SavedQuery(n, task) for n, task in enumerate(TASKS, start=1)]
    unasked = never_asked(queries, ledger)
    assert {query.task for query in queries} - {query.task for query in unasked} == {
        row.task for row in ledger
    }
