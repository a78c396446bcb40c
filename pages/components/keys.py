"""Names of what pages keep in the session, and in the address.

A widget that is bound to the address has the name of its parameter as its key, and those names
are shared by all pages; so each is used by one page only, but for the first group.
"""

REVISION = "revision"
MEMORY = "memory"

BANK = "_bank"
ACTOR = "_actor"
MADE = "_made"
"""The revision that this session made last, for the bar with Undo."""
NOTICE = "_notice"
SELECTED = "_selected"
"""Ids of memories, never positions."""
SELECTION_VERSION = "_selection_version"
