"""Whether a lesson speaks to the model that will read it, rather than about a task.

A lesson reaches the head of a system prompt, so one that says *ignore previous instructions* or
forges a role's marker is an attack, or was copied out of one. These are signs, not proof: a lesson
that quotes such a sentence is found as well.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

_AWAY = r"""(?<!not\ )(?<!n[’']t\ )(?<!never\ )\b
    (?:ignor\w+|disregard\w*|forget|override|overrule|bypass|do\ not\ follow|stop\ following)\s+"""
_FORMER = r"""(?:previous|prior|above|earlier|preceding|foregoing|former|system|original|initial
    |existing)(?:ly)?\s+(?:\w+\s+){0,2}"""
_SIGNS = (
    # Away with what was said before.
    rf"""{_AWAY} (?:(?:all|any|every|each|of|the|your|my|our|these|those)\s+){{0,4}} {_FORMER}
    (?:instruct\w*|prompts?|directives?|guidelines?)""",
    rf"""{_AWAY} (?:(?:of|the)\s+)* (?:all|any|every|your)\s+ (?:(?:of|the|your|my|our)\s+){{0,3}}
    {_FORMER}
    (?:rules?|directions?|messages?|context|commands?|constraints?|polic\w+|conversation)""",
    r"""(?<!not\ )(?<!never\ )\b(?:ignore|disregard|forget)\s+(?:everything|anything|all|what)\s+
    (?:that\s+)?(?:(?:is|was|were|came|comes|stands|written|said)\s+)*
    (?:above|before|previously|you\ (?:were|have\ been|know))\b""",
    r"""(?<!not\ )(?<!never\ )\b(?:ignore|disregard|forget)\s+(?:(?:all|any|of)\s+)*your\s+
    (?:\w+\s+)?(?:instructions|rules|guidelines|training)""",
    r"\bignorier\w*\s+(?:\w+\s+)?(?:vorherigen|bisherigen|obigen)\s+(?:Anweisungen|Regeln)",
    r"\bignore[zr]?\s+(?:toutes\s+)?les\s+(?:instructions|consignes)\s+(?:précéd|antéri)\w+",
    r"\bignor[ae]\s+(?:todas\s+)?las\s+(?:instrucciones|órdenes)\s+(?:anteriores|previas)",
    r"忽略.{0,4}(?:之前|以上|先前|上述|前面).{0,4}(?:指令|指示|提示)",
    # Another model than before.
    r"\byou\s+are\s+now\s+(?:an?|the|in|my|free|no|called|acting|operating)\b",
    r"\byou\s+are\s+no\s+longer\s+(?:an?|bound|the|required|restricted)\b",
    r"""\bfrom\s+now\s+on,?\s+
    (?:you\s+(?:are|will|must|shall|should)|act\s+as|respond|answer|behave)\b""",
    r"\bpretend\s+(?:that\s+)?(?:to\s+be|you\s+are|you're)\b",
    r"\bact\s+as\s+if\s+you\s+(?:are|were|have)\b",
    r"\bact\s+as\s+an?\s+(?:unrestricted|uncensored|jailbroken|different|evil)\b",
    r"\bjailb(?:reak|roken)\b.{0,30}\bmode\b|\bDAN\s+mode\b",
    # What only an operator says, or a thief asks for.
    r"\b(?:new|updated|real|actual|hidden|secret)\s+(?:system\s+)?(?:instructions?|prompt)\s*:",
    r"\b(?:your|the|this)\s+(?:new\s+)?system\s+prompt\s+(?:is|says|now|has\s+been|was)\b",
    r"""\b(?:reveal|print|repeat|output|leak|expose|show|display|recite|disclose|tell)\s+
    (?:\w+\s+){0,3}(?:system\s+prompt|your\s+(?:\w+\s+)?(?:instructions|prompt))""",
    r"""\b(?:send|post|forward|upload|exfiltrate|leak|e-?mail)\s+(?:\w+\s+){0,4}
    (?:conversation|chat\s+history|credentials?|api\s+keys?|passwords?|secrets?|system\s+prompt)
    \s+(?:\w+\s+){0,3}(?:https?://|www\.|\S+@\S)""",
    # Marks by which prompts tell roles apart.
    r"<\|[a-z0-9_\ -]{2,30}\|>|\[/?INST\]|<</?SYS>>",
    r"""</?(?:system|assistant|human|instructions?|system[_-](?:prompt|reminder|message)|im_start
    |im_end|tool_(?:call|result))\s*>""",
    r"""(?:^|\n)\s*\#{1,6}\s*(?:system|assistant|human|instructions?|user|response)\b\s*
    (?::|\n|$|prompt|message|instruction)""",
    r"(?:^|\n)\s*(?:system|assistant|human)\s*(?:prompt|message)?\s*:",
    r"\[G\d+\]",
)
_HINTS = (
    "ignor", "disregard", "forget", "overr", "bypass", "follow", "忽略", " now", "longer",
    "pretend", "act as", "jailb", "dan mode", "prompt", "instruct", "http", "www", "@",
    "<", "[", "#", "system", "assistant", "human",
)  # fmt: skip
"""Of these each sign holds one; looking for them first is ten times as fast."""
_INVISIBLE = re.compile("[\u200b-\u200d\u2060\ufeff\u00ad]")
_SPELLED_IN_TAGS = re.compile("(?<!\U0001f3f4)(?<![\U000e0000-\U000e007f])[\U000e0020-\U000e007e]+")
"""Tag characters, which nobody sees and a model reads; after a black flag they are an emoji."""


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{sign})" for sign in _SIGNS), re.IGNORECASE | re.VERBOSE)


def instruction_in(text: str) -> str | None:
    """The first passage of a text that reads like an instruction to the model; None without one."""
    if _SPELLED_IN_TAGS.search(text):
        return "characters that cannot be seen"
    plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    lower = plain.lower()
    if not any(hint in lower for hint in _HINTS):
        return None
    found = _pattern().search(plain)
    return " ".join(found[0].split()) if found else None
