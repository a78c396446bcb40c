"""Colours of all on the map that is no point, for a light and for a dark page."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Ink:
    """Colours of all that is no point, for a light or a dark page."""

    text: str
    soft: str
    page: str
    button: str
    letters: str
    """Of a button."""
    away: str
    """Of points that are filtered out."""
    mark: str
    """Of what is asked and found."""


# Plotly paints the button under the pointer, and the pressed one, nearly white on any page; so
# a button has dark letters on a dark page, too.
LIGHT = Ink("#1B1F27", "#5F6B7A", "#FFFFFF", "#E3E6EC", "#1B1F27", "#C9CED6", "#E5484D")
DARK = Ink("#E7E9EE", "#9AA4B5", "#12151C", "#8E98A9", "#12151C", "#3A4250", "#FF6369")


def ink(*, dark: bool) -> Ink:
    return DARK if dark else LIGHT
