"""A thousand damaged files: none crashes the reader, and none is claimed that cannot be read."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from sample_runs import SHELLS, TALK, WRITERS

from memory_core import UnreadableTrajectoryError, read_trajectories

MUTATIONS = 1_000


def _bytes(log: str | bytes) -> bytes:
    return log if isinstance(log, bytes) else log.encode()


FILES = [_bytes(write(TALK)) for _, write in {**WRITERS, **SHELLS}.values()]


class Damage:
    """Ways in which files are damaged, by a seeded choice."""

    def __init__(self, seed: int) -> None:
        self.choice = random.Random(seed)

    def __call__(self, raw: bytes) -> bytes:
        ways = (
            self.cut,
            self.shuffled,
            self.thinned,
            self.recoded,
            self.noisy,
            self.nested,
            self.twisted,
            self.twisted,
            self.doubled,
            self.mixed,
        )
        for way in self.choice.sample(ways, self.choice.choice((1, 1, 2))):
            raw = way(raw) if raw else raw
        return raw

    def cut(self, raw: bytes) -> bytes:
        return raw[: self.choice.randrange(len(raw))]

    def shuffled(self, raw: bytes) -> bytes:
        lines = raw.split(b"\n")
        self.choice.shuffle(lines)
        return b"\n".join(lines)

    def thinned(self, raw: bytes) -> bytes:
        return b"\n".join(line for line in raw.split(b"\n") if self.choice.random() > 0.2)

    def recoded(self, raw: bytes) -> bytes:
        encoding = self.choice.choice(
            ("utf-16", "utf-16-le", "utf-32", "cp1252", "utf-8-sig", "cp037")
        )
        return raw.decode("utf-8", "replace").encode(encoding, "replace")

    def noisy(self, raw: bytes) -> bytes:
        changed = bytearray(raw)
        for _ in range(self.choice.randrange(1, 30)):
            changed[self.choice.randrange(len(changed))] = self.choice.randrange(256)
        return bytes(changed)

    def nested(self, raw: bytes) -> bytes:
        value: Any = raw.decode("utf-8", "replace")
        for _ in range(self.choice.randrange(1, 5)):
            value = self.choice.choice(
                ({"data": value}, [value], json.dumps(value), {"a": [1, value]})
            )
        return json.dumps(value).encode()

    def twisted(self, raw: bytes) -> bytes:
        rows = []
        for line in raw.split(b"\n"):
            try:
                rows.append(json.dumps(self._twisted(json.loads(line))).encode())
            except ValueError:
                rows.append(line)
        return b"\n".join(rows)

    def _twisted(self, value: Any) -> Any:
        odd = (
            None,
            1,
            "x",
            [],
            {},
            True,
            -1.5,
            '{"a": 1}',
            [None],
            {"type": "text"},
            [[]],
            {"role": "user"},
        )
        if self.choice.random() < 0.03:
            return self.choice.choice(odd)
        if isinstance(value, dict):
            return {k: self._twisted(v) for k, v in value.items() if self.choice.random() > 0.02}
        return [self._twisted(v) for v in value] if isinstance(value, list) else value

    def doubled(self, raw: bytes) -> bytes:
        return raw + b"\n" + raw

    def mixed(self, raw: bytes) -> bytes:
        return raw + b"\n" + self.choice.choice(FILES)


@pytest.mark.parametrize("part", range(4))
def test_damaged_files_are_read_or_refused(part: int) -> None:
    choice = random.Random(part)
    for number in range(MUTATIONS // 4):
        raw = Damage(part * MUTATIONS + number)(choice.choice(FILES))
        try:
            reading = read_trajectories(raw)
        except UnreadableTrajectoryError:
            continue
        assert reading.trajectories
        assert not any("could not be read as such" in warning for warning in reading.warnings), raw
        if reading.format == "raw text":
            assert reading.warnings
        else:
            assert any(run.steps or run.children for run in reading.trajectories), raw
        for run in reading.trajectories:
            assert [step.number for step in run.steps] == list(range(1, len(run.steps) + 1))


def test_text_of_any_kind_is_read_or_refused() -> None:
    choice = random.Random(7)
    pieces = [
        "Thought 1: x",
        "Action: y[z]",
        "> go",
        "Your task is to: win",
        "```json",
        "```",
        "{",
        "}",
        "[",
        "]",
        '"',
        "data: {}",
        "event: message_start",
        "1. | ==== USER MESSAGE ====",
        "<code>",
        "\x00",
        "\ud800",
        "\\",
        ",",
    ]
    for _ in range(400):
        text = choice.choice(("\n", " ", "")).join(
            choice.choices(pieces, k=choice.randrange(1, 12))
        )
        try:
            assert read_trajectories(text).trajectories
        except UnreadableTrajectoryError:
            assert not text.strip("\x00 \n")
