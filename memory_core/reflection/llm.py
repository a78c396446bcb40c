"""Lessons from runs by a language model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from memory_core.language_models import ApiKey, language_model
from memory_core.language_models.providers import parse_spec
from memory_core.language_models.requests import Asked, ContextExceededError, Patience
from memory_core.operations import Delete, Operation
from memory_core.reflection.asking import MOST_REPLY, Reading, ask_for_lessons
from memory_core.reflection.candidates import near_memories
from memory_core.reflection.checks import Checks, too_many_deletes
from memory_core.reflection.condensing import Condensed, condensed
from memory_core.reflection.contenders import to_compare
from memory_core.reflection.context import Drafts, ReflectionContext, Run
from memory_core.reflection.exchange import MOST_RETURNS, Exchange
from memory_core.reflection.prompt import Shown, domains_in_use, question
from memory_core.reflection.telling import told_steps
from memory_core.reflection_records import RefusedDraft, TokenUsage

MOST_PIECES = 6
"""Pieces that one run is told in at most."""
_LOCAL_TIMEOUT = 600.0
_Key = tuple[str, ...]


class LLMReflector:
    """Asks a language model for lessons, and takes those that hold.

    What is done is kept when a request fails or is stopped: the next call with the same runs on
    the same object asks for the rest only. To be used by one thread at a time.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = "",
        api_key: ApiKey = None,
        timeout: float | None = None,
        context_tokens: int | None = None,
        reply_tokens: int = MOST_REPLY,
        patience: Patience | None = None,
    ) -> None:
        """`model`: such as `openai:gpt-5-mini`, `anthropic:…`, `ollama:…`, `local:path.gguf`.

        `timeout` is in seconds for one answer, 120 by default and 600 for a local model;
        `context_tokens` what the model can read and write in one request, where that is not known
        or is to be less, `reply_tokens` what it may write of them at most. Raises ReflectionError
        for a string that names no model.
        """
        provider, _ = parse_spec(model)
        self.name = model
        patient = patience or Patience()
        if timeout is None and patience is None and provider == "local":
            timeout = _LOCAL_TIMEOUT
        if timeout is not None:
            patient = Patience(timeout, patient.attempts, patient.first_wait, patient.longest_wait)
        self._base_url = base_url
        self._api_key = api_key
        self._patience = patient
        self._context_tokens = context_tokens
        self._reading = Reading(most_reply=reply_tokens)
        self._kept: dict[_Key, Exchange] = {}

    def __repr__(self) -> str:
        return f"LLMReflector({self.name!r})"

    def reflect(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        """Lessons of each run on its own. Raises ReflectionError; what is done is kept."""
        runs = list({run.id: run for run in runs}.values())
        gathered = _Gathered(len(runs))
        with self._asked() as asked:
            for position, run in enumerate(runs):
                share = (position / len(runs), 1 / len(runs))
                gathered.notes += self._one_run(run, asked, context, gathered, share)
        self._forget(gathered)
        return gathered.drafts()

    def compare(self, runs: Sequence[Run], context: ReflectionContext) -> Drafts:
        """What the better of several runs did that the worse did not, by one request.

        Raises ReflectionError; what is done is kept.
        """
        chosen, notes = to_compare(runs)
        gathered = _Gathered(len(chosen), notes=notes)
        if chosen:
            with self._asked() as asked:
                self._together(chosen, asked, context, gathered)
        self._forget(gathered)
        return gathered.drafts()

    # -- one run -------------------------------------------------------------------------------

    def _one_run(
        self,
        run: Run,
        asked: Asked,
        context: ReflectionContext,
        gathered: _Gathered,
        share: tuple[float, float],
    ) -> list[str]:
        """The lessons of one run into `gathered`; what is to be noted about it."""
        if not told_steps(run.trajectory):
            return [f"Run {_named(run)} has no steps, so there is nothing to learn from it."]
        while True:
            try:
                told, found = self._pieces(run, asked, context, gathered, share)
            except ContextExceededError:
                if not self._reading.shrink():
                    raise
                continue
            return self._notes(run, told, found)

    def _pieces(
        self,
        run: Run,
        asked: Asked,
        context: ReflectionContext,
        gathered: _Gathered,
        share: tuple[float, float],
    ) -> tuple[Condensed, list[Exchange]]:
        """Ask about each piece of a run that was not asked about yet."""
        room = self._reading.room
        known = near_memories([run], context, room=room // 5)
        told = condensed(run.trajectory, _characters(run, room * 3 // 4), most_pieces=MOST_PIECES)
        checks = Checks((run,), known, context.domain)
        exchanges: list[Exchange] = []
        for number in range(len(told.pieces)):
            key = ("reflect", run.id, str(room), str(number))
            done = share[0] + share[1] * number / len(told.pieces)
            exchange = self._kept.setdefault(key, Exchange())
            before = [operation for one in exchanges for operation in one.operations]
            self._talk(
                exchange, [Shown(1, told.text(number))], asked, checks, context,
                taken=[*gathered.operations, *before],
                written=[text for one in exchanges for text in one.written], share=done,
                where=f"piece {number + 1} of {len(told.pieces)}: " if number else "",
            )  # fmt: skip
            exchanges.append(exchange)
        for number, exchange in enumerate(exchanges):
            gathered.add(("reflect", run.id, str(room), str(number)), exchange)
        return told, exchanges

    def _notes(self, run: Run, told: Condensed, exchanges: Sequence[Exchange]) -> list[str]:
        notes = [f"Run {_named(run)} was condensed. {note}" for note in told.notes]
        if len(told.pieces) > 1:
            notes.append(f"Run {_named(run)} was read in {len(told.pieces)} pieces.")
        if not any(one.operations or one.refused() for one in exchanges):
            notes.append(f"{self.name} found nothing to learn in run {_named(run)}.")
        return notes

    # -- several runs --------------------------------------------------------------------------

    def _together(
        self, runs: Sequence[Run], asked: Asked, context: ReflectionContext, gathered: _Gathered
    ) -> None:
        while True:
            try:
                self._one_request(runs, asked, context, gathered)
            except ContextExceededError:
                if not self._reading.shrink():
                    raise
                continue
            return

    def _one_request(
        self, runs: Sequence[Run], asked: Asked, context: ReflectionContext, gathered: _Gathered
    ) -> None:
        room = self._reading.room
        known = near_memories(runs, context, room=room // 5)
        each = room * 3 // 4 // len(runs)
        told = [condensed(run.trajectory, _characters(run, each)) for run in runs]
        key = ("compare", str(room), *(run.id for run in runs))
        exchange = self._kept.setdefault(key, Exchange())
        shown = [Shown(number, one.text(0)) for number, one in enumerate(told, start=1)]
        self._talk(
            exchange, shown, asked, Checks(tuple(runs), known, context.domain), context,
            taken=(), written=(), share=0.0,
        )  # fmt: skip
        gathered.add(key, exchange)
        for run, one in zip(runs, told, strict=True):
            gathered.notes += [f"Run {_named(run)} was condensed. {note}" for note in one.notes]
        if not exchange.operations and not exchange.refused():
            gathered.notes.append(f"{self.name} found nothing to learn from the differences.")

    # -- talking -------------------------------------------------------------------------------

    def _talk(
        self,
        exchange: Exchange,
        shown: Sequence[Shown],
        asked: Asked,
        checks: Checks,
        context: ReflectionContext,
        *,
        taken: Collection[Operation],
        written: Sequence[str],
        share: float,
        where: str = "",
    ) -> None:
        """Question and reply until all is taken or given up."""

        def waiting(doing: str) -> None:
            again = f", return {exchange.rounds} of {MOST_RETURNS}" if exchange.rounds else ""
            context.progress(f"{where}{doing}{again}", share)

        while not exchange.finished:
            asking = question(
                shown, checks.candidates.values(),
                domain=context.domain, domains=domains_in_use(context.snapshot.domain_counts()),
                written=[*written, *exchange.written],
                refused=[(failure.said, failure.reasons) for failure in exchange.open],
                mark=exchange.mark,
            )  # fmt: skip
            reply, usage = ask_for_lessons(
                asked, self._reading, asking, several_runs=len(shown) > 1, waiting=waiting
            )
            exchange.usage += usage
            exchange.take(reply, checks, taken)

    @contextmanager
    def _asked(self) -> Iterator[Asked]:
        model = language_model(self.name, self._base_url, api_key=self._api_key)
        asked = Asked(model, self.name, self._patience)
        self._reading.learn(asked, self._context_tokens)
        try:
            yield asked
        finally:
            asked.close()

    def _forget(self, gathered: _Gathered) -> None:
        """What is handed over need not be kept: the next call asks anew."""
        for key in gathered.keys:
            self._kept.pop(key, None)


@dataclass
class _Gathered:
    """What a call found so far."""

    runs: int
    operations: list[Operation] = field(default_factory=list)
    refused: list[RefusedDraft] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    usage: TokenUsage = field(default_factory=TokenUsage)
    keys: list[_Key] = field(default_factory=list)

    def add(self, key: _Key, exchange: Exchange) -> None:
        self.keys.append(key)
        self.operations += exchange.operations
        self.refused += exchange.refused()
        self.usage += exchange.usage

    def drafts(self) -> Drafts:
        operations, refused = self.operations, self.refused
        doubt = too_many_deletes(operations, self.runs)
        if doubt:
            deletes = [one for one in operations if isinstance(one, Delete)]
            operations = [one for one in operations if not isinstance(one, Delete)]
            refused = [*refused, *(RefusedDraft(doubt, operation=one) for one in deletes)]
        return Drafts(tuple(operations), tuple(refused), tuple(self.notes), self.usage)


def _named(run: Run) -> str:
    return run.trajectory.name or run.id


def _characters(run: Run, budget: int) -> int:
    """How many characters of a run fit into a number of bytes."""
    sample = "".join(
        told.step.text[:500] + told.step.observation[:500]
        for told in told_steps(run.trajectory)[:200]
    )
    return budget * len(sample) // len(sample.encode("utf-8", "replace")) if sample else budget
