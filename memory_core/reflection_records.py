"""What a reflection found in runs: operations with their evidence, and what was no lesson."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import uuid4

from memory_core.operations import Batch, Operation


@dataclass(frozen=True, slots=True)
class RefusedDraft:
    """Something that a reflector said and that is no lesson."""

    reason: str
    """Why, in words."""
    reply: str = ""
    """As it was said."""
    operation: Operation | None = None
    """As far as it could be understood."""


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """What a language model was asked and answered; zeros where none was."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars; None where no price is known."""

    def __add__(self, other: TokenUsage) -> TokenUsage:
        """The sum; its cost is unknown where one of them was asked without a known price."""
        if not self.requests or not other.requests:
            return self if self.requests else other
        known = self.cost is not None and other.cost is not None
        return TokenUsage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.cost or 0) + (other.cost or 0) if known else None,
        )


@dataclass(frozen=True, slots=True)
class Reflection:
    """What a reflector drew from runs; nothing of it is in the bank yet."""

    operations: tuple[Operation, ...]
    """Each with its rationale and the steps that bear it out."""
    trajectory_ids: tuple[str, ...]
    """The runs, as the bank keeps them."""
    reflector: str
    """`rules`, or the language model's name."""
    reason: str = ""
    refused: tuple[RefusedDraft, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences for a person: what there was nothing to learn from, what was known already."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    base_revision: int = 0
    """The revision whose memories the reflector saw."""
    key: str = field(default_factory=lambda: uuid4().hex)
    """Of its batch."""

    @property
    def batch(self) -> Batch:
        """Its operations, to plan or to propose."""
        return Batch(
            self.operations,
            reason=self.reason,
            base_revision=self.base_revision,
            kind="reflection",
            key=self.key,
        )


@dataclass(frozen=True, slots=True)
class ReflectionSummary:
    """A reflection that a bank lists, with the proposals that it became."""

    key: str
    reflector: str
    trajectory_ids: tuple[str, ...]
    reason: str
    refused: tuple[RefusedDraft, ...]
    notes: tuple[str, ...]
    usage: TokenUsage
    proposal_ids: tuple[int, ...]
    actor: str
    made_at_us: int
    """Microseconds since 1970-01-01 UTC."""
