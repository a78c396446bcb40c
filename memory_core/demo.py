"""The demo library: readable sources in `data/demo`, replayed into a bank session by session.

The bank has a history as real as its sources: lessons come in with the session that drew them,
outcomes move their confidence by the rule, some are reworded, merged and pruned on the way. The
same sources give the same bank, to the time of each revision.
"""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from memory_core.bank import MemoryBank
from memory_core.confidence import after_outcome
from memory_core.counting import count_of
from memory_core.embedding import Embedder
from memory_core.operations import Add, Adjust, Batch, Delete, Merge, Modify, Operation
from memory_core.places import data, demo_bank
from memory_core.records import (
    Detail,
    Evidence,
    ProceduralDetail,
    Provenance,
    StrategicDetail,
    ToolDetail,
)
from memory_core.store.unit import kept_open
from memory_core.trajectories import read_trajectories

SESSIONS = 46
PRUNED_AT = 31
CAPACITY = 250
"""Below the library's size, so that compression has something to do."""
FIRST_DAY_US = int(datetime(2026, 9, 7, 8, tzinfo=UTC).timestamp() * 1e6)
MINUTE_US = 60_000_000

Progress = Callable[[str, float], None]
"""Called with what is being done and the fraction that is done."""

_DETAILS: Mapping[str, type[Detail]] = {
    "strategic": StrategicDetail,
    "procedural": ProceduralDetail,
    "tool": ToolDetail,
}


@dataclass(frozen=True, slots=True)
class Sources:
    """The demo library as its files say; rows are tables of TOML."""

    memories: tuple[Mapping[str, Any], ...]
    """Each with its file's `domain`."""
    queries: tuple[Mapping[str, Any], ...]
    proposals: tuple[Mapping[str, Any], ...]
    retrievals: tuple[Mapping[str, Any], ...]

    @classmethod
    def read(cls, folder: Path) -> Sources:
        def rows(name: str, row: str) -> Iterable[Mapping[str, Any]]:
            for file in sorted((folder / name).glob("*.toml")):
                content = tomllib.loads(file.read_text(encoding="utf-8"))
                shared = {"domain": content["domain"]} if "domain" in content else {}
                yield from ({**shared, **item, "file": file.stem} for item in content[row])

        return cls(
            tuple(rows("memories", "memory")),
            tuple(rows("queries", "query")),
            tuple(rows("proposals", "proposal")),
            tuple(rows("retrievals", "retrieval")),
        )


class _Calendar:
    """A clock that follows the sessions: one a day and a half, a few minutes between changes."""

    def __init__(self) -> None:
        self.session = 0
        self._ticks = 0

    def begin(self, session: int) -> None:
        self.session, self._ticks = session, 0

    def __call__(self) -> int:
        self._ticks += 1
        return FIRST_DAY_US + self.session * 36 * 60 * MINUTE_US + self._ticks * 7 * MINUTE_US


