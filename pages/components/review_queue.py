"""The proposals of a bank: those that are looked at, in which order, and which one is on show."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from memory_core import Add, MemoryBank, Merge, Operation, Proposal, Restore, Snapshot
from pages.components import filters, keys
from pages.components.frame import Desk
from pages.components.text import count, md

WAITING, ACCEPTED, REJECTED = "Waiting", "Accepted", "Rejected"
STATES = {WAITING: "pending", ACCEPTED: "accepted", REJECTED: "rejected"}
NO_DOMAIN = "(left the bank)"
"""Of what is proposed about a memory that is not there, or not any more."""
FILTERS = ("review_source", "review_change", "review_domain", "review_refused")


@dataclass(frozen=True)
class Queue:
    """Proposals as they are looked at."""

    state: str
    """One of STATES."""
    proposals: tuple[Proposal, ...]
    """Those of that state that pass the filters, in the order in which they are shown."""
    in_state: int
    """How many there are without the filters."""
    everything: Mapping[int, Proposal]
    """All that the bank ever had, by id."""
    refused: Mapping[int, str]
    """Why a proposal would be refused as it stands, by id."""
    done: int
    """How many of those that pass the filters were decided here."""

    @property
    def ids(self) -> tuple[int, ...]:
        return tuple(proposal.id for proposal in self.proposals)

    def after(self, proposal_id: int) -> int | None:
        """The one that comes next; the first after the last; None where there is no other."""
        others = [i for i in self.ids if i != proposal_id]
        if not others:
            return None
        later = self.ids[self.ids.index(proposal_id) + 1 :] if proposal_id in self.ids else ()
        return later[0] if later else others[0]

    def group_of(self, proposal: Proposal) -> tuple[Proposal, ...]:
        """Those that wait and were proposed together with one."""
        return tuple(
            other for other in self.everything.values()
            if other.group == proposal.group and other.state == "pending"
        )  # fmt: skip


@st.cache_resource(show_spinner=False, max_entries=4)
def all_proposals(path: str, signature: tuple[int, ...], _bank: MemoryBank) -> tuple[Proposal, ...]:
    """All that were ever proposed."""
    return _bank.proposals(None)


@st.cache_data(show_spinner=False, max_entries=8)
def _refused(
    path: str, signature: tuple[int, ...], state: str, _bank: MemoryBank
) -> dict[int, str]:
    return _bank.refused_proposals(state)  # type: ignore[arg-type]


def domain_of(operation: Operation, snapshot: Snapshot) -> str:
    """The domain that an operation is about."""
    holder = operation.memory if isinstance(operation, Restore) else operation
    named = getattr(holder, "domain", None)
    if isinstance(named, str) and named.strip():
        return named.strip().lower()
    for memory_id in _named_ids(operation):
        if memory_id in snapshot:
            return snapshot.by_id(memory_id).domain
    return NO_DOMAIN


def _named_ids(operation: Operation) -> Sequence[int]:
    if isinstance(operation, Merge):
        return operation.ids
    return () if isinstance(operation, Add) else (operation.id,)


def change_of(operation: Operation) -> str:
    """What an operation does, in a word."""
    return type(operation).__name__.lower()


def text_of(operation: Operation, snapshot: Snapshot) -> str:
    """The lesson that an operation is about: the one that it brings in, or its memory's."""
    holder = operation.memory if isinstance(operation, Restore) else operation
    text = getattr(holder, "text", None)
    if isinstance(text, str):
        return text
    found = [i for i in _named_ids(operation) if i in snapshot]
    return snapshot.by_id(found[0]).text if found else ""


def queue(desk: Desk) -> Queue:
    """What is looked at, by the widgets that this draws in a row."""
    path = str(desk.bank.path)
    everything = all_proposals(path, desk.signature, desk.bank)
    filters.say_if_unknown("review", STATES)
    state = (
        st.segmented_control(
            "Which", list(STATES), default=WAITING, key="review", bind="query-params",
            required=True, label_visibility="collapsed",
        )
        or WAITING
    )  # fmt: skip
    in_state = [p for p in everything if p.state == STATES[state]]
    refused = {} if state == ACCEPTED else _refused(path, desk.signature, STATES[state], desk.bank)
    passes = _filter_menu(desk, everything, refused)
    shown = [p for p in in_state if passes(p)]
    if state != WAITING:
        shown.sort(key=lambda p: (-(p.decided_at_us or 0), -p.id))
    by_id = {proposal.id: proposal for proposal in everything}
    here = [by_id[i] for i in decided_here(desk) if i in by_id]
    done = sum(p.state != "pending" and passes(p) for p in here)
    return Queue(state, tuple(shown), len(in_state), by_id, refused, done)


