"""Clusters: found where there are some, told by their words, and known again by their names."""

from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest

from memory_core import (
    Add,
    Batch,
    ClusterName,
    ClusterSettings,
    Delete,
    InvalidMemoryError,
    Memory,
    MemoryBank,
    MemoryNotFoundError,
    SettingsError,
    Snapshot,
    clusters,
)
from memory_core.projection.naming import carried_over
from memory_core.projection.words import labels_of, words_of
from tests.test_projection import clustered

BOTH = pytest.mark.parametrize("method", ["hdbscan", "kmeans"])


def topics(sizes: tuple[int, ...], stray: int = 0) -> Snapshot:
    """Tight clusters of some sizes, and strays; the first cluster is of texts on `topic0`, …"""
    random = np.random.default_rng(0)
    centres = random.standard_normal((len(sizes), 32))
    which = np.repeat(np.arange(len(sizes)), sizes)
    vectors = centres[which] + 0.15 * random.standard_normal((len(which), 32))
    vectors = np.concatenate([vectors, random.standard_normal((stray, 32))])
    memories = [
        Memory(
            number + 1, ("tool", "strategic")[number % 2], f"topic{topic} lesson {number}",
            f"domain {topic}", confidence=0.1 + 0.1 * topic,
        )
        for number, topic in enumerate([*which.tolist(), *[8] * stray])
    ]  # fmt: skip
    return Snapshot.from_memories(memories, vectors)


@BOTH
def test_what_lies_together_is_a_cluster(method: str) -> None:
    snapshot = topics((20, 40, 30))
    count = 3 if method == "kmeans" else None
    found = clusters(snapshot, ClusterSettings(method, count=count))  # type: ignore[arg-type]
    assert [len(c) for c in found.clusters] == [40, 30, 20]  # the largest first
    for number, topic in enumerate((1, 2, 0)):
        cluster = found.clusters[number]
        assert cluster.number == number
        members = [snapshot.by_id(i) for i in cluster.ids]
        assert {m.domain for m in members} == {f"domain {topic}"}
        assert cluster.words[0] == f"topic{topic}"
        assert cluster.label.startswith(f"topic{topic}")
        assert cluster.mean_confidence == pytest.approx(0.1 + 0.1 * topic)
        assert cluster.domains == {f"domain {topic}": len(members)}
        assert cluster.kinds == dict(Counter(m.kind for m in members))
        assert cluster.ids == tuple(found.ids[found.labels == number].tolist())
    assert found.left_out == 0


@pytest.mark.parametrize("least", [5, 25, 35, 60])
def test_hdbscan_leaves_out_what_is_too_few(least: int) -> None:
    snapshot = topics((20, 40, 30), stray=4)
    found = clusters(snapshot, ClusterSettings("hdbscan", minimum_size=least))
    assert all(len(c) >= least for c in found.clusters)
    assert found.left_out == 94 - sum(len(c) for c in found.clusters)
    if least == 60:
        assert found.clusters == ()


@BOTH
@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_few_memories(method: str, size: int) -> None:
    found = clusters(topics((size,)), ClusterSettings(method))  # type: ignore[arg-type]
    assert len(found.labels) == size
    assert sum(len(c) for c in found.clusters) + found.left_out == size


@BOTH
def test_exact_copies_only(method: str) -> None:
    same = Snapshot.from_memories(
        [Memory(i, "tool", "the same", "git") for i in range(1, 31)],
        np.repeat(clustered(1), 30, axis=0),
    )
    found = clusters(same, ClusterSettings(method))  # type: ignore[arg-type]
    assert sum(len(c) for c in found.clusters) + found.left_out == 30


@BOTH
def test_the_same_every_time(method: str) -> None:
    one, two = (
        clusters(topics((20, 40, 30), stray=20), ClusterSettings(method))  # type: ignore[arg-type]
        for _ in range(2)
    )
    assert np.array_equal(one.labels, two.labels)
    assert one.clusters == two.clusters


@pytest.mark.parametrize(
    "wrong", [{"method": "dbscan"}, {"minimum_size": 1}, {"count": 0}, {"count": 2.5}]
)
def test_wrong_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingsError, match=str(next(iter(wrong)))):
        ClusterSettings(**wrong)  # type: ignore[arg-type]


# -- words ----------------------------------------------------------------------------------------


