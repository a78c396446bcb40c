"""The record of the experiment is read as it was written; the one that is shipped is whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memory_core import (
    Action,
    ArmResult,
    CurvePoint,
    Episode,
    EpisodeStep,
    Estimate,
    Experiment,
    ExperimentFamily,
    Injected,
    Memory,
    Observation,
    ProceduralDetail,
    StoreCorruptError,
    Task,
    read_experiment,
    write_experiment,
)
from memory_core.experiment import FILE, LessonCourse, LessonPoint

HALF = Estimate(0.5, 0.25, 0.75, 40)


def sample() -> Experiment:
    """With every field away from its default."""
    seen = Observation("A kitchen.", ("eat", "go"), 1.0, True, False, "around", "apple")
    game = Episode(
        Task("Cook “it” → now", "cooking/test/1", "cooking"), "explorer", True, 7, "failure", False,
        1.0, seen, (EpisodeStep(1, Action("eat", "hm", (3,)), seen, 1.0),),
        (Injected(3, 1, 0.9, "tool", "Eat nothing raw.", 0.6),), "[G0] Eat nothing raw.", "r", "t",
        False, 4, (1, 2), ("Cook first.",), 5, "step: it broke", 0.5,
    )  # fmt: skip
    lesson = Memory(3, "procedural", "Cook first.", "cooking", ProceduralDetail(("cook", "eat")))
    family = ExperimentFamily(
        "cooking", "Cooking", "One meal.", 60, 24, 20, 5,
        (ArmResult("on", "with", 100, HALF, HALF, HALF, HALF, HALF, HALF, 120),
         ArmResult("off", "without", 100, HALF, HALF)),
        (CurvePoint("on", 4, HALF, HALF),), (game, Episode(Task("x"), "a", False, 0, "time", None)),
        (lesson,), (LessonCourse(3, (LessonPoint(1, 0.55, 2, 1),)),), ("worth it", "too"),
    )  # fmt: skip
    return Experiment("python benchmarks/learning.py", "2026-11-30", "two cores", (family,), ("a",))


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_experiment(sample(), tmp_path / "new")
    assert read_experiment(tmp_path / "new") == sample()
    other = replace(sample(), notes=("another",))
    write_experiment(other, tmp_path / "new")
    assert read_experiment(tmp_path / "new") == other


def test_no_record_is_none_and_a_damaged_one_is_said(tmp_path: Path) -> None:
    assert read_experiment(tmp_path) is None
    for damage in ("", "[]", '{"command": "x"}', '{"families": [{"name": 3}]}'):
        (tmp_path / FILE).write_text(damage)
        with pytest.raises(StoreCorruptError, match="no record of an experiment"):
            read_experiment(tmp_path)


def test_the_record_that_is_shipped_holds_what_the_page_shows() -> None:
    found = read_experiment()
    if found is None:
        pytest.skip("this checkout has no record")
    assert found.command.startswith("python benchmarks/learning.py")
    for family in found.families:
        arms = {arm.name: arm for arm in family.arms}
        assert {"on", "off", "unrelated", "scrambled"} <= set(arms)
        for arm in family.arms:
            for value in (arm.success, arm.steps, arm.ratio, arm.lost, arm.gain):
                assert value is None or value.low <= value.mean <= value.high
        assert len(family.captions) == len(family.episodes)
        numbers = {point.games for point in family.curve if point.arm == "on"}
        assert 0 in numbers
        assert max(numbers) == family.training
        known = {memory.id for memory in family.lessons}
        assert {course.memory_id for course in family.courses} <= known
