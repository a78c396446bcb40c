"""What the lessons of a run are about, where nobody said so."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_core.reflection.calls import Call
from memory_core.reflection.context import ReflectionContext
from memory_core.reflection.gists import Gist
from memory_core.reflection.slicing import is_text_world
from memory_core.retrieval import CLEAR_SHARE, domain_shares

UNKNOWN = "general"
_LEAST = 0.34
"""Share of a run's calls that a family of tools needs."""
_FAMILIES: tuple[tuple[str, str], ...] = (
    ("sql and data", r"sql|query_database|psql|sqlite|duckdb"),
    ("spreadsheets", r"xlsx|excel|openpyxl|pivot|spreadsheet|worksheet"),
    ("web browsing", r"browse|browser|click|goto|navigate|fill\(|screenshot|page_"),
    ("email and calendar", r"e?mail|calendar|inbox|meeting|invite"),
    ("shell and git", r"^git |\bgit "),
    ("api integration", r"\bcurl\b|https?://\S*/(?:api|v\d)|http_request|webhook"),
    ("customer service", r"^\S*(?:reservation|booking|flight|refund|order|customer|return_|exchange"
                         r"|user_details|find_user|human_agent)"),
    ("deployment", r"docker|kubectl|terraform|helm|deploy"),
    ("software repair", r"pytest|\.py\b|str_replace|edit|apply_patch|\bnpm\b|\bcargo\b|traceback"),
    ("research", r"^\S*(?:search|lookup|wikipedia|arxiv|news|fetch)"),
)  # fmt: skip
"""Words of tools and commands, and what they are used for; the more particular first."""


def domain_of(calls: Sequence[Call], gist: Gist, task: str, context: ReflectionContext) -> str:
    """A label in lower case, never empty.

    What the person said; else the domain whose memories are clearly nearest to the task; else
    that of the run's tools; else the domain of the nearest memories.
    """
    chosen = " ".join(context.domain.lower().split())
    if chosen:
        return chosen
    shares = _near_domains(gist, task, context)
    best = next(iter(shares), "")
    if best and shares[best] >= CLEAR_SHARE:
        return best
    return _family(calls) or best or UNKNOWN


def _near_domains(gist: Gist, task: str, context: ReflectionContext) -> dict[str, float]:
    if not len(context.snapshot) or not task.strip():
        return {}
    text = gist.text or task[:1_000]
    return domain_shares(context.snapshot, context.embed([text])[0])


def _family(calls: Sequence[Call]) -> str:
    if not calls:
        return ""
    if is_text_world(calls):
        return "text worlds"
    said = [
        f"{call.tool} {(call.command or call.only_value or '')[:2_000]}".lower() for call in calls
    ]
    counts = {name: sum(bool(re.search(sign, one)) for one in said) for name, sign in _FAMILIES}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] >= _LEAST * len(calls) else ""
