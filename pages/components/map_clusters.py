"""Clusters: found in the embedding space, named by their words or by a person."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from memory_core import (
    Cluster,
    Clustering,
    ClusterSettings,
    Map,
    MemoryCoreError,
)
from pages.components import banks, jobs, keys, map_table, selection
from pages.components.filters import say_if_unknown
from pages.components.frame import Desk
from pages.components.map_scene import Label
from pages.components.text import SYMBOLS, count, md

METHODS = {"HDBSCAN": "hdbscan", "k-means": "kmeans"}
AT_ONCE = 0.2
"""Seconds for which the page waits before it goes on without them."""
MAP_FIRST = 2_000
"""Memories above which the search begins when the map is on its way to the browser: both at once
would keep the map waiting."""
LABELS = 24
LABEL = 34


def settings() -> ClusterSettings:
    """How memories are put into clusters; in the address."""
    say_if_unknown("grouping", METHODS)
    method = st.segmented_control(
        "Clusters by", list(METHODS), default="HDBSCAN", key="grouping", required=True,
        bind="query-params", help="HDBSCAN finds how many there are, and leaves out what belongs "
        "nowhere; k-means puts every memory into one of as many as you say.",
    )  # fmt: skip
    if METHODS[method or "HDBSCAN"] == "kmeans":
        number = st.number_input(
            "How many", 1, 500, None, key="groups", bind="query-params",
            placeholder="by the size",
        )  # fmt: skip
        return ClusterSettings("kmeans", count=None if number is None else int(number))
    least = st.number_input(
        "Smallest cluster", 2, 1_000, None, key="group_size", bind="query-params",
        placeholder="by the size",
    )  # fmt: skip
    return ClusterSettings("hdbscan", minimum_size=None if least is None else int(least))


def clustering(desk: Desk, wanted: ClusterSettings) -> Clustering | None:
    """The clusters of the revision that is looked at; None while they are being found."""
    name = _name(desk, wanted)
    if len(desk.snapshot) > MAP_FIRST and jobs.find(name) is None:
        _watch(name)
        return None
    job = begin(desk, wanted)
    job.done.wait(AT_ONCE)
    if not job.done.is_set():
        _watch(name)
        return None
    if job.result is None:
        st.error(md(job.failure))
        jobs.forget(name)
        return None
    found: Clustering = job.result
    return found.named(desk.bank.cluster_names())


def begin(desk: Desk, wanted: ClusterSettings) -> jobs.Job:
    """Look for clusters, unless that is done or being done; to be called below the map."""
    snapshot, bank = desk.snapshot, desk.bank
    return jobs.start(
        _name(desk, wanted), lambda tell: bank.clusters(snapshot, wanted, progress=tell)
    )


def _name(desk: Desk, wanted: ClusterSettings) -> tuple[object, ...]:
    snapshot = desk.snapshot
    return ("clusters", str(desk.bank.path), snapshot.revision, snapshot.batch_key, wanted)


@st.fragment(run_every=0.5)
def _watch(name: object) -> None:
    job = jobs.find(name)
    if job is not None and job.done.is_set():
        st.rerun()
    st.caption("⏳ Finding clusters; the map is there meanwhile.")


def labels(found: Clustering | None, laid: Map) -> tuple[Label, ...]:
    """Names for the largest clusters, each where the middle of its memories is."""
    if found is None:
        return ()
    made = []
    for cluster in sorted(found.clusters, key=len, reverse=True)[:LABELS]:
        rows = np.flatnonzero(found.labels == cluster.number)
        x, y = np.median(laid.positions[rows], axis=0)
        made.append(Label(_short(cluster.label), float(x), float(y)))
    return tuple(made)


def _short(label: str) -> str:
    return label if len(label) <= LABEL else label[: LABEL - 1] + "…"


# -- the table ------------------------------------------------------------------------------------


def table(desk: Desk, found: Clustering, *, height: int = 400) -> None:
    """A row for each cluster; a click selects its memories, which can then be named."""
    if not found.clusters:
        st.caption("No clusters: too few memories lie close together. Try k-means.")
        return
    chosen = _chosen(desk, found)
    place = None if chosen is None else found.clusters.index(chosen)
    # By what is chosen, too: a table that stands keeps its own tick, whatever we select.
    key = f"clusters-{desk.snapshot.revision}-{found.settings}-{place}"
    st.dataframe(
        _frame(found),
        column_config=_COLUMNS, hide_index=True, height=height,
        key=key,
        on_select=lambda: _take(key, found),
        selection_mode="single-row",
        selection_default={"selection": {"rows": [] if place is None else [place]}},
        alt=f"{len(found.clusters)} clusters with size, words, mean confidence, kinds and domains",
    )  # fmt: skip
    if found.left_out:
        st.caption(f"{count(found.left_out, 'memory', 'memories')} in none of them.")
    if chosen is not None:
        _naming(desk, chosen)


_COLUMNS: dict[str, Any] = {
    "name": st.column_config.TextColumn("cluster", width=150),
    "size": st.column_config.NumberColumn("n", width=40),
    "confidence": st.column_config.NumberColumn(
        "conf.", format="%.2f", width=50, help="Mean confidence"
    ),
    "kinds": st.column_config.TextColumn("kinds", width=110),
    "domains": st.column_config.TextColumn("domains", width=200),
    "words": st.column_config.TextColumn("words", width=240, help="What sets it apart"),
}


def _frame(found: Clustering) -> Any:
    import pandas as pd

    many = found.clusters
    return pd.DataFrame(
        {
            "name": [cluster.label for cluster in many],
            "size": [len(cluster) for cluster in many],
            "confidence": [cluster.mean_confidence for cluster in many],
            "kinds": [" ".join(f"{SYMBOLS[k]}{n}" for k, n in c.kinds.items()) for c in many],
            "domains": [", ".join(f"{d} {n}" for d, n in c.domains.items()) for c in many],
            "words": [", ".join(cluster.words) for cluster in many],
        }
    )


def _chosen(desk: Desk, found: Clustering) -> Cluster | None:
    """The cluster whose memories are exactly those that are selected."""
    ids = selection.selected(desk.snapshot)
    return (
        next((cluster for cluster in found.clusters if cluster.ids == ids), None) if ids else None
    )


def _take(key: str, found: Clustering) -> None:
    rows = st.session_state[key].selection.rows
    selection.select(found.clusters[rows[0]].ids if rows else ())
    map_table.look_at(map_table.SELECTED)


def _naming(desk: Desk, cluster: Cluster) -> None:
    key = f"cluster-name-{cluster.number}"
    with st.form("cluster-name", border=False):
        st.text_input(
            "Name of this cluster", cluster.name, key=key, placeholder=cluster.label, max_chars=60,
            disabled=desk.is_past,
        )  # fmt: skip
        st.form_submit_button(
            "Keep the name", disabled=desk.is_past, key="keep-name", on_click=_keep,
            args=(desk, cluster, key),
        )  # fmt: skip


def _keep(desk: Desk, cluster: Cluster, key: str) -> None:
    try:
        banks.writable(desk.bank).name_cluster(cluster.ids, st.session_state[key])
    except MemoryCoreError as error:
        st.session_state[keys.NOTICE] = str(error)
