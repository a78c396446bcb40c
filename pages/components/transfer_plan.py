"""The plan of an import: worked out with progress, looked at, committed or sent to Review."""

from __future__ import annotations

from collections import Counter
from typing import Any

import streamlit as st

from memory_core import (
    Add,
    ImportChoices,
    ImportDraft,
    ImportReading,
    MemoryCoreError,
    Plan,
    StalePlanError,
)
from pages.components import banks, frame, keys, map_jobs, plan_view
from pages.components.export import table_downloads
from pages.components.frame import Desk
from pages.components.text import SYMBOLS, count, md

AT_ONCE = 400
"""Texts up to which the plan is made on the spot; more are embedded beside the page."""
ROWS = 2_000
"""Rows of a table that are sent to the browser; its download has all."""
ROW = 54
"""Pixels of a row: two lines of text."""
TAKEN, REFUSED, DOUBTS = "Taken", "Refused", "Doubtful"


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
        draft = reading.draft(choices, snapshot=desk.head, state=state)
        kept = {"name": name, "draft": draft, "batch": draft.batch}
        st.session_state[keys.IMPORT] = kept
    plan = _planned(desk, kept)
    if plan is not None:
        _show(desk, reading, kept["draft"], plan)


# -- making it ------------------------------------------------------------------------------------


def _planned(desk: Desk, kept: dict[str, Any]) -> Plan | None:
    """The plan, once it is there."""
    if "plan" in kept:
        plan: Plan = kept["plan"]
        return plan
    batch = kept["batch"]
    if len(batch.operations) <= AT_ONCE:
        with st.spinner("Planning; the first new text also loads the model", show_time=True):
            kept["plan"] = desk.bank.plan(batch)
        return kept["plan"]
    if kept.get("stopped"):
        with st.container(horizontal=True, vertical_alignment="center", key="import-stopped"):
            st.info("The import was stopped. Nothing was written.")
            st.button("Plan it again", key="plan-again", on_click=_again)
        return None
    return _beside(desk, kept)


def _again() -> None:
    st.session_state[keys.IMPORT].pop("stopped", None)


def _beside(desk: Desk, kept: dict[str, Any]) -> Plan | None:
    bank, batch = desk.bank, kept["batch"]
    job = map_jobs.start(
        batch.key,
        lambda tell: bank.plan(batch, progress=lambda done, total: tell(
            f"{done:,} of {total:,} texts embedded" if done < total else "Looking for copies",
            0.95 * done / max(total, 1),
        )),
    )  # fmt: skip
    if not job.done.is_set():
        _watch(batch.key)
        return None
    map_jobs.forget(batch.key)
    if job.result is not None and not job.is_stopped:
        kept["plan"] = job.result
        return kept["plan"]
    kept["stopped"] = True
    if job.failure:
        st.error(md(job.failure))
    st.rerun()
    return None


@st.fragment(run_every=0.5)
def _watch(key: str) -> None:
    job = map_jobs.find(key)
    if job is None or job.done.is_set():
        st.rerun()
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="planning"):
        st.progress(job.share, f"**Planning the import** · {md(job.doing)}")
        st.button("Stop", key="stop-import", on_click=job.stop, disabled=job.is_stopped)


# -- looking at it --------------------------------------------------------------------------------


def _show(desk: Desk, reading: ImportReading, draft: ImportDraft, plan: Plan) -> None:
    taken, refused = _taken(draft, plan), _refused(draft, plan)
    _summary(desk, reading, draft, plan, len(refused))
    _buttons(desk, reading, draft, plan, len(refused))
    looks = {TAKEN: taken, REFUSED: refused, DOUBTS: [row for row in taken if row["doubts"]]}
    looks = {name: rows for name, rows in looks.items() if rows}
    if not looks:
        return
    # Keyed by what there is: a look that has nothing to show is none to choose.
    look = st.segmented_control(
        "Show", list(looks), default=next(iter(looks)), key=f"import-look-{'-'.join(looks)}",
        required=True, label_visibility="collapsed",
        format_func=lambda name: f"{name} {len(looks[name]):,}",
    )  # fmt: skip
    _table(look, looks[look])
    changes = [e for e, p in zip(plan_view.entries(plan), plan.accepted, strict=True)
               if not isinstance(p.operation, Add)]  # fmt: skip
    if look == TAKEN and changes:
        st.markdown("**What changes in memories that are here**")
        plan_view.show_entries(changes, key="import-changes")


def _summary(
    desk: Desk, reading: ImportReading, draft: ImportDraft, plan: Plan, refused: int
) -> None:
    kinds = Counter(type(planned.operation).__name__.lower() for planned in plan.accepted)
    verbs = {"add": "new", "modify": "changed", "delete": "deleted", "merge": "merged"}
    told = [f"**{n:,} {verbs[name]}**" for name, n in kinds.items() if name in verbs]
    told += [f"**{refused:,} refused**"] if refused else []
    cut = len({planned.index for planned in plan.accepted} & set(draft.cut))
    told += [f"{count(cut, 'text')} cut, the whole kept in the note"] if cut else []
    told += [f"{count(len(plan.lints), 'doubt')}"] if plan.lints else []
    before, after = len(plan.before), count(len(plan.after), "memory", "memories")
    told.append(
        f"the bank goes from {before:,} to {after}" if before != len(plan.after) else
        f"the bank stays at {after}"
    )  # fmt: skip
    st.markdown(" · ".join(told))
    if reading.lost:
        names = ", ".join(f"{md(name)} ({n:,})" for name, n in list(reading.lost.items())[:20])
        st.caption(f"Has no place in a memory and is lost: {names}")
    ahead = max((p.operation.epoch or 0 for p in plan.accepted if isinstance(p.operation, Add)),
                default=0)  # fmt: skip
    if ahead > desk.head.epoch:
        st.caption(
            f"Sessions of creation go up to {ahead}; this bank is in session {desk.head.epoch}. "
            "They are kept as they are."
        )