def _filter_menu(
    desk: Desk, everything: Sequence[Proposal], refused: Mapping[int, str]
) -> Callable[[Proposal], bool]:
    """The popover of filters; what lets a proposal through."""
    domains = {p.id: domain_of(p.operation, desk.head) for p in everything}
    choices = {
        "review_source": ("Proposed by", {p.id: p.source for p in everything}),
        "review_change": ("What it would do", {p.id: change_of(p.operation) for p in everything}),
        "review_domain": ("Domain", domains),
    }
    chosen: dict[str, list[str]] = {}
    with st.popover("Filters", key="review-filters"):
        for name, (label, values) in choices.items():
            options = sorted(set(values.values()))
            filters.say_if_unknown(name, options)
            chosen[name] = st.multiselect(label, options, key=name, bind="query-params")
        only_refused = st.toggle("Refused only", key="review_refused", bind="query-params")
        st.button("Clear filters", on_click=clear_filters, key="clear-review-filters")

    def passes(proposal: Proposal) -> bool:
        return not (only_refused and proposal.id not in refused) and all(
            choices[name][1][proposal.id] in wanted for name, wanted in chosen.items() if wanted
        )

    return passes


def clear_filters() -> None:
    """Have every proposal of the state shown."""
    for name in FILTERS:
        if name in st.session_state:
            st.session_state[name] = False if name == "review_refused" else []


def filtered_by() -> str:
    """Markdown of the filters that are set; empty where none is."""
    words = [
        f"{name.removeprefix('review_')} {md(', '.join(values))}"
        for name in FILTERS[:-1]
        if (values := st.session_state.get(name))
    ]
    return " · ".join(words + ["refused only"] * bool(st.session_state.get(FILTERS[-1])))


# -- what was decided here ------------------------------------------------------------------------


def decided_here(desk: Desk) -> tuple[int, ...]:
    """Ids of the proposals of this bank that this session has decided."""
    path, ids = st.session_state.get(keys.REVIEWED, ("", ()))
    return ids if path == str(desk.bank.path) else ()


def remember(desk: Desk, ids: Sequence[int]) -> None:
    known = tuple(dict.fromkeys((*decided_here(desk), *ids)))
    st.session_state[keys.REVIEWED] = (str(desk.bank.path), known)


def forget(desk: Desk, ids: Sequence[int]) -> None:
    known = tuple(i for i in decided_here(desk) if i not in ids)
    st.session_state[keys.REVIEWED] = (str(desk.bank.path), known)


def nothing(found: Queue, filtered: str) -> None:
    """What to do where there is nothing to look at."""
    if filtered and found.in_state:
        st.subheader("Nothing matches")
        st.markdown(f"None of {count(found.in_state, 'proposal')} passes: {filtered}.")
        st.button("Clear filters", on_click=clear_filters, key="clear-review-empty", type="primary")
        return
    if found.state != WAITING:
        st.subheader(f"Nothing is {found.state.lower()}")
        st.markdown("What you decide is kept here, and can be decided again.")
        return
    if found.done:
        st.subheader("All is decided")
        st.markdown(f"You went through {count(found.done, 'proposal')}. {AGAIN}")
    else:
        st.subheader("Nothing waits for review")
        st.markdown(NOTHING_YET if not found.everything else f"All is decided. {AGAIN}")
    st.page_link("pages/reflect.py", label="Draw lessons from a run in Reflect", icon="🪞")
    st.page_link("pages/clean.py", label="Look for duplicates in Clean", icon="🧹")


AGAIN = "What was decided stands under **Accepted** and **Rejected**, and can be decided again."
NOTHING_YET = (
    "Proposals come from runs that are reflected on, from agents, from imports, and from "
    "**Clean**, which sends the duplicates that it finds."
)


# -- the one on show ------------------------------------------------------------------------------


def on_show(found: Queue) -> Proposal | None:
    """The proposal that is looked at, by this session or by the address; else the first."""
    if not found.proposals:
        return None
    wanted = st.session_state.get(keys.PROPOSAL)
    # Here the two agree; where they do not, a link or a person has led to another one.
    named = st.query_params.get(keys.PROPOSAL)
    if named and named != str(wanted):
        wanted = int(named) if named.isdecimal() else -1
        if wanted not in found.ids:
            st.warning(_elsewhere(found, named, wanted))
    proposal_id = wanted if wanted in found.ids else found.ids[0]
    go_to(proposal_id)
    return found.everything[proposal_id]


def _elsewhere(found: Queue, named: str, wanted: int) -> str:
    known = found.everything.get(wanted)
    if known is None:
        return f"The address names proposal “{md(named, limit=20)}”, which this bank does not have."
    now = {state: name for name, state in STATES.items()}[known.state].lower()
    return f"Proposal {wanted} is {now}, and not among those on show here."


def go_to(proposal_id: int | None) -> None:
    """Show a proposal, and say so in the address."""
    st.session_state[keys.PROPOSAL] = proposal_id
    if proposal_id is None:
        st.query_params.pop(keys.PROPOSAL, None)
    elif st.query_params.get(keys.PROPOSAL) != str(proposal_id):
        st.query_params[keys.PROPOSAL] = str(proposal_id)


def progress(found: Queue, proposal: Proposal) -> None:
    """How far the review has come: 7 of 31."""
    place = found.ids.index(proposal.id) + 1
    if found.state != WAITING:
        st.caption(f"{place} of {count(len(found.ids), 'proposal')}")
        return
    total = found.done + len(found.ids)
    words = f"**{found.done + place} of {total}**"
    if found.done:
        words += f" · {found.done} decided here"
    st.progress(found.done / total, text=words)
