"""A bar that shows how the parts of a score make it up."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from memory_core import Hit

WIDTH, HEIGHT = 320, 18


@dataclass(frozen=True)
class _Colours:
    similarity: str
    lexical: str
    confidence: str
    track: str


_LIGHT = _Colours("#4F46E5", "#8A8F9C", "#B7791F", "#E7E9EE")
_DARK = _Colours("#A5B4FC", "#8A8F9C", "#B7791F", "#2A303C")


def score_bar(hit: Hit, *, full: float = 1.0) -> None:
    """The stacked bar of a hit's parts; `full` is the score that fills the width."""
    colours = _DARK if st.context.theme.type == "dark" else _LIGHT
    parts = [
        (hit.parts.similarity.share, colours.similarity, False),
        (hit.parts.lexical.share, colours.lexical, False),
        (hit.parts.confidence.share, colours.confidence, True),
    ]
    st.image(_svg(parts, colours, full), width="stretch", alt=sentence(hit))


def _svg(parts: list[tuple[float, str, bool]], colours: _Colours, full: float) -> str:
    rects, x = [], 0.0
    for share, colour, hatched in parts:
        width = max(share, 0.0) / full * WIDTH
        fill = "url(#hatch)" if hatched else colour
        rects.append(
            f'<rect x="{x:.1f}" y="0" width="{width:.1f}" height="{HEIGHT}" fill="{fill}"/>'
        )
        x += width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'preserveAspectRatio="none" width="{WIDTH}" height="{HEIGHT}">'
        f'<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><rect width="6" height="6" fill="{colours.confidence}"/>'
        f'<line x1="0" y1="0" x2="0" y2="6" stroke="{colours.track}" stroke-width="2"/></pattern>'
        f'</defs><rect width="{WIDTH}" height="{HEIGHT}" rx="3" fill="{colours.track}"/>'
        + "".join(rects)
        + "</svg>"
    )


def sentence(hit: Hit) -> str:
    """The arithmetic of a score in words and numbers."""
    parts = hit.parts
    terms = [f"similarity {parts.similarity.value:.2f} × {parts.similarity.weight:.2f}"]
    if parts.lexical.weight:
        terms.append(f"words {parts.lexical.value:.2f} × {parts.lexical.weight:.2f}")
    if parts.confidence.weight:
        terms.append(f"confidence {parts.confidence.value:.2f} × {parts.confidence.weight:.2f}")
    return " + ".join(terms) + f" = {hit.score:.2f}"


def legend(*, lexical: bool) -> str:
    """What the colours and the hatching say."""
    words = " · ▒ words" if lexical else ""
    return f"█ similarity{words} · ▨ confidence (hatched)"
