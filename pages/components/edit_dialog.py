"""The dialog in which anything is changed: its form, its plan before and after, its commit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import streamlit as st

from memory_core import MemoryBank, MemoryCoreError, Plan, Revision, StalePlanError
from pages.components import (
    banks,
    bulk_forms,
    edit_compare,
    edit_conflict,
    edit_draft,
    edit_forms,
    frame,
    history_forms,
    keys,
    selection,
)
from pages.components.edit_draft import Asked, Draft
from pages.components.frame import Desk
from pages.components.plan_view import show_plan
from pages.components.text import count, md

UNSCROLLED = 3
"""Most operations whose plan stands whole in the dialog."""
SCROLLED = 520
"""Height of a longer one, in pixels."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One way of changing the bank."""

    title: str
    form: Callable[[Desk, Draft], Asked | None]
    is_live: bool = False
    """The plan stands under the form at all times; else it takes the form's place when asked."""
    width: str = "large"


VERBS: dict[str, Verb] = {
    "add": Verb("Add a memory", edit_forms.add),
    "edit": Verb("Edit memory {ids}", edit_forms.edit),
    "split": Verb("Split memory {ids}", edit_forms.split_in_two),
    "merge": Verb("Merge {count} into 1", edit_forms.merge),
    "compare": Verb("Compare", edit_compare.side_by_side),
    "pin": Verb("Pin", bulk_forms.pin, True, "medium"),
    "unpin": Verb("Unpin", bulk_forms.unpin, True, "medium"),
    "tag": Verb("Tag {count}", bulk_forms.tag, True, "medium"),
    "move": Verb("Move {count} to a domain", bulk_forms.move, True, "medium"),
    "delete": Verb("Delete {count}", bulk_forms.delete, True, "medium"),
    "undo": Verb("Undo revision {ids}", history_forms.undo, True, "large"),
    "restore": Verb("Return to revision {ids}", history_forms.restore, True, "large"),
}


def dialog(desk: Desk) -> None:
    """The dialog of the draft, if there is one; each page that changes something ends with it."""
    draft = edit_draft.current(desk)
    if draft is None:
        return
    verb = VERBS[draft.verb]
    ids = ", ".join(map(str, draft.ids[:5]))
    title = verb.title.format(ids=ids, count=count(len(draft.ids), "memory", "memories"))
    opened = st.dialog(title, width=verb.width, dismissible=False)  # type: ignore[call-overload]
    opened(_body)()


def _body() -> None:
    # Each run of the dialog looks at the bank anew: it may have gone on under an open form.
    desk = frame.open_desk()
    draft = edit_draft.current(desk)
    if draft is None:
        st.rerun()
    verb = VERBS[draft.verb]
    if draft.trouble:
        st.warning(md(draft.trouble))
    try:
        if verb.is_live:
            _live(desk, draft, verb)
        else:
            _in_two_steps(desk, draft, verb)
    except MemoryCoreError as error:
        st.error(md(str(error)))
        _cancel(draft)


def _live(desk: Desk, draft: Draft, verb: Verb) -> None:
    asked = verb.form(desk, draft)
    if asked is None:
        _cancel(draft)
        return
    if draft.plan is None or draft.planned != asked.same:
        draft = _planned(desk, draft, asked)
    _show_plan(desk, draft, asked)
    with st.container(horizontal=True, vertical_alignment="bottom", key="commit-draft"):
        _commit_button(desk, draft, asked)
        _look_again(desk, draft, asked)
        _cancel(draft)


def _in_two_steps(desk: Desk, draft: Draft, verb: Verb) -> None:
    # A place that can be emptied is emptied by each run first, which takes the field that one
    # types in away under the caret; so the form stands in one only when the plan takes its place.
    place = st.empty() if draft.is_asked else None
    with place.container() if place else st.container():
        asked = verb.form(desk, draft)
        if not (draft.is_asked and asked):
            with st.container(horizontal=True, key="review-draft"):
                if draft.verb != "compare":
                    st.button(
                        "Review the change", type="primary", key="review", disabled=asked is None,
                        on_click=edit_draft.ask, args=(draft.token,),
                        help="Shows before and after; nothing is written yet.",
                    )  # fmt: skip
                _cancel(draft)
            return
    assert asked is not None
    assert place is not None
    place.empty()
    if draft.plan is None or draft.planned != asked.same:
        draft = _planned(desk, draft, asked)
    if draft.verb == "edit" and edit_conflict.is_conflict(draft):
        edit_conflict.both_versions(desk, draft)
        return
    _show_plan(desk, draft, asked)
    with st.container(horizontal=True, vertical_alignment="bottom", key="commit-draft"):
        _commit_button(desk, draft, asked)
        _look_again(desk, draft, asked)
        st.button("Back to the form", key="reopen", on_click=edit_draft.reopen, args=(draft.token,))
        _cancel(draft)


