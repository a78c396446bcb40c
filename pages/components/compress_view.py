"""What each compression would keep, drop and break, side by side and in full."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from pages.components import gate, map_difference, previews
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.previews import Preview
from pages.components.text import SYMBOLS, count, md, show

ARROWS = 300
"""More of them on one map hide it."""


def side_by_side(made: dict[str, Preview], k: int) -> None:
    """One row for each strategy."""
    import pandas as pd

    rows = {name: _row(preview, k) for name, preview in made.items()}
    frame = pd.DataFrame.from_dict(rows, orient="index").rename_axis("strategy")
    number = st.column_config.NumberColumn
    st.dataframe(
        frame,
        placeholder="",
        column_config={
            "kept": number(width=60),
            "dropped": number(width=70),
            f"recall@{k}": number(format="%.3f", help="Mean over the saved queries, after"),
            "change": number(format="%+.3f", help=f"Of recall@{k}, against today"),
            "nDCG": number(format="%.3f"),
            "MRR": number(format="%.3f"),
            "lose a lesson": number(help=f"Saved queries that lose a relevant one from their {k}"),
            "lose the only one": number(help="Saved queries left without any relevant lesson"),
            "coverage": number(
                format="%.2f", help="Mean similarity of a dropped lesson to the nearest that stays"
            ),
            "worst": number(format="%.2f", help="The least similar of them"),
            "same hits": number(
                format="%.0f%%", help=f"Of the first {k} hits, the share that stays the same"
            ),
            "tokens": number(format="%+.0f%%", help="Of all texts, estimated from their words"),
        },
        alt="Each strategy with what it keeps and what it costs",
    )
    table_downloads(frame, "strategies")
    for name, preview in made.items():
        for note in preview.plan.notes:
            st.caption(f"**{name}**: {note}")


def _row(preview: Preview, k: int) -> dict[str, Any]:
    measured, asked = preview.impact, preview.impact.comparison
    tokens = measured.library_tokens
    return {
        "kept": measured.size.after,
        "dropped": int(np.count_nonzero(~preview.plan.kept)),
        f"recall@{k}": asked.after.recall.mean,
        "change": asked.after.recall.mean - asked.before.recall.mean,
        "nDCG": asked.after.ndcg.mean,
        "MRR": asked.after.mrr.mean,
        "lose a lesson": len(asked.losing),
        "lose the only one": len(asked.losing_only),
        "coverage": measured.coverage.mean,
        "worst": measured.coverage.worst,
        "same hits": 100 * asked.overlap.mean,
        "tokens": 100 * (tokens.after / tokens.before - 1) if tokens.before else 0.0,
    }


def losses(preview: Preview) -> None:
    """The saved queries that lose something by a compression."""
    found = preview.impact.comparison
    if not found.losing:
        st.success("No saved query loses a relevant lesson.")
        return
    gate.losses(found, preview.plan.before, preview.plan.after)


def dropped(desk: Desk, name: str, preview: Preview) -> None:
    """All that goes, by which number, and the nearest that stays; tick some to spare them."""
    ids = preview.plan.dropped.tolist()
    if not ids:
        st.info("Nothing goes.")
        return
    frame = _dropped_frame(preview, ids)
    event = st.dataframe(
        frame,
        placeholder="",
        column_config={
            "id": st.column_config.NumberColumn(width=55, format="%d"),
            "kind": st.column_config.TextColumn("", width=36),
            "text": st.column_config.TextColumn("what goes", width=420),
            "why": st.column_config.TextColumn("by which number", width=280),
            "similarity": st.column_config.NumberColumn("nearest", format="%.2f", width=70),
            "nearest": st.column_config.TextColumn("what stays nearest", width=420),
        },
        height=360,
        key=f"dropped-{desk.snapshot.revision}-{name}-{hash((tuple(ids), previews.spared()))}",
        on_select="rerun",
        selection_mode="multi-row",
        alt=f"{len(ids)} memories that {name} would drop",
    )
    chosen = [ids[row] for row in event.selection.rows if row < len(ids)]
    with st.container(horizontal=True, vertical_alignment="center"):
        if chosen:
            st.button(
                f"Pin {len(chosen)} and plan again", type="primary", key="spare",
                on_click=previews.spare, args=(chosen,), disabled=desk.is_past,
            )  # fmt: skip
        else:
            st.caption("Tick what should stay, and pin it: the plan is made again at once.")
        if previews.spared():
            pinned = count(len(previews.spared()), "memory", "memories")
            st.caption(f"{pinned} will be pinned with the commit.")
            st.button("Take that back", type="tertiary", on_click=previews.spare_nothing)
        table_downloads(frame, f"dropped-{name}")
    for memory_id in chosen[:3]:
        _argued(preview, memory_id)


def on_the_map(desk: Desk, name: str, preview: Preview) -> None:
    """Before and after on the same coordinates, with an arrow from what goes to what is nearest."""
    plan = preview.plan
    nearest, similarity = plan.nearest[~plan.kept], plan.similarity[~plan.kept]
    worst = np.argsort(similarity)[:ARROWS]  # NaN, where nothing stays, is last
    pairs = zip(plan.dropped[worst].tolist(), nearest[worst].tolist(), strict=True)
    st.caption(
        "An arrow leads from each memory that goes to the most similar one that stays."
        if len(nearest) <= ARROWS
        else f"The {ARROWS} memories that go and are least like any that stays have an arrow to "
        "the most similar one."
    )
    map_difference.show(
        desk, plan.before, plan.after, key=f"map-{name}",
        arrows=[(memory_id, stays) for memory_id, stays in pairs if stays],
    )  # fmt: skip


def _dropped_frame(preview: Preview, ids: list[int]) -> Any:
    import pandas as pd

    before = preview.plan.before
    decisions = [preview.plan.decision(memory_id) for memory_id in ids]
    memories = [before.by_id(memory_id) for memory_id in ids]
    return pd.DataFrame(
        {
            "kind": [SYMBOLS[memory.kind] for memory in memories],
            "text": [memory.text for memory in memories],
            "why": [decision.sentence for decision in decisions],
            "similarity": [decision.similarity for decision in decisions],
            "nearest": [
                "" if decision.nearest is None else before.by_id(decision.nearest).text
                for decision in decisions
            ],
        },
        index=pd.Index(ids, name="id"),
    )


def _argued(preview: Preview, memory_id: int) -> None:
    decision = preview.plan.decision(memory_id)
    with st.container(border=True):
        st.caption(f"− memory {memory_id} · {md(decision.sentence)}")
        show(preview.plan.before.by_id(memory_id).text)
        if decision.nearest is not None:
            st.caption(f"stays, {decision.similarity:.2f} similar")
            show(preview.plan.before.by_id(decision.nearest).text)
