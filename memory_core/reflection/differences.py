"""What was different in the arguments of two calls, in a few words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

from memory_core.cleaning.wording import content_stems
from memory_core.reflection.calls import Call
from memory_core.reflection.phrases import clipped, code, listed, one_line, word_count

_SHORT = 8
"""Most words of a value that is quoted whole."""
_MOST_WORDS = 400
"""In a value, to be compared word by word."""
_NAMED_ID = re.compile(r"([a-z]+(?:_[a-z]+)*)_?\d{3,}$")
_ENTRIES = re.compile(r"\d+ entr(?:y|ies)")
_TOKEN = re.compile(r"\s+|[^\s\"'(),;\[\]{}]+|[\"'(),;\[\]{}]")
_FLAG = re.compile(r"--?[A-Za-z][\w-]*")


@dataclass(frozen=True, slots=True)
class Difference:
    """One argument in which the second call differs from the first."""

    name: str
    """As a person would call it; empty for a lone argument without a name."""
    before: str | None
    """None where the first call had no such argument."""
    after: str | None
    """None where the second had none."""

    def bears_on(self, told: str) -> bool:
        """Whether an error speaks of it."""
        stems = set(content_stems(told.replace("_", " ")))
        own = f"{self.name} {self.before or ''}".replace("_", " ").replace(".", " ")
        return bool(stems & set(content_stems(own[:400])))

    def phrase(self) -> str:
        """`amount 305 instead of 255`; empty where that would be long."""
        before = None if self.before is None else shown_value(self.before)
        after = None if self.after is None else shown_value(self.after)
        if before == "" or after == "" or before == after:
            return ""
        if before is None:
            return f"{self.name} {after}".strip() if self.name else ""
        if after is None:
            return f"no {self.name}" if self.name else ""
        if _ENTRIES.fullmatch(after) and _ENTRIES.fullmatch(before):
            return f"{after} in {self.name} instead of {before.split()[0]}"
        return f"{self.name} {after} instead of {before}".strip()


def shown_value(value: str) -> str:
    """A short value as a lesson names it: `certificate` for certificate_5520914; "" for a long."""
    line = one_line(value[:400])
    named = _NAMED_ID.fullmatch(line)
    if named:
        return named[1].replace("_", " ")
    if _ENTRIES.fullmatch(line):
        return line
    if not line or word_count(line) > _SHORT or len(line) > 60 or len(value) > 400:
        return ""
    return line if re.fullmatch(r"[\d.,$€%-]+|true|false|null", line) else code(line)


def differences(first: Call, second: Call) -> list[Difference]:
    """How the arguments differ, in the order of the second call; lists by how long they are."""
    before, after = _by_list(first), _by_list(second)
    found: list[Difference] = []
    for name in dict.fromkeys((*after, *before)):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if old is None or new is None or not (_is_list(old) or _is_list(new)):
            found.append(Difference(_spoken(name), _lone(old), _lone(new)))
        elif len(old) != len(new):
            found.append(Difference(_spoken(name), _entries(old), _entries(new)))
        else:
            found += [
                Difference(_spoken(key), old[key], new.get(key, ""))
                for key in old
                if old[key] != new.get(key)
            ]
    return found


def _by_list(call: Call) -> dict[str, dict[str, str]]:
    """Values by argument; those of a list's entries together, under its name."""
    grouped: dict[str, dict[str, str]] = {}
    for name, value in call.values.items():
        outer = re.split(r"\.\d+(?:\.|$)", name, maxsplit=1)[0]
        grouped.setdefault(outer, {})[name] = value
    return grouped


def _is_list(values: dict[str, str]) -> bool:
    return any(re.search(r"\.\d+(?:\.|$)", name) for name in values)


def _lone(values: dict[str, str] | None) -> str | None:
    if values is None:
        return None
    return _entries(values) if _is_list(values) else next(iter(values.values()))


def _entries(values: dict[str, str]) -> str:
    places = {found[1] for name in values if (found := re.search(r"\.(\d+)(?:\.|$)", name))}
    return f"{len(places)} {'entry' if len(places) == 1 else 'entries'}"


def _spoken(name: str) -> str:
    parts = [part for part in name.split(".") if not part.isdigit()]
    return " ".join(parts[-2:])


