"""The figure of the map: one WebGL trace whose colours change inside the browser.

Streamlit mounts a chart anew, and forgets its zoom and tool, whenever anything in its figure
changes. So one figure holds all colourings, as buttons that restyle it, and stays the same object
while memories are selected; what it is made from is named by a `Scene`.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_core import KINDS
from pages.components.map_colours import Colouring
from pages.components.map_hover import SHORT_TEMPLATE, TEMPLATE
from pages.components.map_ink import Ink, ink
from pages.components.map_scene import HEIGHT, Label, Scene, View, apart, sizes

MARKS = {"strategic": 2, "procedural": 0, "tool": 1}
"""Plotly's numbers of ◆ ● ■."""
BAR = {"thickness": 12, "len": 0.45, "y": 0.98, "yanchor": "top", "x": 0.0, "xanchor": "left"}


def figure(scene: Scene) -> Any:
    """A Plotly figure."""
    import plotly.graph_objects as go

    traces = [_away(scene), _points(scene), _lost(scene), *scene.over]
    legends = [
        trace
        for i, one in enumerate(scene.colourings)
        for trace in _legend(one, i, dots=scene.is_crowded)
    ]
    return go.Figure(data=[*traces, *legends], layout=_layout(scene))


POINTS = 1
"""Position of the trace that can be selected from."""


def _away(scene: Scene) -> Any:
    import plotly.graph_objects as go

    away = np.ones(len(scene.snapshot), dtype=bool)
    away[scene.rows] = False
    colour = ink(dark=scene.dark).away
    alike = {"marker": {"opacity": 0.8}}
    return go.Scattergl(
        x=scene.positions[away, 0].astype(np.float32),
        y=scene.positions[away, 1].astype(np.float32),
        mode="markers", hoverinfo="skip", showlegend=False, name="filtered out",
        marker={"color": colour, "size": 5, "opacity": 0.8}, selected=alike, unselected=alike,
    )  # fmt: skip


def _points(scene: Scene) -> Any:
    import plotly.graph_objects as go

    rows, c = scene.rows, scene.snapshot.columns
    marks = np.array([MARKS[kind] for kind in KINDS], dtype=np.int8)
    first, crowded = scene.colourings[scene.first], scene.is_crowded
    return go.Scattergl(
        x=scene.positions[rows, 0].astype(np.float32),
        y=scene.positions[rows, 1].astype(np.float32),
        # Ids, not positions: a selection must mean the same memories in any figure.
        customdata=_compact(c.ids[rows]),
        text=[scene.hovers[row] for row in rows.tolist()],
        hovertemplate=_says(scene),
        mode="markers", showlegend=False, name="memories",
        selectedpoints=None if scene.chosen is None else scene.chosen.tolist(),
        marker={
            "size": sizes(scene)[rows], "opacity": 0.75 if crowded else 0.88,
            "symbol": "circle" if crowded else marks[c.kind[rows]],
            "line": {"width": 0.0 if crowded else 0.6, "color": ink(dark=scene.dark).page},
            "colorbar": {**BAR, **_ticks(first), "outlinewidth": 0},
            **_colours(first, rows),
        },
        legendgroup=first.name,
        selected={"marker": {"opacity": 1}}, unselected={"marker": {"opacity": 0.16}},
    )  # fmt: skip


def _lost(scene: Scene) -> Any:
    """Rings around what is selected, though a filter makes it grey."""
    import plotly.graph_objects as go

    rows = np.empty(0, dtype=np.int64) if scene.lost is None else scene.lost
    plain = {"marker": {"opacity": 1}}
    return go.Scattergl(
        x=scene.positions[rows, 0].astype(np.float32),
        y=scene.positions[rows, 1].astype(np.float32),
        mode="markers", text=[scene.hovers[row] for row in rows.tolist()],
        hovertemplate=_says(scene), showlegend=False, name="selected, filtered out",
        marker={"symbol": "circle-open", "size": 10, "color": ink(dark=scene.dark).soft,
                "line": {"width": 1.5}},
        selected=plain, unselected=plain,
    )  # fmt: skip


def _says(scene: Scene) -> str:
    return SHORT_TEMPLATE if scene.is_crowded else TEMPLATE


def _compact(ids: NDArray[np.int64]) -> NDArray[Any]:
    """Ids in the narrowest numbers that a browser holds exactly."""
    narrow = np.abs(ids).max(initial=0) < 2**31
    return ids.astype(np.int32 if narrow else np.float64)


def _typed(values: NDArray[Any]) -> dict[str, str]:
    """An array as Plotly reads it fastest; inside a button it has to be said by hand."""
    return {
        "dtype": _DTYPES[values.dtype.itemsize],
        "bdata": b64encode(np.ascontiguousarray(values).tobytes()).decode(),
    }


_DTYPES = {1: "i1", 2: "i2", 8: "f8"}


def _narrow(values: NDArray[np.int64]) -> NDArray[Any]:
    """Whole numbers in the fewest bytes that hold them."""
    largest = np.abs(values).max(initial=0)
    return values.astype(np.int8 if largest < 2**7 else np.int16 if largest < 2**15 else np.float64)


