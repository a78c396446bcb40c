"""The drafts of a reflection: what each would do, the steps it cites, and the decision."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from memory_core import (
    MemoryCoreError,
    Plan,
    ProceduralDetail,
    Proposal,
    ReflectionSummary,
    RefusedDraft,
    StrategicDetail,
    ToolDetail,
)
from pages.components import (
    keys,
    plan_view,
    proposal_evidence,
    proposal_refused,
    reflect_runs,
    reflect_steps,
    review_decide,
    review_edit,
    review_group,
    review_one,
    review_reasons,
)
from pages.components.frame import Desk
from pages.components.reflect_steps import Shown
from pages.components.review_queue import change_of, domain_of, text_of
from pages.components.text import SYMBOLS, count, md

CITED = 12
"""Steps of one run that are shown as buttons."""
REPLY = 4_000
"""Characters of a raw reply that are shown."""


def pane(
    desk: Desk, made: ReflectionSummary, drafts: Sequence[Proposal], runs: Sequence[Shown]
) -> None:
    """All drafts under one another, and what else was said."""
    waiting = [draft for draft in drafts if draft.state == "pending"]
    if len(waiting) > 1:
        _together(desk, waiting)
    if not drafts:
        st.markdown("**There was nothing to learn here**, or all of it is known already.")
    for number, draft in enumerate(drafts, start=1):
        with st.container(border=True, key=f"draft-{number}", gap="small"):
            _draft(desk, made, draft, number, runs)
    for note in made.notes:
        st.caption(f"ℹ️ {md(note)}")
    _refused(made.refused)


def _together(desk: Desk, waiting: Sequence[Proposal]) -> None:
    """Accepting all that wait as one revision, or leaving them to Review."""
    ids = [draft.id for draft in waiting]
    plan = _plan(desk, ids)
    if plan is None:
        return
    refused = {ids[refusal.index] for refusal in plan.refused}
    accepted = [i for i in ids if i not in refused]
    sentence = f"Accepted {count(len(accepted), 'draft')} of a reflection"
    with st.container(horizontal=True, vertical_alignment="center", key="all-drafts"):
        st.button(
            f"Accept all {len(accepted)} as one revision" if not refused
            else f"Accept {len(accepted)} of {len(ids)} as one revision",
            key="accept-all", disabled=desk.is_past or not accepted,
            on_click=review_decide.accept, args=(desk, accepted, sentence, None),
            help="What is refused keeps waiting, with its reason.",
        )  # fmt: skip
        st.page_link(
            "pages/review.py", label="or decide in Review", width="content",
            query_params={keys.PROPOSAL: str(ids[0])},
        )  # fmt: skip


def _plan(desk: Desk, ids: Sequence[int]) -> Plan | None:
    with st.spinner("Planning it; the first new text also loads the model", show_time=True):
        try:
            return review_group.plan_of(
                str(desk.bank.path), desk.signature, desk.head.revision, tuple(sorted(ids)),
                desk.bank,
            )  # fmt: skip
        except MemoryCoreError as error:
            st.error(md(str(error)))
            return None


# -- one draft ------------------------------------------------------------------------------------


def _draft(
    desk: Desk, made: ReflectionSummary, draft: Proposal, number: int, runs: Sequence[Shown]
) -> None:
    if draft.state != "pending":
        _decided(desk, draft, number)
        _citations(draft, runs)
        return
    plan = _plan(desk, [draft.id])
    if plan is None:
        return
    mode = "" if desk.is_past else review_decide.mode(draft.id)
    if mode == "edit":
        review_edit.section(desk, draft, None)
        _citations(draft, runs)
        return
    entries = plan_view.entries(plan)
    for refusal in plan.refused:
        proposal_refused.show(refusal, key=f"{draft.id}-")
    for entry in entries:
        if entry.mark == plan_view.ADDED:
            _new(entry, number)
        else:
            st.markdown(f"**Draft {number}**")
            review_one.show_entry(entry)
    if not entries and draft.operation.rationale:
        st.caption(f"Why: {md(str(draft.operation.rationale))}")
    _citations(draft, runs)
    with st.expander("Nearest memories", key=f"nearest-{draft.id}", on_change="rerun") as near:
        if near.open:
            proposal_evidence.nearest_to(desk, draft, plan, key=f"{draft.id}-")
    _buttons(desk, draft, number, refused=bool(plan.refused))
    if mode == "reject":
        review_reasons.reasons(desk, draft, None)


def _new(entry: plan_view.Entry, number: int) -> None:
    """A new lesson with all of its detail, and without what every draft has."""
    memory = entry.memory
    words = [f"**Draft {number}** {plan_view.marked(entry.mark)} {SYMBOLS[memory.kind]} new"]
    words += [memory.kind, md(memory.domain, limit=80)]
    detail = memory.detail
    if isinstance(detail, ToolDetail) and detail.tool:
        words.append(md(detail.tool, limit=80))
    st.markdown(" · ".join(words))
    with st.container(key=f"draft-text-{number}"):
        st.text(memory.text)
    match detail:
        case StrategicDetail(problem) if problem:
            st.caption(f"Problem: {md(problem)}")
        case ToolDetail(_, usage) if usage:
            st.code(usage, language=None, wrap_lines=True)
        case ProceduralDetail(steps, preconditions):
            for condition in preconditions:
                st.caption(f"First: {md(condition)}")
            st.text("\n".join(f"{place}. {step}" for place, step in enumerate(steps, start=1)))
    if entry.rationale:
        st.caption(f"Why: {md(entry.rationale)}")
    for doubt in entry.doubts:
        st.markdown(f":orange-background[**{md(doubt.rule)}**] {md(doubt.message)}")


def _buttons(desk: Desk, draft: Proposal, number: int, *, refused: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center", key=f"decide-{number}"):
        st.button(
            "Accept", key=f"draft-accept-{draft.id}", type="primary",
            disabled=desk.is_past or refused, on_click=review_decide.accept,
            args=(desk, [draft.id], review_one.sentence(desk, draft), None),
            help="It cannot be accepted as it stands: edit it." if refused
            else "One new revision; the bar at the bottom takes it back.",
        )  # fmt: skip
        st.button("Edit", key=f"draft-edit-{draft.id}", disabled=desk.is_past,
                  on_click=review_decide.toggle, args=("edit", draft.id))  # fmt: skip
        st.button("Reject", key=f"draft-reject-{draft.id}", disabled=desk.is_past,
                  on_click=review_decide.toggle, args=("reject", draft.id))  # fmt: skip
        st.page_link(
            "pages/review.py", label="Open in Review", width="content",
            query_params={keys.PROPOSAL: str(draft.id)},
        )  # fmt: skip


def _decided(desk: Desk, draft: Proposal, number: int) -> None:
    """What became of it, and the way to it."""
    text = text_of(draft.operation, desk.head)
    is_accepted = draft.state == "accepted"
    mark = ":green-background[**✓ accepted**]" if is_accepted else (
        ":red-background[**✕ rejected**]"
    )  # fmt: skip
    words = [change_of(draft.operation), md(domain_of(draft.operation, desk.head), limit=60)]
    if is_accepted:
        words.append(f"revision {draft.revision}")
    if draft.decision_reason:
        words.append(md(draft.decision_reason, limit=160))
    st.markdown(f"**Draft {number}** {mark} {' · '.join(words)}")
    st.text(text)
    with st.container(horizontal=True, vertical_alignment="center", key=f"decided-{number}"):
        if not is_accepted:
            st.button("Put back to wait", key=f"draft-put-back-{draft.id}", disabled=desk.is_past,
                      on_click=review_decide.put_back, args=(desk, [draft.id]))  # fmt: skip
            return
        for memory_id in desk.head.ids_with_text(text)[:1]:
            st.page_link("pages/browse.py", label=f"Memory {memory_id}", width="content",
                         query_params={keys.MEMORY: str(memory_id)})  # fmt: skip
        st.page_link(
            "pages/review.py", label="Its decision in Review", width="content",
            query_params={"review": "Accepted", keys.PROPOSAL: str(draft.id)},
        )  # fmt: skip


def _citations(draft: Proposal, runs: Sequence[Shown]) -> None:
    """The steps that bear it out; a click shows one."""
    if not draft.operation.evidence:
        return
    by_id = {shown.key: (place, shown) for place, shown in enumerate(runs)}
    name = f"cite-{draft.id}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=name):
        st.caption("Borne out by", width="content")
        for place, item in enumerate(draft.operation.evidence):
            known = by_id.get(item.trajectory_id)
            if known is None:
                st.caption(f"run {md(item.trajectory_id, limit=60)}", width="content")
                continue
            position, shown = known
            of = f"run {position + 1}, " if len(runs) > 1 else ""
            for number in item.steps[:CITED]:
                is_on_show = reflect_steps.is_chosen(shown, number)
                st.button(
                    f"{of}step {number}", key=f"{name}-{place}-{number}", help="Shows this step",
                    type="secondary" if is_on_show else "tertiary",
                    on_click=_cite, args=(draft, position, shown, number),
                )  # fmt: skip
            more = len(item.steps) - CITED
            if more > 0 or not item.steps:
                words = f"and {more} more" if item.steps else f"{of}the whole run"
                st.caption(words, width="content")


def _cite(draft: Proposal, position: int, shown: Shown, number: int) -> None:
    reflect_runs.show(f"kept-{draft.group}", position)
    reflect_steps.choose_cited(shown, number)


# -- what was no lesson ---------------------------------------------------------------------------


def _refused(refused: Sequence[RefusedDraft]) -> None:
    if not refused:
        return
    with st.expander(f"{count(len(refused), 'draft')} refused", key="refused-drafts"):
        for draft in refused:
            st.markdown(f":orange-background[**✕ refused**] {md(draft.reason)}")
            if draft.operation is not None:
                text = getattr(draft.operation, "text", None)
                st.text(text if isinstance(text, str) else change_of(draft.operation))
            if draft.reply:
                st.caption(f"The raw reply, {count(len(draft.reply), 'character')}")
                st.code(draft.reply[:REPLY], language=None, wrap_lines=True, height=160)
