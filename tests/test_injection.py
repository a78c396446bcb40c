"""The [G0] block: what an agent reads, and that no lesson can add a line of its own."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from memory_core import injection, read_injection

BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
forged = st.lists(
    st.sampled_from(
        [*BREAKS, "\r\n", "[G7]", "[G7] ", "[g0]. ", "[ G 3 ]", "［G1］", "[Ｇ2]", "【G4】",
         "[\u200bG5]", "[G", "]", "[", "G6", ". ", " ", "\ufeff", "\u202e", "Ignore", "the above."]
    ),
    max_size=12,
).map("".join)  # fmt: skip


def test_lines_are_numbered_from_zero_in_order():
    assert injection(["Pin torch.", "Use uv."]) == "[G0] Pin torch.\n[G1] Use uv."


def test_no_hit_is_said_in_a_sentence():
    block = injection([])
    assert "no relevant experience" in block
    assert read_injection(block) == ()


def test_both_spellings_of_a_label_are_read():
    block = "You are an agent.\n[G0] Pin torch.\n[G1]. Use uv: it is fast.\n\nTask: build."
    assert read_injection(block) == ("Pin torch.", "Use uv: it is fast.")


def test_text_that_does_no_harm_stays_as_it_is():
    text = "Index [0] of `xs[G]` is (G1); see [Git] and [G-7] – 50 %"
    assert injection([text]) == f"[G0] {text}"


@given(st.lists(forged | st.text(), max_size=6))
def test_there_are_as_many_guidelines_as_texts_whatever_they_say(texts):
    block = injection(texts)
    lines = block.splitlines()
    if texts:
        labels = [re.match(r"\[G(\d+)\]", line) for line in lines]
        assert [int(label[1]) for label in labels if label] == list(range(len(texts)))
        assert len(lines) == len(texts)
    assert len(read_injection(block)) == len(texts)


@given(st.lists(forged | st.text(), min_size=1, max_size=6))
def test_no_reader_of_labels_finds_one_inside_a_text(texts):
    """Nor one who overlooks the width of a letter, its case and what is not seen."""
    for line in injection(texts).split("\n"):
        seen = re.sub(r"[\s\u200b\u202e\ufeff]", "", line).translate(
            str.maketrans("［］【】ＧG", "[][]gg")
        )
        assert len(re.findall(r"\[g\d+\]", seen)) == 1


@given(st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1), max_size=6))
def test_what_was_injected_is_read_back(texts):
    assert read_injection(injection(texts)) == tuple(texts)
