"""A file's judgements among a bank's own: which query and which memory each of them is about."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from memory_core.judgements import JudgedMemory, JudgedQuery, JudgementReading, LineProblem, Unfit
from memory_core.ledger_records import SavedQuery


@dataclass(frozen=True, slots=True)
class JudgementImport:
    """What taking in a file would do; `bank.import_judgements` does that. Nothing is written."""

    grades: Mapping[int, Mapping[int, int]]
    """Grades to set, by id of a saved query and of a memory: only those that say something new."""
    new: tuple[SavedQuery, ...]
    """Queries that the bank does not have; their ids are 0."""
    replaced: int
    """Of the grades, those in whose place another one stood."""
    unchanged: int
    """Grades of the file that stand already."""
    problems: tuple[LineProblem, ...]
    """All that is not taken, and why, by line."""

    @property
    def count(self) -> int:
        """Grades that would be written."""
        fresh = sum(len(query.judgements) for query in self.new)
        return fresh + sum(map(len, self.grades.values()))


def match_judgements(
    reading: JudgementReading,
    queries: Iterable[SavedQuery],
    texts: Mapping[int, str],
    living: Container[int],
) -> JudgementImport:
    """Find a file's queries and memories among a bank's.

    A query is found by its task, or where the file has none by its number. A memory is found by
    its number; where the file tells its text and the bank's memory of that number reads otherwise,
    by that text, sooner one that is `living` than one that left. `texts` has the last text of
    every memory that the bank ever had.
    """
    known = tuple(queries)
    by_number = {query.id: query for query in known}
    by_task: dict[str, SavedQuery] = {}
    for query in known:
        by_task.setdefault(query.task, query)
    problems = list(reading.problems)
    grades: dict[int, dict[int, int]] = {}
    new: list[SavedQuery] = []
    replaced = unchanged = 0
    matching = _Matching(texts, living)
    for read in reading.queries:
        standing = by_number.get(read.number or 0) if read.task is None else by_task.get(read.task)
        if standing is None and read.task is None:
            count = len(read.judgements)
            problems.append(
                LineProblem(
                    read.line,
                    f"there is no saved query {read.number}; its {count} "
                    f"judgement{'s are' if count != 1 else ' is'} not taken.",
                )
            )
            continue
        judged = dict(matching.grades(read, problems))
        if standing is None:
            new.append(SavedQuery(0, str(read.task), read.domains, judged))
            continue
        had = standing.judgements
        fresh = {m: grade for m, grade in judged.items() if had.get(m) != grade}
        unchanged += len(judged) - len(fresh)
        replaced += sum(m in had for m in fresh)
        if fresh:
            grades[standing.id] = fresh
    problems.sort(key=lambda problem: problem.line)
    return JudgementImport(grades, tuple(new), replaced, unchanged, tuple(problems))


class _Matching:
    """Finds a file's memories among a bank's."""

    def __init__(self, texts: Mapping[int, str], living: Container[int]) -> None:
        self._texts = texts
        self._living = living
        self._by_text: dict[str, list[int]] = {}
        for memory_id, text in texts.items():
            self._by_text.setdefault(text, []).append(memory_id)

    def grades(self, query: JudgedQuery, problems: list[LineProblem]) -> Iterator[tuple[int, int]]:
        taken: set[int] = set()
        for judged in query.judgements:
            try:
                memory_id = self._find(judged)
                if memory_id in taken:
                    raise Unfit(
                        f"memory {judged.memory_id} of the file is memory {memory_id} here, which "
                        "the same query grades already; the first grade counts."
                    )
            except Unfit as error:
                problems.append(LineProblem(judged.line, str(error)))
                continue
            taken.add(memory_id)
            yield memory_id, judged.grade

    def _find(self, judged: JudgedMemory) -> int:
        memory_id, text = judged.memory_id, judged.text
        if text is None:
            if memory_id not in self._texts:
                raise Unfit(f"there never was a memory {memory_id} in this bank.")
            return memory_id
        if self._texts.get(memory_id) == text:
            return memory_id
        named = self._by_text.get(text, [])
        same = [one for one in named if one in self._living] or named
        if len(same) != 1:
            how = f"{len(same)} memories have" if same else "no memory has"
            raise Unfit(f"memory {memory_id} reads otherwise here, and {how} the file's text.")
        return same[0]