def told_difference(first: Call, second: Call, error: str) -> str:
    """What the second call had that the first had not, in words; empty where it is not short.

    Of several differences, those that the error speaks of; where it speaks of none, two at most.
    """
    if second.command and first.command:
        return _told_of_commands(first.command, second.command)
    found = differences(first, second)
    named = _named_in(error, first, second)
    if named:
        return f"{code(named)} added"
    sums = _sums(error, first, second)
    if sums:
        return sums
    bearing = [one for one in found if one.bears_on(error)] or found[:2]
    if not 1 <= len(bearing) <= 2 or (len(found) > 1 and not bearing[0].bears_on(error)):
        return ""
    phrases = []
    for one in bearing:
        phrase = one.phrase()
        if not phrase and one.before and one.after:
            phrase = _changed_words(one.before, one.after, one.name)
        if not phrase:
            return ""
        phrases.append(phrase)
    return listed(phrases)


def _named_in(error: str, first: Call, second: Call) -> str:
    """A `name=value` in the second call alone whose name the error gives, as code has it."""
    had = " ".join(first.values.values())[:20_000]
    for found in re.finditer(
        r"\b([a-z]\w*_\w+)\s*=\s*(?:'[^'\n]{1,30}'|\"[^\"\n]{1,30}\"|[\w.]{1,30})",
        " ".join(second.values.values())[:20_000],
    ):
        if found[0] not in had and re.search(rf"\b{found[1]}\b", error):
            return found[0]
    return ""


def _sums(error: str, first: Call, second: Call) -> str:
    """Of numbers in a list that add up to one that the error names, where they did not before."""
    wanted = {float(number) for number in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])", error)}
    before, after = _totals(first), _totals(second)
    for name, total in after.items():
        if total in wanted and name in before and before[name] != total:
            return f"{name}s that add up to {total:g}"
    return ""


def _totals(call: Call) -> dict[str, float]:
    totals: dict[str, float] = {}
    for name, value in call.values.items():
        if re.search(r"\.\d+\.", name) and re.fullmatch(r"-?\d{1,12}(?:\.\d{1,6})?", value):
            totals[_spoken(name)] = totals.get(_spoken(name), 0.0) + float(value)
    return totals


def _told_of_commands(first: str, second: str) -> str:
    if all(word_count(line) <= _SHORT and "\n" not in line for line in (first, second)):
        return f"{code(one_line(second))} instead of {code(one_line(first))}"
    if any("<<" in line or len(line) > 2_000 for line in (first, second)):
        return ""
    had = set(_FLAG.findall(first))
    new = [flag for flag in dict.fromkeys(_FLAG.findall(second)) if flag not in had]
    return listed(code(flag) for flag in new) if 1 <= len(new) <= 3 else ""


def _changed_words(before: str, after: str, name: str) -> str:
    """Where one long value differs from another, if it is in one or two places and short."""
    if before.strip() == after.strip():
        return f"the leading white space of {name or 'the text'} kept"
    old, new = (_TOKEN.findall(text) for text in (before, after))
    if max(len(old), len(new)) > _MOST_WORDS:
        return ""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    spans = [span for span in matcher.get_opcodes() if span[0] != "equal"]
    if not 1 <= len(spans) <= 2 or matcher.ratio() < 0.5:
        return ""
    phrases = []
    for _, i, j, k, m in spans:
        gone, come = one_line("".join(old[i:j])), one_line("".join(new[k:m]))
        if max(word_count(gone), word_count(come)) > 5 or max(len(gone), len(come)) > 50:
            return ""
        if gone and come:
            phrases.append(f"{code(come)} instead of {code(gone)}")
        elif come:
            phrases.append(f"{code(come)} added")
        elif gone:
            phrases.append(f"{code(gone)} left out")
    told = listed(phrases)
    return f"{told} in {name}" if name and told else told


def new_names(first: Call, second: Call) -> set[str]:
    """Names and numbers of four letters or more in the second call's arguments alone."""

    def names(call: Call) -> set[str]:
        text = " ".join(call.values.values())[:4_000]
        return {word for word in re.findall(r"[\w.@-]{4,}", text) if not word.isalpha()}

    had = " ".join(first.values.values())
    return {name.strip(".-") for name in names(second) if name.strip(".-") not in had}


def rendered(call: Call, *, words: int = 12) -> str:
    """A call as code, clipped."""
    if call.command:
        return code(clipped(call.command, words, 80))
    lone = call.only_value
    if lone is not None and call.written:
        told = lone if lone.split(" ")[0] == call.tool else f"{call.tool} {lone}"
        return code(clipped(told, words, 80))
    return code(call.tool)


def usage_of(call: Call) -> str:
    """How a call that worked was made, in at most 400 letters."""
    if call.command or call.written:
        return clipped(call.command or call.only_value or "", 60, 400)
    shown = (f"{name}={clipped(value, 12, 60)}" for name, value in list(call.values.items())[:12])
    return clipped(f"{call.tool}({', '.join(shown)})", 80, 400)