def test_words_weigh_by_class_based_tf_idf() -> None:
    texts = ["rebase branch rebase", "rebase commit", "fetch row row", "row column branch", "stray"]
    labels = np.array([0, 0, 1, 1, -1])
    classes = [["rebase", "branch", "rebase", "rebase", "commit"],
               ["fetch", "row", "row", "row", "column", "branch"]]  # fmt: skip
    average = (5 + 6) / 2
    for found, words in zip(labels_of(texts, labels, count=9), classes, strict=True):
        weight = {
            word: words.count(word) / len(words)
            * log(1 + average / sum(c.count(word) for c in classes))
            for word in words
        }  # fmt: skip
        assert found == tuple(sorted(weight, key=lambda word: (-weight[word], word)))


def test_words_of_any_script() -> None:
    found = words_of("The C++ build isn't node.js — 数据库 索引, Straße «данные» λ x 7 __init__ 🧭")
    assert found == ["c++", "build", "node.js", "数据库", "索引", "straße", "данные", "λ", "init__"]
    texts = ["数据库 索引", "🧭 🧭", "\u202e\u0000", "", "the of and"] * 4
    assert len(labels_of(texts, np.arange(20) % 3)) == 3
    assert labels_of([], np.array([], dtype=np.int64)) == []


def test_a_cluster_without_words_still_has_a_label() -> None:
    bare = Snapshot.from_memories(
        [Memory(i, "tool", "1 2 3", "git") for i in range(1, 9)], clustered(8)
    )
    (cluster,) = clusters(bare, ClusterSettings("kmeans", count=1)).clusters
    assert cluster.words == ()
    assert cluster.label == "cluster 1"


# -- names ----------------------------------------------------------------------------------------


def named(*pairs: tuple[str, range]) -> list[ClusterName]:
    return [ClusterName(name, tuple(ids), "a", when) for when, (name, ids) in enumerate(pairs)]


def test_a_name_goes_to_the_cluster_that_overlaps_by_half() -> None:
    everyone = range(200)
    names = named(("git", range(0, 40)), ("sql", range(100, 120)))
    grown = [range(0, 70), range(70, 100), range(105, 125)]
    assert carried_over(grown, names, everyone) == ["git", "", "sql"]
    assert carried_over([range(0, 81)], names, everyone) == [""]  # 40 of 81: not half
    assert carried_over([range(0, 80)], names, everyone) == ["git"]
    # Memories that have left do not speak against it.
    assert carried_over([range(30, 50)], names, range(30, 200)) == ["git"]
    assert carried_over([range(30, 50)], names, everyone) == [""]


def test_the_greater_overlap_chooses_and_a_name_is_given_once() -> None:
    names = named(("older", range(0, 10)), ("newer", range(0, 10)), ("near", range(0, 9)))
    assert carried_over([range(0, 10)], names, range(99)) == ["newer"]
    halves = [range(0, 5), range(5, 10)]
    assert sorted(carried_over(halves, named(("one", range(0, 10))), range(99))) == ["", "one"]


def test_names_survive_additions_and_other_clusterings(bank: MemoryBank) -> None:
    words = ("rebase the branch onto main", "fetch rows by index", "open the browser window")
    bank.update(Batch([Add(f"{words[n % 3]} case {n}", "tool", "git") for n in range(45)]))
    chosen = ClusterSettings("kmeans", count=3)
    first = bank.clusters(settings=chosen)
    assert sorted(len(c) for c in first.clusters) == [15, 15, 15]
    mine = first.clusters[1]
    bank.name_cluster(mine.ids, "  my\n favourites ")
    assert [c.name for c in bank.clusters(settings=chosen).clusters] == ["", "my favourites", ""]
    assert bank.clusters(settings=chosen).clusters[1].label == "my favourites"
    bank.update(Batch([Delete(mine.ids[0])]))
    bank.update(Batch([Add(f"{words[n % 3]} more {n}", "tool", "git") for n in range(15)]))
    for settings in (chosen, ClusterSettings("hdbscan", minimum_size=10)):
        after = bank.clusters(settings=settings)
        (kept,) = [c for c in after.clusters if c.name == "my favourites"]
        assert {*mine.ids[1:]} <= {*kept.ids}
    # In the past, too.
    assert "my favourites" in [c.name for c in bank.clusters(1, chosen).clusters]
    bank.name_cluster(kept.ids, "renamed")
    assert [n.name for n in bank.cluster_names()] == ["renamed"]
    bank.name_cluster(kept.ids, "")
    assert bank.cluster_names() == ()


def test_names_that_cannot_be_kept_are_refused(bank: MemoryBank) -> None:
    bank.update(Batch([Add("a lesson", "tool", "git")]))
    with pytest.raises(MemoryNotFoundError):
        bank.name_cluster([1, 99], "x")
    with pytest.raises(InvalidMemoryError):
        bank.name_cluster([1], "a\x00b")
    assert bank.cluster_names() == ()
