"""A form for a memory of each kind: its lesson on one line, checked as one types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from memory_core import (
    KINDS,
    MAX_WORDS,
    Add,
    Detail,
    Kind,
    Memory,
    MemoryCoreError,
    Modify,
    ProceduralDetail,
    RetrievalSettings,
    StrategicDetail,
    ToolDetail,
    lint_text,
)
from pages.components import asking, diff, filters
from pages.components.frame import Desk
from pages.components.text import SYMBOLS, md, named

NEAREST = 5
ALMOST_THE_SAME = 0.9
"""Similarity from which a neighbour is called a near copy."""


@dataclass(frozen=True, slots=True)
class Filled:
    """What a form holds: a memory's fields, all of them valid."""

    text: str
    kind: Kind
    domain: str
    detail: Detail | None = None
    tags: tuple[str, ...] = ()
    pinned: bool = False

    def as_add(self, **more: Any) -> Add:
        """A new memory; `more` are fields of Add that the form does not have."""
        return Add(
            self.text, self.kind, self.domain, self.detail, tags=self.tags, pinned=self.pinned,
            **more,
        )  # fmt: skip

    def as_modify(self, memory: Memory, **more: Any) -> Modify | None:
        """What it changes of a memory, and nothing else; None when it changes nothing."""
        old = blank(memory)
        differing = {
            name: getattr(self, name)
            for name in ("text", "detail", "domain", "tags", "pinned")
            if getattr(self, name) != getattr(old, name)
        }
        return Modify(memory.id, **differing, **more) if differing else None


def blank(value: Memory | Add | Filled) -> Filled:
    """What the form of a memory holds before anything is typed."""
    detail = _EMPTY[value.kind] if value.detail is None else value.detail
    text = " ".join(value.text.split())
    return Filled(text, value.kind, value.domain, detail, tuple(value.tags), value.pinned)


def memory_form(
    desk: Desk,
    *,
    key: str,
    kind: Kind | None = None,
    value: Memory | Add | Filled | None = None,
    original: str = "",
    ignore: tuple[int, ...] = (),
    pin: bool = True,
) -> Filled | None:
    """The fields of a memory; None while something in them breaks a rule, which is said.

    `key` tells the form from others, and a form that was opened before from this one. `kind`
    fixes the kind; without it, it can be chosen. `value` is what stands in the form at first,
    `original` the text that changes are told against where that is another.
    `ignore` are ids that are not told as neighbours, such as that of the memory itself. Without
    `pin` there is no switch for it.
    """
    given = None if value is None else blank(value)
    fields, beside = st.columns([3, 2], gap="medium")
    with fields:
        chosen = kind or _kind(key, given)
        text = _text(key, given)
        counted = st.container()
        domain = _domain(desk, key, given)
        detail = _detail(key, chosen, given)
        tags = _tags(desk, key, given)
        pinned = given.pinned if given else False
        if pin:
            pinned = st.toggle(
                "Pinned", pinned, key=f"{key}-pinned", help="Survives every compression."
            )
        filled = Filled(text, chosen, domain, detail, tags, pinned)
        with counted:
            valid = _check_text(filled, original or (given.text if given else ""))
        if text and not domain:
            st.markdown(":red[A memory needs a domain, such as “general”.]")
    with beside:
        nearest_to(desk, text, ignore=ignore)
    return filled if valid and domain else None


def text_line(label: str, value: str, *, key: str, placeholder: str = "") -> str:
    """A lesson on one line that is read while one types, with the number of its words."""
    shown = st.text_input(label, value, key=key, live="300ms", placeholder=placeholder)
    return " ".join((shown or "").replace("\x00", "").split())


def word_count(text: str) -> bool:
    """Says how many of the 32 words are taken; whether they are 1 to 32."""
    words = len(text.split())
    if words > MAX_WORDS:
        st.markdown(f":red[**{words} of {MAX_WORDS} words**: {words - MAX_WORDS} too many]")
    else:
        st.caption(f"{words} of {MAX_WORDS} words")
    return 1 <= words <= MAX_WORDS


# -- one function a field -------------------------------------------------------------------------


def _kind(key: str, given: Filled | None) -> Kind:
    chosen: Kind | None = st.segmented_control(
        "Kind", KINDS, default=given.kind if given else "strategic", format_func=named,
        key=f"{key}-kind", required=True,
    )  # fmt: skip
    return chosen or "strategic"


def _text(key: str, given: Filled | None) -> str:
    return text_line(
        "Lesson", given.text if given else "", key=f"{key}-text",
        placeholder="One lesson, with the tool, object, condition or number that it is about",
    )  # fmt: skip


