"""Texts in pictures that we draw ourselves."""

from __future__ import annotations

import re
from html import escape

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters without which alone a picture is well formed."""


def escaped(text: str) -> str:
    """A text inside an SVG, seen there as it is."""
    return escape(_NOT_IN_XML.sub("\ufffd", text))