@dataclass
class _Replay:
    """The bank as it grows."""

    bank: MemoryBank
    calendar: _Calendar
    sources: Sources
    ids: dict[str, int] = field(default_factory=dict)
    """A memory's key in the sources -> its id."""
    commits: int = 0

    def commit(
        self, operations: Iterable[Operation], reason: str, kind: str, *,
        actor: str = "agent", starts_epoch: bool = False,
    ) -> Mapping[int, int]:  # fmt: skip
        self.commits += 1
        self.bank.actor = actor
        batch = Batch(
            tuple(operations), reason, kind=kind, key=f"demo:{self.commits}",
            starts_epoch=starts_epoch,
        )  # fmt: skip
        return self.bank.commit(self.bank.plan(batch)).ids

    def add(
        self, rows: list[Mapping[str, Any]], reason: str, kind: str, *,
        actor: str = "agent", starts_epoch: bool = False,
    ) -> None:  # fmt: skip
        ids = self.commit(
            [_add(row) for row in rows], reason, kind, actor=actor, starts_epoch=starts_epoch
        )
        self.ids |= {row["key"]: ids[-i] for i, row in enumerate(rows, start=1)}

    def session(self, number: int) -> None:
        self.calendar.begin(number)
        born = [m for m in self.sources.memories if m["epoch"] == number]
        drawn = [m for m in born if not m.get("merges") and m.get("by", "agent") == "agent"]
        typed = [m for m in born if not m.get("merges") and m.get("by") == "mara"]
        reason = f"Session {number}" + (f": {count_of(len(drawn), 'lesson')}" if drawn else "")
        self.add(drawn, reason, "reflection", starts_epoch=True)
        if typed:
            self.add(typed, "Written by hand while reading the runs", "edit", actor="mara")
        self._outcomes(number)
        self._retrievals(number)
        for row in born:
            if row.get("merges"):
                self._merge(row)
        revised = [m for m in self.sources.memories if m.get("revised") == number]
        if revised:
            self.commit(
                [Modify(self.ids[m["key"]], text=m["text"]) for m in revised],
                "Reworded to name the tool and the condition", "edit", actor="mara",
            )  # fmt: skip
        if number == PRUNED_AT:
            self._prune()

    def _merge(self, row: Mapping[str, Any]) -> None:
        ids = [self.ids[key] for key in row["merges"]]
        merge = Merge(
            tuple(ids), row["text"], kind=row["kind"], domain=row["domain"],
            detail=_detail(row), rationale="Two wordings of one lesson.",
        )  # fmt: skip
        made = self.commit([merge], f"Merged {len(ids)} wordings of one lesson", "merge",
                           actor="mara")  # fmt: skip
        self.ids[row["key"]] = made[-1]

    def _outcomes(self, number: int) -> None:
        """What the session applied, and whether it helped, as each memory's source says."""
        operations: list[Operation] = []
        snapshot = self.bank.snapshot()
        for row in self.sources.memories:
            signs = _signs_at(row, number)
            if not signs or row["key"] not in self.ids:
                continue
            memory = snapshot.by_id(self.ids[row["key"]])
            for sign in signs:
                memory = after_outcome(memory, improved=sign == "+")
            operations.append(
                Adjust(memory.id, memory.confidence, memory.usage_count, memory.success_count)
            )
        if operations:
            self.commit(operations, f"Outcomes of session {number}", "outcome")

    def _retrievals(self, number: int) -> None:
        for index, row in enumerate(self.sources.retrievals):
            if row["session"] != number:
                continue
            self.bank.actor = "agent"
            name = str(uuid5(NAMESPACE_URL, f"winnow-demo-retrieval-{index}"))
            found = replace(self.bank.retrieve(row["task"]), id=name)
            applied = [hit.memory.id for hit in found.hits if hit.rank in row["applied"]]
            self.bank.record_outcome(
                found, improved=row["improved"], applied=applied, reward=row.get("reward")
            )

    def _prune(self) -> None:
        pruned = [self.ids[m["key"]] for m in self.sources.memories if m.get("pruned")]
        because = "Seldom applied, and of little help when it was."
        self.commit(
            [Delete(memory_id, rationale=because) for memory_id in pruned],
            f"Pruned {len(pruned)} lessons that earned their place least", "compression",
            actor="mara",
        )  # fmt: skip

    def queries(self) -> None:
        # The one that the Query page opens with comes first.
        for row in sorted(self.sources.queries, key=lambda row: not row.get("opening")):
            self.bank.actor = "mara"
            self.bank.save_query(
                row["task"],
                domains=[row["domain"]] if "domain" in row else [],
                judgements={self.ids[key]: grade for key, grade in row["judgements"].items()},
            )

    def proposals(self) -> None:
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
        for row in self.sources.proposals:
            groups[row["source"], row["file"]].append(row)
        for (source, file), rows in groups.items():
            self.bank.actor = "mara" if source == "import" else "agent"
            batch = Batch(
                tuple(self._proposed(row) for row in rows),
                _PROPOSED[source].format(domain=file.replace("-", " ")),
                key=f"demo:{source}:{file}",
            )
            self.bank.propose(batch, source=source)

    def runs(self) -> None:
        """Keep the sample trajectories under the names that the proposals cite."""
        self.bank.actor = "agent"
        for file in sorted((data() / "trajectories").iterdir()):
            reading = read_trajectories(file.read_bytes(), file.name)
            further = range(2, len(reading.trajectories) + 1)  # rollouts of the same task
            ids = [file.stem, *(f"{file.stem}-{number}" for number in further)]
            self.bank.keep_trajectories(reading.trajectories, format=reading.format, ids=ids)

    def _proposed(self, row: Mapping[str, Any]) -> Operation:
        cited = "trajectory" in row
        evidence = (Evidence(row["trajectory"], row.get("steps", ())),) if cited else ()
        why: dict[str, Any] = {"rationale": row["rationale"], "evidence": evidence}
        ids = [int(key[1:]) if key.startswith("#") else self.ids[key] for key in
               row.get("targets", ())]  # fmt: skip
        match row["operation"]:
            case "add":
                origin = Provenance("import" if row["source"] == "import" else "reflection")
                return replace(_add(row), provenance=origin, **why)
            case "modify":
                return Modify(ids[0], text=row["text"], **why)
            case "delete":
                return Delete(ids[0], **why)
            case _:
                return Merge(tuple(ids), row["text"], **why)


