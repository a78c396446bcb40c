"""Compression: five ways to make a bank smaller, and what each would cost."""

from memory_core.compression.planning import (
    STRATEGIES,
    CompressionPlan,
    Decision,
    described,
    plan_compression,
    select,
    with_compression,
)

__all__ = [
    "STRATEGIES",
    "CompressionPlan",
    "Decision",
    "described",
    "plan_compression",
    "select",
    "with_compression",
]
