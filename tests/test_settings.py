"""Settings: the published defaults, their bounds, and what they make of what they are given."""

from __future__ import annotations

import math

import numpy as np
import pytest

from memory_core import PRESETS, CompressionSettings, MemoryCoreError, RetrievalSettings


def test_the_defaults_are_the_published_ones():
    settings = RetrievalSettings()
    assert (settings.limit, settings.confidence_weight, settings.lexical_weight) == (5, 0.2, 0.0)
    assert settings.domains is settings.kinds is settings.per_kind is None
    assert PRESETS["published"] == settings
    assert PRESETS["hybrid"] == RetrievalSettings(lexical_weight=0.2)


def test_compression_has_the_published_defaults():
    c = CompressionSettings()
    assert (c.strategy, c.capacity, c.fraction, c.decay) == ("hybrid", 500, 0.2, 0.05)
    assert (c.minimum_weight, c.alpha, c.beta, c.gamma, c.delta) == (0.1, 1, 1, 0.5, 0.3)
    assert c.rescore


@pytest.mark.parametrize("none", [None, (), [], set()])
def test_no_domain_and_no_kind_is_no_filter(none):
    assert RetrievalSettings(domains=none, kinds=none) == RetrievalSettings()


def test_domains_are_labels_like_those_of_memories():
    assert RetrievalSettings(domains=[" Git ", "git", "SQL"]).domains == ("git", "sql")
    assert RetrievalSettings(domains="Git").domains == ("git",)


def test_a_kind_that_is_named_twice_counts_once():
    assert RetrievalSettings(kinds=["tool", "tool"]).kinds == ("tool",)


def test_numbers_of_numpy_are_numbers():
    settings = RetrievalSettings(np.int64(3), np.float32(0.5), per_kind=np.int8(2))
    assert settings == RetrievalSettings(3, 0.5, per_kind=2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"limit": 0}, {"limit": -1}, {"limit": 2.5}, {"limit": "5"}, {"limit": None},
        {"limit": True}, {"per_kind": 0}, {"per_kind": 1.5}, {"confidence_weight": -0.1},
        {"confidence_weight": 1.01}, {"confidence_weight": math.nan}, {"confidence_weight": "0.2"},
        {"lexical_weight": 2}, {"lexical_weight": None}, {"kinds": ["recipe"]}, {"kinds": [7]},
        {"domains": [7]}, {"domains": 7},
    ],
)  # fmt: skip
def test_a_setting_outside_its_bounds_is_refused_by_its_name(wrong):
    (name,) = wrong
    with pytest.raises(MemoryCoreError, match=name if name != "kinds" else "kind"):
        RetrievalSettings(**wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        {"strategy": "oldest"}, {"capacity": -1}, {"fraction": 1.0}, {"decay": 0},
        {"minimum_weight": 1.5}, {"beta": 0}, {"delta": math.inf},
    ],
)  # fmt: skip
def test_so_is_one_of_compression(wrong):
    (name,) = wrong
    with pytest.raises(MemoryCoreError, match=name):
        CompressionSettings(**wrong)
