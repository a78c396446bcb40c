"""The plan of an import: worked out with progress, and what it would do."""

from __future__ import annotations

from collections import Counter
from typing import Any

import streamlit as st

from memory_core import Add, ImportChoices, ImportReading, Plan
from pages.components import jobs, keys, plan_view, transfer_commit, transfer_table
from pages.components.frame import Desk
from pages.components.text import count, md

AT_ONCE = 400
"""Operations up to which the plan is made on the spot; more are planned beside the page."""
VERBS = {"add": "new", "modify": "changed", "delete": "deleted", "merge": "merged"}


def section(
    desk: Desk,
    reading: ImportReading,
    choices: ImportChoices,
    state: ImportReading | None,
    asked: tuple[object, ...],
) -> None:
    """What becomes of the file; `asked` tells it, and how it is read, from all others."""
    for warning in reading.warnings:
        st.caption(f"ℹ️ {md(warning)}")
    name = (str(desk.bank.path), desk.head.revision, desk.head.batch_key, choices, *asked)
    kept = st.session_state.get(keys.IMPORT)
    if kept is None or kept["name"] != name:
        if kept is not None and (job := jobs.find(kept["batch"].key)):
            job.stop()  # what it plans is not wanted any more
        draft = reading.draft(choices, snapshot=desk.head, state=state)
        kept = {"name": name, "draft": draft, "batch": draft.batch}
        st.session_state[keys.IMPORT] = kept
    plan = _planned(desk, kept)
    if plan is not None:
        _show(desk, reading, kept, plan)


# -- making it ------------------------------------------------------------------------------------


def _planned(desk: Desk, kept: dict[str, Any]) -> Plan | None:
    """The plan, once it is there."""
    if "plan" not in kept and not kept.get("stopped"):
        if len(kept["batch"].operations) <= AT_ONCE:
            with st.spinner("Planning; the first new text also loads the model", show_time=True):
                kept["plan"] = desk.bank.plan(kept["batch"])
        else:
            _plan_beside(desk, kept)
    if kept.get("stopped"):
        with st.container(horizontal=True, vertical_alignment="center", key="import-stopped"):
            st.markdown("**The import was stopped.** Nothing was written.")
            st.button("Plan it again", key="plan-again", on_click=_again)
    found: Plan | None = kept.get("plan")
    return found


def _again() -> None:
    st.session_state[keys.IMPORT].pop("stopped", None)


def _plan_beside(desk: Desk, kept: dict[str, Any]) -> None:
    """Start planning in a thread, or look after it."""
    bank, batch = desk.bank, kept["batch"]

    def work(tell: jobs.Progress) -> Plan:
        def told(done: int, total: int) -> None:
            doing = f"{done:,} of {total:,} texts embedded" if done < total else "Looking at copies"
            tell(doing, 0.9 * done / max(total, 1))

        return bank.plan(batch, progress=told)

    job = jobs.start(batch.key, work)
    if not job.done.is_set():
        _watch(batch.key)
        return
    jobs.forget(batch.key)
    if job.result is not None and not job.is_stopped:
        kept["plan"] = job.result
        return
    kept["stopped"] = True
    if job.failure:
        st.error(md(job.failure))


@st.fragment(run_every=0.5)
def _watch(key: str) -> None:
    job = jobs.find(key)
    if job is None or job.done.is_set():
        st.rerun()
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="planning"):
        st.progress(job.share, f"**Planning the import** · {md(job.doing)}")
        st.button("Stop", key="stop-import", on_click=job.stop, disabled=job.is_stopped)


# -- looking at it --------------------------------------------------------------------------------


def _show(desk: Desk, reading: ImportReading, kept: dict[str, Any], plan: Plan) -> None:
    draft = kept["draft"]
    if "tables" not in kept:
        kept["tables"] = transfer_table.tables(draft, plan)
        kept["entries"] = plan_view.entries(plan)
        kept["for_review"] = draft.for_review(plan)
    looks: dict[str, transfer_table.Rows] = kept["tables"]
    refused = len(looks.get(transfer_table.REFUSED, ()))
    _summary(desk, reading, kept, plan, refused)
    transfer_commit.buttons(desk, reading, plan, kept["for_review"], refused)
    if not looks:
        return
    # Keyed by what there is: a look that has nothing to show is none to choose.
    with st.container(horizontal=True, vertical_alignment="center", key="import-looks"):
        look = st.segmented_control(
            "Show", list(looks), default=next(iter(looks)), key=f"import-look-{'-'.join(looks)}",
            required=True, label_visibility="collapsed",
            format_func=lambda name: f"{name} {len(looks[name]):,}",
        ) or next(iter(looks))  # fmt: skip
        st.caption("Click a row to see it whole.")
    opened = transfer_table.table(look, looks[look])
    if opened is not None:
        transfer_table.show_row(looks[look][opened], kept["entries"])
    changes = [
        entry
        for entry, planned in zip(kept["entries"], plan.accepted, strict=True)
        if not isinstance(planned.operation, Add)
    ]
    if look == transfer_table.TAKEN and changes:
        st.markdown("**What changes in memories that are here**")
        plan_view.show_entries(changes, key="import-changes")


def _summary(
    desk: Desk, reading: ImportReading, kept: dict[str, Any], plan: Plan, refused: int
) -> None:
    kinds = Counter(type(planned.operation).__name__.lower() for planned in plan.accepted)
    told = [f"**{n:,} {VERBS[name]}**" for name, n in kinds.items() if name in VERBS]
    told += [f"**{refused:,} refused**"] if refused else []
    cut = len({planned.index for planned in plan.accepted} & set(kept["draft"].cut))
    told += [f"{count(cut, 'text')} cut, the whole kept in the note"] if cut else []
    told += [f"{count(len(plan.lints), 'doubt')}"] if plan.lints else []
    before, after = len(plan.before), count(len(plan.after), "memory", "memories")
    grows = before != len(plan.after)
    told.append(f"the bank goes from {before:,} to {after}" if grows else f"it stays at {after}")
    st.markdown(" · ".join(told))
    if reading.lost:
        names = ", ".join(f"{md(name)} ({n:,})" for name, n in list(reading.lost.items())[:20])
        st.caption(f"Has no place in a memory and is lost: {names}")
    epochs = (p.operation.epoch or 0 for p in plan.accepted if isinstance(p.operation, Add))
    if (latest := max(epochs, default=0)) > desk.head.epoch:
        st.caption(
            f"Sessions of creation go up to {latest}; this bank is in session {desk.head.epoch}. "
            "They are kept as they are."
        )
