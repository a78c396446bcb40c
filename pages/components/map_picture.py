"""The static picture on the page, and the map's files."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.components import map_bridge, map_chart, map_colours, map_static, map_view, selection
from pages.components.export import as_csv
from pages.components.map_chart import Content
from pages.components.tables import frame_of


def show(content: Content) -> None:
    """A picture that any browser shows; colours are chosen above it."""
    names = map_colours.names(clustered=content.clustering is not None)
    colour = st.segmented_control(
        "Colour by", names, default=names[0], key="map-colour", required=True,
    )  # fmt: skip
    st.image(svg(content, colour or names[0]), width="stretch", alt=map_chart.sentence(content))


def svg(content: Content, colour: str) -> str:
    """The map as it is looked at, as an SVG."""
    scene = content.scene(map_view.view(content.desk, content.laid), colour, ())
    chosen = set(selection.selected(content.desk.snapshot))
    rows = np.flatnonzero(np.isin(content.desk.snapshot.ids, list(chosen)))
    return map_static.picture(
        scene, scene.colourings[scene.first], rows, map_chart.sentence(content)
    )


def files(content: Content) -> None:
    """The map as files; the camera beside it makes a PNG of what it shows."""
    st.download_button(
        "SVG", lambda: svg(content, map_bridge.colour() or "Kind").encode(), "memory-map.svg",
        "image/svg+xml", key="map-svg", type="tertiary",
        help="The map as it is looked at. The camera beside it makes a PNG.",
    )  # fmt: skip
    st.download_button(
        "CSV", lambda: _csv(content), "memory-map.csv", "text/csv", key="map-csv",
        type="tertiary", help="What is shown, with coordinates and clusters.",
    )  # fmt: skip


def _csv(content: Content) -> bytes:
    rows, found = content.rows, content.clustering
    frame = frame_of(content.desk.snapshot, rows)
    frame["x"], frame["y"] = content.laid.positions[rows].T
    if found is not None:
        names = {cluster.number: cluster.label for cluster in found.clusters}
        frame["cluster"] = [names.get(int(number), "") for number in found.labels[rows]]
    return as_csv(frame)
