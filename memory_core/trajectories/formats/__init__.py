"""The formats in which runs come, in the order in which they are tried."""

from __future__ import annotations

from memory_core.trajectories.formats import (
    anthropic,
    atif,
    claude_code,
    codex,
    cursor,
    gemini_cli,
    inspect_ai,
    langfuse,
    langsmith,
    letta,
    mini_swe_agent,
    muse,
    openai_chat,
    openai_responses,
    openclaw,
    openhands,
    openinference,
    opentelemetry,
    raw_text,
    react,
    reflexion,
    swe_agent,
    tau2_bench,
    tau_bench,
)
from memory_core.trajectories.formats.format import Format

FORMATS: tuple[Format, ...] = tuple(
    module.FORMAT
    for module in (
        atif,
        mini_swe_agent,
        swe_agent,
        openhands,
        tau_bench,
        tau2_bench,
        claude_code,
        codex,
        gemini_cli,
        cursor,
        openclaw,
        anthropic,
        openai_chat,
        openai_responses,
        langfuse,
        opentelemetry,
        openinference,
        langsmith,
        inspect_ai,
        letta,
        muse,
        react,
        reflexion,
        raw_text,
    )
)
"""Raw text is the last: it matches everything."""
