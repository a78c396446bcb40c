"""Files that are broken, enormous, ambiguous or hostile: refused clearly, nothing guessed."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from memory_core import InterchangeError, Memory, MemoryBank, read_memories, write_memories
from tests import foreign_files

LINE = '{"text": "a lesson", "kind": "tool", "domain": "git", "provenance": null}'


def refused(content: str | bytes, **named: str) -> str:
    """The message by which a whole file is refused."""
    with pytest.raises(InterchangeError) as caught:
        read_memories(content, **named)  # type: ignore[arg-type]
    message = str(caught.value)
    message.encode()  # it can be shown
    assert len(message) < 1_000
    return message


def problems(content: str | bytes) -> list[str]:
    return [str(problem) for problem in read_memories(content).problems]


# -- size -----------------------------------------------------------------------------------------


def test_two_hundred_megabytes_are_refused_unread():
    content = b"[" + b" " * 200_000_000
    tracemalloc.start()
    try:
        assert "50 MB" in refused(content)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_a_zip_bomb_is_not_unpacked():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("memories.jsonl", b"0" * 50_000_000)
    assert len(stream.getvalue()) < 100_000
    assert "zip archive" in refused(stream.getvalue())
    assert "gzip" in refused(gzip.compress(LINE.encode()))


def test_millions_of_tiny_values_are_refused_before_they_are_made():
    for piece in ("{},", "[],", "0,"):
        content = "[" + piece * 6_000_000 + "0]"
        tracemalloc.start()
        try:
            assert "5,000,000 values" in refused(content)
            assert tracemalloc.get_traced_memory()[1] < 3 * len(content) + 1_000_000
        finally:
            tracemalloc.stop()


def test_more_records_than_are_taken_at_once():
    assert "100,000" in refused('{"text":"x","kind":"tool","domain":"a"}\n' * 100_001)


# -- JSON -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [2_000, 2_000_000])
def test_deep_nesting(depth: int):
    deep = "[" * depth + "]" * depth
    assert "nested too deep" in refused(deep)
    line = '{"text": "a", "kind": "tool", "domain": "x", "provenance": %s}'
    (problem,) = problems("\n".join([LINE, line % ("[" * 2_000 + "]" * 2_000)]))
    assert problem.startswith("Line 2: its JSON is nested too deep")


def test_a_key_that_stands_twice_is_refused_in_its_place():
    assert '"G0" stands twice' in refused('{"G0": "one", "G0": "two"}')
    twice = '{"text": "a", "text": "b", "kind": "tool", "domain": "git"}'
    reading = read_memories(f"{LINE}\n{twice}\n{LINE}")
    assert len(reading.entries) == 2
    assert "line 2" in reading.problems[0].where
    assert '"text" stands twice' in reading.problems[0].message


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5_000])
def test_numbers_that_are_none(number: str):
    bad = f'{{"text": "a", "kind": "tool", "domain": "git", "confidence": {number}}}'
    (problem,) = problems(f"{LINE}\n{bad}")
    assert problem.startswith("Line 2: ")
    refused(f'{{"G0": {number}}}')


def test_a_huge_whole_number_is_refused_by_the_plan(bank: MemoryBank):
    bad = '{"text": "a", "kind": "tool", "domain": "git", "usage_count": %s}' % ("9" * 400)
    plan = bank.plan(read_memories(f"{LINE}\n{bad}").batch())
    assert len(plan.accepted) == 1
    assert "usage_count" in plan.refused[0].reason


@pytest.mark.parametrize(
    "line",
    ['"text"', "7", "null", "[]", '{"text": 7, "kind": "tool", "domain": "git"}', '{"text": ""}',
     '{"text": "a", "kind": "tool", "domain": "git", "tags": "slow"}',
     '{"text": "a", "kind": "tool", "domain": "git", "tags": [1]}',
     '{"text": "a", "kind": "tool", "domain": "git", "detail": {"kind": "tool", "steps": []}}',
     '{"text": "a", "kind": "tool", "domain": "git", "detail": {"kind": "no"}}',
     '{"text": "a", "kind": "tool", "domain": "git", "detail": []}',
     '{"text": "a", "kind": "tool", "domain": "git", "provenance": {"evidence": [{"steps": 1}]}}',
     '{"text": "a", "kind": "tool", "domain": "git", "provenance": {"source": "x"}}',
     "{broken"],
)  # fmt: skip
def test_a_bad_line_is_named_and_the_others_are_read(line: str):
    reading = read_memories(f"{LINE}\n{line}\n\n{LINE.replace('lesson', 'second lesson')}\n")
    assert len(reading.entries) == 2
    assert [problem.where for problem in reading.problems] == ["line 2"]


@pytest.mark.parametrize(
    "fields",
    ['"kind": "no", "domain": "git"', '"kind": "tool", "domain": 7', '"kind": [], "domain": "a"',
     '"kind": "tool", "domain": "git", "confidence": 2', '"kind": "tool", "domain": "git", '
     '"confidence": "high"', '"kind": "tool", "domain": "git", "usage_count": 1, "success_count":2',
     '"kind": "tool", "domain": "git", "pinned": "yes"', '"kind": "tool", "domain": "git", '
     '"provenance": {"merged_from": ["x"]}', '"kind": "tool", "domain": "git", "epoch": -1',
     '"kind": "tool", "domain": "git", "provenance": {"note": 7}', '"kind": "strategic", '
     '"domain": "git", "detail": {"kind": "tool"}', '"kind": "tool", "domain": "git", '
     '"detail": {"kind": "tool", "tool": 7}'],
)  # fmt: skip
def test_a_value_that_breaks_a_rule_is_refused_by_the_plan(bank: MemoryBank, fields: str):
    plan = bank.plan(read_memories(f'{LINE}\n{{"text": "other", {fields}}}').batch())
    assert (len(plan.accepted), len(plan.refused)) == (1, 1)
    assert plan.refused[0].reason


def test_json_within_json_text_and_a_markdown_fence_are_unpacked_and_said():
    inner = read_memories(foreign_files.KAYBA)
    once = read_memories(json.dumps(foreign_files.KAYBA))
    assert once.entries == inner.entries
    assert "JSON within a JSON text" in once.warnings[0]
    fenced = read_memories(f"Here they are:\n```json\n{foreign_files.GRPO_STATE}\n```\nDone.")
    assert fenced.entries == read_memories(foreign_files.GRPO_STATE).entries
    assert "fence" in fenced.warnings[0]
    playbook = read_memories(f"```\n{foreign_files.ACE}\n```")
    assert [e.lesson for e in playbook.entries] == [
        e.lesson for e in read_memories(foreign_files.ACE).entries
    ]


@pytest.mark.parametrize("content", ["", " \n\t ", b"", b"\xef\xbb\xbf", "[]", "{}", "null", "7"])
def test_a_file_with_nothing_in_it(content: str | bytes):
    refused(content)


def test_a_file_of_another_kind_says_what_is_known():
    assert "name it: ace" in refused("Dear Anna, thank you for your letter.")
    assert "line 1, column" in refused('{"skills": {"a": }}')
    message = refused(foreign_files.ACE, format="kayba")
    assert "no kayba skillbook" in message


def test_yaml_is_data_and_its_bombs_are_not_unfolded():
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))
    bomb = f"a0: &a0 '[G0]. one'\n{levels}\nagent: {{instructions: *a29}}\n"
    assert [e.lesson.text for e in read_memories(bomb, "x.yaml").entries if e.lesson] == ["one"]
    code = "agent: !!python/object/apply:os.system ['echo [G0]. x']\n"
    assert "YAML cannot be read" in refused(code, filename="x.yaml", format="grpo")


# -- encodings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_encodings_that_say_what_they_are(encoding: str, end: str):
    text = f"{LINE.replace('a lesson', 'Größe 🧭')}\n{LINE}\n".replace("\n", end)
    entries = read_memories(text.encode(encoding)).entries
    assert [e.lesson.text for e in entries if e.lesson] == ["Größe 🧭", "a lesson"]


def test_encodings_that_do_not():
    text = f"{LINE}\n{LINE.replace('lesson', 'größe')}"
    message = refused(text.encode("latin-1"))
    assert message.startswith("Line 2")
    assert "Latin-1" in message
    assert "UTF-16" in refused(text.encode("utf-16-le"))
    assert "begins as UTF-16" in refused(b"\xff\xfe" + b"a")
    assert "NUL" in refused(LINE.encode() + b"\x00")


@pytest.mark.parametrize("escape", ["\\u0000", "\\ud800", "\\udfff tail"])
def test_characters_that_are_none_are_refused_visibly(bank: MemoryBank, escape: str):
    for place in ('"text": "a %s"', '"text": "a", "note": "", "domain": "%s"'):
        bad = f'{{{place % escape}, "kind": "tool"}}'
        plan = bank.plan(read_memories(f"{LINE}\n{bad}").batch())
        assert len(plan.refused) == 1
        assert "U+0000" in plan.refused[0].reason or "surrogate" in plan.refused[0].reason
    reading = read_memories(f'{{"G0": "a {escape}"}}')
    assert len(bank.plan(reading.batch()).refused) == 1


def test_a_place_can_always_be_told(bank: MemoryBank):
    """Keys of the file name its places, and may be no characters either."""
    for content in (
        '{"a \\ud800": 7, "b": "x"}',
        '{"Ap\\udfffp": {"op": {"steps": 1, "\\ud800": 1}}}',
    ):
        for form in ("muse-strategic", "muse-procedural"):
            reading = read_memories(content, format=form)
            for place in (*reading.entries, *reading.problems):
                str(place.where).encode()
            "".join(reading.lost).encode()
            bank.plan(reading.batch())


# -- Parquet --------------------------------------------------------------------------------------


def parquet(columns: dict[str, object], **options: object) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream, **options)
    return stream.getvalue()


def test_more_rows_than_are_taken_at_once_are_refused_by_the_footer():
    one = pa.array(["x"]).dictionary_encode()
    rows = 2_000_000
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int8()), one.dictionary)
    content = parquet({"text": column, "kind": column, "domain": column})
    assert len(content) < 20_000
    assert "2,000,000" in refused(content)


def test_a_long_text_that_stands_a_thousand_times_is_not_unfolded():
    rows = 90_000
    indices = pa.array([0] * rows, pa.int32())
    long = pa.DictionaryArray.from_arrays(indices, pa.array(["x" * 1_000_000]))
    short = pa.DictionaryArray.from_arrays(indices, pa.array(["tool"]))
    content = parquet({"text": long, "kind": short, "domain": short})
    assert len(content) < 2_000_000
    before = pa.total_allocated_bytes()
    assert "200 MB" in refused(content)
    assert pa.total_allocated_bytes() - before < 50_000_000


def test_what_would_unpack_to_too_much_is_refused_by_the_footer():
    texts = [f"{n}" + "0" * 3_000_000 for n in range(80)]
    content = parquet({"text": texts, "kind": ["tool"] * 80, "domain": ["a"] * 80},
                      compression="zstd", use_dictionary=False)  # fmt: skip
    assert len(content) < 5_000_000
    assert "200 MB" in refused(content)


def test_parquet_that_is_damaged_or_another():
    whole = write_memories([Memory(1, "tool", "a lesson", "git")], "winnow-parquet").content
    for content in (whole[:-1], whole[: len(whole) // 2], b"PAR1" + b"\x00" * 50 + b"PAR1",
                    whole[:60] + b"\xff" * 40 + whole[100:]):  # fmt: skip
        refused(content)
    assert "text, kind and domain" in refused(parquet({"prompt": ["x"]}))
    columns = {"text": ["x"], "kind": ["tool"], "domain": ["git"]}
    assert "tags must hold text" in refused(parquet(columns | {"tags": [["a", "b"]]}))
    assert "text must hold text" in refused(parquet(columns | {"text": [7]}))


def test_parquet_s_own_cells_are_read_strictly(bank: MemoryBank):
    columns = {
        "text": ["one", "two", None, "four"],
        "kind": ["tool"] * 4,
        "domain": ["a"] * 4,
        "tags": ['["x"]', "{broken", "[]", None],
        "confidence": [0.5, 0.5, 0.5, 7.0],
    }
    reading = read_memories(parquet(columns))
    assert [problem.where for problem in reading.problems] == ["row 2", "row 3"]
    plan = bank.plan(reading.batch())
    assert [len(plan.accepted), len(plan.refused)] == [1, 1]
