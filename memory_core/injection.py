"""The block of learned guidelines at the head of a system prompt."""

from __future__ import annotations

import re
from collections.abc import Sequence

NO_EXPERIENCE = "There is no relevant experience for this task."

# Whatever str.splitlines and other readers take for the end of a line, and what is not seen.
_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Square brackets of any width, with what is not seen between them and the G, full-width or not.
_UNSEEN = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*"
_LABEL = re.compile(rf"[\[［【〔⟦](?={_UNSEEN}[GgＧｇ]{_UNSEEN}\d+{_UNSEEN}[\]］】〕⟧])")
_LINE = re.compile(r"^\s*\[G(\d+)\]\.?(?: (.*))?$")


def plain(text: str) -> str:
    """A text that cannot forge another guideline: one line, and no label such as [G7].

    A label inside the text keeps its letters and loses its bracket's meaning: `[G7]` → `(G7]`.
    """
    return _LABEL.sub("(", _BREAKS.sub(" ", text).strip())


def injection(texts: Sequence[str]) -> str:
    """Ranked lines `[G0] text`, `[G1] text`, …; a sentence where there are none."""
    if not texts:
        return NO_EXPERIENCE
    return "\n".join(f"[G{rank}] {plain(text)}" for rank, text in enumerate(texts))


def read_injection(block: str) -> tuple[str, ...]:
    """The texts of a block, in order; `[G0]. text` is read too."""
    lines = (_LINE.match(line) for line in block.splitlines())
    return tuple((found.group(2) or "").strip() for found in lines if found)