_PROPOSED = {
    "reflection": "Reflection on a run in {domain}",
    "import": "Import of a playbook for {domain}",
    "duplicates": "Near copies found in {domain}",
}


def _detail(row: Mapping[str, Any]) -> Detail:
    return _DETAILS[row["kind"]](**row["detail"])


def _add(row: Mapping[str, Any]) -> Add:
    by_hand = row.get("by") == "mara"
    return Add(
        row.get("was", row["text"]),
        row["kind"],
        row["domain"] if "domain" in row else row["file"].replace("-", " "),
        _detail(row),
        tags=tuple(row.get("tags", ())),
        pinned=row.get("pinned", False),
        provenance=Provenance("manual" if by_hand else "reflection"),
    )


def _signs_at(row: Mapping[str, Any], session: int) -> str:
    """Those of a memory's outcomes that fall into a session: spread evenly from its first on."""
    signs = row.get("outcomes", "")
    first = row["epoch"]
    last = min(PRUNED_AT - 1, SESSIONS) if row.get("pruned") else SESSIONS
    if row.get("planted") == "stale":
        last = min(first + 12, last)  # nobody has applied it since
    for other in row.get("_merged_at", ()):
        last = min(last, other - 1)
    span = max(last - first, 0)
    places = [first + round((i + 1) * span / (len(signs) + 1)) for i in range(len(signs))]
    return "".join(sign for sign, place in zip(signs, places, strict=True) if place == session)


def _with_ends(sources: Sources) -> Sources:
    """Note with each memory that is merged away when that happens."""
    ends: dict[str, int] = {}
    for row in sources.memories:
        ends |= dict.fromkeys(row.get("merges", ()), row["epoch"])
    return replace(
        sources,
        memories=tuple(
            {**row, "_merged_at": (ends[row["key"]],)} if row["key"] in ends else row
            for row in sources.memories
        ),
    )


def build_demo(
    path: Path | None = None,
    *,
    embedder: Embedder | None = None,
    sources: Sources | None = None,
    progress: Progress = lambda doing, fraction: None,
) -> Path:
    """Build the demo bank, whole or not at all, in the place of one that is there; its path.

    `sources` are those of `data/demo`, if no others are given.
    """
    path = demo_bank() if path is None else path
    path.parent.mkdir(parents=True, exist_ok=True)
    building = path.with_name(f"building-{path.name}")
    _discard(building)
    calendar = _Calendar()
    sources = _with_ends(Sources.read(data() / "demo") if sources is None else sources)
    progress("Loading the embedding model", 0.0)
    bank = MemoryBank.open(building, embedder=embedder, actor="agent", clock=calendar)
    bank.configure(name="Demo library", capacity=CAPACITY)
    bank.embed(
        [text for m in sources.memories for text in (m["text"], m.get("was", m["text"]))]
        + [row["task"] for row in (*sources.queries, *sources.retrievals)]
    )
    replay = _Replay(bank, calendar, sources)
    with kept_open(building):
        for number in range(1, SESSIONS + 1):
            progress(f"Session {number} of {SESSIONS}", 0.1 + 0.8 * number / SESSIONS)
            replay.session(number)
        progress("Saved queries and proposals", 0.95)
        replay.queries()
        replay.proposals()
        replay.runs()
    _discard(path)
    building.replace(path)
    _discard(building)
    progress("Done", 1.0)
    return path


def _discard(path: Path) -> None:
    for suffix in ("", ".wal", ".lock"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
