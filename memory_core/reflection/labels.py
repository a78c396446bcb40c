"""A call as a step that somebody else can follow: what varies is a slot."""

from __future__ import annotations

import re

from memory_core.cleaning.instructions import instruction_in
from memory_core.reflection.calls import Call
from memory_core.reflection.gists import begins_with_verb, cut_clause
from memory_core.reflection.phrases import clipped, code, one_line, sentences, word_count, words_of
from memory_core.reflection.slicing import is_particular

_AIM = re.compile(
    r"""^(?:(?:now|next|first|then|so|okay|ok|great|perfect|finally|good|sure|alright|last)\b
            [,!.]?\s+)*
        (?:(?:before|after|to|for|with|since|as)\s[^,;:]{3,60}?,?\s+(?=i\s))?
        (?:i['’]ll|i\s+will|i\s+am\s+going\s+to|i['’]m\s+going\s+to|let\s+me|let['’]s|let\s+us
        |i\s+(?:need|want|have)\s+to|i\s+should|we\s+should|we\s+(?:need|want|have)\s+to|i)\s+
        (?:(?:now|first|also|then|just|start\s+by|begin\s+by)\s+)*(.+)$""",
    re.IGNORECASE | re.VERBOSE,
)
_ORDER = re.compile(r"^(?:now|next|then|first|finally),?\s+([a-z]+\s.+)$", re.IGNORECASE)
_CLAUSE = re.compile(r"(?:,\s+(?:so|and|but)\s+|;\s+|:\s+)(?=(?:I|I['’]ll|I['’]m|we|let)\b)")
_NO_AIM = re.compile(
    r"(?:am|was|have|had|has|found|see|saw|think|thought|believe|know|knew|understand|apologi[sz]e"
    r"|did|do|need|can|could|would|made|got|noticed|will|assume[d]?|also|only|no|don['’]t|cannot"
    r"|suggest|propose|want|call it|fix (?:that|it)|try (?:it|that|again)|end this"
    r"|correct this|help|repeat|\w+ing)\b",
    re.IGNORECASE,
)
_AIM_ENDS = re.compile(
    r",?\s+(?:before|after|when|if|as|while|that|which|and|but|so|because|since)\s+(?:I|we)\b"
    r"|[,;:]\s+(?:and|so|but|because|since|which|then|where|still|with)\b|[;:]\s"
    r"|\s+(?:to see|so that|because|and make sure|in order to|to make sure)\b",
    re.IGNORECASE,
)
_POINTING = re.compile(
    r"\b(?:some (?:from|of)|it|them|those|these|this|that (?=\w+$|\w+ and|\w+ in\b)|again|both"
    r"|ones?|all \w+$)\b",
    re.IGNORECASE,
)
"""Words that mean nothing without what was said before."""
_PERSON = re.compile(r"\b(?:I|me|my|we|us|our|you|your|I['’]\w+)\b", re.IGNORECASE)
_THING = re.compile(r"\b([a-z]{2,}) \d{1,3}\b")
_INDEX = re.compile(r"\.\d+(?=\.|$)")
_MOST_ARGUMENTS = 6
_LONG = 8
"""Words from which an argument is code or prose rather than a value."""
_AIM_WORDS = 10
GENERIC_TOOLS = words_of("""
    edit open create read write view bash shell exec run python run_python python_repl run_sql
    execute execute_bash run_command bash_command str_replace_editor str_replace_based_edit_tool
    edit_file read_file write_file create_file find_file search_file search_dir list_files list_dir
    glob grep ls cat browse_interactive browser notebook multiedit ipython jupyter apply_patch
    scroll goto submit finish""")
"""Names of tools that do not tell what is done with them."""


def aim_of(call: Call, words: int) -> str:
    """What the call is for, as an order, where the run says so; otherwise empty."""
    if word_count(call.note) >= 2 and not instruction_in(call.note):
        return _as_order(cut_clause(call.note, words))
    for sentence in sentences(call.text)[:8]:
        for clause in (sentence, *_CLAUSE.split(sentence)[1:]):
            aim = _order_in(clause)
            if aim:
                return _as_order(cut_clause(aim, words))
    return ""