def _planned(desk: Desk, draft: Draft, asked: Asked) -> Draft:
    with st.spinner("Planning; the first new text also loads the model", show_time=True):
        plan = asked.make(desk.bank)
    return edit_draft.update(draft, plan=plan, planned=asked.same, values=asked.values)


def _show_plan(desk: Desk, draft: Draft, asked: Asked) -> None:
    assert draft.plan is not None
    many = len(draft.plan.batch.operations) > UNSCROLLED
    # So that the buttons stay in sight.
    with st.container(height=SCROLLED if many else "content", border=False, key="draft-plan"):
        show_plan(desk, draft.plan, key="draft-plan")
    if _changes_something(draft.plan):
        st.text_input(
            "Why (for the history; may stay empty)", key=f"{draft.token}-why", max_chars=400
        )


def _changes_something(plan: Plan) -> bool:
    return bool(plan.put or plan.removed)


def _commit_button(desk: Desk, draft: Draft, asked: Asked) -> None:
    plan = draft.plan
    assert plan is not None
    label = asked.button
    if plan.refused and plan.accepted:
        label += f": only {len(plan.accepted):,} of {len(plan.batch.operations):,}"
    st.button(
        label, type="primary", key="commit-change", disabled=not _changes_something(plan),
        on_click=_commit, args=(desk.bank, draft.token, plan.batch.key, asked.sentence),
        help="One new revision; the bar at the bottom takes it back.",
    )  # fmt: skip


def _look_again(desk: Desk, draft: Draft, asked: Asked) -> None:
    """A way on where something was refused because it has changed since it was looked at."""
    assert draft.plan is not None
    if any(refusal.conflicts for refusal in draft.plan.refused) and draft.verb != "undo":
        st.button(
            "Plan again on the bank as it is now", key="look-again", on_click=edit_draft.rebase,
            args=(draft.token, int(desk.head.revision or 0), asked.values),
        )  # fmt: skip


def _cancel(draft: Draft) -> None:
    label = "Close" if draft.verb == "compare" else "Cancel"
    st.button(label, key="cancel-draft", on_click=edit_draft.close)


# -- committing -----------------------------------------------------------------------------------


def _commit(bank: MemoryBank, token: str, key: str, sentence: str) -> None:
    """Do what the plan on show says, once: a second click finds another draft, or none."""
    draft: Draft | None = st.session_state.get(keys.DRAFT)
    plan = draft.plan if draft and draft.token == token else None
    if draft is None or plan is None or plan.batch.key != key:
        return
    why = (st.session_state.get(f"{token}-why") or "").strip()
    part = f" ({len(plan.accepted)} of {len(plan.batch.operations)})" if plan.refused else ""
    reason = f"{plan.batch.reason}{part}" + (f": {why}" if why else "")
    plan = replace(plan, batch=replace(plan.batch, reason=reason)).accepted_only()
    try:
        revision = banks.writable(bank).commit(plan)
    except StalePlanError:
        edit_draft.update(
            draft, plan=None,
            trouble="The bank has changed since this plan was made, so it was made again. Look "
            "once more.",
        )  # fmt: skip
        return
    except MemoryCoreError as error:
        edit_draft.update(draft, trouble=str(error))
        return
    edit_draft.close()
    _follow(draft, plan, revision)
    frame.note(revision, f"{sentence}{part}" + (f": {why}" if why else ""))


def _follow(draft: Draft, plan: Plan, revision: Revision) -> None:
    """Have the selection and the open detail go where the memories went."""
    gone = set(plan.removed)
    selected = st.session_state.get(keys.SELECTED, ())
    new = list(revision.ids.values())
    if gone & set(selected) or draft.verb == "merge":
        selection.select([i for i in selected if i not in gone])
    if new and draft.verb in {"add", "merge", "split"}:
        selection.open_memory(new[0])
    elif st.session_state.get(keys.MEMORY) in gone:
        selection.open_memory(None)
