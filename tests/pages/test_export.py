"""Tables as files: what a spreadsheet reads is text, what a program reads is what stood there."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.components.export import as_csv, as_json
from tests.hostile import TEXTS

DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)


def read(frame: pd.DataFrame) -> list[list[str]]:
    return list(csv.reader(io.StringIO(as_csv(frame).decode("utf-8-sig"), newline="")))


@given(
    st.lists(
        st.one_of(cells, st.sampled_from(DANGEROUS).flatmap(lambda s: cells.map(lambda t: s + t)))
    )
)
def test_no_cell_begins_as_a_formula_does_and_every_text_comes_back(texts: list[str]) -> None:
    frame = pd.DataFrame({"text": texts, "=title": texts, "kind": pd.Categorical(texts)})
    head, *rows = read(frame)
    assert head == ["text", "'=title", "kind"]
    assert len(rows) == len(texts)
    for row, text in zip(rows, texts, strict=True):
        for cell in row:
            assert not cell.startswith(DANGEROUS)
            assert cell in {text, "'" + text}
            assert (cell == text) is not text.startswith(DANGEROUS)
    assert [record["text"] for record in json.loads(as_json(frame))] == texts


def test_numbers_stay_numbers_and_a_named_index_is_a_column() -> None:
    frame = pd.DataFrame(
        {
            "score": [-0.1, np.nan], "count": pd.array([-3, None], dtype="Int64"),
            "yes": [True, False],
        },
        index=pd.Index([7, 9], name="id"),
    )  # fmt: skip
    assert read(frame) == [
        ["id", "score", "count", "yes"], ["7", "-0.1", "-3", "True"], ["9", "", "", "False"],
    ]  # fmt: skip
    assert json.loads(as_json(frame)) == [
        {"id": 7, "score": -0.1, "count": -3, "yes": True},
        {"id": 9, "score": None, "count": None, "yes": False},
    ]


def test_times_are_written_as_iso_and_infinite_numbers_as_null() -> None:
    when = pd.Timestamp("2026-11-30T16:50:00Z")
    frame = pd.DataFrame({"at": [when, pd.NaT], "x": [np.inf, 0.1 + 0.2]})
    records = json.loads(as_json(frame))
    assert records[0] == {"at": "2026-11-30T16:50:00+00:00", "x": None}
    assert records[1] == {"at": None, "x": 0.1 + 0.2}


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_texts_go_out_as_they_are(text: str) -> None:
    frame = pd.DataFrame({"text": [text]})
    assert json.loads(as_json(frame))[0]["text"] == text
    assert read(frame)[1][0].removeprefix("'") == text.removeprefix("'")
