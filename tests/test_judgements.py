"""Judgements leave and come back as files; what cannot be taken is named by its line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_core import (
    Add,
    Batch,
    Delete,
    HashEmbedder,
    InterchangeError,
    MemoryBank,
    Modify,
    SavedQuery,
    read_judgements,
    write_jsonl,
    write_qrels,
)

ids = st.integers(1, 2**63 - 1)
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
).filter(str.strip)
judgements = st.dictionaries(ids, st.integers(0, 3), max_size=6)
saved = st.lists(
    st.builds(SavedQuery, ids, texts, st.lists(texts, max_size=3).map(tuple), judgements),
    max_size=5,
    unique_by=(lambda query: query.id, lambda query: query.task),
)
some = settings(max_examples=200, deadline=None)


# -- there and back -------------------------------------------------------------------------------


@some
@given(saved, st.booleans(), st.booleans())
def test_json_lines_come_back_as_they_went(queries, as_bytes, with_texts):
    words = {m: f"text\n{m}" for query in queries for m in query.judgements} if with_texts else {}
    content = write_jsonl(queries, words)
    assert content.count("\n") == len(queries)  # one a line, whatever the tasks hold
    found = read_judgements(content.encode() if as_bytes else content, format="jsonl")
    assert found.problems == ()
    assert [(q.number, q.task, q.domains) for q in found.queries] == [
        (q.id, q.task, q.domains) for q in queries
    ]
    for read, query in zip(found.queries, queries, strict=True):
        assert {m.memory_id: m.grade for m in read.judgements} == query.judgements
        assert all(m.text == words.get(m.memory_id) for m in read.judgements)


@some
@given(saved)
def test_qrels_come_back_as_they_went(queries):
    found = read_judgements(write_qrels(queries), format="qrels")
    assert found.problems == ()
    assert {
        q.number: {m.memory_id: m.grade for m in q.judgements} for q in found.queries
    } == {q.id: q.judgements for q in queries if q.judgements}  # fmt: skip


def test_qrels_are_what_trec_eval_reads():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    queries = [SavedQuery(3, "a", (), {5: 2, 7: 0}), SavedQuery(4, "b", (), {7: 3})]
    lines = write_qrels(queries).splitlines(keepends=True)
    assert pytrec_eval.parse_qrel(lines) == {"3": {"5": 2, "7": 0}, "4": {"7": 3}}


# -- hostile files --------------------------------------------------------------------------------


@some
@given(st.one_of(st.text(), st.binary()), st.sampled_from([None, "qrels", "jsonl"]))
def test_no_content_breaks_the_reader(content, format):
    try:
        found = read_judgements(content, format=format)
    except InterchangeError:
        return
    lines = (content if isinstance(content, str) else content.decode("utf-8-sig")).split("\n")
    for problem in found.problems:
        assert lines[problem.line - 1].strip()
    for query in found.queries:
        assert all(m.grade in range(4) and m.memory_id >= 1 for m in query.judgements)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1 0 2", "four fields"),
        ("1 0 2 3 4", "four fields"),
        ("1 0 2 4", "0, 1, 2 or 3"),
        ("1 0 2 -1", "0, 1, 2 or 3"),
        ("1 0 2 1.5", "0, 1, 2 or 3"),
        ("1 0 2 ２", "0, 1, 2 or 3"),
        ("1 0 doc7 2", "the memory must be a whole number"),
        ("q1 0 7 2", "the query must be a whole number"),
        ("1 0 0 2", "the memory must be a whole number"),
        (f"1 0 {2**63} 2", "the memory must be a whole number"),
        ("1 0 " + "9" * 5000 + " 2", "the memory must be a whole number"),
        ("x" * 1_000_001, "1,000,000 characters"),
    ],
)
def test_a_bad_line_of_qrels_is_named_and_the_others_are_read(line, said):
    found = read_judgements(f"1 0 5 3\n\n{line}\n1\t0\t6\t1\r\n", format="qrels")
    (problem,) = found.problems
    assert problem.line == 3
    assert said in str(problem)
    assert len(str(problem)) < 300
    (query,) = found.queries
    assert [(m.memory_id, m.grade) for m in query.judgements] == [(5, 3), (6, 1)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "no JSON at column 2"),
        ("[" * 100_000, "no JSON"),
        ("[1]", "JSON object is needed"),
        ('{"query": 1}', "task must be text"),
        ('{"task": "  "}', "task is empty"),
        ('{"task": "a\\u0000b"}', "U+0000"),
        ('{"task": "\\ud800"}', "surrogate"),
        ('{"task": "b", "query": -1}', "query must be a whole number"),
        ('{"task": "b", "domains": "git"}', "list of names"),
        ('{"task": "b", "judgements": {"1": 2}}', "list of objects"),
        ('{"task": "b", "judgements": [7]}', "an object with"),
        ('{"task": "b", "judgements": [{"memory": 1, "grade": true}]}', "0, 1, 2 or 3"),
        ('{"task": "b", "judgements": [{"memory": 1, "grade": 1e999}]}', "0, 1, 2 or 3"),
        ('{"task": "b", "judgements": [{"memory": 1.0, "grade": 1}]}', "the memory must be"),
        ('{"task": "b", "judgements": [{"memory": 1, "grade": 1, "text": []}]}', "must be text"),
    ],
)
def test_a_bad_line_of_json_is_named_and_the_others_are_read(line, said):
    good = write_jsonl([SavedQuery(1, "a task", (), {5: 3})])
    found = read_judgements(good + line + "\n" + good.replace("a task", "another"))
    assert [problem.line for problem in found.problems] == [2]
    assert said in str(found.problems[0])
    asked = [query.task for query in found.queries if query.judgements]
    assert asked == ["a task", "another"]


def test_two_grades_for_one_memory_are_told():
    found = read_judgements("1 0 5 3\n1 0 5 3\n1 0 5 2\n")
    assert [str(p) for p in found.problems] == [
        "Line 3: memory 5 has grade 2 here and 3 in line 1; the first one counts."
    ]
    assert [m.grade for m in found.queries[0].judgements] == [3]


def test_what_is_no_text_is_refused_with_its_line():
    with pytest.raises(InterchangeError, match="Line 2 is not UTF-8"):
        read_judgements(b"1 0 5 3\n1 0 \xff 3\n")
    with pytest.raises(InterchangeError, match="qrels, jsonl"):
        read_judgements("", format="csv")  # type: ignore[arg-type]
    assert read_judgements("\ufeff1 0 5 3").queries[0].number == 1
    assert read_judgements("").queries == ()


# -- a bank's -------------------------------------------------------------------------------------


@pytest.fixture
def library(bank: MemoryBank) -> MemoryBank:
    words = ["Rebase to move a branch.", "Count rows after a join.", "Pin versions.", "Ask why."]
    bank.commit(bank.plan(Batch([Add(text, "tool", "git") for text in words])))
    bank.save_query("move a branch", domains=("git",), judgements={1: 3, 2: 0})
    bank.save_query("join tables", judgements={2: 2, 4: 1})
    bank.commit(bank.plan(Batch([Delete(4)])))
    return bank


def test_an_export_taken_in_again_changes_nothing(library: MemoryBank):
    before = library.queries()
    for format in ("qrels", "jsonl"):
        made = library.import_judgements(read_judgements(library.export_judgements(format)))
        assert (made.count, made.unchanged, made.problems) == (0, 4, ())
        assert library.queries() == before


def test_a_plan_writes_nothing_and_the_import_does_what_it_said(
    library: MemoryBank, reopen: Callable[[], MemoryBank]
):
    content = "1 0 1 2\n1 0 3 1\n2 0 2 2\n9 0 1 3\n9 0 2 3\n2 0 77 1\n"
    planned = library.plan_judgements(read_judgements(content))
    assert library.queries()[0].judgements == {1: 3, 2: 0}
    assert (planned.count, planned.replaced, planned.unchanged) == (2, 1, 1)
    assert [str(problem) for problem in planned.problems] == [
        "Line 4: there is no saved query 9; its 2 judgements are not taken.",
        "Line 6: there never was a memory 77 in this bank.",
    ]
    assert library.import_judgements(read_judgements(content)) == planned
    first, second = reopen().queries()
    assert first.judgements == {1: 2, 2: 0, 3: 1}  # what the file does not name stays
    assert second.judgements == {2: 2, 4: 1}
    assert library.import_judgements(read_judgements(content)).count == 0


def test_another_bank_finds_its_own_memories_by_their_texts(library: MemoryBank, tmp_path: Path):
    other = MemoryBank.open(tmp_path / "other.duckdb", embedder=HashEmbedder())
    words = ["Something else.", "Count rows after a join.", "Ask why.", "Rebase to move a branch."]
    other.commit(other.plan(Batch([Add(text, "tool", "git") for text in words])))
    other.save_query("join tables", judgements={2: 1})
    content = library.export_judgements()
    made = other.import_judgements(read_judgements(content))
    assert made.problems == ()
    assert {q.task: (q.domains, q.judgements) for q in other.queries()} == {
        "join tables": ((), {2: 2, 3: 1}),
        "move a branch": (("git",), {4: 3, 2: 0}),
    }
    # A new query keeps its vector: it is asked without anything having to be embedded again.
    assert other.retrieve("move a branch").hits[0].memory.id == 4
    assert other.import_judgements(read_judgements(content)).count == 0


def test_a_number_that_means_another_memory_here_is_not_taken(library: MemoryBank):
    content = library.export_judgements()
    library.commit(library.plan(Batch([Modify(1, text="Merge to join two branches.")])))
    library.judge(1, 1, None)
    made = library.import_judgements(read_judgements(content))
    assert [str(problem) for problem in made.problems] == [
        "Line 1: memory 1 reads otherwise here, and no memory has the file's text."
    ]
    assert library.queries()[0].judgements == {2: 0}


def test_of_two_with_the_same_text_none_is_guessed_but_one_that_lives_is_preferred(
    library: MemoryBank,
):
    line = {"task": "t", "judgements": [{"memory": 900, "grade": 3, "text": "Ask why."}]}
    read = read_judgements(json.dumps(line))
    assert library.plan_judgements(read).new[0].judgements == {4: 3}  # it left; it is the only one
    library.commit(library.plan(Batch([Add("Ask why.", "tool", "git")])))
    assert library.plan_judgements(read).new[0].judgements == {5: 3}
    library.commit(library.plan(Batch([Add("Ask why.", "tool", "git")])))
    planned = library.plan_judgements(read)
    assert planned.new[0].judgements == {}
    assert "2 memories have the file's text" in str(planned.problems[0])


def test_an_import_is_all_or_nothing(library: MemoryBank, reopen: Callable[[], MemoryBank]):
    """The embedder fails on the last of three new tasks: no query of the file is there."""

    class Failing(HashEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]
            if any("third" in text for text in texts):
                raise RuntimeError("out of memory")
            return super().embed(texts)

    broken = MemoryBank.open(library.path, embedder=Failing())
    tasks = [SavedQuery(n, task, (), {1: 1}) for n, task in enumerate(["one", "two", "third"], 1)]
    before = library.queries()
    with pytest.raises(RuntimeError):
        broken.import_judgements(read_judgements(write_jsonl(tasks)))
    assert reopen().queries() == before