def _colours(one: Colouring, rows: NDArray[np.int64]) -> dict[str, Any]:
    return {
        "color": _narrow(one.values)[rows],
        "colorscale": [list(stop) for stop in one.scale],
        "cmin": one.low,
        "cmax": one.high,
        "showscale": not one.groups,
    }


def _ticks(one: Colouring) -> dict[str, Any]:
    return {"tickvals": [at for at, _ in one.ticks], "ticktext": [text for _, text in one.ticks]}


def _legend(one: Colouring, number: int, *, dots: bool) -> list[Any]:
    """Its lines, as traces without points in a legend of their own."""
    import plotly.graph_objects as go

    return [
        go.Scatter(
            x=[None], y=[None], mode="markers", name=group.line, legend=_legend_name(number),
            hoverinfo="skip",
            marker={"color": group.colour, "symbol": "circle" if dots else group.mark,
                    "size": 10},
        )
        for group in one.groups
    ]  # fmt: skip


def _legend_name(number: int) -> str:
    return f"legend{number + 1}" if number else "legend"


# -- layout ---------------------------------------------------------------------------------------


def plain_layout(view: View, colours: Ink, height: int = HEIGHT) -> dict[str, Any]:
    """A map's layout: no axes, the same scale both ways, a hand to move it with."""
    axis = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": ""}
    return {
        "height": height,
        "margin": {"l": 0, "r": 0, "t": 38, "b": 0},
        "dragmode": "pan",
        "hovermode": "closest",
        "hoverlabel": {"align": "left", "namelength": 0},
        "xaxis": {**axis, "range": list(view.x)},
        "yaxis": {**axis, "range": list(view.y), "scaleanchor": "x"},
        "modebar": {"orientation": "v", "bgcolor": "rgba(0,0,0,0)", "color": colours.soft,
                    "activecolor": colours.text},
    }  # fmt: skip


def _layout(scene: Scene) -> dict[str, Any]:
    colours = ink(dark=scene.dark)
    legends = {
        _legend_name(i): {
            "visible": i == scene.first, "x": 0, "xanchor": "left", "y": 1, "yanchor": "top",
            "bgcolor": _through(colours.page), "itemclick": False, "itemdoubleclick": False,
            "font": {"size": 12, "color": colours.text}, "itemsizing": "constant",
        }
        for i, one in enumerate(scene.colourings) if one.groups
    }  # fmt: skip
    return {
        **plain_layout(scene.view, colours),
        **legends,
        "meta": {"stamp": scene.view.stamp},
        "dragmode": scene.tool,
        "annotations": [_label(one, colours) for one in apart(scene)],
        "updatemenus": [_recolour(scene, colours)],
        "newselection": {"line": {"color": colours.mark, "width": 1.5, "dash": "dot"}},
        "activeselection": {"fillcolor": "rgba(0,0,0,0)", "opacity": 0},
    }


def _through(colour: str) -> str:
    r, g, b = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({r},{g},{b},0.65)"


def _label(one: Label, colours: Ink) -> dict[str, Any]:
    from html import escape

    return {
        "x": one.x, "y": one.y, "showarrow": False, "captureevents": False,
        "text": escape(one.text, quote=False), "bgcolor": _through(colours.page), "borderpad": 1,
        "yshift": 15,
        "font": {"size": 12, "color": colours.text},
    }  # fmt: skip


def _recolour(scene: Scene, colours: Ink) -> dict[str, Any]:
    legends = [i for i, one in enumerate(scene.colourings) if one.groups]
    made = []
    for number, one in enumerate(scene.colourings):
        marker = {f"marker.{name}": [value] for name, value in _colours(one, scene.rows).items()}
        marker["marker.color"] = [_typed(marker["marker.color"][0])]
        if one.ticks:
            for name, value in _ticks(one).items():
                marker[f"marker.colorbar.{name}"] = [value]
        # By it the page is told which colouring is looked at.
        marker["legendgroup"] = [one.name]
        shown = {f"{_legend_name(i)}.visible": i == number for i in legends}
        label = _pressed(one.name, number == scene.first)
        made.append({"label": label, "method": "update", "args": [marker, shown, [POINTS]]})
    for number, button in enumerate(made):
        for i, one in enumerate(scene.colourings):
            name = f"updatemenus[0].buttons[{i}].label"
            button["args"][1][name] = _pressed(one.name, i == number)
    return {**buttons(made, colours), "active": scene.first}


def _pressed(label: str, is_it: bool) -> str:
    return f"<b>{label}</b>" if is_it else label


def buttons(made: list[dict[str, Any]], colours: Ink) -> dict[str, Any]:
    """A row of buttons above the map, on its left."""
    return {
        "type": "buttons", "direction": "right", "buttons": made, "active": 0,
        "x": 0.0, "xanchor": "left", "y": 1.0, "yanchor": "bottom", "pad": {"b": 6},
        "bgcolor": colours.button, "bordercolor": colours.away, "borderwidth": 1,
        "font": {"size": 12, "color": colours.letters}, "showactive": True,
    }  # fmt: skip


CONFIG: dict[str, Any] = {
    "scrollZoom": True,
    "displayModeBar": True,
    "doubleClick": "reset",
    "toImageButtonOptions": {"format": "png", "scale": 2, "filename": "memory-map"},
    "modeBarButtonsToRemove": ["autoScale2d", "zoom2d"],
}
