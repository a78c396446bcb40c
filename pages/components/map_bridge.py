"""What the browser knows of the map and tells nobody: where one has zoomed to, and by what the
points are coloured.

Streamlit forgets both when a figure changes, as it does with every filter. This listener, which
draws nothing, reports them into the session, in a fragment of its own: neither the page nor the
figure is made anew for it. The next figure then begins where the last one was left.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components import keys

CANVAS = "map-canvas"
"""Key of the container in which the chart stands."""
LISTENER = "map-listener"

_LISTEN = """
export default function ({ data, setStateValue }) {
  let chart = null, timer = null;
  const report = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const { xaxis, yaxis, meta, dragmode } = chart.layout;
      setStateValue("seen", {
        x: Array.from(xaxis.range), y: Array.from(yaxis.range), stamp: meta.stamp,
        colour: chart.data[1].legendgroup, tool: dragmode,
      });
    }, 200);
  };
  const events = ["plotly_relayout", "plotly_update", "plotly_restyle", "plotly_buttonclicked"];
  const leave = () => {
    if (chart && chart.removeListener) events.forEach((e) => chart.removeListener(e, report));
  };
  const look = () => {
    const found = document.querySelector(`.st-key-${data.canvas} .js-plotly-plot`);
    if (!found || found === chart || !found.on || !found.layout) return;
    leave();
    chart = found;
    events.forEach((event) => chart.on(event, report));
  };
  const looking = setInterval(look, 250);
  look();
  return () => { clearInterval(looking); clearTimeout(timer); leave(); };
}
"""


@st.cache_resource(show_spinner=False)
def _listener() -> Any:
    return st.components.v2.component("winnow_map_listener", js=_LISTEN)


@st.fragment
def listen() -> None:
    """Keep what the browser reports; see `seen`."""
    _listener()(key=LISTENER, data={"canvas": CANVAS}, on_seen_change=_keep, height=1)


def _keep() -> None:
    # In a callback, which comes before all else even when a whole run of the page swallows the
    # fragment's own.
    told = st.session_state[LISTENER].get("seen")
    if told:
        st.session_state[keys.MAP_SEEN] = dict(told)


def seen(stamp: str) -> dict[str, Any]:
    """What was last reported of a figure with this stamp: `x`, `y` (ranges) and `colour`."""
    told = st.session_state.get(keys.MAP_SEEN) or {}
    return told if told.get("stamp") == stamp else {}


def colour() -> str:
    """By what the points were coloured when it was last reported; empty when it never was."""
    told = st.session_state.get(keys.MAP_SEEN) or {}
    return str(told.get("colour") or "")


def tool() -> str:
    """What the mouse did when it was last reported: pan, select or lasso."""
    told = st.session_state.get(keys.MAP_SEEN) or {}
    return str(told.get("tool")) if told.get("tool") in ("pan", "select", "lasso") else "pan"
