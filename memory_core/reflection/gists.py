"""What a task is about, in a few words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memory_core.cleaning.instructions import instruction_in
from memory_core.cleaning.wording import content_stems, is_generic
from memory_core.reflection.phrases import one_line, quoted, sentences, word_count, words_of

_DANGLING = words_of(
    "a an the of to in on at by for from with without into and or but that which who where when if "
    "is are was were be as than then so not no my your its their this these those all any every "
    "each it has have had will would should can could must"
)
_JOINING = words_of("and or but from for to with in on at by as that which who so into of")
_VERBS = words_of("""
    add adjust analyze answer append apply arrange assign attach back book browse build buy
    calculate call cancel change check clean clear click clone close collect compare compile
    complete compute configure connect convert cool copy correct count create cut debug decrypt
    define delete deploy describe design determine diagnose download draft draw edit email enable
    ensure enter estimate evaluate examine exchange execute explain export extract fetch figure file
    fill filter find fix fly format generate get give go group handle heat help identify implement
    import improve include inform insert inspect install integrate investigate join keep launch list
    load locate log look make merge migrate modify monitor move name navigate open optimize order
    organize parse pay pick place plan play plot post prepare print process produce prove provide
    publish pull push put query read rebuild receive recover redo reduce refactor refund register
    release remove rename reorder repair replace reply report reproduce request reschedule reset
    resolve restart restore retrieve return revert review rewrite rotate run save scan schedule
    search select send set set-up show simplify slice solve sort split start stop store submit
    summarize switch sync take tell test trace track train transfer translate trim try turn
    unblock uninstall update upgrade upload use validate verify visit wait write""")
_OPENING = re.compile(
    r"""^(?:(?:new\s+)?task\s*:|hi[,!.]|hello[,!.]|hey[,!.]|ok(?:ay)?[,!.]|now\b,?|then\b,?|so\b,?
        |(?:can|could|would|will)\s+you\s+(?:please\s+)?|please\b,?|kindly|just
        |help\s+me(?:\s+to)?|i(?:['’]d|\s+would)\s+like\s+(?:you\s+)?to
        |i\s+(?:want|need)\s+(?:you\s+)?to|your\s+task\s+is\s+to|you\s+(?:must|should|need\s+to)
        |let['’]s|let\s+us)\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_WISH = re.compile(
    r"\b(?:want|wants|need|needs|wish|would\s+like)\s+to\s+(?=\w)(?!know\b)", re.IGNORECASE
)
_CODE_ID = re.compile(
    r"\b(?:(\w+)\s+(?:(?:ID|id|number|no\.)\s+)?)?((?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,12}"
    r"|[a-z]+(?:_[a-z]+)*_\d{3,})\b"
)
_DATE = re.compile(
    r"\b(?:\d{4}-\d\d-\d\d|(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?"
    r"|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?\s+\d{1,2}"
    r"(?:st|nd|rd|th)?(?:,?\s+\d{4})?)\b"
)


@dataclass(frozen=True, slots=True)
class Gist:
    """What a task is about, in a few words; empty where that cannot be told."""

    text: str = ""
    is_action: bool = False
    """Whether it begins with a verb."""

    def opening(self, words: int) -> str:
        """How a lesson begins: `To rename a file: `; empty where there is nothing to say."""
        if not self.text or words < 3:
            return ""
        short = cut_clause(self.text, words, mark=not self.is_action)
        if not short or (self.is_action and short.endswith("…")):
            return ""
        return f"To {short}: " if self.is_action else f"For {quoted(short)}: "


def gist_of(task: str) -> Gist:
    """What a task asks for. Text that addresses the model gives nothing."""
    said = sentences(task)
    for chosen, is_action in _candidates(said):
        text = _slotted(re.sub(r"\s*\([^)]*\)?", "", chosen)).strip(" .:;,-")
        if not text or instruction_in(text) or "[masked" in text or word_count(text) < 2:
            continue
        if is_action:
            text = text[0].lower() + text[1:]
            text = re.sub(r"\byour\b", "the", re.sub(r"\byourself\b", "the customer", text))
            text = re.sub(r"\bmy\b", "the", text)
        return Gist(text, is_action)
    return Gist()


def _candidates(said: list[str]) -> Iterable[tuple[str, bool]]:
    """Passages that may tell what a task is about, the best first, and whether each is an order."""
    if said and re.match(r"You\b", said[0]):  # a part to play: what that person wants
        for sentence in said[:6]:
            wish = _WISH.search(sentence)
            if wish and not re.search(r"\bnot\s+$", sentence[: wish.start()]):
                yield sentence[wish.end() :], True
    for sentence in said[:8]:
        order = _without_opening(sentence)
        if begins_with_verb(order) and _says_enough(order):
            yield order, True
    topics = [one for one in said[:8] if len(content_stems(one)) >= 2 and not is_generic(one)]
    if topics and re.match(r"(?:I|We|My|Our)\b", topics[0]) and len(content_stems(topics[0])) < 6:
        topics.sort(key=lambda one: len(content_stems(one)) < 5)  # a story that takes its time
    yield from ((sentence, False) for sentence in topics)
    yield from ((sentence, False) for sentence in said[:1] if len(content_stems(sentence)) >= 2)


def begins_with_verb(text: str) -> bool:
    """Whether a text begins like an order, with one of the verbs that tasks are made of."""
    return text.split(" ")[0].lower().rstrip(",.:") in _VERBS


def _without_opening(sentence: str) -> str:
    while (shorter := _OPENING.sub("", sentence).lstrip(" ,:-")) != sentence:
        sentence = shorter
    return sentence


def _says_enough(order: str) -> bool:
    return len(content_stems(order)) >= 2 and not is_generic(order)


def _slotted(text: str) -> str:
    """Identifiers and dates as slots."""

    def named(found: re.Match[str]) -> str:
        noun = found[1] or ""
        if noun.islower() and noun not in _DANGLING:
            return f"{noun} {{{noun} id}}"
        return f"{noun} {{id}}".lstrip()

    return _DATE.sub("{date}", _CODE_ID.sub(named, text))


def cut_clause(text: str, words: int, *, mark: bool = True) -> str:
    """At most so many words of a text, cut where a clause or a phrase ends if one does.

    `mark` puts a … where it was cut elsewhere.
    """
    line = one_line(text)
    if word_count(line) <= words:
        return line.rstrip(" .,;:")
    parts = line.split(" ")[:words]
    for signs in (";:", ","):
        for end in range(len(parts), 3, -1):
            kept = " ".join(parts[:end])
            if parts[end - 1][-1:] in signs and _is_closed(kept):
                return kept.rstrip(" ,;:")
    if not mark:
        for end in range(len(parts), 3, -1):
            follows = line.split(" ")[end].lower()
            kept, last = " ".join(parts[:end]), parts[end - 1]
            # From one name to another, as in `Houston to Denver`, is one phrase.
            joins = follows in _JOINING and not (
                last[:1].isupper() and follows in ("to", "and", "of")
            )
            if joins and last.lower() not in _DANGLING and _is_closed(kept):
                return kept.rstrip(" ,;:")
    while len(parts) > 2 and (parts[-1].lower() in _DANGLING or not _is_closed(" ".join(parts))):
        parts.pop()
    return " ".join(parts).rstrip(" ,;:") + "…"


def _is_closed(text: str) -> bool:
    """Whether no quotation or slot is left open."""
    return (
        text.count("{") == text.count("}") and text.count('"') % 2 == 0 and text.count("`") % 2 == 0
    )
