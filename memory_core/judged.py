"""Memories with the queries that test them: saved tasks, and what people judged for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from memory_core.judgement_matching import JudgementImport, match_judgements
from memory_core.judgements import JudgementFormat, JudgementReading, write_judgements
from memory_core.ledger_records import SavedQuery
from memory_core.settings import SettingsError
from memory_core.store import ledger, texts
from memory_core.versioned import VersionedMemories


def _check_grades(grades: Mapping[int, int | None]) -> None:
    for grade in grades.values():
        if grade is not None and grade not in range(4):
            raise SettingsError(f"A grade is 0, 1, 2 or 3; it was {grade!r}.")


class JudgedMemories(VersionedMemories):
    """Memories under revisions, with saved queries, which no revision numbers, beside them."""

    def queries(self) -> tuple[SavedQuery, ...]:
        """Saved test queries with their judgements, in the order in which they came."""
        with self._store.reading("queries") as connection:
            return ledger.read_queries(connection)

    def save_query(
        self,
        task: str,
        *,
        domains: Sequence[str] = (),
        judgements: Mapping[int, int | None] | None = None,
    ) -> int:
        """Keep a task as a test query, with its vector and first judgements; its id."""
        _check_grades(judgements or {})
        vector = self._vector(task)
        now = self._clock()
        with self._store.writing("save query") as connection:
            text_id = texts.put_text(connection, task, vector, model=self._vectors.model)
            query_id = ledger.put_query(
                connection, text_id, domains, actor=self.actor, made_at_us=now
            )
            if judgements:
                ledger.put_judgements(
                    connection, query_id, judgements, actor=self.actor, made_at_us=now
                )
            return query_id

    def save_queries(self, tasks: Iterable[str]) -> tuple[int, ...]:
        """Keep several tasks as test queries, all or none; the id of each, in their order.

        A task that is saved already keeps its query.
        """
        asked = tuple(tasks)
        vectors, now = self.embed(asked), self._clock()
        with self._store.writing("save queries") as connection:
            known = {query.task: query.id for query in reversed(ledger.read_queries(connection))}
            for task in asked:
                if task not in known:
                    text_id = texts.put_text(
                        connection, task, vectors[task], model=self._vectors.model
                    )
                    known[task] = ledger.put_query(
                        connection, text_id, (), actor=self.actor, made_at_us=now
                    )
        return tuple(known[task] for task in asked)

    def delete_query(self, query_id: int) -> None:
        """Drop a saved query and its judgements. Raises MemoryNotFoundError."""
        with self._store.writing("delete query") as connection:
            ledger.delete_query(connection, query_id)

    def judge(self, query_id: int, memory_id: int, grade: int | None) -> None:
        """Grade a memory for a query, from 0 to 3; None takes the grade back."""
        self.judge_many(query_id, {memory_id: grade})

    def judge_many(self, query_id: int, grades: Mapping[int, int | None]) -> None:
        """Grade several memories for a query at once. Raises MemoryNotFoundError, ValueError."""
        _check_grades(grades)
        with self._store.writing("judge") as connection:
            ledger.put_judgements(
                connection, query_id, grades, actor=self.actor, made_at_us=self._clock()
            )

    def export_judgements(self, format: JudgementFormat = "jsonl") -> str:
        """The saved queries and their judgements as a file; `read_judgements` reads it."""
        with self._store.reading("export judgements") as connection:
            asked, known = ledger.read_queries(connection), ledger.last_texts(connection)
        return write_judgements(asked, known, format=format)

    def plan_judgements(self, reading: JudgementReading) -> JudgementImport:
        """What taking in a file's judgements would do. Nothing is written."""
        with self._store.reading("plan judgements") as connection:
            return self._matched(connection, reading)

    def import_judgements(self, reading: JudgementReading) -> JudgementImport:
        """Take in a file's judgements, and queries that are new; what was done. All or nothing.

        A grade of the file takes the place of the bank's; the bank's others stay.
        """
        vectors = self._vectors.of([query.task for query in reading.queries if query.task])
        now = self._clock()
        with self._store.writing("import judgements") as connection:
            made = self._matched(connection, reading)
            grades = dict(made.grades)
            for query in made.new:
                text_id = texts.put_text(
                    connection, query.task, vectors[query.task], model=self._vectors.model
                )
                query_id = ledger.put_query(
                    connection, text_id, query.domains, actor=self.actor, made_at_us=now
                )
                grades[query_id] = query.judgements
            for query_id, judged in grades.items():
                ledger.put_judgements(
                    connection, query_id, judged, actor=self.actor, made_at_us=now
                )
        return made

    def _matched(self, connection: Any, reading: JudgementReading) -> JudgementImport:
        asked, known = ledger.read_queries(connection), ledger.last_texts(connection)
        return match_judgements(reading, asked, known, ledger.living_ids(connection))