def _taken(draft: ImportDraft, plan: Plan) -> list[dict[str, Any]]:
    doubts: dict[int, list[str]] = {}
    for lint in plan.lints:
        doubts.setdefault(lint.index, []).append(lint.message)
    cut = set(draft.cut)
    rows = []
    for planned in plan.accepted:
        memory = planned.changes[-1].after or planned.changes[-1].before
        assert memory is not None
        rows.append({
            "from": draft.entries[planned.index].where,
            "their id": _cell(draft.entries[planned.index].source_id),
            "becomes": type(planned.operation).__name__.lower(),
            "kind": SYMBOLS[memory.kind],
            "text": memory.text + (" ✂" if planned.index in cut else ""),
            "domain": memory.domain,
            "confidence": memory.confidence,
            "applied": memory.usage_count,
            "helped": memory.success_count,
            "doubts": " ".join(doubts.get(planned.index, ())),
        })  # fmt: skip
    return rows


def _refused(draft: ImportDraft, plan: Plan) -> list[dict[str, Any]]:
    rows = [
        {"from": draft.entries[refusal.index].where, "reason": refusal.reason,
         "text": _cell(getattr(refusal.operation, "text", "")), "doubts": ""}
        for refusal in plan.refused
    ]  # fmt: skip
    return rows + [
        {"from": problem.where, "reason": problem.message, "text": "", "doubts": ""}
        for problem in draft.problems
    ]


def _cell(value: object) -> str:
    """Whatever a file holds, as a text that a table can carry."""
    text = value if isinstance(value, str) else ascii(value)[:60]
    return text.encode("utf-8", "backslashreplace").decode()


def _table(name: str, rows: list[dict[str, Any]]) -> None:
    import pandas as pd

    table = pd.DataFrame(rows)
    table = table.drop(columns=[c for c in table.columns if not table[c].astype(bool).any()])
    told = (row["their id"] in row["from"] for row in rows if "their id" in row)
    if "their id" in table and all(told):
        table = table.drop(columns="their id")
    column = st.column_config
    st.dataframe(
        table.head(ROWS), hide_index=True, height=min(40 + ROW * len(table), 460),
        row_height=ROW,
        key=f"import-table-{name}",
        column_config={
            "from": column.TextColumn("from", width=110, pinned=True),
            "their id": column.TextColumn("their id", width=110),
            "becomes": column.TextColumn("becomes", width=75),
            "kind": column.TextColumn("", width=36, help="◆ strategic ● procedural ■ tool"),
            "text": column.TextColumn("text", width=600),
            "domain": column.TextColumn("domain", width=120),
            "confidence": column.NumberColumn("confidence", format="%.2f", width=85),
            "applied": column.NumberColumn("applied", width=65),
            "helped": column.NumberColumn("helped", width=65),
            "reason": column.TextColumn("reason", width=430),
            "doubts": column.TextColumn("doubts", width=320),
        },
        alt=f"{len(table)} records of the file: {name.lower()}",
    )  # fmt: skip
    if len(table) > ROWS:
        st.caption(f"The first {ROWS:,} of {len(table):,}; a download has all.")
    table_downloads(table, f"import-{name.lower()}")


# -- doing it -------------------------------------------------------------------------------------


def _buttons(
    desk: Desk, reading: ImportReading, draft: ImportDraft, plan: Plan, refused: int
) -> None:
    for_review = draft.for_review(plan)
    mendable = len(for_review.operations) - len(plan.accepted)
    with st.container(horizontal=True, vertical_alignment="center", key="import-buttons"):
        st.button(
            f"Commit {_accepted(plan)} as one revision", key="commit-import", type="primary",
            disabled=not plan.accepted, on_click=_commit, args=(desk, reading, plan, refused),
            help="The bar at the bottom takes it back.",
        )  # fmt: skip
        st.button(
            f"Send {len(for_review.operations):,} to Review", key="propose-import",
            disabled=not for_review.operations, on_click=_propose, args=(desk, for_review),
            help="They wait there until you accept or reject each."
            + (f" {count(mendable, 'text')} too long go with them, to be shortened."
               if mendable else ""),
        )  # fmt: skip


def _accepted(plan: Plan) -> str:
    """How much a plan takes in, in words."""
    if all(isinstance(planned.operation, Add) for planned in plan.accepted):
        return count(len(plan.accepted), "memory", "memories")
    return count(len(plan.accepted), "change")


def _commit(desk: Desk, reading: ImportReading, plan: Plan, refused: int) -> None:
    try:
        made = banks.writable(desk.bank).commit(plan.accepted_only())
    except StalePlanError:
        st.session_state[keys.NOTICE] = (
            "The bank has changed since this plan was made; it was made again. Look once more."
        )
        return
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    let_go()
    left = f"; {count(refused, 'record')} refused" if refused else ""
    frame.note(made, f"Imported {_accepted(plan)} from {reading.title}{left}")


def _propose(desk: Desk, batch: Any) -> None:
    try:
        sent = banks.writable(desk.bank).propose(batch)
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
        return
    let_go()
    st.session_state[keys.SENT] = len(sent)


def let_go() -> None:
    """Forget what was handed in."""
    for key in (keys.GIVEN, keys.STATE_GIVEN, keys.IMPORT, "import-format"):
        st.session_state.pop(key, None)