def _domain(desk: Desk, key: str, given: Filled | None) -> str:
    options = list(desk.head.domain_counts())
    mine = given.domain if given else ""
    if mine and mine not in options:
        options.append(mine)
    chosen = st.selectbox(
        "Domain", options, index=options.index(mine) if mine else None,
        key=f"{key}-domain", accept_new_options=True, placeholder="Choose one, or type a new one",
    )  # fmt: skip
    return (chosen or "").replace("\x00", "").strip().lower()


def _tags(desk: Desk, key: str, given: Filled | None) -> tuple[str, ...]:
    mine = given.tags if given else ()
    options = sorted({*filters.tag_names(desk.head), *mine})
    chosen = st.multiselect(
        "Tags", options, default=list(mine), key=f"{key}-tags", accept_new_options=True,
        placeholder="Choose, or type a new one",
    )  # fmt: skip
    return tuple(tag.replace("\x00", "").strip() for tag in chosen if tag.strip())


_EMPTY: dict[Kind, Detail] = {
    "strategic": StrategicDetail(),
    "procedural": ProceduralDetail(),
    "tool": ToolDetail(),
}


def _detail(key: str, kind: Kind, given: Filled | None) -> Detail | None:
    """The fields of a kind; they are read when one leaves them."""
    old = given.detail if given and given.kind == kind else None
    detail = old or _EMPTY[kind]
    match detail:
        case StrategicDetail(problem):
            return StrategicDetail(_area("Problem that it answers", problem, f"{key}-problem"))
        case ToolDetail(tool, usage):
            name = st.text_input("Tool", tool, key=f"{key}-tool") or ""
            return ToolDetail(name, _area("How it is called", usage, f"{key}-usage"))
        case ProceduralDetail(steps, preconditions):
            return ProceduralDetail(
                _lines("Steps, one a line", steps, f"{key}-steps", height=120),
                _lines("What must hold before, one a line", preconditions, f"{key}-before"),
            )
    return None


def _area(label: str, value: str, key: str, height: int = 80) -> str:
    return (st.text_area(label, value, key=key, height=height) or "").replace("\x00", "")


def _lines(label: str, items: tuple[str, ...], key: str, height: int = 80) -> tuple[str, ...]:
    shown = "\n".join(items)
    typed = _area(label, shown, key, height)
    if typed == shown:
        return items  # an item of several lines stays one until somebody edits it
    return tuple(line.strip() for line in typed.splitlines() if line.strip())


# -- what is said about them ----------------------------------------------------------------------


def _check_text(filled: Filled, original: str) -> bool:
    fits = word_count(filled.text)
    if not filled.text:
        return False
    # The line shows a part of a long lesson only; here it stands whole.
    st.markdown(diff.words(original, filled.text) if original else md(filled.text))
    show_lints(filled)
    return fits


def show_lints(filled: Filled) -> None:
    """The doubts about a lesson; none of them forbids it."""
    lints = lint_text(filled.text, kind=filled.kind, domain=filled.domain, detail=filled.detail)
    for lint in lints:
        if lint.rule != "over length":  # which the count of words tells
            st.markdown(f":orange-background[**{md(lint.rule)}**] {md(lint.message)}")


def nearest_to(
    desk: Desk, text: str, *, ignore: tuple[int, ...] = (), limit: int = NEAREST
) -> None:
    """The memories nearest to a text, near copies first of all; nothing is written."""
    st.caption("Nearest in the bank")
    if not text:
        st.caption("They show as you type.")
        return
    if not asking.warm_up(desk) and not desk.head.ids_with_text(text):
        st.caption("The model is being loaded; they show as you type on.")
        return
    plain = RetrievalSettings(limit=limit + len(ignore), confidence_weight=0.0)
    try:
        found = desk.bank.retrieve(text, plain)
    except MemoryCoreError as error:
        st.error(md(str(error)))
        return
    hits = [hit for hit in found.hits if hit.memory.id not in ignore][:limit]
    if not hits:
        st.caption("There is no other memory yet.")
    for hit in hits:
        similarity, memory = hit.parts.similarity.value, hit.memory
        same = similarity >= ALMOST_THE_SAME
        mark = (
            f":orange-background[**{similarity:.2f} near copy**]" if same else f"`{similarity:.2f}`"
        )
        st.markdown(
            f"{mark} {SYMBOLS[memory.kind]} {md(memory.text)} "
            f":gray[{md(memory.domain, limit=40)} · {memory.id}]"
        )
