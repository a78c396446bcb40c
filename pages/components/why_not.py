"""Why a memory is not among the hits, and advice that one click puts to the test."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from memory_core import Hit, Retrieval, Snapshot, WhyNot
from pages.components import keys
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.score_bar import score_bar, sentence
from pages.components.text import SYMBOLS, count, marked, md

MATCHES = 50
WHY_NOT = "Why not?"
MOST = 50
"""The highest limit that the form takes."""


def ask_about(memory_id: int) -> None:
    """Look at why a memory is not in; to be called in a callback."""
    st.session_state["about"] = str(memory_id)
    st.session_state["look"] = WHY_NOT


def section(desk: Desk, found: Retrieval) -> None:
    """A memory by its number or by words of it, and its standing for the query."""
    about = st.text_input(
        "Memory", key="about", bind="query-params", live="300ms", width=520,
        placeholder="its number, or words of its text",
    )  # fmt: skip
    memory_id = _chosen(found.snapshot, about or "")
    if memory_id is None:
        return
    answer = found.why_not(memory_id)
    left, right = st.columns([3, 2])
    with left, st.container(border=True, key="why-not"):
        _standing(found, answer)
    with right, st.container(border=True, key="advice"):
        _advice(desk, found, answer)


def _chosen(snapshot: Snapshot, about: str) -> int | None:
    wanted = about.strip()
    if not wanted:
        st.caption("Name a memory to see its place, what holds it back, and what would lift it in.")
        return None
    if wanted.isdecimal():
        if int(wanted) in snapshot:
            return int(wanted)
        st.warning(f"This revision has no memory {md(wanted, limit=20)}.")
        return None
    ids = _with_words(snapshot, wanted)
    if not ids:
        st.warning(f"No memory's text has the words “{md(wanted, limit=60)}”.")
        return None
    if len(ids) == 1:
        return ids[0]
    labels = {i: f"{i} · {snapshot.by_id(i).text}" for i in ids}
    return st.selectbox(
        f"{count(len(ids), 'memory', 'memories')} with these words"
        + (", the first of them" if len(ids) == MATCHES else ""),
        ids, format_func=labels.__getitem__, key=f"which-{snapshot.revision}-{wanted}",
    )  # fmt: skip


def _with_words(snapshot: Snapshot, wanted: str) -> list[int]:
    words, found = wanted.casefold().split(), []
    for row, text in enumerate(snapshot.texts()):
        if all(word in text.casefold() for word in words):
            found.append(int(snapshot.ids[row]))
            if len(found) == MATCHES:
                break
    return found


def _standing(found: Retrieval, answer: WhyNot) -> None:
    memory = found.snapshot.by_id(answer.memory_id)
    st.caption(f"{SYMBOLS[memory.kind]} memory {memory.id} · {md(memory.domain)}")
    st.markdown(marked(memory.text, found.task))
    st.markdown(f"**{md(answer.sentence)}**")
    own = Hit(memory, answer.rank or 0, answer.parts.total, answer.parts)
    score_bar(own, full=max(1.0, own.score))
    st.caption(sentence(own))
    if found.hits:
        _beside_the_last(found, answer)


def _beside_the_last(found: Retrieval, answer: WhyNot) -> None:
    import pandas as pd

    memory = found.snapshot.by_id(answer.memory_id)
    rivals = [h for h in found.hits if not found.settings.per_kind or h.memory.kind == memory.kind]
    if not rivals:
        return
    last, own = rivals[-1].parts, answer.parts
    rows = [
        (label, f"{mine.value:.3f} × {mine.weight:.2f}", mine.share, its.share)
        for label, mine, its in (
            ("similarity", own.similarity, last.similarity),
            ("words", own.lexical, last.lexical),
            ("confidence", own.confidence, last.confidence),
        )
        if mine.weight
    ]
    rows.append(("score", "", own.total, last.total))
    table = pd.DataFrame(rows, columns=["part", "value × weight", "share", "last hit's share"])
    table["difference"] = table["share"] - table["last hit's share"]
    number = st.column_config.NumberColumn(format="%.3f")
    columns = dict.fromkeys(("share", "last hit's share", "difference"), number)
    st.dataframe(table, hide_index=True, column_config=columns)
    table_downloads(table, "score-parts")


# -- advice ---------------------------------------------------------------------------------------


def _advice(desk: Desk, found: Retrieval, answer: WhyNot) -> None:
    if answer.verdict == "in":
        st.caption("It is in.")
        _weights(found, answer)
        return
    st.caption("What would lift it in · each was computed, then checked by running it")
    excluded = answer.rank is None
    helps = [_domain(answer), _weights(found, answer), _confidence(found, answer)]
    helps.append(_limit(found, answer))
    if not excluded and not helps[1]:
        st.caption("No confidence weight (λ) would do it, all else the same.")
    if not excluded and not helps[2]:
        st.caption("No confidence would do it, not even the highest, 0.95.")
    if not any(helps):
        st.markdown("Nothing that one setting could do lifts it in.")


def _domain(answer: WhyNot) -> bool:
    if answer.domain_lift is None:
        return False
    st.button(
        f"Ask within {md(answer.domain_lift, limit=40)} only", key="advice-domain",
        on_click=_set, kwargs={"domains": [answer.domain_lift]},
    )  # fmt: skip
    return True


def _weights(found: Retrieval, answer: WhyNot) -> bool:
    for number, (low, high) in enumerate(answer.weight_intervals):
        now = found.settings.confidence_weight
        st.markdown(f"With a confidence weight (λ) of {low:.4g} to {high:.4g} it is in.")
        if not low <= now <= high:
            weight = within(low, high, now)
            st.button(
                f"Set λ to {weight:.4g}", key=f"advice-weight-{number}", on_click=_set,
                kwargs={"weight": weight},
            )  # fmt: skip
    return bool(answer.weight_intervals)


def within(low: float, high: float, now: float) -> float:
    """The weight of an interval that is nearest to the present one, in hundredths if it has one."""
    first, last = np.ceil(round(low * 100, 6)), np.floor(round(high * 100, 6))
    if first <= last:
        return float(np.clip(round(now * 100), first, last)) / 100
    return float(np.clip(now, low, high))


def _confidence(found: Retrieval, answer: WhyNot) -> bool:
    if answer.confidence_needed is None:
        return False
    now = found.snapshot.by_id(answer.memory_id).confidence
    st.markdown(f"With a confidence of {answer.confidence_needed:.4f} it is in; it has {now:.2f}.")
    st.button(
        f"Suppose a confidence of {answer.confidence_needed:.4f}", key="advice-confidence",
        on_click=_suppose, args=(answer.memory_id, answer.confidence_needed),
    )  # fmt: skip
    return True


def _limit(found: Retrieval, answer: WhyNot) -> bool:
    if answer.rank is None or answer.rank > MOST:
        return False
    each = " of each kind" if found.settings.per_kind else ""
    st.button(
        f"Raise the limit to {answer.rank}{each}", key="advice-limit", on_click=_set,
        kwargs={"limit": answer.rank},
    )  # fmt: skip
    return True


def _set(**values: Any) -> None:
    for name, value in values.items():
        st.session_state[name] = value


def _suppose(memory_id: int, confidence: float) -> None:
    st.session_state[keys.SUPPOSED] = (memory_id, confidence)
