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
