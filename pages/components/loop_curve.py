"""Learning curves: how games went one after another, a line for each arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.components.map_ink import ink

WINDOW = 5
"""Games over which a line takes its mean."""
STYLES = {
    "on": ("#4F46E5", "#A5B4FC", "solid", "circle"),
    "off": ("#5F6B7A", "#9AA4B5", "dash", "square"),
    "unrelated": ("#B7791F", "#D9A441", "dot", "diamond"),
    "scrambled": ("#B0447B", "#E38CB8", "dashdot", "triangle-up"),
    "transfer": ("#00785A", "#35B890", "longdash", "star"),
}
"""By arm: colour on a light and on a dark page, dash and mark; nothing is told by colour alone."""
OTHER = ("#5F6B7A", "#9AA4B5", "longdashdot", "hexagon")


@dataclass(frozen=True)
class Line:
    """One arm of a chart."""

    arm: str
    """A name of STYLES, or another."""
    title: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    """Ends of the intervals; empty where there are none."""
    high: tuple[float, ...] = ()
    dots: tuple[float, ...] = ()
    """The single games behind the means; empty where they are not shown."""
    filled: tuple[bool, ...] = ()
    """Of the dots: which games were won."""


def running_mean(values: Sequence[float], window: int = WINDOW) -> tuple[float, ...]:
    """At each place the mean of the last `window` values, of fewer at the beginning."""
    means = []
    for end in range(1, len(values) + 1):
        last = values[max(0, end - window) : end]
        means.append(sum(last) / len(last))
    return tuple(means)


def chart(
    lines: Sequence[Line],
    *,
    across: str,
    up: str,
    share: bool,
    key: str,
    alt: str,
    height: int = 340,
) -> None:
    """The lines with their bands and dots; `share` has the upward axis go from 0 to 100 %."""
    dark = st.context.theme.type == "dark"
    figure = _figure(lines, across, up, share, dark, height)
    st.plotly_chart(figure, key=key, alt=alt, config={"displayModeBar": False})


def _figure(
    lines: Sequence[Line], across: str, up: str, share: bool, dark: bool, height: int
) -> Any:
    import plotly.graph_objects as go

    figure = go.Figure()
    for line in lines:
        light_colour, dark_colour, dash, mark = STYLES.get(line.arm, OTHER)
        colour = dark_colour if dark else light_colour
        if line.low:
            figure.add_scatter(
                x=[*line.x, *reversed(line.x)], y=[*line.high, *reversed(line.low)], fill="toself",
                mode="lines", fillcolor=_faint(colour, 0.16), line={"width": 0}, hoverinfo="skip",
                legendgroup=line.arm, showlegend=False,
            )  # fmt: skip
        if line.dots:
            figure.add_scatter(
                x=line.x, y=line.dots, mode="markers", legendgroup=line.arm, showlegend=False,
                marker={
                    "symbol": [mark if won else f"{mark}-open" for won in line.filled],
                    "color": _faint(colour, 0.55), "size": 7, "line": {"width": 1.2},
                },
                text=["won" if won else "not won" for won in line.filled],
                hovertemplate=f"{line.title}, game %{{x}}: %{{y}} steps, %{{text}}<extra></extra>",
            )  # fmt: skip
        value = "%{y:.0%}" if share else "%{y:.1f}"
        figure.add_scatter(
            x=line.x, y=line.y, name=line.title, legendgroup=line.arm,
            mode="lines" if line.dots else "lines+markers",
            line={"color": colour, "dash": dash, "width": 2.4},
            marker={"symbol": mark, "size": 8, "color": colour},
            hovertemplate=f"{line.title} at %{{x}}: {value}<extra></extra>",
        )  # fmt: skip
    paint = ink(dark=dark)
    figure.update_layout(
        height=height, margin={"l": 10, "r": 10, "t": 10, "b": 10}, hovermode="closest",
        xaxis_title=across, yaxis_title=up, font={"color": paint.text},
        legend={"orientation": "h", "y": 1.12, "x": 0},
    )  # fmt: skip
    few = max((max(line.x, default=0) for line in lines), default=0) <= 12
    figure.update_xaxes(tickformat="d", rangemode="tozero", dtick=1 if few else None)
    figure.update_yaxes(rangemode="tozero")
    if share:
        figure.update_yaxes(range=[0, 1.04], tickformat=".0%")
    return figure


def _faint(colour: str, strength: float) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {strength})"
