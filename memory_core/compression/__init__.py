"""Compression: five ways to make a bank smaller, and what each would cost."""

from memory_core.compression.curve import FRACTIONS, QualityPoint, quality_curve, settings_for
from memory_core.compression.impact import (
    BeforeAfter,
    Coverage,
    Impact,
    Spread,
    coverage,
    estimated_tokens,
    impact,
)
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
    "FRACTIONS",
    "STRATEGIES",
    "BeforeAfter",
    "CompressionPlan",
    "Coverage",
    "Decision",
    "Impact",
    "QualityPoint",
    "Spread",
    "coverage",
    "described",
    "estimated_tokens",
    "impact",
    "plan_compression",
    "quality_curve",
    "select",
    "settings_for",
    "with_compression",
]
