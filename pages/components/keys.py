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
SPARED = "_spared"
"""Ids that are to be pinned with a compression."""
PREVIEWED = "_previewed"
"""The bank and revision that the compression plans on show were made for."""
CURVE = "_curve"
COMPRESSED = "_compressed"
"""The revision of the last compression here, and the tasks of the queries that lost by it."""
FRAMED = "_framed"
