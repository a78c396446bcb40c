"""What the tools of an MCP client take and answer: the types by which the SDK describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field, StringConstraints

from memory_core.operations import ProposalState
from memory_core.records import MAX_WORDS, Kind

MOST_HITS = 50
LONGEST_TASK = 20_000

Task: TypeAlias = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_TASK),
    Field(description="What is to be done, in plain words."),
]
Limit: TypeAlias = Annotated[int, Field(ge=1, le=MOST_HITS, description="Lessons at most.")]
Domains: TypeAlias = Annotated[
    list[str] | None,
    Field(description="Only lessons of these domains, as list_domains names them; null for all."),
]
RetrievalId: TypeAlias = Annotated[str, Field(description="As retrieve_memories returned it.")]
Improved: TypeAlias = Annotated[
    bool, Field(description="Whether the work went well with the lessons' help.")
]
Applied: TypeAlias = Annotated[
    list[int],
    Field(description="Ids of the lessons that were really followed; an empty list for none."),
]
Text: TypeAlias = Annotated[
    str,
    Field(description="A log of the work: messages, tool calls and results, in any usual format."),
]
Lesson: TypeAlias = Annotated[
    str,
    Field(
        description=f"The lesson in 1 to {MAX_WORDS} words. Say when it holds and what to do "
        "then; name tools, conditions, numbers."
    ),
]
LessonKind: TypeAlias = Annotated[
    Kind,
    Field(
        description="strategic: an approach to a kind of problem; procedural: steps in order; "
        "tool: how one tool is used well."
    ),
]
Domain: TypeAlias = Annotated[
    str, Field(description="A label such as “git”; rather one that list_domains names.")
]


State: TypeAlias = Annotated[
    Literal["waiting", "accepted", "rejected"], Field(description="waiting: for a person.")
]
STATES: Mapping[ProposalState, Literal["waiting", "accepted", "rejected"]] = {
    "pending": "waiting",
    "accepted": "accepted",
    "rejected": "rejected",
}


class FoundMemory(BaseModel):
    """A lesson that was found."""

    id: int
    rank: int = Field(description="From 1. The block calls the first one [G0].")
    score: float
    text: str
    kind: Kind
    domain: str
    confidence: float = Field(description="In [0.05, 0.95]; it moves with the outcomes.")
    uri: str = Field(description="The resource that holds all of it.")


class RetrievedMemories(BaseModel):
    """What was found for a task, and kept in the ledger."""

    retrieval_id: str = Field(description="For record_outcome.")
    revision: int = Field(description="Of the bank.")
    injection: str = Field(description="The block for the head of a prompt, best lesson first.")
    hits: list[FoundMemory]
    notes: list[str] = Field(description="What else should be known, each a sentence.")


class MovedMemory(BaseModel):
    """A lesson that was applied, after the outcome."""

    id: int
    confidence: float
    usage_count: int = Field(description="Sessions in which it was applied.")
    success_count: int = Field(description="Of those, the ones that went well.")


class RecordedOutcome(BaseModel):
    """An outcome that stands in the ledger."""

    revision: int = Field(description="In which confidence and counts moved.")
    moved: list[MovedMemory]


class SubmittedLesson(BaseModel):
    """A lesson that was laid before a person, or taken in."""

    proposal_id: int
    state: State
    revision: int | None = Field(description="In which it was accepted; null while it waits.")
    change: str = Field(description="add, modify, merge or delete.")
    text: str = Field(description="The lesson; empty where nothing is written.")
    notes: list[str] = Field(description="Doubts about it, each a sentence.")


class SubmittedTrajectory(BaseModel):
    """What was read from a log, and learned from it."""

    trajectory_ids: list[str]
    format: str = Field(description="As what the text was read.")
    lessons: list[SubmittedLesson]
    masked: int = Field(description="Secrets that were masked before anything was kept.")
    notes: list[str] = Field(description="What was left out, guessed or known, each a sentence.")


class ProposedMemory(BaseModel):
    """A lesson that was laid before a person, or taken in."""

    proposal_id: int
    state: State
    memory_id: int | None = Field(description="Of the new memory; null while it waits.")
    revision: int | None = Field(description="In which it was accepted; null while it waits.")
    notes: list[str] = Field(description="Doubts about it, each a sentence.")


class DomainCount(BaseModel):
    """A domain of the bank."""

    domain: str
    memories: int


class BankDomains(BaseModel):
    """All domains of the bank, by name."""

    domains: list[DomainCount]
    memories: int = Field(description="In the whole bank.")