def _order_in(clause: str) -> str:
    """What a clause says that the agent goes about, without the `I`; empty where it does not."""
    found = _AIM.match(clause) or _ORDER.match(clause)
    if not found or _NO_AIM.match(found[1]):
        return ""
    if found.re is _ORDER and not begins_with_verb(found[1]):
        return ""
    aim = _AIM_ENDS.split(found[1], maxsplit=1)[0].rstrip(" .,")
    said = word_count(aim) >= 2 and not _PERSON.search(aim) and not _POINTING.search(aim)
    return aim if said and not instruction_in(aim) else ""


def _as_order(text: str) -> str:
    line = one_line(text).rstrip(".:; ")
    return line if line[1:2].isupper() else line[:1].lower() + line[1:]


def step_of(call: Call, given: str) -> str:
    """The call with slots for what comes from the task, from a result, or is an identifier."""
    aim = aim_of(call, 16)
    lone = call.only_value or ""
    if call.command:
        line = code(clipped(call.command, 20, 140))
        return f"{aim}: {line}" if aim else line
    if _is_long(call):
        return f"{aim} ({code(call.tool)})" if aim else code(call.tool)
    if call.written:
        return _written(call, slotted_words(lone, given))
    told = dict.fromkeys(
        f"{_INDEX.sub('[]', name)}={slotted_value(name, value, given)}"
        for name, value in call.values.items()
    )
    listed = ", ".join(list(told)[:_MOST_ARGUMENTS]) + (
        ", …" if len(told) > _MOST_ARGUMENTS else ""
    )
    return f"{code(call.tool)}({listed})" if listed else code(call.tool)


def short_step(call: Call, given: str) -> str:
    """The call in a few words, for a lesson's text."""
    if _needs_an_aim(call):
        aim = aim_of(call, _AIM_WORDS)
        if aim and not aim.endswith("…"):
            return aim
        return code(call.programs[0] if call.programs else call.tool)
    if call.written:
        return _written(call, slotted_words(call.only_value or "", given))
    return code(call.tool)


def is_telling(call: Call) -> bool:
    """Whether its short step tells somebody else what to do."""
    if _needs_an_aim(call):
        aim = aim_of(call, _AIM_WORDS)
        return bool(aim) and not aim.endswith("…")
    return True


def _needs_an_aim(call: Call) -> bool:
    """Whether neither its tool nor its arguments tell what is done."""
    in_words = call.written and not _is_long(call)
    generic = not in_words and call.tool.lower() in GENERIC_TOOLS
    return bool(call.command) or _is_long(call) or generic


def _is_long(call: Call) -> bool:
    lone = call.only_value or ""
    return word_count(lone) > _LONG or "\n" in lone.strip()


def _written(call: Call, words: str) -> str:
    return words if words.split(" ")[0] == call.tool else f"{code(call.tool)} {words}".strip()


def slotted_value(name: str, value: str, given: str) -> str:
    """A value, or `{name}` where it belongs to one run only."""
    line = one_line(value[:200])
    slot = _INDEX.sub("", name).rsplit(".", 1)[-1].replace("_", " ") or "value"
    belongs = is_particular(line) or len(line) > 30 or word_count(line) > 3
    stands = len(line) > 1 and re.search(rf"(?<!\w){re.escape(line)}(?!\w)", given, re.IGNORECASE)
    if line in ("true", "false", "null") or not (belongs or stands):
        return line
    return f"{{{slot}}}"


def slotted_words(text: str, given: str) -> str:
    """Written arguments: things with a number, names and paths as slots."""
    line = one_line(text[:400])
    first, _, rest = line.partition(" ")
    if _THING.search(line):
        start = f"{first} " if rest and first.isalpha() else ""
        return start + _THING.sub(lambda found: f"{{{found[1]}}}", rest if start else line)
    if re.fullmatch(r"(?:\w+ )?[\w./~-]*[./][\w./~-]+", line):
        return f"{first} {{path}}" if rest else "{path}"
    if not line or (line.islower() and word_count(line) <= 2):
        return line
    where = "in the task" if line.lower().strip("\"'") in given.lower() else "found before"
    return f"{{name {where}}}"
