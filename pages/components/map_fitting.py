"""Fitting a map: in the background, with its steps, while the stored one stays in use."""

from __future__ import annotations

import streamlit as st

from memory_core import Map, MapSettings, MemoryBank
from pages.components import banks, jobs, keys
from pages.components.frame import Desk
from pages.components.text import count, md

BY_ITSELF = 1_000
"""Memories up to which the first map is fitted unasked."""


def _name(bank: MemoryBank) -> tuple[str, str]:
    return ("fit", str(bank.path))


def begin(desk: Desk, settings: MapSettings | None = None) -> None:
    """Start a fit on the latest revision, unless one is running."""
    bank, wanted = banks.writable(desk.bank), settings or MapSettings()
    job = jobs.find(_name(bank))
    if job is not None and job.done.is_set():
        jobs.forget(_name(bank))
    jobs.start(_name(bank), lambda tell: bank.fit_map(wanted, progress=tell))


def running(desk: Desk) -> bool:
    job = jobs.find(_name(desk.bank))
    return job is not None and not job.done.is_set()


def section(desk: Desk, laid: Map | None) -> None:
    """What the fit that is running does; what came of the last one."""
    job = jobs.find(_name(desk.bank))
    if job is None:
        return
    if not job.done.is_set():
        _watch(desk)
        return
    if job.failure:
        with st.container(horizontal=True, vertical_alignment="center", key="fit-failed"):
            st.error(md(job.failure))
            st.button("Dismiss", key="dismiss-fit", on_click=_dismiss, args=(desk,))
        return
    jobs.forget(_name(desk.bank))
    if job.is_stopped:
        kept = "The stored map stays." if laid is not None else "There is no map yet."
        st.info(f"The fit was stopped; nothing of it was kept. {kept}")
        st.session_state[keys.MAP_FAILED] = str(desk.bank.path)


def _dismiss(desk: Desk) -> None:
    jobs.forget(_name(desk.bank))
    st.session_state[keys.MAP_FAILED] = str(desk.bank.path)


@st.fragment(run_every=1.0)
def _watch(desk: Desk) -> None:
    job = jobs.find(_name(desk.bank))
    if job is None or job.done.is_set():
        st.rerun()
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="fitting"):
        st.progress(job.share, f"**Fitting a map** · {md(_step(job.doing))}")
        st.button("Stop", key="stop-fitting", on_click=job.stop, disabled=job.is_stopped)


def _step(doing: str) -> str:
    slow = "; the first time since the start of the app this takes some seconds"
    return doing + (slow if doing.startswith("Loading") else "")


def first_map(desk: Desk) -> None:
    """What stands where there is no map yet."""
    refused = st.session_state.get(keys.MAP_FAILED) == str(desk.bank.path)
    tried = jobs.find(_name(desk.bank)) is not None
    if len(desk.head) <= BY_ITSELF and not (refused or tried or desk.is_past):
        begin(desk)
    section(desk, None)
    if running(desk):
        st.caption("The map appears here when it is ready; the app can be used meanwhile.")
        return
    memories = count(len(desk.head), "memory", "memories")
    st.subheader("No map yet")
    st.markdown(
        f"A map lays the {memories} out so that those alike in meaning lie near each other. It is "
        "fitted once, kept in the bank, and stays as it is: new memories are placed on it without "
        "moving the old."
    )
    st.button(f"Fit a map of {memories}", key="fit-first", type="primary", on_click=begin,
              args=(desk,), disabled=desk.is_past)  # fmt: skip


def controls(desk: Desk, laid: Map) -> None:
    """What the map is, how far it can be trusted, and a new fit."""
    made = laid.projection
    st.caption(
        f"{_METHODS[made.method]} on revision {made.revision}, {made.made_at:%Y-%m-%d}, by "
        f"{md(made.actor)}: {count(made.size, 'text')}."
    )
    with st.form("refit", border=False):
        neighbours = st.number_input(
            "Neighbours", 2, 100, made.settings.neighbours, key="fit-neighbours",
            help="How many nearest memories UMAP keeps near each other; more show the whole, fewer "
            "the detail.",
        )  # fmt: skip
        distance = st.number_input(
            "Least distance", 0.0, 1.0, float(made.settings.min_distance), 0.05,
            key="fit-distance", help="How close points may lie; 0 packs them into clumps.",
        )  # fmt: skip
        seed = st.number_input("Seed", 0, 2**31 - 1, made.settings.seed, key="fit-seed")
        st.form_submit_button(
            f"Refit on {count(len(desk.head), 'memory', 'memories')}", key="refit-map",
            disabled=running(desk) or desk.is_past, on_click=_refit, args=(desk,),
            help="Turned like this map, so that you keep your bearings. The map on show stays "
            "until the new one is ready.",
        )  # fmt: skip
    del neighbours, distance, seed  # read where the form is sent


_METHODS = {
    "umap": "Fitted by UMAP",
    "pca": "Laid out by principal components, as there were too few for UMAP,",
    "single": "One dot, made",
}


def _refit(desk: Desk) -> None:
    state = st.session_state
    begin(
        desk,
        MapSettings(
            neighbours=int(state["fit-neighbours"]),
            min_distance=float(state["fit-distance"]),
            seed=int(state["fit-seed"]),
        ),
    )


def honesty(desk: Desk, laid: Map) -> None:
    """How far the map can be trusted, and what was placed since the fit."""
    trust = laid.projection.honesty
    st.caption(
        trust.sentence,
        help=f"Trustworthiness {trust.trustworthiness:.3f}, neighbourhood preservation "
        f"{trust.neighbourhood_preservation:.3f}, of {trust.neighbours} neighbours. Distances "
        "between groups, and their sizes, mean little.",
    )
    if laid.placed_count:
        st.badge(
            f"{laid.placed_count:,} placed since the fit", color="orange",
            help="They lie among the nearest of their neighbours; nobody else moved.",
        )  # fmt: skip
        st.button("Refit", key="refit-now", disabled=running(desk) or desk.is_past,
                  on_click=begin, args=(desk, laid.projection.settings))  # fmt: skip
