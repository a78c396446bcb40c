"""The gate: what a change does to the saved queries, before it is made or between two revisions."""

from __future__ import annotations

from typing import Any

import streamlit as st

from memory_core import (
    MEASURES,
    Comparison,
    MemoryBank,
    Plan,
    QueryComparison,
    RetrievalSettings,
    SavedQuery,
    Snapshot,
    compare,
)
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.measuring import NAMES, difference_between
from pages.components.previews import saved_queries
from pages.components.text import count, md
from pages.components.text import show as show_text

SHOWN = 5


def show(desk: Desk, plan: Plan, *, k: int = 5) -> Comparison | None:
    """What a plan does to the saved queries, on the spot; None where there are none."""
    # An edit of the batch is another batch, so its key and base say what the plan is.
    name = (plan.batch.key, plan.before.revision, len(plan.accepted), len(plan.refused))
    return between(desk, plan.before, plan.after, name, RetrievalSettings(), k)


def between(
    desk: Desk,
    before: Snapshot,
    after: Snapshot,
    name: tuple[Any, ...],
    settings: RetrievalSettings,
    k: int,
) -> Comparison | None:
    """The same for any two snapshots; `name` tells them from all others of this bank."""
    queries = saved_queries(str(desk.bank.path), desk.signature, desk.bank)
    if not queries:
        st.caption("No saved query says what this would do to retrieval; add some on Quality.")
        return None
    with st.spinner("Asking the saved queries before and after", show_time=True):
        found = _compared(
            str(desk.bank.path), desk.signature, name, repr(settings), k,
            desk.bank, queries, before, after, settings,
        )  # fmt: skip
    st.markdown(f"**{sentence(found)}**")
    if found.before.queries:
        _table(found, repr(name))
    losses(found, before, after)
    return found


@st.cache_resource(show_spinner=False, max_entries=16)
def _compared(
    path: str,
    signature: tuple[int, ...],
    name: tuple[Any, ...],
    described: str,
    k: int,
    _bank: MemoryBank,
    _queries: tuple[SavedQuery, ...],
    _before: Snapshot,
    _after: Snapshot,
    _settings: RetrievalSettings,
) -> Comparison:
    vectors = _bank.embed([query.task for query in _queries])
    return compare(_before, _after, _queries, vectors, _settings, k)


def sentence(found: Comparison) -> str:
    """The gist in words."""
    if not found.before.queries:
        return "No saved query has a relevant memory yet, so there is nothing to measure."
    k, total = found.before.k, len(found.queries)
    pairs = list(zip(found.before.queries, found.after.queries, strict=True))
    better = sum(b.ndcg > a.ndcg + 1e-12 for a, b in pairs)
    worse = sum(b.ndcg < a.ndcg - 1e-12 for a, b in pairs)
    losing, only = len(found.losing), len(found.losing_only)
    loses = "loses" if losing == 1 else "lose"
    words = f"{losing or 'None'} of {count(total, 'saved query', 'saved queries')} {loses} "
    words += f"a relevant memory from the first {k}"
    words += f", {only} of them the only one" if only else ""
    if not better and not worse:
        return words + f"; no order among the first {k} changes for better or worse."
    return words + f"; by nDCG@{k}, {better} get better and {worse} get worse."


def _table(found: Comparison, key: str) -> None:
    import pandas as pd

    rows = {}
    for measure in MEASURES:
        change = found.change(measure)
        name = NAMES[measure] + ("" if measure == "reciprocal_rank" else f"@{found.before.k}")
        rows[name] = {
            "before": found.before.mean(measure).mean,
            "after": found.after.mean(measure).mean,
            "change": change.mean,
            "interval of the change": difference_between(change),
        }
    number = st.column_config.NumberColumn
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("mean of")
    st.dataframe(
        frame,
        placeholder="",
        column_config={
            "before": number(format="%.3f"),
            "after": number(format="%.3f"),
            "change": number(format="%+.3f"),
            "interval of the change": st.column_config.TextColumn(
                help="95 % of the mean changes over queries drawn anew lie within it. Where it "
                "holds 0, the queries are too few to tell the change from chance."
            ),
        },
        alt="Each measure before and after",
    )
    table_downloads(frame, "before-and-after", key=key)


def losses(found: Comparison, before: Snapshot, after: Snapshot) -> None:
    """The saved queries that lose something, the worst first: what, and what takes its place."""
    losing = sorted(found.losing, key=lambda one: (not one.loses_only, not one.loses_best))
    for one in losing[:SHOWN]:
        _loss(one, before, after)
    if len(losing) > SHOWN:
        with st.expander(f"{len(losing) - SHOWN} more"):
            for one in losing[SHOWN:]:
                _loss(one, before, after)


def _loss(one: QueryComparison, before: Snapshot, after: Snapshot) -> None:
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{md(one.query.task)}**")
            if one.loses_only:
                st.badge("loses its only relevant memory", color="red")
            elif one.loses_best:
                st.badge("loses its best memory", color="orange")
        for lost in one.lost:
            gone = "leaves" if lost.rank_after is None else f"falls to rank {lost.rank_after}"
            st.caption(f"− rank {lost.rank_before}, grade {lost.grade}, {gone}")
            show_text(before.by_id(lost.memory_id).text)
            if lost.replacement is not None:
                grade = one.query.judgements.get(lost.replacement)
                st.caption(f"\\+ in its place, {'unjudged' if grade is None else f'grade {grade}'}")
                show_text(after.by_id(lost.replacement).text)


# -- two revisions --------------------------------------------------------------------------------


def two_revisions(desk: Desk, settings: RetrievalSettings, k: int) -> None:
    """Compare any revision with any other; at first the latest with the one ten before."""
    latest = int(desk.head.revision or 0)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        first = _revision("Compare revision", "from", max(latest - 10, 0), latest)
        second = _revision("with revision", "to", latest, latest)
    if first == second:
        st.info("A revision does not differ from itself; choose another one.")
        return
    before, after = desk.bank.snapshot(first), desk.bank.snapshot(second)
    changed = desk.bank.diff(before, after)
    st.caption(
        f"Revision {first} → {second}: +{len(changed.added)} −{len(changed.removed)} "
        f"~{len(changed.changed)} · judged by today's judgements"
    )
    between(desk, before, after, (first, second), settings, k)


def _revision(label: str, key: str, value: int, latest: int) -> int:
    chosen = st.number_input(
        label, 0, max(latest, 1), value, step=1, key=key, bind="query-params", width=170
    )
    return min(value if chosen is None else int(chosen), latest)
