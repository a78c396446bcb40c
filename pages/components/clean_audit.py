"""Audit: what a curator should look at, rule by rule, with the memories concerned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from memory_core import (
    AUDIT_RULES,
    Finding,
    MemoryBank,
    MemoryCoreError,
    NearPairs,
    Snapshot,
)
from pages.components import banks, clean_pairs, detail, keys, selection
from pages.components.export import table_downloads
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk
from pages.components.text import SYMBOLS, count, md, used

FINDINGS_A_PAGE = 20
IN_FULL = 6
"""How many memories of a finding are shown."""
ALL = "all"
RULE = "rule"
_ASIDE = "_looks_aside"
ABOUT: Mapping[str, str] = {
    ALL: "The gravest first.",
    "secret": "A key, a password or a token stands in them; whoever reads the bank reads it.",
    "instruction": "They read like an order to the model, such as “ignore previous instructions”.",
    "contradiction": "They are about the same and may say the opposite of each other.",
    "exact copy": "The very same text; Duplicates merges all of these at once.",
    "never helpful": "Retrieved again and again, and no session got better by it.",
    "near copy": "They say almost the same; Duplicates shows and merges them.",
    "stale": "Not applied for a long time.",
    "generic": "They name no tool, object, condition or number.",
    "over length": "More than 32 words.",
    "never retrieved": "No recorded retrieval ever found them.",
}
MARKS = {"high": ":red-background[**high**]", "medium": ":orange-background[**medium**]",
         "low": ":gray-background[low]"}  # fmt: skip


def section(desk: Desk) -> None:
    """The whole part."""
    known = _findings(desk)
    aside = [finding for finding in known if finding.set_aside_by]
    findings = aside if aside and _looks_at(aside) else [f for f in known if not f.set_aside_by]
    if not findings:
        st.subheader("Nothing to find fault with")
        some = count(len(desk.snapshot), "memory", "memories")
        st.markdown(f"In {some} there is nothing to report of: {', '.join(AUDIT_RULES)}.")
        return
    rule = _choose(findings)
    shown = [finding for finding in findings if rule in (ALL, finding.rule)]
    concerned = sorted({memory_id for finding in shown for memory_id in finding.ids})
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(
            f"{ABOUT.get(rule, '')} {count(len(shown), 'finding')} about "
            f"{count(len(concerned), 'memory', 'memories')}."
        )
        st.button(
            f"Select all {len(concerned):,}", key="select-concerned", type="tertiary",
            on_click=_select, args=(concerned,),
            help="The bar at the bottom then tags, moves, merges or deletes them.",
        )  # fmt: skip
        table_downloads(lambda: table_of(desk.snapshot, shown), f"audit-{rule.replace(' ', '-')}")
    opened = selection.opened(desk.snapshot)
    main, side = st.columns([3, 2]) if opened else (st.container(), None)
    with main:
        _page(desk, shown, rule)
    if side is not None and opened:
        with side:
            detail.panel(desk, opened)


def _looks_at(aside: Sequence[Finding]) -> bool:
    """Whether those that were set aside are looked at, in place of the others."""
    return st.toggle(
        f"Look at {count(len(aside), 'finding')} set aside", key=_ASIDE,
        help="A finding that was set aside counts again when its memories are reworded.",
    )  # fmt: skip


def _findings(desk: Desk) -> tuple[Finding, ...]:
    pairs = clean_pairs.pairs(desk)
    with st.spinner("Looking at every memory", show_time=True):
        return _audit(
            str(desk.bank.path), desk.signature, desk.snapshot.revision, pairs.distinct,
            desk.bank, desk.snapshot, pairs,
        )  # fmt: skip


@st.cache_resource(show_spinner=False, max_entries=4)
def _audit(
    path: str,
    signature: tuple[int, ...],
    revision: int | None,
    told: tuple[tuple[int, int], ...],
    _bank: MemoryBank,
    _snapshot: Snapshot,
    _pairs: NearPairs,
) -> tuple[Finding, ...]:
    return _bank.audit(revision=_snapshot, pairs=_pairs, with_set_aside=True)


def _choose(findings: Sequence[Finding]) -> str:
    """Which rule is looked at; it lives in the address, without the count on its button."""
    counts = Counter(finding.rule for finding in findings)
    labels = {ALL: f"All {len(findings):,}"}
    labels |= {rule: f"{rule} {counts[rule]:,}" for rule in AUDIT_RULES if counts[rule]}
    say_if_unknown(RULE, (ALL, *AUDIT_RULES))
    named = st.query_params.get(RULE, ALL)
    if st.session_state.get("_rule") not in labels:
        st.session_state.pop("_rule", None)
    chosen = st.pills(
        "Rule", list(labels), default=named if named in labels else ALL,
        format_func=labels.__getitem__, key="_rule", required=True, label_visibility="collapsed",
        on_change=_to_address,
    )  # fmt: skip
    return chosen or ALL


def _to_address() -> None:
    st.session_state["audit_page"] = 1
    if st.session_state["_rule"] == ALL:
        st.query_params.pop(RULE, None)
    else:
        st.query_params[RULE] = st.session_state["_rule"]


def _page(desk: Desk, shown: Sequence[Finding], rule: str) -> None:
    pages = -(-len(shown) // FINDINGS_A_PAGE)
    page = st.pagination(pages, key="audit_page", bind="query-params") if pages > 1 else 1
    start = (page - 1) * FINDINGS_A_PAGE
    for number, finding in enumerate(shown[start : start + FINDINGS_A_PAGE]):
        with st.container(border=True, key=f"finding-{start + number}", gap="small"):
            _finding(desk, finding, f"{rule}-{start + number}", named=rule == ALL)


def _finding(desk: Desk, finding: Finding, name: str, *, named: bool) -> None:
    some = len(finding.ids)
    with st.container(horizontal=True, vertical_alignment="center"):
        rule = f" **{finding.rule}** ·" if named else ""
        st.markdown(f"{MARKS[finding.severity]}{rule} {md(finding.sentence)}")
        if some > 1:
            st.button(
                f"Select these {some:,}", key=f"select-{name}", type="tertiary",
                on_click=_select, args=(finding.ids,),
            )  # fmt: skip
        _verdict(desk, finding, name)
    for memory_id in finding.ids[:IN_FULL]:
        _memory(desk, memory_id, name)
    if some > IN_FULL:
        st.caption(f"and {count(some - IN_FULL, 'more memory', 'more memories')}")


def _verdict(desk: Desk, finding: Finding, name: str) -> None:
    """Set it aside, or take it up again."""
    if finding.set_aside_by:
        st.caption(f"set aside by {md(finding.set_aside_by, limit=60)}", width="content")
    label, verb = ("Take up", "take_up") if finding.set_aside_by else ("Set aside", "set_aside")
    st.button(
        label, key=f"aside-{name}", type="tertiary", disabled=desk.is_past,
        on_click=_judge, args=(desk, verb, finding),
        help=None if finding.set_aside_by else "No fault: remembered while they read as now.",
    )  # fmt: skip


def _judge(desk: Desk, verb: str, finding: Finding) -> None:
    try:
        getattr(banks.writable(desk.bank), verb)([finding])
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)


def _memory(desk: Desk, memory_id: int, name: str) -> None:
    memory = desk.snapshot.by_id(memory_id)
    said, buttons = st.columns([6, 1.3], gap="small")
    with said.container(gap=None):
        st.markdown(f"{SYMBOLS[memory.kind]} {md(memory.text)}")
        st.caption(
            f"{md(memory.domain, limit=60)} · confidence {memory.confidence:.2f} · {used(memory)} "
            f"· memory {memory.id}"
        )
    with buttons.container(horizontal=True, gap="small"):
        st.button("Open", key=f"open-{name}-{memory_id}", type="tertiary",
                  on_click=selection.open_memory, args=(memory_id,))  # fmt: skip
        st.button("Select", key=f"select-{name}-{memory_id}", type="tertiary",
                  on_click=_select, args=((memory_id,),))  # fmt: skip


def _select(ids: Sequence[int]) -> None:
    known = st.session_state.get(keys.SELECTED, ())
    selection.select({*known, *ids})


def table_of(snapshot: Snapshot, shown: Sequence[Finding]) -> Any:
    """A data frame with a row for each finding."""
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "rule": finding.rule,
                "severity": finding.severity,
                "finding": finding.sentence,
                "memories": " ".join(map(str, finding.ids)),
                "texts": "\n".join(snapshot.by_id(i).text for i in finding.ids),
            }
            for finding in shown
        ]
    )
