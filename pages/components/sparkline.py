"""A memory's confidence over its sessions, as small as a word."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from memory_core import ConfidencePoint, MemoryBank
from pages.components.frame import Desk

WIDTH, HEIGHT = 90, 20
LINE = "#B7791F"
"""That of confidence in the score bars."""

Curves = dict[int, tuple[ConfidencePoint, ...]]


@st.cache_data(show_spinner=False, max_entries=64)
def _curves(
    path: str, signature: tuple[int, ...], ids: tuple[int, ...], _bank: MemoryBank
) -> Curves:
    return _bank.confidence_curves(ids)


def curves(desk: Desk, ids: Sequence[int]) -> Curves:
    """The confidences that memories had up to the revision that is looked at."""
    found = _curves(str(desk.bank.path), desk.signature, tuple(ids), desk.bank)
    until = desk.snapshot.revision or 0
    return {i: tuple(p for p in points if p.revision <= until) for i, points in found.items()}


def sparkline(points: Sequence[ConfidencePoint], now: int) -> None:
    """The curve up to session `now`; its ends and its number of moves in words."""
    if points:
        st.image(_svg(points, now), width=WIDTH, alt=in_words(points))


def in_words(points: Sequence[ConfidencePoint]) -> str:
    if len(points) < 2:
        return "confidence has not moved yet"
    moves = len(points) - 1
    return (
        f"confidence {points[0].confidence:.2f} → {points[-1].confidence:.2f} in {moves} "
        f"move{'s' * (moves > 1)}"
    )


def _svg(points: Sequence[ConfidencePoint], now: int) -> str:
    first = points[0].epoch
    span = max(now - first, 1)
    # Several moves in one session stand side by side; a session is then no longer one width.
    steps = [
        (first + (p.epoch - first) + i / (len(points) + 1), p.confidence)
        for i, p in enumerate(points)
    ]
    reach = max(span, steps[-1][0] - first) + 0.5
    path, last = "", points[0].confidence
    for x, y in [*steps, (first + reach, points[-1].confidence)]:
        across = 2 + (x - first) / reach * (WIDTH - 6)
        path += f" L{across:.1f},{_down(last):.1f} L{across:.1f},{_down(y):.1f}"
        last = y
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}"><path d="M{path[2:]}" fill="none" stroke="{LINE}" stroke-width="1.6"/>'
        f'<circle cx="{WIDTH - 4}" cy="{_down(last):.1f}" r="2.4" fill="{LINE}"/></svg>'
    )


def _down(confidence: float) -> float:
    return HEIGHT - 3 - confidence * (HEIGHT - 6)
