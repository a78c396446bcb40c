"""What a point of the map says under the pointer.

Plotly reads a few HTML tags and entities there, so texts are escaped; `%{…}` is only read in a
template, and no text ever gets into one.
"""

from __future__ import annotations

from html import escape

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from memory_core import KINDS, Snapshot

WIDTH = 58
"""Characters on a line."""
TEMPLATE = "%{text}<extra></extra>"
SHORT = 64
"""Characters of a text that a point says in a crowd."""
SHORT_TEMPLATE = "%{text}<br>A click opens it.<extra></extra>"


def line_up(text: str, width: int = WIDTH) -> list[str]:
    """A text in lines of at most `width` characters; a longer word is cut."""
    lines, line = [], ""
    for word in text.split():
        while len(word) > width:
            if line:
                lines.append(line)
                line = ""
            lines.append(word[:width])
            word = word[width:]
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line] if line else lines


def literal(text: str, width: int = WIDTH) -> str:
    """A text for Plotly, seen there as it is, wrapped."""
    return "<br>".join(escape(line, quote=False) for line in line_up(text, width))


@st.cache_resource(show_spinner=False, max_entries=4)
def hovers(
    path: str, revision: int | None, batch_key: str, projection: int,
    _snapshot: Snapshot, _placed: NDArray[np.bool_],
) -> list[str]:  # fmt: skip
    """For each row what its point says."""
    c, pool = _snapshot.columns, _snapshot.pool
    domains = {code: escape(pool.domains.value(code)[:60], quote=False)
               for code in np.unique(c.domain).tolist()}  # fmt: skip
    told = zip(
        c.ids.tolist(), c.text.tolist(), c.kind.tolist(), c.domain.tolist(),
        c.confidence.tolist(), c.usage_count.tolist(), c.success_count.tolist(),
        c.epoch.tolist(), c.pinned.tolist(), _placed.tolist(), strict=True,
    )  # fmt: skip
    made = []
    for memory_id, text, kind, domain, confidence, used, helped, epoch, pinned, placed in told:
        name = KINDS[kind]
        use = f"applied {used}, helped {helped}" if used else "never applied"
        # Ten thousand of these are most of what the browser has to load: plain commas, no signs.
        made.append(
            f"{literal(pool.texts[text])}<br><br>{name}, {domains[domain]}, memory {memory_id}<br>"
            f"confidence {confidence:.2f}, {use}, session {epoch}"
            + (", pinned" if pinned else "")
            + ("<br>placed since the map was fitted" if placed else "")
        )
    return made


@st.cache_resource(show_spinner=False, max_entries=4)
def beginnings(path: str, revision: int | None, batch_key: str, _snapshot: Snapshot) -> list[str]:
    """For each row how its text begins.

    In a crowd all that the points say would be nine tenths of what the browser has to load, and it
    goes through that several times before it draws.
    """
    texts = _snapshot.texts()
    return [escape(_cut(" ".join(text.split())), quote=False) for text in texts]


def _cut(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[: SHORT - 1].rstrip()}…"
